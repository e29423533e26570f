/* test_probe.c - what a probe finds in real folders, and that a file system that hangs holds up
 * neither the loop nor the answer. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/time.h"
#include "folder.h"
#include "relay/probe.h"

#define NONCE "0123456789abcdef"
#define LONG  (60 * TM_S)

struct fixture {
  struct tm_loop loop;
  struct tm_timer timer;
  struct tm_probe *probe;
  struct folder folder;
  char *job, *asked, *answered;
  const char *temp_dir;
  const char *reads[4], *writes[4];
  struct tm_fs fs; /* the machine's, or one that hangs */
  int64_t patience_ns, limit_ns;
  int answers, beats;
  struct tm_node_probed answer;
  struct tm_buf notes;
};

static char *named(struct fixture *x, const char *name)
{
  return tm_xstrdup(folder_file(&x->folder, name));
}

static int setup(void **state)
{
  struct fixture *x = TM_NEW(struct fixture);
  folder_init(&x->folder);
  x->job = named(x, "job");
  x->asked = named(x, "job/nodes/2.asked");
  x->answered = named(x, "job/nodes/2.answered");
  assert_int_equal(mkdir(x->job, 0700), 0);
  assert_int_equal(mkdir(folder_file(&x->folder, "job/nodes"), 0700), 0);
  x->fs = *tm_fs_real();
  x->temp_dir = "";
  x->limit_ns = LONG;
  assert_int_equal(tm_loop_init(&x->loop, NULL), 0);
  *state = x;
  return 0;
}

static int teardown(void **state)
{
  struct fixture *x = *state;
  tm_probe_end(x->probe);
  tm_loop_release(&x->loop);
  tm_node_probed_release(&x->answer);
  tm_buf_release(&x->notes);
  folder_release(&x->folder);
  free(x->job);
  free(x->asked);
  free(x->answered);
  free(x);
  return 0;
}

static void on_note(void *data, const char *text)
{
  struct fixture *x = data;
  assert_int_equal(x->answers, 0);
  tm_buf_printf(&x->notes, "%s;", text);
}

static void on_answer(void *data, const struct tm_node_probed *answer)
{
  struct fixture *x = data;
  x->answers++;
  x->answer = *answer;
  x->answer.problem = tm_xstrdup(answer->problem);
  tm_loop_stop(&x->loop);
}

static void add_list(char ***list, size_t *len, const char *const *paths)
{
  *list = tm_xcalloc(5, sizeof **list);
  for (*len = 0; *len < 4 && paths[*len]; ++*len)
    (*list)[*len] = tm_xstrdup(paths[*len]);
}

static void start(struct fixture *x)
{
  struct tm_probe_options o = { .loop = &x->loop,
                                .fs = &x->fs,
                                .patience_ns = x->patience_ns,
                                .limit_ns = x->limit_ns,
                                .temp_dir = x->temp_dir,
                                .memory_dir = "",
                                .on_note = on_note,
                                .on_answer = on_answer,
                                .data = x };
  struct tm_node_probe p = { .job_dir = tm_xstrdup(x->job),
                             .asked = tm_xstrdup(x->asked),
                             .answered = tm_xstrdup(x->answered),
                             .nonce = tm_xstrdup(NONCE) };
  add_list(&p.reads, &p.reads_len, x->reads);
  add_list(&p.writes, &p.writes_len, x->writes);
  x->probe = tm_probe_start(&o, &p);
}

static const char *probe(struct fixture *x)
{
  start(x);
  while (x->answers == 0)
    tm_loop_run(&x->loop);
  assert_int_equal(x->answers, 1);
  return x->answer.problem;
}

static void put_asked(struct fixture *x, const char *text)
{
  folder_put(&x->folder, "job/nodes/2.asked", 0, text, strlen(text));
}

static void expect_problem(struct fixture *x, const char *before, const char *path,
                           const char *after)
{
  char *words = tm_xprintf("%s'%s'%s", before, path, after);
  assert_string_equal(probe(x), words);
  assert_true(x->answer.asked.size == 0 && x->answer.answered.size == 0);
  free(words);
}

static void a_probe_of_the_same_folder_succeeds(void **state)
{
  struct fixture *x = *state;
  struct stat st;
  put_asked(x, NONCE);
  x->reads[0] = x->asked;
  x->reads[1] = x->writes[0] = x->job;
  assert_string_equal(probe(x), "");
  assert_int_equal(stat(x->asked, &st), 0);
  assert_int_equal(x->answer.asked.size, strlen(NONCE));
  assert_true(x->answer.asked.time_ns == st.st_mtim.tv_sec * TM_S + st.st_mtim.tv_nsec);
  assert_int_equal(stat(x->answered, &st), 0);
  assert_int_equal(st.st_mode & 0777, 0600);
  assert_int_equal(x->answer.answered.size, strlen(NONCE));
  assert_true(x->answer.answered.time_ns == st.st_mtim.tv_sec * TM_S + st.st_mtim.tv_nsec);
  char *text = folder_text(&x->folder, "job/nodes/2.answered");
  assert_string_equal(text, NONCE);
  free(text);
}

static void a_job_directory_that_is_missing_is_named(void **state)
{
  struct fixture *x = *state;
  strcpy(x->job, "/missing"); /* shorter than it was */
  expect_problem(x, "cannot see the job directory ", x->job, ": no such file or directory");
}

static void a_file_is_not_a_job_directory(void **state)
{
  struct fixture *x = *state;
  put_asked(x, NONCE);
  free(x->job);
  x->job = tm_xstrdup(x->asked);
  expect_problem(x, "cannot see the job directory ", x->job, ": not a directory");
}

static void another_job_directory_is_recognised(void **state)
{
  struct fixture *x = *state;
  put_asked(x, "0123456789abcdee");
  expect_problem(x, "the job directory ", x->job,
                 " is another one here: its file 'nodes/2.asked' has other contents");
  assert_int_equal(folder_size(&x->folder, "job/nodes/2.answered"), -1);
}

static void a_longer_text_is_not_the_nonce(void **state)
{
  struct fixture *x = *state;
  put_asked(x, NONCE "0");
  assert_non_null(strstr(probe(x), "has other contents"));
}

static void a_file_that_stays_missing_is_named(void **state)
{
  struct fixture *x = *state;
  x->patience_ns = TM_MS;
  expect_problem(x, "the job directory ", x->job,
                 " is another one here: its file 'nodes/2.asked' is missing");
}

static void on_time(struct tm_timer *t)
{
  struct fixture *x = t->data;
  if (++x->beats == 2)
    put_asked(x, "01234567");
  else if (x->beats == 4)
    put_asked(x, NONCE);
}

/* As through the cache of a network file system: first missing, then cut. */
static void a_file_that_appears_late_is_found(void **state)
{
  struct fixture *x = *state;
  x->patience_ns = LONG;
  tm_timer_open(&x->timer, &x->loop, on_time, x);
  tm_timer_start(&x->timer, 25 * TM_MS, 25 * TM_MS);
  assert_string_equal(probe(x), "");
  assert_int_equal(x->answer.asked.size, strlen(NONCE));
  assert_true(x->beats >= 4);
  tm_timer_close(&x->timer);
}

static void a_file_that_cannot_be_read_is_named(void **state)
{
  struct fixture *x = *state;
  assert_int_equal(mkdir(x->asked, 0700), 0);
  expect_problem(x, "cannot read ", x->asked, ": illegal operation on a directory");
}

static void an_answer_that_exists_is_not_overwritten(void **state)
{
  struct fixture *x = *state;
  put_asked(x, NONCE);
  folder_put(&x->folder, "job/nodes/2.answered", 0, "old", 3);
  expect_problem(x, "cannot make ", x->answered, ": file already exists");
  assert_int_equal(folder_size(&x->folder, "job/nodes/2.answered"), 3);
}

static void what_cannot_be_read_or_written_is_named(void **state)
{
  for (int i = 0; i < 4; i++) {
    struct fixture *x;
    setup((void **)&x);
    put_asked(x, NONCE);
    char *missing = named(x, "missing"), *closed = named(x, "closed");
    assert_int_equal(mkdir(closed, 0100), 0);
    const char *path = i == 0 || i == 1 ? missing : i == 2 ? x->asked : closed;
    bool is_write = i > 0;
    (is_write ? x->writes : x->reads)[0] = x->job;
    (is_write ? x->writes : x->reads)[1] = path;
    const char *problem = probe(x);
    if (i == 3 && geteuid() == 0) /* root may */
      assert_string_equal(problem, "");
    else if (!strstr(problem, is_write ? "cannot write in '" : "cannot read '") ||
             !strstr(problem, path))
      fail_msg("case %d: %s", i, problem);
    free(missing);
    free(closed);
    teardown((void **)&x);
  }
}

static void the_first_problem_is_one_line(void **state)
{
  struct fixture *x = *state;
  put_asked(x, NONCE);
  x->reads[0] = "/missing/a\nb\x1b[1m";
  x->reads[1] = "/missing/too";
  expect_problem(x, "cannot read ", "/missing/a\\nb\\x1B[1m", ": no such file or directory");
}

/* A file system that answers an open() when the test says so. */
struct hanging {
  struct tm_fs fs;
  int begun[2], go[2], ended[2];
};

static void pass_byte(int from, int to)
{
  char byte = 0;
  if (from >= 0)
    assert_int_equal(read(from, &byte, 1), 1);
  if (to >= 0)
    assert_int_equal(write(to, &byte, 1), 1);
}

static int hanging_open(void *self, const char *path, int flags, int mode)
{
  struct hanging *h = self;
  pass_byte(-1, h->begun[1]);
  pass_byte(h->go[0], h->ended[1]);
  return -EIO;
}

static int hanging_stat(void *self, const char *path, bool follow, struct tm_stat *out)
{
  return tm_fs_real()->stat(NULL, path, follow, out);
}

static void open_hanging(struct fixture *x, struct hanging *h)
{
  assert_int_equal(pipe2(h->begun, O_CLOEXEC), 0);
  assert_int_equal(pipe2(h->go, O_CLOEXEC), 0);
  assert_int_equal(pipe2(h->ended, O_CLOEXEC), 0);
  x->fs.self = h;
  x->fs.open = hanging_open;
  x->fs.stat = hanging_stat;
}

/* Lets the thread, which nobody waits for, go on. */
static void close_hanging(struct hanging *h)
{
  int *const pipes[] = { h->begun, h->go, h->ended };
  pass_byte(-1, h->go[1]);
  pass_byte(h->ended[0], -1);
  for (size_t i = 0; i < TM_COUNT_OF(pipes); i++) {
    close(pipes[i][0]);
    close(pipes[i][1]);
  }
}

static void on_beat(struct tm_timer *t)
{
  ((struct fixture *)t->data)->beats++;
}

static void a_file_system_that_hangs_is_named_after_the_limit(void **state)
{
  struct fixture *x = *state;
  struct hanging h;
  open_hanging(x, &h);
  x->limit_ns = 20 * TM_MS;
  tm_timer_open(&x->timer, &x->loop, on_beat, x);
  tm_timer_start(&x->timer, TM_MS, TM_MS);
  expect_problem(x, "the file system of ", x->asked, " has not answered for 0.02 s");
  assert_true(x->beats > 0); /* the loop has turned meanwhile */
  tm_timer_close(&x->timer);
  pass_byte(h.begun[0], -1);
  close_hanging(&h);
}

static void a_thread_that_hangs_is_left_behind(void **state)
{
  struct fixture *x = *state;
  struct hanging h;
  open_hanging(x, &h);
  start(x);
  pass_byte(h.begun[0], -1);
  tm_probe_end(x->probe);
  x->probe = NULL;
  tm_loop_run(&x->loop); /* until nothing is open */
  assert_int_equal(x->answers, 0);
  close_hanging(&h);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

UNIT_TESTS({
    CASE(a_probe_of_the_same_folder_succeeds),
    CASE(a_job_directory_that_is_missing_is_named),
    CASE(a_file_is_not_a_job_directory),
    CASE(another_job_directory_is_recognised),
    CASE(a_longer_text_is_not_the_nonce),
    CASE(a_file_that_stays_missing_is_named),
    CASE(a_file_that_appears_late_is_found),
    CASE(a_file_that_cannot_be_read_is_named),
    CASE(an_answer_that_exists_is_not_overwritten),
    cmocka_unit_test(what_cannot_be_read_or_written_is_named),
    CASE(the_first_problem_is_one_line),
    CASE(a_file_system_that_hangs_is_named_after_the_limit),
    CASE(a_thread_that_hangs_is_left_behind),
});
