/* test_relay_probe.c - the real program as relay and keeper: what it reports of its machine, how it
 * answers a probe, and what it removes that killed keepers left. */
#define RIG_RELAYED 1
#include "unit.h"

#include <sys/mount.h>

#include "base/path.h"
#include "folder.h"
#include "node/node_report.h"
#include "node/temp_left.h"
#include "rig.h"

static void the_report_comes_before_all_of_the_keeper(void **state)
{
  struct rig r;
  struct tm_node_report report;
  rig_open(&r, tm_hello());
  rig_wait(&r, TM_MSG_HELLO, 0);
  const struct tm_msg *f = &r.frames.at[0].f;
  assert_int_equal(f->type, TM_MSG_REPORT);
  assert_int_equal(tm_node_report_decode(&report, f->payload, f->length, NULL), 0);
  assert_int_equal(report.pid, r.keeper);
  assert_int_equal(report.uid, geteuid());
  assert_int_equal(report.cpus, tm_process_cores());
  tm_node_report_release(&report);
  rig_close(&r);
}

/* With the rig's folder as the job directory. `reads`: a path that is asked for, or NULL. */
static void send_probe(struct rig *r, char *reads)
{
  struct tm_buf bytes = TM_BUF_NONE;
  char *asked = tm_xprintf("%s/2.asked", r->dir), *answered = tm_xprintf("%s/2.answered", r->dir);
  char *list[] = { r->dir, reads, NULL };
  struct tm_node_probe p = { .job_dir = r->job_dir ? (char *)r->job_dir : r->dir,
                             .asked = asked,
                             .answered = answered,
                             .nonce = (char *)"4711",
                             .reads = list,
                             .reads_len = reads ? 2 : 1 };
  tm_node_probe_encode(&bytes, &p);
  rig_send(r, TM_MSG_PROBE, 0, 0, bytes.data, bytes.len);
  tm_buf_release(&bytes);
  free(asked);
  free(answered);
}

static void put_asked(struct rig *r, const char *text)
{
  char *path = tm_xprintf("%s/2.asked", r->dir);
  assert_int_equal(tm_fs_write_file(tm_fs_real(), path, text, strlen(text), 0600, NULL), 0);
  free(path);
}

static char *wait_probed(struct rig *r)
{
  struct tm_node_probed probed;
  const struct tm_msg *f = rig_wait(r, TM_MSG_PROBED, 0);
  assert_int_equal(tm_node_probed_decode(&probed, f->payload, f->length, NULL), 0);
  char *problem = tm_xstrdup(probed.problem);
  assert_int_equal(probed.asked.size, *problem ? 0 : 4);
  assert_int_equal(probed.answered.size, *problem ? 0 : 4);
  tm_node_probed_release(&probed);
  return problem;
}

static void a_probe_is_answered(void **state)
{
  struct rig r;
  rig_open(&r, tm_hello());
  put_asked(&r, "4711");
  send_probe(&r, NULL);
  char *problem = wait_probed(&r), *text = rig_read(&r, "2.answered");
  assert_string_equal(problem, "");
  assert_string_equal(text, "4711");
  free(problem);
  free(text);
  rig_close(&r);
}

static void a_probe_says_what_the_node_cannot_do(void **state)
{
  struct rig r;
  rig_open(&r, tm_hello());
  put_asked(&r, "4711");
  send_probe(&r, (char *)"/missing/data");
  char *problem = wait_probed(&r);
  assert_string_equal(problem, "cannot read '/missing/data': no such file or directory");
  free(problem);
  rig_close(&r);
}

static void expect_broken(struct rig *r)
{
  while (!r->has_ended)
    rig_turn(r);
  assert_int_equal(rig_end_keeper(r), TM_RELAY_BROKEN << 8);
  rig_close(r);
}

static void a_second_probe_is_refused(void **state)
{
  struct rig r;
  rig_open(&r, tm_hello());
  put_asked(&r, "4711");
  send_probe(&r, NULL);
  free(wait_probed(&r));
  send_probe(&r, NULL);
  expect_broken(&r);
}

static void a_probe_of_other_bytes_is_refused(void **state)
{
  static const char nothing[] = "", cut[] = "\4\0\0\0/job", long_one[] = "\377\377\377\377/job";
  static const struct {
    const char *bytes;
    size_t len;
  } cases[] = { { nothing, 0 }, { cut, sizeof cut - 1 }, { long_one, sizeof long_one - 1 } };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct rig r;
    rig_open(&r, tm_hello());
    rig_send(&r, TM_MSG_PROBE, 0, 0, cases[i].bytes, cases[i].len);
    expect_broken(&r);
  }
}

/* Within this folder for temporary files of the job. */
static void send_source(struct rig *r, const char *job_dir, const char *dir)
{
  struct tm_buf bytes = TM_BUF_NONE;
  struct tm_node_source s = { .job_dir = (char *)job_dir,
                              .dir = (char *)dir,
                              .hash = (char *)"0123456789abcdef",
                              .incarnation = { 1, 2, 3 } };
  tm_node_source_encode(&bytes, &s);
  rig_send(r, TM_MSG_SOURCE, 0, 0, bytes.data, bytes.len);
  tm_buf_release(&bytes);
}

static char *source_dir(struct rig *r, const char *base)
{
  char *begin = tm_temp_name_begin(r->dir);
  char *dir = tm_xprintf("%s/%s%s/source-0", r->dir, begin, base);
  free(begin);
  return dir;
}

static void a_script_is_taken_or_refused_with_a_reason(void **state)
{
  struct rig r;
  rig_open(&r, tm_hello());
  char *dir = source_dir(&r, "1"), *base = tm_path_dir(dir);
  send_source(&r, r.dir, dir);
  rig_send(&r, TM_MSG_SOURCE_DATA, 0, TM_SOURCE_WORKER, "E", 1);
  const struct tm_msg *f = rig_wait(&r, TM_MSG_SOURCE_TAKEN, 0);
  assert_non_null(strstr(f->payload, "and not 0123456789abcdef"));
  rig_send(&r, TM_MSG_SOURCE_DATA, 0, TM_SOURCE_WORKER, "E", 1); /* it was on its way */
  assert_true(tm_fs_exists(tm_fs_real(), dir));
  char *kept = tm_xstrdup(base);
  rig_close(&r);
  assert_false(tm_fs_exists(tm_fs_real(), kept)); /* without a worker, the relay removes it */
  free(kept);
  free(base);
  free(dir);
}

static void a_script_for_another_folder_is_refused(void **state)
{
  struct rig r;
  rig_open(&r, tm_hello());
  char *dir = tm_path_join(r.dir, "source-0");
  send_source(&r, r.dir, dir);
  expect_broken(&r);
  free(dir);
}

static void two_scripts_at_once_are_refused(void **state)
{
  struct rig r;
  rig_open(&r, tm_hello());
  char *dir = source_dir(&r, "1"), *other = source_dir(&r, "2");
  send_source(&r, r.dir, dir);
  send_source(&r, r.dir, other);
  expect_broken(&r);
  free(dir);
  free(other);
}

static void bytes_that_belong_to_no_script_are_refused(void **state)
{
  struct rig r;
  rig_open(&r, tm_hello());
  rig_send(&r, TM_MSG_SOURCE_DATA, 0, TM_SOURCE_WORKER, "E", 1);
  expect_broken(&r);
}

/* A file system of which nobody answers a request. */
struct hanging {
  struct folder folder;
  int fd; /* or -1: this user cannot mount one */
};

static int mount_hanging(void **state)
{
  struct hanging *h = TM_NEW(struct hanging);
  h->fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  char *options = tm_xprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", h->fd);
  folder_init(&h->folder);
  if (h->fd >= 0 && mount("hanging", h->folder.path, "fuse", MS_NOSUID | MS_NODEV, options) < 0) {
    close(h->fd);
    h->fd = -1;
  }
  free(options);
  *state = h;
  return 0;
}

static int unmount_hanging(void **state)
{
  struct hanging *h = *state;
  if (h->fd >= 0) {
    umount2(h->folder.path, MNT_DETACH);
    close(h->fd);
  }
  folder_release(&h->folder);
  free(h);
  return 0;
}

static void a_file_system_that_hangs_holds_up_nothing_else(void **state)
{
  struct hanging *h = *state;
  struct rig r;
  if (h->fd < 0)
    skip();
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1); /* the detector waits for all threads */
  rig_open_beating(&r, tm_hello(), 60 * TM_S);
  put_asked(&r, "4711");
  send_probe(&r, (char *)folder_file(&h->folder, "file"));
  while (!rig_exists(&r, "2.answered")) /* which is made before */
    tm_loop_turn(&r.loop);
  for (int i = 0; i < 100; i++) {
    rig_send(&r, TM_MSG_PING, 0, 0, NULL, 0);
    rig_wait(&r, TM_MSG_PONG, 0);
  }
  assert_false(rig_has(&r, TM_MSG_PROBED));
  assert_int_equal(rig_end_keeper(&r), 0);
  rig_close(&r);
  unsetenv("ASAN_OPTIONS");
}

/* ---- what killed keepers left ---- */

static const struct tm_incarnation FIRST = { 0xabc, 1, 0 }, SECOND = { 0xabc, 2, 0 };

/* A name as the supervisor makes it. */
static char *base_in(const char *dir, const char *job_dir, int number)
{
  char *begin = tm_temp_name_begin(job_dir);
  char *path = tm_xprintf("%s/%s%012d", dir, begin, number);
  free(begin);
  return path;
}

static bool exists(const char *path)
{
  struct stat st;
  return lstat(path, &st) == 0;
}

static pid_t keeper_of(const struct rig *r)
{
  pid_t children[4];
  assert_int_equal(tm_process_children(r->keeper, children, 4), 1);
  return children[0];
}

/* A node of the job in `job_dir`, with a worker. */
static void open_node(struct rig *r, const char *job_dir, const char *base,
                      const struct tm_incarnation *i)
{
  rig_open(r, tm_hello());
  rig_wait(r, TM_MSG_HELLO, 0);
  r->job_dir = job_dir;
  r->base = base;
  r->incarnation = *i;
  rig_add_step(r, 0, NULL, NULL, 60 * TM_S);
  rig_start_worker(r, 0);
  rig_wait_ready(r, 0);
}

/* With a process that only its mark tells. */
static void a_killed_keeper_s_folders_are_removed(void **state)
{
  struct folder f;
  struct rig r;
  int status;
  folder_init(&f);
  char *base = base_in(f.path, f.path, 1), *other = base_in(f.path, "/x", 1);
  assert_int_equal(mkdir(other, 0700), 0);
  open_node(&r, f.path, base, &FIRST);
  int daemon = rig_start_daemon(&r, 0, "/daemon");
  assert_true(exists(base));
  kill(keeper_of(&r), SIGKILL);
  while (!r.has_ended)
    rig_turn(&r);
  rig_wait_gone(daemon);
  assert_int_equal(waitpid(r.keeper, &status, 0), r.keeper);
  assert_int_equal(status, TM_RELAY_KEEPER_ENDED << 8);
  r.keeper = 0;
  assert_false(exists(base));
  assert_true(exists(other));
  rig_close(&r);
  free(base);
  free(other);
  folder_release(&f);
}

/* The folder of a step must have the name of such a folder. */
static void another_folder_is_not_removed(void **state)
{
  struct folder f;
  struct rig r;
  int status;
  folder_init(&f);
  char *base = tm_xprintf("%s/mine", f.path);
  open_node(&r, f.path, base, &FIRST);
  kill(keeper_of(&r), SIGKILL);
  while (!r.has_ended)
    rig_turn(&r);
  assert_int_equal(waitpid(r.keeper, &status, 0), r.keeper);
  r.keeper = 0;
  assert_true(exists(base));
  rig_close(&r);
  free(base);
  assert_int_equal(tm_tree_remove_forced(f.path, NULL), 0);
}

/* Leaves the folder and a process behind: its relay cannot end them. */
static int kill_node(struct rig *r)
{
  int status, daemon = rig_start_daemon(r, 0, "/daemon");
  pid_t keeper = keeper_of(r);
  kill(r->keeper, SIGSTOP);
  kill(keeper, SIGKILL);
  kill(r->keeper, SIGKILL);
  assert_int_equal(waitpid(r->keeper, &status, 0), r->keeper);
  r->keeper = 0;
  while (!r->has_ended)
    rig_turn(r);
  rig_close(r);
  return daemon;
}

static void the_next_node_removes_what_a_dead_one_left(void **state)
{
  static const struct tm_incarnation third = { 0xabc, 3, 0 };
  struct folder f;
  struct rig lives, dead, next;
  folder_init(&f);
  setenv("TMPDIR", f.path, 1);
  char *job_dir = tm_xprintf("%s/job", f.path);
  char *stays = base_in(f.path, job_dir, 1), *left = base_in(f.path, job_dir, 2);
  assert_int_equal(mkdir(job_dir, 0700), 0);
  open_node(&lives, job_dir, stays, &FIRST);
  open_node(&dead, job_dir, left, &SECOND);
  int daemon = kill_node(&dead);
  assert_true(exists(left));
  rig_open(&next, tm_hello());
  rig_wait(&next, TM_MSG_HELLO, 0);
  next.job_dir = job_dir;
  next.incarnation = third;
  put_asked(&next, "4711");
  send_probe(&next, NULL);
  char *problem = wait_probed(&next);
  assert_string_equal(problem, "");
  assert_non_null(strstr(rig_wait(&next, TM_MSG_NOTE, 0)->payload, "removed 1 temporary folder "));
  rig_wait_gone(daemon);
  assert_false(exists(left));
  assert_true(exists(stays));
  free(rig_wait_rows(&lives, 0, rig_hand(&lives, 0, "/a")));
  rig_close(&next);
  rig_close(&lives);
  assert_false(exists(stays));
  unsetenv("TMPDIR");
  free(problem);
  free(job_dir);
  free(stays);
  free(left);
  assert_int_equal(tm_tree_remove_forced(f.path, NULL), 0);
}

UNIT_HOOKS(.serve = rig_serve, .limit_s = 120);
UNIT_TESTS({
    cmocka_unit_test(the_report_comes_before_all_of_the_keeper),
    cmocka_unit_test(a_probe_is_answered),
    cmocka_unit_test(a_probe_says_what_the_node_cannot_do),
    cmocka_unit_test(a_second_probe_is_refused),
    cmocka_unit_test(a_probe_of_other_bytes_is_refused),
    cmocka_unit_test(a_script_is_taken_or_refused_with_a_reason),
    cmocka_unit_test(a_script_for_another_folder_is_refused),
    cmocka_unit_test(two_scripts_at_once_are_refused),
    cmocka_unit_test(bytes_that_belong_to_no_script_are_refused),
    cmocka_unit_test_setup_teardown(a_file_system_that_hangs_holds_up_nothing_else, mount_hanging,
                                    unmount_hanging),
    cmocka_unit_test(a_killed_keeper_s_folders_are_removed),
    cmocka_unit_test(another_folder_is_not_removed),
    cmocka_unit_test(the_next_node_removes_what_a_dead_one_left),
});
