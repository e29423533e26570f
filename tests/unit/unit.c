/* unit.c - main() of every unit program; its usage says what it does. */
#include "unit.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME_MAX_LEN 64

/* ThreadSanitizer checks each access to memory. */
#ifdef __SANITIZE_THREAD__
#define SLOWER 10
#else
#define SLOWER 1
#endif

static const char usage[] =
    "usage: %s [FILE] [--filter PATTERN] [--list]\n"
    "  FILE               run the tests of test_FILE.c in this process; without it, those of\n"
    "                     each file in a process of its own\n"
    "  --filter PATTERN   only tests whose names match; * and ? are wildcards\n"
    "  --list             name the files and their tests, and run none\n";

static struct unit *units; /* sorted by name */

/* x of path/test_x.c */
static const char *unit_name(const struct unit *u, char name[static NAME_MAX_LEN])
{
  const char *slash = strrchr(u->source, '/');
  const char *base = slash ? slash + 1 : u->source;
  if (strncmp(base, "test_", 5) == 0)
    base += 5;
  snprintf(name, NAME_MAX_LEN, "%.*s", (int)strcspn(base, "."), base);
  return name;
}

void unit_add(struct unit *u)
{
  char name[NAME_MAX_LEN], other[NAME_MAX_LEN];
  struct unit **at = &units;
  while (*at && strcmp(unit_name(*at, other), unit_name(u, name)) < 0)
    at = &(*at)->next;
  u->next = *at;
  *at = u;
}

static struct unit *find(const char *wanted)
{
  char name[NAME_MAX_LEN];
  struct unit *u = units;
  while (u && strcmp(unit_name(u, name), wanted) != 0)
    u = u->next;
  return u;
}

static bool has_match(const struct unit *u, const char *filter)
{
  for (size_t i = 0; i < u->count; i++)
    if (!filter || fnmatch(filter, u->tests[i].name, 0) == 0)
      return true;
  return false;
}

static int run_here(const struct unit *u, const char *filter, char **argv)
{
  char name[NAME_MAX_LEN];
  unit_name(u, name);
  setenv("TM_UNIT", name, 1);
  if (u->hooks->start)
    u->hooks->start(argv);
  if (u->hooks->limit_s > 0)
    alarm(u->hooks->limit_s * SLOWER);
  if (filter)
    cmocka_set_test_filter(filter);
  return _cmocka_run_group_tests(name, u->tests, u->count, u->hooks->setup, u->hooks->teardown);
}

static bool runs_well_alone(const struct unit *u, const char *filter, const char *program)
{
  char name[NAME_MAX_LEN];
  int status;
  unit_name(u, name);
  char *argv[] = { (char *)program, name, filter ? (char *)"--filter" : NULL, (char *)filter,
                   NULL };
  pid_t pid = fork();
  if (pid == 0) {
    execv("/proc/self/exe", argv);
    _exit(127);
  }
  if (pid < 0 || waitpid(pid, &status, 0) != pid)
    return false;
  if (WIFSIGNALED(status))
    fprintf(stderr, "%s: killed by signal %d\n", name, WTERMSIG(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Whatever happens to one file, the others run. */
static int run_all(const char *filter, const char *program)
{
  char name[NAME_MAX_LEN];
  size_t ran = 0, failed = 0;
  for (const struct unit *u = units; u; u = u->next) {
    if (!has_match(u, filter))
      continue;
    ran++;
    if (!runs_well_alone(u, filter, program)) {
      failed++;
      fprintf(stderr, "failed: %s\n", unit_name(u, name));
    }
  }
  fprintf(stderr, "%zu files, %zu failed\n", ran, failed);
  return failed > 0;
}

static int list_all(void)
{
  char name[NAME_MAX_LEN];
  for (const struct unit *u = units; u; u = u->next)
    for (size_t i = 0; i < u->count; i++)
      printf("%s %s\n", unit_name(u, name), u->tests[i].name);
  return 0;
}

static int refuse(const char *program, const char *word)
{
  fprintf(stderr, "%s: unknown file or option '%s'\n", program, word);
  fprintf(stderr, usage, program);
  return 2;
}

static bool has_any_match(const struct unit *only, const char *filter)
{
  for (const struct unit *u = units; u; u = u->next)
    if ((!only || u == only) && has_match(u, filter))
      return true;
  return false;
}

static int run(int argc, char **argv)
{
  const struct unit *only = NULL;
  const char *filter = NULL;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--list") == 0)
      return list_all();
    if (strcmp(argv[i], "--filter") == 0 && i + 1 < argc)
      filter = argv[++i];
    else if (only || !(only = find(argv[i])))
      return refuse(argv[0], argv[i]);
  }
  if (!has_any_match(only, filter)) {
    fprintf(stderr, "no test matches '%s'; --list names them\n", filter ? filter : "*");
    return 2;
  }
  return only ? run_here(only, filter, argv) : run_all(filter, argv[0]);
}

int main(int argc, char **argv)
{
  const char *started_by = getenv("TM_UNIT");
  const struct unit *u = started_by ? find(started_by) : NULL;
  while (argc > 1 && strcmp(argv[1], "pause") == 0)
    pause();
  if (u && u->hooks->serve && argc > 1)
    return u->hooks->serve(argc, argv);
  return run(argc, argv);
}
