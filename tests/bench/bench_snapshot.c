/* bench_snapshot.c - how long the copy of a source_directory takes: the first time, and when
 * nothing has changed since.
 *
 *   bench_snapshot [FILES [TIMES]]
 *
 * The workspace already has an unchanged copy. Each figure is the shortest time of several runs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot/snapshot.h"
#include "sys/clock.h"
#include "tree.h"

static void make_source(const char *dir, int files)
{
  char text[100];
  for (int i = 0; i < files; i++) {
    char *name = tm_xprintf("src/%02d/module_%04d.lua", i / 50, i);
    memset(text, '-', sizeof(text));
    snprintf(text, sizeof(text), "return { value = %d }\n%60s\n", i, "");
    file_put(dir, name, text, 0600);
    free(name);
  }
  file_put(dir, "src/score.lua", "function run(m) return m end\n", 0600);
}

/* Nanoseconds of one submission; negative: it failed. */
static int64_t submit(const struct tm_config *config, const char *to, const char *store)
{
  struct tm_snapshot s = { 0 };
  struct tm_err err = TM_ERR_NONE;
  int64_t begin = tm_clock_mono_ns();
  int rc = tm_snapshot_take(tm_fs_real(), config, NULL, to, &s, &err);
  if (rc == 0)
    rc = tm_snapshot_keep(tm_fs_real(), &s, store, &err);
  begin = tm_clock_mono_ns() - begin;
  if (rc < 0)
    fprintf(stderr, "%s\n", err.text);
  tm_snapshot_release(&s);
  return rc < 0 ? -1 : begin;
}

int main(int argc, char **argv)
{
  int files = argc > 1 ? atoi(argv[1]) : 1000, times = argc > 2 ? atoi(argv[2]) : 10;
  char *dir = folder_make();
  char *source = tm_path_join(dir, "src"), *script = tm_path_join(source, "score.lua");
  struct tm_config config = { .source_directory = source, .entry_script = script };
  int64_t first = INT64_MAX, again = INT64_MAX;
  make_source(dir, files);
  for (int i = 0; i < times && first >= 0 && again >= 0; i++) {
    char *to = tm_xprintf("%s/copy%d", dir, i), *to_again = tm_xprintf("%s/again%d", dir, i);
    char *store = tm_xprintf("%s/store%d", dir, i);
    int64_t a = submit(&config, to, store), b = submit(&config, to_again, store);
    first = a < first ? a : first;
    again = b < again ? b : again;
    free(to);
    free(to_again);
    free(store);
  }
  printf("snapshot of %d files: %.1f ms the first time, %.1f ms unchanged\n", files + 1,
         (double)first / 1e6, (double)again / 1e6);
  free(script);
  free(source);
  folder_remove(dir);
  return first < 0 || again < 0;
}
