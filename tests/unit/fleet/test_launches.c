/* test_launches.c - commands that a real keeper launches for a node, and a node whose stream such a
 * command carries. */
#include "unit.h"

#include "fleet/launches.h"
#include "fleet/node.h"
#include "rig.h"

struct heard {
  int launched, failed, ended; /* calls */
  int64_t pid;
  int fd;
  char *text;
  struct tm_launch_ended end;
};

struct launcher {
  struct tm_loop loop;
  struct tm_timer limit;
  struct tm_node *local, *far;
  char dir[64];
  struct heard heard[3]; /* by number */
  struct tm_worker_link *link;
  struct tm_buf lost;
  bool is_late, is_loaded, is_gone;
  bool is_ready; /* far */
};

static void on_note(void *data, const char *text)
{
}

static void on_lost(void *data, const char *text)
{
  tm_buf_printf(&((struct launcher *)data)->lost, "%s;", text);
}

/* The relay there is a real one. */
static void on_report(void *data)
{
  struct launcher *x = data;
  char *asked = tm_xprintf("%s/1.asked", x->dir), *answered = tm_xprintf("%s/1.answered", x->dir);
  struct tm_node_probe probe = {
    .job_dir = x->dir, .asked = asked, .answered = answered, .nonce = (char *)"0123456789abcdef"
  };
  assert_true(tm_fs_write_file(tm_fs_real(), asked, probe.nonce, 16, 0600, NULL) >= 0);
  tm_node_ask(x->far, &probe);
  free(asked);
  free(answered);
}

static void on_probed(void *data, const struct tm_node_probed *probed)
{
  struct launcher *x = data;
  assert_string_equal(probed->problem, "");
  assert_int_equal(probed->asked.size, 16);
  assert_int_equal(probed->answered.size, 16);
  tm_node_admit(x->far, false);
}

static void on_ready(void *data)
{
  ((struct launcher *)data)->is_ready = true;
}

static void on_launched(void *data, uint32_t launch, int64_t pid, int fd)
{
  struct heard *h = &((struct launcher *)data)->heard[launch];
  h->launched++;
  h->pid = pid;
  h->fd = fd;
}

static void on_launch_failed(void *data, uint32_t launch, const char *text)
{
  struct heard *h = &((struct launcher *)data)->heard[launch];
  h->failed++;
  h->text = tm_xstrdup(text);
}

static void on_launch_ended(void *data, uint32_t launch, const struct tm_launch_ended *ended)
{
  struct heard *h = &((struct launcher *)data)->heard[launch];
  h->ended++;
  h->end = *ended;
}

static void on_link_msg(void *data, const struct tm_msg *f)
{
  ((struct launcher *)data)->is_loaded |= f->type == TM_MSG_LOADED;
}

static void on_link_end(void *data, int code)
{
}

static void on_link_closed(void *data)
{
}

static void send_setup(struct launcher *x)
{
  struct tm_buf bytes = TM_BUF_NONE;
  char *arguments[] = { NULL }, *file = tm_xprintf("%s/error.txt", x->dir);
  struct tm_setup s = { .worker_name = (char *)"process000",
                        .node_id = (char *)"1",
                        .arguments = arguments,
                        .error_file = file,
                        .spill_dir = x->dir,
                        .logging_level = TM_INFO,
                        .max_result_size = 1 << 20 };
  tm_setup_encode(&bytes, &s);
  struct tm_msg f = {
    .type = TM_MSG_SETUP, .payload = bytes.data, .length = (uint32_t)bytes.len, .fd = -1
  };
  tm_worker_link_send(x->link, &f);
  tm_buf_release(&bytes);
  free(file);
}

static void on_started(void *data, uint32_t worker, int64_t pid, struct tm_worker_link *link)
{
  struct launcher *x = data;
  static const struct tm_worker_link_user user = { .on_msg = on_link_msg,
                                                   .on_end = on_link_end,
                                                   .on_closed = on_link_closed };
  x->link = link;
  assert_int_equal(tm_worker_link_open(link, &x->loop, &user, x, NULL), 0);
  send_setup(x);
}

static void on_start_failed(void *data, uint32_t worker, const char *text)
{
  fail_msg("%s", text);
}

static void on_taken(void *data, uint32_t worker, const uint64_t *seqs, size_t n)
{
}

static void on_ended(void *data, uint32_t worker, const struct tm_ended *ended)
{
}

static void on_late(struct tm_timer *t)
{
  ((struct launcher *)t->data)->is_late = true;
}

/* Waits for what happens next. */
static void turn(struct launcher *x)
{
  struct pollfd p = { .fd = tm_loop_fd(&x->loop), .events = POLLIN };
  poll(&p, 1, tm_loop_timeout_ms(&x->loop));
  tm_loop_turn(&x->loop);
  assert_false(x->is_late);
}

static uint32_t add_step(struct launcher *x, struct tm_node *n)
{
  char *self = tm_process_program(), *argv[] = { self, (char *)"worker", NULL };
  char *environment[] = { NULL }, *id = (char *)tm_node_name(n);
  char *logs = tm_xprintf("%s/logs", x->dir), *temp = tm_xprintf("%s/temp-%s/t", x->dir, id);
  struct tm_node_step step = { .node_id = id,
                               .job_dir = x->dir,
                               .logs_dir = logs,
                               .cwd = x->dir,
                               .temp_base = temp,
                               .memory_base = (char *)"",
                               .worker_argv = argv,
                               .worker_argv_len = 2,
                               .environment = environment };
  struct tm_node_user user = { .data = x,
                               .on_started = on_started,
                               .on_start_failed = on_start_failed,
                               .on_taken = on_taken,
                               .on_ended = on_ended };
  uint32_t number = tm_node_add_step(n, &step, &user);
  free(self);
  free(logs);
  free(temp);
  return number;
}

static struct tm_node_options options_of(struct launcher *x, uint32_t id)
{
  return (struct tm_node_options) { .loop = &x->loop,
                                    .has_stderr = true,
                                    .node_timeout_ns = RIG_LIMIT,
                                    .incarnation = { .epoch = 1, .node = id },
                                    .on_note = on_note,
                                    .on_lost = on_lost,
                                    .data = x };
}

static void setup(struct launcher *x)
{
  char *self = tm_process_program();
  *x = (struct launcher) { .dir = "/tmp/tidemill-launches-XXXXXX" };
  assert_non_null(mkdtemp(x->dir));
  char *logs = tm_xprintf("%s/logs", x->dir);
  assert_int_equal(mkdir(logs, 0700), 0);
  assert_int_equal(tm_loop_init(&x->loop, NULL), 0);
  tm_timer_open(&x->limit, &x->loop, on_late, x);
  tm_timer_start(&x->limit, RIG_LIMIT, 0);
  struct tm_node_options o = options_of(x, 0);
  o.program = self;
  x->local = tm_node_start(&o, NULL);
  assert_non_null(x->local);
  add_step(x, x->local);
  free(logs);
  free(self);
}

static void release(struct launcher *x)
{
  assert_string_equal(tm_buf_str(&x->lost), "");
  tm_node_close_now(x->local);
  tm_timer_close(&x->limit);
  tm_loop_release(&x->loop);
  tm_tree_remove(x->dir, NULL);
  tm_buf_release(&x->lost);
  for (size_t i = 0; i < TM_COUNT_OF(x->heard); i++)
    free(x->heard[i].text);
}

static uint32_t launch(struct launcher *x, const char *program, const char *first, const char *rest)
{
  char *argv[] = { (char *)program, (char *)first, (char *)rest, NULL };
  char *path = tm_xprintf("%s/err", x->dir);
  struct tm_launch l = { .argv = argv, .stderr_path = path, .cwd = x->dir };
  struct tm_launch_user user = { x, on_launched, on_launch_failed, on_launch_ended, NULL };
  uint32_t number = tm_node_launch(x->local, &l, &user);
  assert_int_equal(x->heard[number].launched + x->heard[number].failed, 0);
  free(path);
  return number;
}

static void a_launch_is_heard_of_until_its_end(void **state)
{
  struct launcher x;
  setup(&x);
  assert_int_equal(launch(&x, "sh", "-c", "cat; echo over >&2; exit 4"), 0);
  assert_int_equal(launch(&x, "no-such-program", NULL, NULL), 1);
  while (!x.heard[0].launched || !x.heard[1].failed)
    turn(&x);
  assert_true(x.heard[0].pid > 0 && x.heard[0].fd >= 0);
  assert_non_null(strstr(x.heard[1].text, "'no-such-program'"));
  close(x.heard[0].fd);
  while (!x.heard[0].ended)
    turn(&x);
  assert_int_equal(x.heard[0].end.exit_status, 4);
  assert_string_equal(x.heard[0].end.last_line, "over");
  tm_node_end_launch(x.local, 0); /* it has ended, and was never begun */
  tm_node_end_launch(x.local, 1);
  release(&x);
  assert_int_equal(x.heard[0].launched + x.heard[0].ended, 2);
  assert_int_equal(x.heard[1].failed, 1);
}

static void a_launch_is_ended_on_request(void **state)
{
  struct launcher x;
  setup(&x);
  launch(&x, "cat", NULL, NULL);
  while (!x.heard[0].launched)
    turn(&x);
  tm_node_end_launch(x.local, 0);
  tm_node_end_launch(x.local, 0);
  while (!x.heard[0].ended)
    turn(&x);
  assert_int_equal(x.heard[0].end.signal, SIGTERM);
  close(x.heard[0].fd);
  release(&x);
}

static void on_far_gone(void *data)
{
  ((struct launcher *)data)->is_gone = true;
}

/* A worker, behind a keeper, behind a relay, behind a launch. */
static void a_launch_carries_the_stream_of_a_node(void **state)
{
  struct launcher x;
  char *self = tm_process_program();
  setup(&x);
  launch(&x, getenv("RIG_PROGRAM") ? getenv("RIG_PROGRAM") : self, "node", NULL);
  while (!x.heard[0].launched)
    turn(&x);
  struct tm_node_options o = options_of(&x, 1);
  o.on_report = on_report;
  o.on_probed = on_probed;
  o.on_ready = on_ready;
  x.far = tm_node_connect(&o, x.heard[0].fd, x.heard[0].fd, NULL);
  assert_non_null(x.far);
  while (!x.is_ready)
    turn(&x);
  tm_node_start_worker(x.far, add_step(&x, x.far), 0, "process000");
  while (!x.is_loaded)
    turn(&x);
  tm_worker_link_close(x.link);
  tm_node_close(x.far, on_far_gone);
  while (!x.is_gone || !x.heard[0].ended) /* the relay ends when its stream does */
    turn(&x);
  assert_int_equal(x.heard[0].end.exit_status, 0);
  assert_int_equal(x.heard[0].end.signal, 0);
  release(&x);
  free(self);
}

UNIT_HOOKS(.serve = rig_serve, .limit_s = 120);
UNIT_TESTS({
    cmocka_unit_test(a_launch_is_heard_of_until_its_end),
    cmocka_unit_test(a_launch_is_ended_on_request),
    cmocka_unit_test(a_launch_carries_the_stream_of_a_node),
});
