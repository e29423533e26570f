/* test_beside.c - what is kept of jobs beside Lua is heard, whoever is woken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <stdlib.h>

#include "lua/beside.h"
#include "sys/threads.h"

#define ROUNDS 300

struct both {
  struct tm_beside *beside;
  struct tm_ear ear;
};

static void keep_and_wake(void *data)
{
  struct both *b = data;
  struct tidemill_event e = { .size = sizeof(e), .kind = TIDEMILL_EVENT_LOG, .text = "kept" };
  tm_beside_keep(b->beside, &b->ear, &e);
  tm_beside_wake(b->beside);
}

static bool is_readable(const struct tm_beside *b)
{
  struct pollfd fd = { .fd = tm_beside_fd(b), .events = POLLIN };
  return poll(&fd, 1, 0) == 1;
}

/* A Ctrl-C ends a wait at the moment at which a job says something: who polls afterwards hears that. */
static void what_is_kept_while_a_wait_is_woken_is_heard(void **state)
{
  struct tidemill_runtime_options o = TIDEMILL_RUNTIME_OPTIONS_INIT;
  struct tidemill_runtime *rt;
  struct both b = { .ear = { .hears_all = true } };
  struct tm_thread t;
  struct tm_kept *k;
  o.program = "/bin/true";
  assert_int_equal(tidemill_runtime_new(&rt, &o, NULL), 0);
  assert_non_null(b.beside = tm_beside_new(rt, NULL));
  for (int i = 0; i < ROUNDS; i++) {
    assert_int_equal(tm_thread_start(&t, keep_and_wake, &b, NULL), 0);
    while (tm_beside_wait(b.beside, -1))
      ;
    tm_thread_join(&t);
    assert_true(is_readable(b.beside));
    assert_non_null(k = tm_beside_take(b.beside));
    free(k);
    assert_null(tm_beside_take(b.beside)); /* hears the bell */
    assert_false(is_readable(b.beside));
  }
  tm_beside_free(b.beside);
  assert_int_equal(tidemill_runtime_close(rt, NULL), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_kept_while_a_wait_is_woken_is_heard),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
