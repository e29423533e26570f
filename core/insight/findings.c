/* findings.c - see findings.h. */
#include "insight/findings.h"

#include <stdlib.h>
#include <string.h>

#include "insight/rules.h"

static const struct rule {
  const char *name;
  tm_rule *applies;
} rules[] = {
  { "burst", tm_rule_burst },
  { "one_error", tm_rule_one_error },
  { "retried", tm_rule_retried },
  { "tail", tm_rule_tail },
  { "cut", tm_rule_cut },
  { "input", tm_rule_input },
  { "init", tm_rule_init },
  { "small", tm_rule_small },
  { "idle_processor", tm_rule_idle_processor },
  { "slow", tm_rule_slow },
  { "memory", tm_rule_memory },
  { "disk", tm_rule_disk },
  { "timeout", tm_rule_timeout },
  { "slower", tm_rule_slower },
};

static bool is_before(const struct tm_finding *a, const struct tm_finding *b)
{
  return a->lost_ns != b->lost_ns ? a->lost_ns > b->lost_ns : a->weight > b->weight;
}

static void release(struct tm_finding *f)
{
  free(f->head);
  free(f->text);
}

static void insert(struct tm_findings *f, const struct tm_finding *one)
{
  size_t i = f->len;
  while (i > 0 && is_before(one, &f->at[i - 1]))
    i--;
  if (f->len == TM_FINDINGS_MAX) {
    if (i == f->len) {
      release(&(struct tm_finding) { .head = one->head, .text = one->text });
      return;
    }
    release(&f->at[--f->len]);
  }
  memmove(&f->at[i + 1], &f->at[i], (f->len - i) * sizeof(*one));
  f->at[i] = *one;
  f->len++;
}

void tm_findings_add(struct tm_findings *f, const struct tm_finding_input *in)
{
  for (size_t i = 0; i < TM_COUNT_OF(rules); i++) {
    struct tm_finding one = { .rule = rules[i].name, .lost_ns = -1, .step = in->step };
    if (rules[i].applies(in, &one))
      insert(f, &one);
  }
  for (size_t i = 0; i < f->len; i++)
    f->at[i].letter = (char)('A' + i);
}

void tm_findings_release(struct tm_findings *f)
{
  for (size_t i = 0; i < f->len; i++)
    release(&f->at[i]);
  f->len = 0;
}
