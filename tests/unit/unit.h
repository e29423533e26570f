/* unit.h - what each test_x.c includes first: cmocka, and the list of the file's tests.
 *
 *   UNIT_TESTS({
 *       cmocka_unit_test(rows_come_back),
 *       cmocka_unit_test_setup_teardown(a_torn_file_is_damage, setup, teardown),
 *   });
 *
 * All files of a folder make one program; unit.c has its main(). The tests of a file run in a
 * process of their own, under the name x.
 *
 * A file that needs more says it before its list, with those members of struct unit_hooks that it
 * needs:
 *
 *   UNIT_HOOKS(.limit_s = 60);
 */
#ifndef TM_TESTS_UNIT_H
#define TM_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct unit_hooks {
  CMFixtureFunction setup, teardown; /* around all tests of the file */

  /* Seconds until SIGALRM ends the process, if an event that a test waits for never comes. */
  unsigned limit_s;

  /* Called first, with the arguments of main(). */
  void (*start)(char **argv);

  /* main() of a process that a test of this file starts from its own program, and its exit status.
   * main() knows the file by the variable TM_UNIT, which such a process has to inherit. One with
   * the argument "pause" needs neither: it waits for a signal. */
  int (*serve)(int argc, char **argv);
};

struct unit {
  const char *source; /* the path of test_x.c */
  const struct CMUnitTest *tests;
  size_t count;
  const struct unit_hooks *hooks;
  struct unit *next;
};

/* Adds a file to those of its program; called before main(). */
void unit_add(struct unit *u);

/* All members are zero if the file has no UNIT_HOOKS. */
__attribute__((unused)) static struct unit_hooks unit_hooks;

#define UNIT_HOOKS(...) static struct unit_hooks unit_hooks = { __VA_ARGS__ }

/* A file that runs the cases of another one, which it includes, defines this as its own name. */
#ifndef UNIT_SOURCE
#define UNIT_SOURCE __FILE__
#endif

#define UNIT_TESTS(...)                                                                            \
  static const struct CMUnitTest unit_tests[] = __VA_ARGS__;                                       \
  __attribute__((constructor)) static void unit_add_this(void)                                     \
  {                                                                                                \
    static struct unit u = { UNIT_SOURCE, unit_tests, sizeof unit_tests / sizeof *unit_tests,      \
                             &unit_hooks, NULL };                                                  \
    unit_add(&u);                                                                                  \
  }                                                                                                \
  struct unit

#endif
