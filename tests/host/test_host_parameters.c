/* test_host_parameters.c - what definitions accept, as a host's form shows it: complete and
 * correct. */
#include "host.h"

static bool find(const char *constructor, const char *name, struct tidemill_parameter *p)
{
  for (size_t i = 0; tidemill_parameter(constructor, i, p); i++)
    if (strcmp(p->name, name) == 0)
      return true;
  return false;
}

static bool has_constructor(const char *name)
{
  for (size_t i = 0; tidemill_constructor(i); i++)
    if (strcmp(tidemill_constructor(i), name) == 0)
      return true;
  return false;
}

static void every_parameter_is_whole(void **state)
{
  struct tidemill_parameter p = TIDEMILL_PARAMETER_INIT;
  size_t constructors = 0, all = 0;
  for (; tidemill_constructor(constructors); constructors++)
    for (size_t i = 0; tidemill_parameter(tidemill_constructor(constructors), i, &p); i++, all++) {
      assert_int_equal(p.size, sizeof p);
      assert_true(*p.name && *p.help && *p.accepted);
      assert_true(strlen(p.accepted) < sizeof p.accepted - 1); /* nothing was cut off */
      assert_true(p.type >= TIDEMILL_PARAMETER_INTEGER && p.type <= TIDEMILL_PARAMETER_OTHER);
      assert_int_equal(p.type == TIDEMILL_PARAMETER_CHOICE, p.choices != NULL);
      assert_false(p.required && p.default_value);
    }
  assert_true(constructors > 15 && all > 100);
  assert_string_equal(tidemill_constructor(0), "ParallelRunConfig");
  assert_true(has_constructor("Dataset.Tabular.from_sql_query") && has_constructor("arguments"));
  assert_null(tidemill_constructor(constructors + 1));
}

static void a_parameter_lists_its_accepted_values(void **state)
{
  struct tidemill_parameter p = TIDEMILL_PARAMETER_INIT;
  assert_true(find("ParallelRunConfig", "run_max_try", &p));
  assert_int_equal(p.type, TIDEMILL_PARAMETER_INTEGER);
  assert_string_equal(p.default_value, "3");
  assert_string_equal(p.accepted, "an integer from 1 on");
  assert_true(p.min == 1 && p.may_be_parameter && p.changeable && !p.required);
  assert_true(find("ParallelRunConfig", "output_action", &p));
  assert_string_equal(p.choices, "append_row|summary_only");
  assert_true(!p.changeable);
  assert_true(find("ParallelRunConfig", "entry_script", &p));
  assert_true(!p.required && p.type == TIDEMILL_PARAMETER_PATH); /* or a model */
  assert_true(find("ParallelRunStep", "name", &p));
  assert_true(p.required);
  assert_true(find("ParallelRunStep", "inputs", &p));
  assert_int_equal(p.type, TIDEMILL_PARAMETER_OTHER);
  assert_false(find("ParallelRunConfig", "run_max_tries", &p));
}

/* A form can set each default and each choice that it shows. */
static void a_default_and_each_choice_can_be_set(void **state)
{
  struct host h;
  struct tidemill_parameter p = TIDEMILL_PARAMETER_INIT;
  host_setup(&h, NULL);
  host_runtime(&h, NULL);
  host_must(&h, tidemill_pipeline_new(&h.pipeline, h.rt, "form", h.dir, &h.err));
  host_must(&h, tidemill_pipeline_add_step(&h.step, h.pipeline, "score", "score.lua", &h.err));
  for (size_t i = 0; tidemill_parameter("ParallelRunConfig", i, &p); i++) {
    char word[64];
    for (const char *at = p.choices; at && *at; at += strcspn(at, "|"), at += *at == '|') {
      snprintf(word, sizeof word, "%.*s", (int)strcspn(at, "|"), at);
      host_must(&h, tidemill_pipeline_step_set(h.step, p.name, word, &h.err));
    }
    if (p.choices && p.default_value)
      host_must(&h, tidemill_pipeline_step_set(h.step, p.name, p.default_value, &h.err));
  }
  host_end(&h);
}

static void an_older_host_gets_the_fields_it_knows(void **state)
{
  struct {
    struct tidemill_parameter p;
    char guard;
  } old = { TIDEMILL_PARAMETER_INIT, 7 };
  old.p.size = offsetof(struct tidemill_parameter, help);
  old.p.help = "untouched";
  assert_true(tidemill_parameter("ParallelRunConfig", 0, &old.p));
  assert_string_equal(old.p.name, "entry_script");
  assert_string_equal(old.p.help, "untouched");
  assert_int_equal(old.p.size, offsetof(struct tidemill_parameter, help));
  assert_int_equal(old.guard, 7);
  assert_false(tidemill_parameter(NULL, 0, &old.p));
  assert_false(tidemill_parameter("ParallelRunConfig", 0, NULL));
  assert_false(tidemill_parameter("ParallelRunConfig", 10000, &old.p));
  assert_false(tidemill_parameter("retry", 0, &old.p));
  old.p.size = 0;
  assert_false(tidemill_parameter("ParallelRunConfig", 0, &old.p));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_parameter_is_whole),
    cmocka_unit_test(a_parameter_lists_its_accepted_values),
    cmocka_unit_test(a_default_and_each_choice_can_be_set),
    cmocka_unit_test(an_older_host_gets_the_fields_it_knows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
