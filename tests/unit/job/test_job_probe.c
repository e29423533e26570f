/* test_job_probe.c - nodes that a job asks before they get work. The command of a node is this
 * program: a relay that says what the case wants, without a keeper.
 */
#include "unit.h"

#include "fleet/node.h"
#include "job_rig.h"
#include "relay_news.h"

/* ---- the relay, in a process of its own: "node CASE" ---- */

struct relay {
  struct tm_loop loop;
  struct tm_node_stream *stream;
  const char *mode;
  struct tm_timer late;
  struct tm_node_probe probe;
};

static bool is(const struct relay *r, const char *mode)
{
  return strcmp(r->mode, mode) == 0;
}

static void on_relay_open(void *data, const char *skipped, size_t len)
{
  struct relay *r = data;
  struct tm_node_report report = usual_report();
  report.uid = geteuid();
  if (is(r, "elsewhere"))
    report.temp_dir = (char *)"/no such folder here";
  if (!is(r, "mute"))
    tell_report(r->stream, &report);
  if (is(r, "twice"))
    tell_report(r->stream, &report);
}

static struct tm_node_file make_file(const char *path, const char *text)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;
  if (tm_fs_write_file(fs, path, text, strlen(text), 0600, NULL) < 0 ||
      fs->stat(fs->self, path, true, &st) < 0)
    abort();
  return (struct tm_node_file) { st.size, st.mtime_ns };
}

static struct tm_node_file look(const char *path)
{
  struct tm_stat st;
  if (tm_fs_real()->stat(tm_fs_real()->self, path, true, &st) < 0)
    abort();
  return (struct tm_node_file) { st.size, st.mtime_ns };
}

static void send_probed(struct relay *r, const struct tm_node_probed *probed)
{
  struct tm_buf bytes = TM_BUF_NONE;
  tm_node_probed_encode(&bytes, probed);
  tell_bytes(r->stream, TM_MSG_PROBED, &bytes);
  tm_buf_release(&bytes);
}

/* The file appears when the supervisor has looked for it. */
static void on_late(struct tm_timer *t)
{
  struct relay *r = t->data;
  make_file(r->probe.answered, r->probe.nonce);
}

static void answer(struct relay *r)
{
  struct tm_node_probed probed = { .problem = (char *)"", .asked = look(r->probe.asked) };
  if (is(r, "problem"))
    probed = (struct tm_node_probed) { .problem = (char *)"cannot read '/data': no such file" };
  else if (is(r, "late"))
    probed.answered = probed.asked; /* of the same length; the times differ */
  else
    probed.answered = make_file(r->probe.answered, r->probe.nonce);
  if (is(r, "times"))
    probed.asked.time_ns++;
  if (is(r, "sizes"))
    probed.asked.size++;
  send_probed(r, &probed);
  if (is(r, "late"))
    tm_timer_start(&r->late, 150 * TM_MS, 0);
}

static void on_relay_msg(void *data, const struct tm_msg *f)
{
  struct relay *r = data;
  if (f->type == TM_MSG_HELLO) {
    tm_node_stream_send(r->stream, f);
  } else if (f->type == TM_MSG_PROBE) {
    if (tm_node_probe_decode(&r->probe, f->payload, f->length, NULL) < 0)
      abort();
    if (is(r, "garbage"))
      tell_bytes(r->stream, TM_MSG_PROBED, &(struct tm_buf) { .data = (char *)"x", .len = 1 });
    else
      answer(r);
  }
}

static void on_relay_end(void *data, int code, const char *text)
{
  struct relay *r = data;
  tm_loop_stop(&r->loop);
}

static void on_relay_closed(void *data)
{
}

static int run_relay(const char *mode)
{
  struct relay r = { .mode = mode };
  struct tm_node_stream_options o = { .loop = &r.loop,
                                      .in = 0,
                                      .out = 1,
                                      .hello = tm_hello(),
                                      .on_open = on_relay_open,
                                      .on_msg = on_relay_msg,
                                      .on_end = on_relay_end,
                                      .on_closed = on_relay_closed,
                                      .data = &r };
  if (tm_loop_init(&r.loop, NULL) < 0)
    abort();
  tm_timer_open(&r.late, &r.loop, on_late, &r);
  r.stream = tm_node_stream_open(&o, NULL);
  if (!r.stream)
    abort();
  tm_loop_run(&r.loop);
  tm_timer_close(&r.late);
  tm_node_stream_close(r.stream);
  tm_loop_release(&r.loop);
  tm_node_probe_release(&r.probe);
  return 0;
}

static int serve(int argc, char **argv)
{
  return strcmp(argv[1], "node") == 0 ? run_relay(argv[2]) : job_serve(argc, argv);
}

/* ---- the job ---- */

static void setup(struct job *j, int64_t nodes, const char *words)
{
  job_setup(j);
  j->nodes = nodes;
  j->node_words = words;
  job_add(j, "ok", 3);
}

static int count_probe_file(void *data, const char *name, int type)
{
  *(int *)data += strstr(name, ".asked") || strstr(name, ".answered");
  return 0;
}

static void end(struct job *j)
{
  char *nodes = tm_path_join(j->job_dir, "nodes"), *temp = tm_path_join(j->job_dir, "temp_dirs");
  int left = 0;
  job_close(j);
  assert_int_equal(tm_dir_read(nodes, count_probe_file, &left), 0);
  assert_int_equal(left, 0);
  assert_false(tm_fs_exists(tm_fs_real(), temp));
  free(nodes);
  free(temp);
  job_end(j);
}

/* Five nodes are started at once, so that the job ends without a wait between two starts. */
static void fails(const char *words, const char *expected)
{
  struct job j;
  setup(&j, 5, words);
  assert_int_not_equal(job_run(&j), 0);
  if (!job_find(&j, TM_EVENT_NODE, expected))
    fail_msg("no message has '%s'", expected);
  assert_non_null(strstr(tm_job_view(j.job)->steps[0]->cause, expected));
  end(&j);
}

static void a_node_that_does_not_report_is_lost(void **state)
{
  fails("node mute", "the relay of the node did not report its machine first");
}

static void a_node_that_reports_twice_is_lost(void **state)
{
  fails("node twice", "the relay of the node sent an impossible message");
}

static void an_answer_that_cannot_be_read_loses_the_node(void **state)
{
  fails("node garbage", "the relay of the node sent an impossible message");
}

static void a_node_with_a_problem_is_refused(void **state)
{
  fails("node problem",
        "(" RELAY_HOST "): cannot read '/data': no such file; nodes must be able to "
        "use the files of their steps under the same paths");
}

static void cancel_when_ready(struct job *j, const struct job_seen *e)
{
  if (strstr(e->text, " is ready: "))
    tm_job_end_early(j->job, true);
}

static void runs_until_ready(struct job *j, const char *words)
{
  setup(j, 1, words);
  j->on_seen = cancel_when_ready;
  (void)job_run(j);
  assert_non_null(job_find(j, TM_EVENT_NODE,
                           "node 1 (" RELAY_HOST ") is ready: pid 77, 3 CPUs (the affinity), no "
                           "GPU, 16.0 GB of memory"));
}

static void a_node_that_sees_the_same_files_is_ready(void **state)
{
  struct job j;
  runs_until_ready(&j, "node same");
  assert_null(job_find(&j, TM_EVENT_MESSAGE, "other times"));
  end(&j);
}

static void other_times_are_reported(void **state)
{
  struct job j;
  runs_until_ready(&j, "node times");
  assert_non_null(job_find(&j, TM_EVENT_MESSAGE,
                           "node 1 (" RELAY_HOST ") sees other times of the same files than"));
  end(&j);
}

static void a_file_may_appear_late(void **state)
{
  struct job j;
  runs_until_ready(&j, "node late");
  end(&j);
}

/* Its file never has the size that it says; the job is canceled while it looks. */
static void cancel_when_answered(struct job *j)
{
  char *path = tm_path_join(j->job_dir, "nodes/1.answered");
  if (tm_fs_exists(tm_fs_real(), path))
    tm_job_end_early(j->job, true);
  free(path);
}

static void a_job_ends_while_it_looks(void **state)
{
  struct job j;
  setup(&j, 1, "node sizes");
  j.on_tick = cancel_when_answered;
  (void)job_run(&j);
  assert_null(job_find(&j, TM_EVENT_NODE, "is ready"));
  end(&j);
}

static void what_a_killed_session_has_left_is_removed(void **state)
{
  struct job j;
  runs_until_ready(&j, "node same");
  job_close(&j);
  char *left = tm_path_join(j.job_dir, "nodes/1.asked");
  assert_true(tm_fs_write_file(tm_fs_real(), left, "1", 1, 0600, NULL) >= 0);
  free(left);
  j.resume = true;
  j.is_ended = false;
  (void)job_run(&j);
  assert_non_null(job_find(&j, TM_EVENT_NODE, "node 2 (" RELAY_HOST ") is ready"));
  end(&j);
}

/* Its temporary folders would be on another machine, where nothing of ours can look. */
static void folders_of_another_machine_are_left_alone(void **state)
{
  struct job j;
  runs_until_ready(&j, "node elsewhere");
  assert_null(job_find(&j, TM_EVENT_MESSAGE, "temporary folder"));
  end(&j);
}

UNIT_HOOKS(.serve = serve, .limit_s = 120);
UNIT_TESTS({
    cmocka_unit_test(a_node_that_does_not_report_is_lost),
    cmocka_unit_test(a_node_that_reports_twice_is_lost),
    cmocka_unit_test(an_answer_that_cannot_be_read_loses_the_node),
    cmocka_unit_test(a_node_with_a_problem_is_refused),
    cmocka_unit_test(a_node_that_sees_the_same_files_is_ready),
    cmocka_unit_test(other_times_are_reported),
    cmocka_unit_test(a_file_may_appear_late),
    cmocka_unit_test(a_job_ends_while_it_looks),
    cmocka_unit_test(what_a_killed_session_has_left_is_removed),
    cmocka_unit_test(folders_of_another_machine_are_left_alone),
});
