/* The headers and the library belong together: versions, structs that grow. */
#include "host.h"

#if TIDEMILL_VERSION_NUMBER < TIDEMILL_VERSION_OF(0, 2, 0)
#error "a version cannot be compared in a directive"
#endif

static void test_version(void **state)
{
  char text[64];
  snprintf(text, sizeof text, "%d.%d.%d", TIDEMILL_VERSION_MAJOR, TIDEMILL_VERSION_MINOR,
           TIDEMILL_VERSION_PATCH);
  assert_string_equal(tidemill_version(), text);
  assert_int_equal(tidemill_version_number(), TIDEMILL_VERSION_NUMBER);
  assert_true(TIDEMILL_VERSION_OF(0, 9, 9) < TIDEMILL_VERSION_OF(0, 10, 0));
  assert_true(TIDEMILL_VERSION_OF(0, 999, 999) < TIDEMILL_VERSION_OF(1, 0, 0));
}

static void look_at_counts(struct host *h, const struct tidemill_event *e)
{
  assert_int_equal(e->counts->size, sizeof(struct tidemill_counts));
  bool has_counts = e->kind == TIDEMILL_EVENT_STATE || e->kind == TIDEMILL_EVENT_STEP ||
                    e->kind == TIDEMILL_EVENT_PROGRESS;
  assert_true(has_counts || e->counts->created == 0);
  if (e->kind == TIDEMILL_EVENT_STEP && e->state == TIDEMILL_STATE_COMPLETED)
    *(int64_t *)h->data = e->counts->succeeded;
}

/* A pointer of the same size everywhere, and a size of their own. */
static void counts_can_grow(void **state)
{
  struct host h;
  struct tidemill_step step = TIDEMILL_STEP_INIT;
  struct tidemill_record *r;
  int64_t succeeded = 0;
  host_setup(&h, "good", 3, NULL);
  host_runtime(&h, NULL);
  h.on_event = look_at_counts;
  h.data = &succeeded;
  host_submit(&h);
  host_wait(&h);
  assert_int_equal(succeeded, 3);
  host_must(&h, tidemill_job_step(h.job, 0, &step, &h.err));
  host_must(&h, tidemill_record_open(&r, NULL, tidemill_job_dir(h.job), &h.err));
  const struct tidemill_counts *all[] = { tidemill_job_counts(h.job), step.counts,
                                          tidemill_record_info(r)->counts,
                                          tidemill_record_step(r, 0)->counts };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    assert_int_equal(all[i]->size, sizeof(struct tidemill_counts));
    assert_int_equal(all[i]->succeeded, 3);
    assert_true(all[i]->all_created);
  }
  tidemill_record_close(r);
  host_end(&h);
}

static void look_at_node(struct host *h, const struct tidemill_event *e)
{
  char name[256] = "";
  assert_int_equal(gethostname(name, sizeof name - 1), 0);
  assert_string_equal(e->node_id, e->worker ? "0" : "");
  assert_string_equal(e->node_address, e->worker ? name : "");
  *(int *)h->data += e->worker != NULL;
}

static void events_of_a_worker_name_its_node(void **state)
{
  struct host h;
  int n = 0;
  host_setup(&h, "good", 1, NULL);
  host_runtime(&h, NULL);
  h.on_event = look_at_node;
  h.data = &n;
  host_submit(&h);
  host_wait(&h);
  assert_true(n >= 4); /* started, ready, a try, ended */
  host_end(&h);
}

/* What the calls below need besides their options. */
struct later {
  struct host *h;
  struct tidemill_workspace *ws;
};

static int later_runtime(struct later *l, void *o, struct tidemill_error *err)
{
  struct tidemill_runtime *rt = NULL;
  int rc = tidemill_runtime_new(&rt, o, err);
  tidemill_runtime_close(rt, NULL);
  return rc;
}

static int later_job(struct later *l, void *o, struct tidemill_error *err)
{
  struct tidemill_job *job = NULL;
  int rc = tidemill_job_submit(&job, l->h->pipeline, o, err);
  tidemill_job_close(job);
  return rc;
}

static int later_screen(struct later *l, void *o, struct tidemill_error *err)
{
  struct tidemill_job_options with = TIDEMILL_JOB_OPTIONS_INIT;
  with.screen = o;
  return later_job(l, &with, err);
}

static int later_plan(struct later *l, void *o, struct tidemill_error *err)
{
  const char *text;
  return tidemill_pipeline_plan(&text, l->h->pipeline, o, err);
}

static int later_script(struct later *l, void *o, struct tidemill_error *err)
{
  struct tidemill_script *s = NULL;
  int rc = tidemill_script_load(&s, l->h->pipeline, o, err);
  tidemill_script_close(s);
  return rc;
}

static int later_console(struct later *l, void *o, struct tidemill_error *err)
{
  struct tidemill_console *c = NULL;
  int rc = tidemill_console_new(&c, l->h->rt, o, err);
  tidemill_console_close(c);
  return rc;
}

static int later_workspace(struct later *l, void *o, struct tidemill_error *err)
{
  struct tidemill_workspace *ws = NULL;
  struct tidemill_workspace_options *options = o;
  char path[256];
  host_path(l->h, "ws", path);
  options->path = path;
  options->make = true;
  int rc = tidemill_workspace_open(&ws, options, err);
  tidemill_workspace_close(ws);
  return rc;
}

static int on_line(const struct tidemill_log_line *line, void *data)
{
  return 0;
}

static int later_logs(struct later *l, void *o, struct tidemill_error *err)
{
  return tidemill_workspace_logs(l->ws, tidemill_job_dir(l->h->job), o, on_line, NULL, err);
}

static int later_registration(struct later *l, void *o, struct tidemill_error *err)
{
  struct tidemill_registration *r = o;
  char path[256];
  const char *paths[] = { path };
  host_path(l->h, "in", path);
  r->name = "letters";
  r->paths = paths;
  r->paths_len = 1;
  return tidemill_dataset_register(NULL, l->ws, r, err);
}

static int on_row(const char *line, void *data)
{
  return 0;
}

static int later_head(struct later *l, void *o, struct tidemill_error *err)
{
  struct tidemill_head_options *options = o;
  char path[256];
  const char *paths[] = { path };
  host_path(l->h, "table.csv", path);
  options->paths = paths;
  options->paths_len = 1;
  options->on_line = on_row;
  return tidemill_head(options, err);
}

static int later_clean(struct later *l, void *o, struct tidemill_error *err)
{
  struct tidemill_clean *c = NULL;
  int rc = tidemill_clean_new(&c, l->ws, o, err);
  tidemill_clean_free(c);
  return rc;
}

static void check_later(struct later *l,
                        int (*call)(struct later *, void *, struct tidemill_error *),
                        const void *init, size_t size)
{
  union { /* the options as a later header might have them */
    size_t size;
    int64_t aligned[64];
    char bytes[512];
  } later;
  char text[64];
  struct tidemill_error err = { 0 };
  assert_true(size <= sizeof later - 16);
  memset(&later, 0, sizeof later);
  memcpy(&later, init, size);
  assert_int_equal(later.size, size);
  later.size = size + 16;
  assert_true(call(l, &later, &err) >= 0); /* what is unknown is not set */
  later.bytes[size + 15] = 1;
  assert_int_equal(call(l, &later, &err), TIDEMILL_EUSAGE);
  snprintf(text, sizeof text, "does not know is set, at byte %zu;", size + 15);
  assert_non_null(strstr(err.text, text));
  assert_non_null(strstr(err.text, tidemill_version()));
  later.bytes[size + 15] = 0;
  later.size = (size_t)-1;
  assert_int_equal(call(l, &later, &err), TIDEMILL_EUSAGE);
  assert_non_null(strstr(err.text, "_INIT"));
}

#define CHECK_LATER(call, type, init)                                                              \
  do {                                                                                             \
    type given = init;                                                                             \
    check_later(&l, call, &given, sizeof given);                                                   \
  } while (0)

static void members_that_the_library_does_not_know_are_refused(void **state)
{
  struct host h;
  struct later l = { .h = &h };
  host_setup(&h, "good", 1, NULL);
  host_put(&h, "table.csv", "a,b\n1,2\n");
  host_runtime(&h, NULL);
  host_submit(&h);
  host_wait(&h);
  struct tidemill_workspace_options o = TIDEMILL_WORKSPACE_OPTIONS_INIT;
  char path[256];
  host_path(&h, "ws", path);
  o.path = path;
  host_must(&h, tidemill_workspace_open(&l.ws, &o, &h.err));
  CHECK_LATER(later_runtime, struct tidemill_runtime_options, TIDEMILL_RUNTIME_OPTIONS_INIT);
  CHECK_LATER(later_job, struct tidemill_job_options, TIDEMILL_JOB_OPTIONS_INIT);
  CHECK_LATER(later_screen, struct tidemill_screen, TIDEMILL_SCREEN_INIT);
  CHECK_LATER(later_plan, struct tidemill_plan_options, TIDEMILL_PLAN_OPTIONS_INIT);
  CHECK_LATER(later_script, struct tidemill_script_options, TIDEMILL_SCRIPT_OPTIONS_INIT);
  CHECK_LATER(later_workspace, struct tidemill_workspace_options, TIDEMILL_WORKSPACE_OPTIONS_INIT);
  CHECK_LATER(later_logs, struct tidemill_logs_options, TIDEMILL_LOGS_OPTIONS_INIT);
  CHECK_LATER(later_registration, struct tidemill_registration, TIDEMILL_REGISTRATION_INIT);
  CHECK_LATER(later_head, struct tidemill_head_options, TIDEMILL_HEAD_OPTIONS_INIT);
  CHECK_LATER(later_clean, struct tidemill_clean_options, TIDEMILL_CLEAN_OPTIONS_INIT);
  tidemill_workspace_close(l.ws);
  host_end(&h);
}

static void a_console_refuses_them_too(void **state)
{
  struct host h;
  struct later l = { .h = &h };
  host_setup(&h, NULL);
  host_runtime(&h, NULL);
  CHECK_LATER(later_console, struct tidemill_console_options, TIDEMILL_CONSOLE_OPTIONS_INIT);
  host_end(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_version),
    cmocka_unit_test(counts_can_grow),
    cmocka_unit_test(members_that_the_library_does_not_know_are_refused),
    cmocka_unit_test(a_console_refuses_them_too),
    cmocka_unit_test(events_of_a_worker_name_its_node),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
