/* test_self.c - a process recognizes itself and that its forks differ, with the kernel's help and
 * without. */
#include "unit.h"

#include <sys/wait.h>
#include <unistd.h>

#include "sys/self.h"

/* What a grandchild finds, too. */
static void expect_told_apart(const struct tm_self *s)
{
  int status = -1;
  assert_true(tm_self_is(s));
  pid_t pid = fork();
  if (pid == 0) {
    bool is_it = tm_self_is(s);
    pid_t inner = fork();
    if (inner == 0)
      _exit(tm_self_is(s));
    waitpid(inner, &status, 0);
    _exit(is_it || status != 0);
  }
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
  assert_true(tm_self_is(s));
}

static void a_child_is_another(void **state)
{
  struct tm_self s;
  tm_self_init(&s);
  expect_told_apart(&s);
  tm_self_release(&s);
  tm_self_release(&s);
}

static void a_child_is_another_without_such_memory(void **state)
{
  struct tm_self s = { .pid = getpid() };
  expect_told_apart(&s);
}

UNIT_TESTS({
    cmocka_unit_test(a_child_is_another),
    cmocka_unit_test(a_child_is_another_without_such_memory),
});
