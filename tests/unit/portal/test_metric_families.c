/* test_metric_families.c - the metrics of several jobs as one text. */
#include "unit.h"

#include "portal/metric_families.h"

static void expect(struct tm_families *m, const char *want)
{
  struct tm_buf out = TM_BUF_NONE;
  tm_families_take(m, &out);
  assert_string_equal(out.data, want);
  tm_buf_release(&out);
}

static void the_samples_of_a_family_are_together(void **state)
{
  struct tm_families m = { { 0 } };
  tm_families_add(&m, "# TYPE a gauge\n# HELP a A.\na{job=\"1\"} 1\n# TYPE ab "
                      "counter\nab_total{job=\"1\"} 2\n# EOF\n");
  tm_families_add(
      &m, "# TYPE a gauge\n# HELP a A.\na{job=\"2\"} 3\n# TYPE ab counter\nab_total{job=\"2\"} 4\n"
          "# TYPE c gauge\nc 5\n# EOF\n");
  expect(&m, "# TYPE a gauge\n# HELP a A.\na{job=\"1\"} 1\na{job=\"2\"} 3\n"
             "# TYPE ab counter\nab_total{job=\"1\"} 2\nab_total{job=\"2\"} 4\n"
             "# TYPE c gauge\nc 5\n# EOF\n");
}

static void no_job_has_no_metrics(void **state)
{
  struct tm_families m = { { 0 } };
  tm_families_add(&m, "");
  tm_families_add(&m, "# EOF");
  tm_families_add(&m, "a_sample_without_a_family 1\n");
  expect(&m, "# EOF\n");
}

UNIT_TESTS({
    cmocka_unit_test(the_samples_of_a_family_are_together),
    cmocka_unit_test(no_job_has_no_metrics),
});
