/* test_lister.c - the thread that lists: it ends with its list, ends on request, and is abandoned
 * when a call on a hung file system holds it. */
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/time.h"
#include "commit/commit.h"
#include "commit/lister.h"
#include "commit/manifest.h"
#include "folder.h"
#include "sys/clock.h"

struct rig {
  struct folder folder;
  struct tm_loop loop;
  struct tm_commit *commit;
  struct tm_dataset *input;
  struct tm_lister *lister;
};

static void on_progress(void *data)
{
  struct rig *r = data;
  struct tm_err err = TM_ERR_NONE;
  int state = tm_lister_state(r->lister, &err);
  if (state < 0)
    fail_msg("%s", err.text);
  if (state > 0)
    tm_loop_stop(&r->loop);
}

/* Lists `path` in the rig's folder. */
static void start(struct rig *r, const char *path)
{
  struct tm_commit_found found;
  struct tm_err err = TM_ERR_NONE;
  struct tm_commit_options o = { .fs = tm_fs_real(),
                                 .step_dir = r->folder.path,
                                 .output_dir = r->folder.path,
                                 .output_name = "rows" };
  char *text = tm_xprintf("{\"kind\":\"files\",\"paths\":[\"%s\"],\"base_dir\":\"%s\"}", path,
                          r->folder.path);
  struct tm_json *v = tm_json_parse(text, strlen(text), &err);
  r->input = v ? tm_dataset_from_json(v, &err) : NULL;
  if (!r->input || tm_commit_open(&r->commit, &o, &found, &err) < 0 ||
      tm_commit_begin(r->commit, &err) < 0)
    fail_msg("%s", err.text);
  assert_int_equal(tm_loop_init(&r->loop, NULL), 0);
  struct tm_lister_options options = { .loop = &r->loop,
                                       .manifest = tm_commit_manifest(r->commit),
                                       .on_progress = on_progress,
                                       .data = r };
  options.splitter.inputs = (const struct tm_dataset *const *)&r->input;
  options.splitter.inputs_len = 1;
  options.splitter.mini_batch_size = 1;
  r->lister = tm_lister_start(&options, &err);
  assert_non_null(r->lister);
  tm_json_free(v);
  free(text);
}

/* Frees everything that the lister got. */
static void release(struct rig *r)
{
  tm_dataset_free(r->input);
  tm_commit_close(r->commit);
  tm_loop_release(&r->loop);
}

static void it_ends_with_its_list(void **state)
{
  struct rig r = { .lister = NULL };
  folder_init(&r.folder);
  folder_put(&r.folder, "a.txt", 0, "a", 1);
  start(&r, "a.txt");
  tm_loop_run(&r.loop);
  assert_int_equal(tm_manifest_count(tm_commit_manifest(r.commit)), 1);
  assert_true(tm_lister_stop(r.lister));
  release(&r);
  folder_release(&r.folder);
}

/* The number of threads, or of those in a call that waits for the server of a file system. */
static int count_threads(bool waiting)
{
  int n = 0;
  struct dirent *entry;
  DIR *dir = opendir("/proc/self/task");
  assert_non_null(dir);
  while ((entry = readdir(dir))) {
    char path[300], where[100] = "";
    snprintf(path, sizeof(path), "/proc/self/task/%s/wchan", entry->d_name);
    FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
    if (!file)
      continue;
    n += !waiting || (fgets(where, sizeof(where), file) && strstr(where, "fuse"));
    fclose(file);
  }
  closedir(dir);
  return n;
}

static void await_threads(bool waiting, int n)
{
  for (int64_t until = tm_clock_mono_ns() + 20 * TM_S; count_threads(waiting) != n;) {
    assert_true(tm_clock_mono_ns() < until);
    poll(NULL, 0, 2);
  }
}

/* Mounts a file system whose server never answers. Returns its descriptor, or -1 if mounting is not
 * allowed. */
static int hang(const char *path)
{
  char options[100];
  int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
  if (fd >= 0 && mount("hung", path, "fuse", MS_NOSUID | MS_NODEV, options) == 0)
    return fd;
  if (fd >= 0)
    close(fd);
  return -1;
}

/* When its call returns, nothing that the thread used exists any more. */
static void a_hanging_lister_is_abandoned(void **state)
{
  struct rig r = { .lister = NULL };
  int threads = count_threads(false);
  folder_init(&r.folder);
  char *dir = tm_xprintf("%s/hung", r.folder.path);
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), dir, 0700, NULL), 0);
  int fd = hang(dir);
  if (fd < 0) {
    free(dir);
    folder_release(&r.folder);
    skip();
  }
  start(&r, "hung/x");
  await_threads(true, 1);
  assert_false(tm_lister_stop(r.lister));
  release(&r);
  assert_int_equal(count_threads(true), 1);
  assert_int_equal(umount2(dir, MNT_DETACH), 0);
  close(fd); /* its calls fail from now on */
  await_threads(false, threads);
  free(dir);
  folder_release(&r.folder);
}

UNIT_TESTS({
    cmocka_unit_test(it_ends_with_its_list),
    cmocka_unit_test(a_hanging_lister_is_abandoned),
});
