/* test_findings.c - which findings are kept, and in which order. */
#include "unit.h"

#include "made_model.h"

static void a_job_without_faults_has_no_findings(void **state)
{
  struct made t;
  have_waiting(&t, 0);
  struct tm_finding_input in = settle(&t);
  tm_findings_add(&t.findings, &in);
  assert_int_equal(t.findings.len, 0);
  tm_step_model_release(&t.m);
}

static void the_six_that_lost_most_are_kept_in_order(void **state)
{
  struct tm_findings f = { .len = 0 };
  for (int i = 0; i < 3; i++) {
    struct made t;
    if (i == 0)
      have_waiting(&t, 500);
    else
      have_init(&t, 20000 * i);
    add_machine(&t, 95 * GB, 99);
    struct tm_finding_input in = settle(&t);
    tm_findings_add(&f, &in);
    tm_step_model_release(&t.m);
  }
  static const char *const rules[] = { "input", "init", "init", "memory", "disk", "memory" };
  assert_int_equal(f.len, TM_FINDINGS_MAX);
  for (size_t i = 0; i < f.len; i++) {
    assert_string_equal(f.at[i].rule, rules[i]);
    assert_int_equal(f.at[i].letter, 'A' + i);
  }
  tm_findings_release(&f);
}

UNIT_TESTS({
    cmocka_unit_test(a_job_without_faults_has_no_findings),
    cmocka_unit_test(the_six_that_lost_most_are_kept_in_order),
});
