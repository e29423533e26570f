/* test_host_console.c - a host with a console: chunks of Lua, what they print, completion, help,
 * jobs that run beside it, and interruption. */
#include "host.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>

struct console {
  struct host h;
  struct tidemill_console *c;
  char said[4000], status[400];
  pthread_t thread; /* of the test's own */
};

static void on_say(const char *text, void *data)
{
  struct console *c = data;
  assert_true(pthread_equal(pthread_self(), c->thread));
  strncat(c->said, text, sizeof c->said - strlen(c->said) - 2);
  strcat(c->said, "\n");
}

static void on_status(const char *text, void *data)
{
  struct console *c = data;
  snprintf(c->status, sizeof c->status, "%s", text ? text : "");
}

static const char *on_help(const char *topic, void *data)
{
  return strcmp(topic, "tides") == 0 ? "they come and go" : NULL;
}

static void setup(struct console *c)
{
  struct tidemill_console_options o = TIDEMILL_CONSOLE_OPTIONS_INIT;
  memset(c, 0, sizeof *c);
  c->thread = pthread_self();
  host_setup(&c->h, "good", 2, NULL);
  host_runtime(&c->h, NULL);
  o.on_say = on_say;
  o.on_status = on_status;
  o.help = on_help;
  o.data = c;
  host_must(&c->h, tidemill_console_new(&c->c, c->h.rt, &o, &c->h.err));
}

static void end(struct console *c)
{
  tidemill_console_close(c->c);
  host_end(&c->h);
}

static int feed(struct console *c, const char *text, const char **out)
{
  return tidemill_console_feed(c->c, text, strlen(text), "typed", out);
}

static void shows(struct console *c, const char *text, int rc, const char *words)
{
  const char *out;
  int got = feed(c, text, &out);
  if (got != rc || !strstr(out, words) || (!*words && *out))
    fail_msg("%s: %d, '%s'; expected %d, '%s'", text, got, out, rc, words);
}

static void pieces_run_and_their_values_are_shown(void **state)
{
  struct console c;
  const char *out, *insert, *list;
  char path[256], *words[] = { (char *)"file.lua", (char *)"word" };
  setup(&c);
  shows(&c, "x = 6", 0, "");
  shows(&c, "x * 7, 'text'", 0, "42");
  shows(&c, "{ 1, two = 2 }", 0, "{ 1, two = 2 }");
  shows(&c, "for i = 1, 2 do", TIDEMILL_PIECE_INCOMPLETE, "");
  shows(&c, "for i = 1, 2 do\nend", 0, "");
  shows(&c, "x = = 1", TIDEMILL_ESCRIPT, "typed:1");
  shows(&c, "local function deep() error 'boom' end\ndeep()", TIDEMILL_ESCRIPT, "typed:1: boom");
  shows(&c, "help 'tides'", 0, "");
  host_put(&c.h, "file.lua", "return ..., #arg");
  host_path(&c.h, "file.lua", path);
  assert_int_equal(tidemill_console_feed_file(c.c, path, words, 2, &out), TIDEMILL_PIECE_DONE);
  assert_non_null(strstr(out, "\"word\""));
  assert_int_equal(tidemill_console_feed_file(c.c, "/no/such.lua", NULL, 0, &out),
                   TIDEMILL_ESCRIPT);
  assert_non_null(strstr(out, "/no/such.lua"));
  tidemill_console_complete(c.c, "tidemill.load_scr", 17, &insert, &list);
  assert_string_equal(insert, "ipt");
  assert_string_equal(list, "");
  tidemill_console_complete(c.c, "string.", 7, &insert, &list);
  assert_non_null(strstr(list, "gsub"));
  end(&c);
}

static void jobs_continue_beside_it(void **state)
{
  struct console c;
  char text[400];
  setup(&c);
  snprintf(text, sizeof text,
           "job = tidemill.load('%s/pipeline.lua'):submit { job_dir = '%s/job' }", c.h.dir,
           c.h.dir);
  shows(&c, text, 0, "");
  while (tidemill_console_running(c.c) > 0) { /* until the console hears of its end */
    struct pollfd fd = { .fd = tidemill_console_fd(c.c), .events = POLLIN };
    assert_int_equal(poll(&fd, 1, HOST_LIMIT_MS), 1);
    tidemill_console_hear(c.c);
  }
  assert_non_null(strstr(c.said, "Completed"));
  assert_string_equal(c.status, "");
  shows(&c, "job:status()", 0, "\"Completed\"");
  end(&c);
}

static void all_jobs_are_canceled_at_once(void **state)
{
  struct console c;
  char text[400];
  setup(&c);
  host_put(&c.h, "in/wait.0", "");
  snprintf(text, sizeof text,
           "job = tidemill.load('%s/pipeline.lua'):submit { job_dir = '%s/job' }", c.h.dir,
           c.h.dir);
  shows(&c, text, 0, "");
  assert_int_equal(tidemill_console_running(c.c), 1);
  tidemill_console_cancel(c.c, true);
  shows(&c, "job:wait()", 0, "\"Canceled\"");
  assert_int_equal(tidemill_console_running(c.c), 0);
  end(&c);
}

/* ---- interrupting ---- */

static volatile sig_atomic_t is_over;

/* Repeats the interruption until it takes effect. */
static void *interrupt(void *data)
{
  struct console *c = data;
  while (!is_over) {
    tidemill_console_interrupt(c->c);
    poll(NULL, 0, 5);
  }
  return NULL;
}

static void running_code_can_be_interrupted(void **state)
{
  static const char *const endless[] = {
    "while true do x = 1 end", "local co = coroutine.wrap(function() while true do end end) co()"
  };
  struct console c;
  pthread_t thread;
  setup(&c);
  assert_false(tidemill_console_interrupt(c.c)); /* nothing is running */
  shows(&c, "1", 0, "1");
  for (int i = 0; i < 2; i++) {
    is_over = 0;
    assert_int_equal(pthread_create(&thread, NULL, interrupt, &c), 0);
    shows(&c, endless[i], -EINTR, "interrupted");
    is_over = 1;
    pthread_join(thread, NULL);
    shows(&c, "'goes on'", 0, "goes on");
  }
  end(&c);
}

static void meaningless_calls_are_refused(void **state)
{
  struct console c;
  struct tidemill_console *other;
  struct tidemill_console_options o = TIDEMILL_CONSOLE_OPTIONS_INIT;
  const char *out;
  setup(&c);
  assert_int_equal(tidemill_console_new(&other, c.h.rt, &o, &c.h.err), TIDEMILL_EINUSE);
  assert_null(other);
  assert_int_equal(tidemill_console_new(NULL, c.h.rt, &o, &c.h.err), TIDEMILL_EUSAGE);
  assert_int_equal(tidemill_console_new(&other, NULL, &o, &c.h.err), TIDEMILL_EUSAGE);
  o.size = 0;
  assert_int_equal(tidemill_console_new(&other, c.h.rt, &o, &c.h.err), TIDEMILL_EUSAGE);
  assert_non_null(strstr(c.h.err.text, "TIDEMILL_CONSOLE_OPTIONS_INIT"));
  assert_int_equal(tidemill_console_feed(NULL, "1", 1, NULL, &out), TIDEMILL_EUSAGE);
  assert_int_equal(tidemill_console_feed(c.c, NULL, 0, NULL, &out), TIDEMILL_EUSAGE);
  assert_int_equal(tidemill_console_feed(c.c, "1", 1, NULL, NULL), TIDEMILL_PIECE_DONE);
  assert_int_equal(tidemill_console_fd(NULL), -1);
  assert_int_equal(tidemill_console_running(NULL), 0);
  assert_int_equal(tidemill_console_cancel(NULL, true), 0);
  assert_false(tidemill_console_interrupt(NULL));
  tidemill_console_hear(NULL);
  tidemill_console_complete(NULL, "x", 1, &out, NULL);
  assert_string_equal(out, "");
  tidemill_console_close(NULL);
  end(&c);
  setup(&c); /* the next console gets SIGPROF again */
  end(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(pieces_run_and_their_values_are_shown),
    cmocka_unit_test(jobs_continue_beside_it),
    cmocka_unit_test(all_jobs_are_canceled_at_once),
    cmocka_unit_test(running_code_can_be_interrupted),
    cmocka_unit_test(meaningless_calls_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
