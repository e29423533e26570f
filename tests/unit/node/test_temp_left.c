/* test_temp_left.c - where temporary folders go, and which of those that keepers left are removed
 * while other nodes of the job live on the machine. */
#include "unit.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/time.h"
#include "folder.h"
#include "node/temp_left.h"
#include "node/temp_owner.h"
#include "node/worker_page.h"
#include "sys/clock.h"
#include "sys/fs.h"
#include "sys/process.h"

#define LIMIT (30 * TM_S)

struct fixture {
  struct folder folder; /* where the temporary folders are; also the job directory */
  int folders;
};

static int setup(void **state)
{
  struct fixture *x = TM_NEW(struct fixture);
  folder_init(&x->folder);
  *state = x;
  return 0;
}

static int teardown(void **state)
{
  struct fixture *x = *state;
  assert_int_equal(tm_tree_remove_forced(x->folder.path, NULL), 0); /* some are closed */
  free(x);
  return 0;
}

/* ---- names ---- */

static void memory_is_used_unless_variables_say_where_files_go(void **state)
{
  static const struct {
    const char *tmpdir, *memory_dir, *temp, *memory;
  } cases[] = {
    { NULL, NULL, "/tmp", "/dev/shm" }, { "", NULL, "/tmp", "/dev/shm" },
    { "a", NULL, "/tmp", "/dev/shm" },  { "/a", NULL, "/a", NULL },
    { "/a", "/m", "/a", "/m" },         { NULL, "/m", "/tmp", "/m" },
    { NULL, "", "/tmp", NULL },         { NULL, "m", "/tmp", NULL },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_temp_places p = tm_temp_places(cases[i].tmpdir, cases[i].memory_dir);
    assert_string_equal(p.temp, cases[i].temp);
    assert_string_equal(p.memory ? p.memory : "none", cases[i].memory ? cases[i].memory : "none");
  }
}

static void a_name_has_the_user_and_the_job(void **state)
{
  unsigned long uid = 0;
  char *one = tm_temp_name_begin("/jobs/1"), *two = tm_temp_name_begin("/jobs/2");
  assert_string_not_equal(one, two);
  assert_true(tm_temp_is_name(one, &uid));
  assert_int_equal(uid, geteuid());
  assert_false(tm_temp_is_name("tidemill-", &uid));
  assert_false(tm_temp_is_name("tidemill-x-1", &uid));
  assert_false(tm_temp_is_name("tidemill-12", &uid));
  free(one);
  free(two);
}

/* ---- removing ---- */

static char *add_folder(struct fixture *x, const char *job_dir)
{
  char *begin = tm_temp_name_begin(job_dir);
  char *path = tm_xprintf("%s/%s%012d", x->folder.path, begin, x->folders++);
  assert_int_equal(mkdir(path, 0700), 0);
  free(begin);
  return path;
}

static void put(const char *dir, const char *name, const char *text)
{
  char *path = tm_path_join(dir, name);
  assert_int_equal(tm_fs_write_file(tm_fs_real(), path, text, strlen(text), 0600, NULL), 0);
  free(path);
}

/* With the folder of a worker, which is closed to its owner. */
static char *add_owned(struct fixture *x, const char *job_dir, uint32_t node)
{
  char *path = add_folder(x, job_dir), *below = tm_path_join(path, "score-process000");
  tm_temp_own(path, &(struct tm_incarnation) { 0xabc, node, 0 });
  assert_int_equal(mkdir(below, 0700), 0);
  put(below, "file", "text");
  assert_int_equal(chmod(below, 0500), 0);
  free(below);
  return path;
}

static int lock(const char *path)
{
  const struct tm_fs *fs = tm_fs_real();
  int fd = fs->open(fs->self, path, O_RDONLY | O_DIRECTORY, 0);
  assert_true(fd >= 0);
  assert_int_equal(tm_lock_take(fd, true), 0);
  return fd;
}

static struct tm_temp_removed remove_dead(struct fixture *x)
{
  struct tm_temp_removed removed = { 0 };
  tm_temp_remove_dead(x->folder.path, x->folder.path, &removed);
  return removed;
}

static void expect_stays(char *path, bool stays)
{
  struct stat st;
  if ((lstat(path, &st) == 0) != stays)
    fail_msg("'%s' %s", path, stays ? "is gone" : "is still there");
  free(path);
}

static void a_folder_that_nobody_has_locked_is_removed(void **state)
{
  struct fixture *x = *state;
  const char *job = x->folder.path;
  char *dead = add_owned(x, job, 1), *lives = add_owned(x, job, 2), *other = add_owned(x, "/x", 1);
  int held = lock(lives);
  assert_int_equal(remove_dead(x).folders, 1);
  expect_stays(dead, false);
  expect_stays(lives, true);
  expect_stays(other, true);
  close(held);
  assert_int_equal(remove_dead(x).folders, 1); /* it has ended meanwhile */
}

static void put_owner(const char *path, const char *boot_id, const char *host)
{
  char *text = tm_xprintf("%s %s 0000000000000abc.1.0\n", boot_id, host);
  put(path, TM_TEMP_KEEPER, text);
  free(text);
}

static void a_folder_of_another_machine_stays(void **state)
{
  struct fixture *x = *state;
  struct tm_temp_machine here = tm_temp_this_machine();
  char *there = add_owned(x, x->folder.path, 1), *before = add_owned(x, x->folder.path, 1);
  put_owner(there, "another", "another.example");
  put_owner(before, "another", here.host); /* before this machine restarted */
  assert_int_equal(remove_dead(x).folders, 1);
  expect_stays(there, true);
  expect_stays(before, false);
}

static void make_old(const char *path)
{
  assert_int_equal(tm_file_set_mtime(path, tm_clock_wall_ns() - 61 * TM_S), 0);
}

/* A keeper makes a folder, locks it, and then writes its name into it. */
static void a_folder_without_a_keeper_is_removed_when_it_is_old_and_empty(void **state)
{
  struct fixture *x = *state;
  const char *job = x->folder.path;
  char *fresh = add_folder(x, job), *old = add_folder(x, job), *cut = add_folder(x, job);
  char *full = add_folder(x, job);
  put(cut, TM_TEMP_KEEPER, "");
  put(full, "file", "text");
  make_old(old);
  make_old(cut);
  make_old(full);
  remove_dead(x);
  expect_stays(fresh, true);
  expect_stays(old, false);
  expect_stays(cut, false);
  expect_stays(full, true);
}

/* A file, a link to a folder, and a folder with another name. */
static void what_is_not_such_a_folder_stays(void **state)
{
  struct fixture *x = *state;
  char *begin = tm_temp_name_begin(x->folder.path), *target = add_owned(x, "/x", 1);
  char *file = tm_xprintf("%s/%sfile", x->folder.path, begin);
  char *link = tm_xprintf("%s/%slink", x->folder.path, begin);
  char *name = tm_xprintf("%s/%.*s", x->folder.path, (int)strlen(begin) - 1, begin);
  put(x->folder.path, tm_path_base(file), "text");
  assert_int_equal(symlink(target, link), 0);
  assert_int_equal(mkdir(name, 0700), 0);
  tm_temp_own(name, &(struct tm_incarnation) { 0xabc, 1, 0 });
  assert_int_equal(remove_dead(x).folders, 0);
  expect_stays(file, true);
  expect_stays(link, true);
  expect_stays(name, true);
  expect_stays(target, true);
  free(begin);
}

/* It must be found again if it is interrupted. */
static void the_name_of_the_keeper_is_removed_last(void **state)
{
  struct fixture *x = *state;
  char *path = add_folder(x, x->folder.path), last[200] = "";
  union {
    struct inotify_event event;
    char bytes[4096];
  } events;
  put(path, "a", "text"); /* before and after it, in whatever order the folder is read */
  tm_temp_own(path, &(struct tm_incarnation) { 0xabc, 1, 0 });
  put(path, "z", "text");
  int fd = inotify_init1(IN_CLOEXEC);
  assert_true(fd >= 0 && inotify_add_watch(fd, path, IN_DELETE) >= 0);
  assert_int_equal(tm_temp_remove_tree(path, NULL), 0);
  ssize_t n = read(fd, &events, sizeof events);
  for (ssize_t at = 0; at < n;) {
    const struct inotify_event *e = (const struct inotify_event *)(events.bytes + at);
    if (e->mask & IN_DELETE)
      strcpy(last, e->name);
    at += (ssize_t)(sizeof *e + e->len);
  }
  assert_string_equal(last, TM_TEMP_KEEPER);
  close(fd);
  expect_stays(path, false);
}

/* ---- processes ---- */

static pid_t start_marked(const char *job_dir, uint32_t node)
{
  char found[2048];
  char *program = tm_process_program();
  char *mark = tm_incarnation_mark(job_dir, &(struct tm_incarnation) { 0xabc, node, 0 });
  char *variable = tm_xprintf(TM_ENV_WORKER "=%sprocess000:0", mark);
  char *argv[] = { program, (char *)"pause", NULL }, *env[] = { variable, NULL };
  struct tm_spawn spawn = { .program = program, .argv = argv, .env = env };
  pid_t pid = tm_process_start(&spawn, NULL);
  int64_t until_ns = tm_clock_mono_ns() + LIMIT;
  assert_true(pid > 0);
  while (!tm_process_env(pid, TM_ENV_WORKER, found, sizeof found) && tm_clock_mono_ns() < until_ns)
    sched_yield();
  free(program);
  free(mark);
  free(variable);
  return pid;
}

static void processes_of_a_dead_keeper_are_killed_first(void **state)
{
  struct fixture *x = *state;
  const char *job = x->folder.path;
  char *dead = add_owned(x, job, 1), *lives = add_owned(x, job, 2);
  pid_t left = start_marked(job, 1), stays = start_marked(job, 2), other = start_marked("/x", 1);
  int held = lock(lives), status;
  struct tm_temp_removed removed = remove_dead(x);
  assert_int_equal(removed.folders, 1);
  assert_int_equal(removed.processes, 1);
  assert_int_equal(waitpid(left, &status, 0), left);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  assert_int_equal(waitpid(stays, &status, WNOHANG), 0);
  assert_int_equal(waitpid(other, &status, WNOHANG), 0);
  expect_stays(dead, false);
  expect_stays(lives, true);
  kill(stays, SIGKILL);
  kill(other, SIGKILL);
  waitpid(stays, &status, 0);
  waitpid(other, &status, 0);
  close(held);
}

/* The numbers of processes begin again: a mark from before a restart says nothing. */
static void no_process_is_killed_after_a_restart(void **state)
{
  struct fixture *x = *state;
  struct tm_temp_machine here = tm_temp_this_machine();
  char *before = add_owned(x, x->folder.path, 1);
  pid_t pid = start_marked(x->folder.path, 1);
  int status;
  put_owner(before, "another", here.host);
  struct tm_temp_removed removed = remove_dead(x);
  assert_true(removed.folders == 1 && removed.processes == 0);
  assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
  kill(pid, SIGKILL);
  waitpid(pid, &status, 0);
  free(before);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

UNIT_HOOKS(.limit_s = 120);
UNIT_TESTS({
    cmocka_unit_test(memory_is_used_unless_variables_say_where_files_go),
    cmocka_unit_test(a_name_has_the_user_and_the_job),
    CASE(a_folder_that_nobody_has_locked_is_removed),
    CASE(a_folder_of_another_machine_stays),
    CASE(a_folder_without_a_keeper_is_removed_when_it_is_old_and_empty),
    CASE(what_is_not_such_a_folder_stays),
    CASE(the_name_of_the_keeper_is_removed_last),
    CASE(processes_of_a_dead_keeper_are_killed_first),
    CASE(no_process_is_killed_after_a_restart),
});
