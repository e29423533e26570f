/* test_running.c - the file that says what a job is doing: how often it is written, what a reader
 * gets, and when the reader does not trust it.
 */
#include "unit.h"

#include "report_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "inspect/inspection.h"
#include "report/running.h"

#define FILE_NAME "logs/sys/running.json"

static struct tm_activity list[2];
static struct tm_activities now;
static struct tm_nodes_now nodes;

static void prepare(void)
{
  list[0] = (struct tm_activity) { .worker = "process003",
                                   .pid = 4711,
                                   .phase = TM_PHASE_RUN,
                                   .ns = 41 * TM_S,
                                   .seq = 9,
                                   .index = 7,
                                   .try = 2,
                                   .first_item = (char *)"/data/a.pgm" };
  list[1] = (struct tm_activity) { .worker = "process001", .phase = TM_PHASE_INIT, .ns = 2 * TM_S };
  nodes = (struct tm_nodes_now) { 0 };
  now = (struct tm_activities) { .list = { list, 2, 2 }, .workers = 4, .in_init = 1 };
}

static int tick(struct report_fixture *f, struct tm_running *r, int64_t later_ns)
{
  struct tm_event e;
  f->now_ns += later_ns;
  f->wall_ns += later_ns;
  e = fixture_event(f, TM_EVENT_TICK);
  return tm_running_tick(r, &e, &now, nodes.all > 0 ? &nodes : NULL, NULL);
}

/* Sets the file's modification time: seconds before or after the fixture's wall clock. */
static void set_time(const struct report_fixture *f, const char *name, int64_t seconds)
{
  char *path = tm_path_join(f->dir, name);
  struct timespec t = { .tv_sec = FIXTURE_WALL / TM_S + seconds };
  struct timespec both[2] = { t, t };
  assert_int_equal(utimensat(AT_FDCWD, path, both, 0), 0);
  free(path);
}

static void put(const struct report_fixture *f, const char *name, const char *text)
{
  char *path = tm_path_join(f->dir, name);
  assert_int_equal(tm_fs_write_file(tm_fs_real(), path, text, strlen(text), 0600, NULL), 0);
  free(path);
}

static size_t read_back(const struct report_fixture *f, struct tm_step_inspection *s,
                        int64_t wall_ns)
{
  *s = (struct tm_step_inspection) { .name = NULL };
  tm_inspection_read_running(s, f->dir, f->dir, wall_ns);
  return s->activities.list.len;
}

static void written_values_are_read_back(void **state)
{
  struct report_fixture *f = *state;
  struct tm_running r;
  struct tm_step_inspection s;
  prepare();
  put(f, "owner", "{}");
  set_time(f, "owner", 0);
  assert_int_equal(tm_running_init(&r, tm_fs_real(), f->logs, NULL), 0);
  assert_int_equal(tick(f, &r, 0), 0);
  assert_int_equal(read_back(f, &s, f->wall_ns + 3 * TM_S), 2);
  assert_int_equal(s.activities.workers, 4);
  assert_int_equal(s.activities.in_init, 1);
  assert_string_equal(s.activities.list.at[0].worker, "process003");
  assert_int_equal(s.activities.list.at[0].index, 7);
  assert_int_equal(s.activities.list.at[0].ns / TM_MS,
                   44000); /* the time continues after the write */
  assert_string_equal(s.activities.list.at[0].first_item, "/data/a.pgm");
  assert_int_equal(s.activities.list.at[1].phase, TM_PHASE_INIT);
  tm_activities_release(&s.activities);
  assert_int_equal(read_back(f, &s, f->wall_ns + 60 * TM_S), 2); /* its writer is stopped */
  assert_int_equal(s.activities.list.at[0].ns, 41 * TM_S);
  tm_activities_release(&s.activities);
  assert_int_equal(tm_running_close(&r, NULL), 0);
  assert_null(fixture_read(f, FILE_NAME));
  assert_int_equal(read_back(f, &s, f->wall_ns), 0);
  tm_activities_release(&s.activities);
}

static void leftovers_of_an_earlier_session_are_not_trusted(void **state)
{
  struct report_fixture *f = *state;
  struct tm_running r;
  struct tm_step_inspection s;
  prepare();
  assert_int_equal(tm_running_init(&r, tm_fs_real(), f->logs, NULL), 0);
  assert_int_equal(tick(f, &r, 0), 0);
  assert_int_equal(read_back(f, &s, f->wall_ns), 0); /* nobody owns the job */
  put(f, "owner", "{}");
  set_time(f, FILE_NAME, 0);
  set_time(f, "owner", 1);
  assert_int_equal(read_back(f, &s, f->wall_ns), 0);
  set_time(f, "owner", 0);
  assert_int_equal(read_back(f, &s, f->wall_ns), 2);
  tm_activities_release(&s.activities);
  r.is_there = false; /* as after a kill */
  assert_int_equal(tm_running_close(&r, NULL), 0);
  assert_int_equal(tm_running_init(&r, tm_fs_real(), f->logs, NULL), 0);
  assert_null(fixture_read(f, FILE_NAME));
  assert_int_equal(tm_running_close(&r, NULL), 0);
}

static void it_is_written_every_two_seconds_while_there_is_something(void **state)
{
  struct report_fixture *f = *state;
  struct full_disk disk;
  struct tm_running r;
  prepare();
  full_disk_init(&disk, 1000);
  assert_int_equal(tm_running_init(&r, &disk.fs, f->logs, NULL), 0);
  now.list.len = 0;
  for (int i = 0; i < 100; i++)
    assert_int_equal(tick(f, &r, TM_S / 10), 0);
  assert_int_equal(disk.writes, 1000);
  now.list.len = 2;
  for (int i = 0; i < 100; i++)
    assert_int_equal(tick(f, &r, TM_S / 10), 0);
  assert_int_equal(disk.writes, 995);
  now.list.len = 0;
  assert_int_equal(tick(f, &r, TM_S / 10), 0);
  assert_null(fixture_read(f, FILE_NAME));
  now.list.len = 2; /* a change: at once */
  assert_int_equal(tick(f, &r, TM_S / 10), 0);
  assert_int_equal(disk.writes, 994);
  assert_int_equal(tm_running_close(&r, NULL), 0);
}

static void a_full_disk_causes_one_message(void **state)
{
  struct report_fixture *f = *state;
  struct full_disk disk;
  struct tm_running r;
  prepare();
  full_disk_init(&disk, 0);
  assert_int_equal(tm_running_init(&r, &disk.fs, f->logs, NULL), 0);
  assert_true(tick(f, &r, 0) < 0);
  assert_int_equal(tick(f, &r, 5 * TM_S), 0);
  assert_int_equal(tm_running_close(&r, NULL), 0);
}

static void it_may_hold_any_text(void **state)
{
  static const char *const texts[] = {
    "",
    "{",
    "[]",
    "7",
    "{\"version\":2,\"running\":[]}",
    "{\"version\":1}",
    "{\"version\":1,\"running\":7}",
    "{\"version\":1,\"running\":[7,{},[[]],{\"worker\":\"a\"}]}",
    "{\"version\":1,\"running\":[],\"nodes\":7}",
    "{\"version\":1,\"running\":[],\"nodes\":{\"ready\":3,\"requested\":2,\"waiting\":0}}",
    "{\"version\":1,\"written_ms\":-9223372036854775808,\"running\":[null]}"
  };
  struct report_fixture *f = *state;
  struct tm_step_inspection s;
  char *folder = tm_path_join(f->logs, "sys");
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), folder, 0700, NULL), 0);
  free(folder);
  put(f, "owner", "{}");
  for (size_t i = 0; i < TM_COUNT_OF(texts); i++) {
    put(f, FILE_NAME, texts[i]);
    assert_int_equal(read_back(f, &s, f->wall_ns), 0);
    assert_int_equal(s.nodes.all, 0);
    tm_activities_release(&s.activities);
  }
}

static void nodes_are_written_although_no_worker_is_slow(void **state)
{
  struct report_fixture *f = *state;
  struct tm_running r;
  struct tm_step_inspection s;
  prepare();
  now.list.len = 0;
  nodes = (struct tm_nodes_now) { .ready = 2, .all = 8, .waiting = 6, .reason = "Resources" };
  put(f, "owner", "{}");
  set_time(f, "owner", 0);
  assert_int_equal(tm_running_init(&r, tm_fs_real(), f->logs, NULL), 0);
  assert_int_equal(tick(f, &r, 0), 0);
  assert_int_equal(read_back(f, &s, f->wall_ns), 0);
  assert_int_equal(s.nodes.ready, 2);
  assert_int_equal(s.nodes.all, 8);
  assert_int_equal(s.nodes.waiting, 6);
  assert_string_equal(s.nodes.reason, "Resources");
  nodes.ready = 3;
  nodes.waiting = 5;
  assert_int_equal(tick(f, &r, 4 * TM_S / 10), 0);
  read_back(f, &s, f->wall_ns);
  assert_int_equal(s.nodes.ready, 2);
  assert_int_equal(tick(f, &r, TM_S / 10), 0); /* a change is written sooner */
  read_back(f, &s, f->wall_ns);
  assert_int_equal(s.nodes.ready, 3);
  nodes.all = 0;
  assert_int_equal(tick(f, &r, TM_S / 10), 0);
  assert_null(fixture_read(f, FILE_NAME));
  assert_int_equal(tm_running_close(&r, NULL), 0);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, fixture_open, fixture_close)
UNIT_TESTS({
    TEST(written_values_are_read_back),
    TEST(leftovers_of_an_earlier_session_are_not_trusted),
    TEST(it_is_written_every_two_seconds_while_there_is_something),
    TEST(a_full_disk_causes_one_message),
    TEST(it_may_hold_any_text),
    TEST(nodes_are_written_although_no_worker_is_slow),
});
