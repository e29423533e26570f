/* arguments.c - see arguments.h.
 *
 * A name takes the next word as its value, whatever it begins with, unless that is a name itself
 * ("--x"): -1 is a number.
 */
#include "plan/arguments.h"

#include <string.h>

#include "base/mem.h"
#include "plan/names.h"
#include "params/params.h"
#include "plan/settings.h"

static const char *const kinds[] = { "ParallelRunConfig", "arguments" };

/* The field for `--name`; `n` bytes of it follow the dashes. */
static const struct tm_field *find(const char *name, size_t n)
{
  for (size_t k = 0; k < TM_COUNT_OF(kinds); k++) {
    size_t len;
    const struct tm_field *fields = tm_params_fields(kinds[k], &len);
    for (size_t i = 0; i < len; i++)
      if ((fields[i].flags & TM_FIELD_ARGUMENT) && strlen(fields[i].name) == n &&
          strncmp(fields[i].name, name, n) == 0)
        return &fields[i];
  }
  return NULL;
}

/* Whether `name` is a prefix of `full`; '-' equals '_'. */
static bool is_beginning(const char *full, const char *name, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (full[i] != (name[i] == '-' ? '_' : name[i]))
      return false;
  return n > 0;
}

static void note_near(struct tm_step *s, const char *word, size_t n)
{
  for (size_t k = 0; k < TM_COUNT_OF(kinds); k++) {
    size_t len;
    const struct tm_field *fields = tm_params_fields(kinds[k], &len);
    for (size_t i = 0; i < len; i++) {
      if (!(fields[i].flags & TM_FIELD_ARGUMENT) || !is_beginning(fields[i].name, word + 2, n))
        continue;
      tm_step_note(s, TM_WARNING,
                   "argument '%.*s' goes to the script; the runner takes '--%s', by its whole name",
                   (int)n + 2, word, fields[i].name);
      return;
    }
  }
}

/* Removes an argument of the original's runner that has no effect here: the script does not know
 * it. */
static int take_unused(struct tm_step *s, size_t *at, size_t n, bool has_value, struct tm_err *err)
{
  char *word = s->arguments[*at];
  bool is_ignored, has_next = !has_value && *at + 1 < s->arguments_len;
  const char *instead = tm_names_find_argument(word + 2, n, &is_ignored);
  if (!instead) {
    note_near(s, word, n);
    return 0;
  }
  if (!is_ignored)
    return tm_err_set(err, TM_EUSAGE, "'%.*s' in 'arguments' does not exist; %s", (int)n + 2, word,
                      instead);
  tm_step_note(s, TM_WARNING, "argument '%.*s' is not used; %s", (int)n + 2, word, instead);
  s->runner_arguments[s->runner_arguments_len++] = word;
  if (has_next && strncmp(s->arguments[*at + 1], "--", 2) != 0)
    s->runner_arguments[s->runner_arguments_len++] = s->arguments[++*at];
  return 1;
}

/* "--error_threshold 5" in one word; the script would get it. */
static int refuse_joined(const char *word, struct tm_err *err)
{
  size_t n = strcspn(word + 2, " =");
  const char *value = word + 2 + n + strspn(word + 2 + n, " ");
  if (word[2 + n] != ' ' || !find(word + 2, n))
    return 0;
  return tm_err_set(err, TM_EUSAGE,
                    "'%s' in 'arguments' is one word; accepted: two, \"%.*s\", \"%s\"", word,
                    (int)n + 2, word, value);
}

static int take(struct tm_step *s, size_t *at, struct tm_json *taken, struct tm_err *err)
{
  char *word = s->arguments[*at];
  size_t n = strcspn(word + 2, "=");
  const struct tm_field *f = find(word + 2, n);
  bool has_value = word[2 + n] == '=';
  if (!f && refuse_joined(word, err) < 0)
    return TM_EUSAGE;
  if (!f)
    return take_unused(s, at, n, has_value, err);
  char *value = has_value                    ? word + 3 + n
                : *at + 1 < s->arguments_len ? s->arguments[*at + 1]
                                             : NULL;
  if (!value || (!has_value && strncmp(value, "--", 2) == 0)) {
    struct tm_buf accepted = TM_BUF_NONE;
    tm_params_accepted(&accepted, f);
    tm_err_set(err, TM_EUSAGE, "'%s' in 'arguments' has no value; accepted: %s", word,
               accepted.data);
    tm_buf_release(&accepted);
    return TM_EUSAGE;
  }
  tm_json_set(taken, f->name, tm_json_new_string(value));
  s->runner_arguments[s->runner_arguments_len++] = word;
  if (!has_value)
    s->runner_arguments[s->runner_arguments_len++] = s->arguments[++*at];
  return 1;
}

int tm_arguments_take(struct tm_step *s, struct tm_json *taken, struct tm_err *err)
{
  size_t kept = 0, n = s->arguments_len;
  bool has_ended = false;
  s->runner_arguments = tm_xcalloc(n + 1, sizeof(char *));
  for (size_t i = 0; i < n; i++) {
    char *word = s->arguments[i];
    has_ended = has_ended || strcmp(word, "--") == 0;
    int rc = has_ended || strncmp(word, "--", 2) != 0 ? 0 : take(s, &i, taken, err);
    if (rc < 0) { /* the rest of the list is released with the step */
      memmove(s->arguments + kept, s->arguments + i, (n - i) * sizeof(char *));
      s->arguments_len = kept + n - i;
      return rc;
    }
    if (rc == 0)
      s->arguments[kept++] = word;
  }
  s->arguments_len = kept;
  return 0;
}

static double number(const struct tm_json *settings, const char *name)
{
  return tm_json_num(tm_json_get(settings, name), "value", 0);
}

/* The maximum sum of the delays between the tries of a mini-batch. Default delays are short
 * compared to the other timeouts. */
static double delays(const struct tm_json *settings)
{
  double delay_s = number(settings, "retry_delay"), more = number(settings, "run_max_try") - 1,
         sum_s = 0, max_s = delay_s > 60 ? delay_s : 60;
  /* whole numbers far below 2^53; NOLINTNEXTLINE(cert-flp30-c) */
  for (; more > 0 && delay_s > 0 && delay_s < max_s; more--) {
    sum_s += delay_s;
    delay_s = 2 * delay_s < max_s ? 2 * delay_s : max_s;
  }
  return sum_s + more * delay_s;
}

/* The original's rule: long enough for a mini-batch that uses up its tries. */
static double progress_default(const struct tm_json *settings)
{
  double run_s = number(settings, "run_invocation_timeout");
  double tries_s =
      number(settings, "run_max_try") * (run_s + number(settings, "task_overhead_timeout")) + 60 +
      delays(settings);
  return 3 * run_s + 30 > tries_s ? 3 * run_s + 30 : tries_s;
}

int tm_arguments_settle(struct tm_json *settings, const struct tm_json *taken, struct tm_err *err)
{
  for (size_t i = 0; i < taken->list.len; i++) {
    const char *name = taken->keys[i];
    struct tm_json *value = tm_params_value(find(name, strlen(name)), taken->list.at[i], err);
    if (!value)
      return tm_err_wrap(err, "in 'arguments'");
    tm_settings_add(settings, name, value, "argument");
  }
  if (!tm_json_get(settings, "progress_update_timeout"))
    tm_settings_add(settings, "progress_update_timeout",
                    tm_json_new_number(progress_default(settings)), "default");
  return 0;
}
