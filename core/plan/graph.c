/* graph.c - see graph.h. graph_text.c draws it. */
#include "plan/graph.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"

#define SHOWN_MAX 8 /* steps of a cycle that a message names */

bool tm_step_needs(const struct tm_step *s, const struct tm_step *other)
{
  for (size_t i = 0; i < s->needs_len; i++)
    if (s->needs[i] == other)
      return true;
  return false;
}

static void add_need(struct tm_step *s, struct tm_pipeline *p, const struct tm_map *by_name,
                     const char *name)
{
  const uint64_t *place = name ? tm_map_find(by_name, name, strlen(name)) : NULL;
  if (place && !tm_step_needs(s, p->steps[*place]))
    s->needs[s->needs_len++] = p->steps[*place];
}

static void link_step(struct tm_step *s, struct tm_pipeline *p, const struct tm_map *by_name)
{
  free(s->needs);
  s->needs_len = 0;
  s->needs = tm_xcalloc(s->inputs_len + s->side_inputs_len + s->paths_len + 1, sizeof(*s->needs));
  for (size_t i = 0; i < s->inputs_len; i++)
    add_need(s, p, by_name, s->inputs[i]->step);
  for (size_t i = 0; i < s->side_inputs_len; i++)
    add_need(s, p, by_name, s->side_inputs[i]->step);
  for (size_t i = 0; i < s->paths_len; i++)
    if (strcmp(s->paths[i].step, s->name) != 0) /* not its own folder */
      add_need(s, p, by_name, s->paths[i].step);
}

/* Cycles. */

struct walk {
  size_t *waits_for; /* by step: number of needs that are not known to end */
  struct tm_map number;
};

static size_t number_of(const struct walk *w, const struct tm_step *s)
{
  return (size_t)*tm_map_find(&w->number, s->name, strlen(s->name));
}

/* Repeatedly removes steps that can end; true: nothing is left. */
static bool is_acyclic(const struct tm_pipeline *p, struct walk *w)
{
  size_t **readers = tm_xcalloc(p->steps_len, sizeof(*readers)), *ready, ready_len = 0, done = 0;
  size_t *readers_len = tm_xcalloc(p->steps_len, sizeof(*readers_len));
  ready = tm_xcalloc(p->steps_len, sizeof(*ready));
  for (size_t i = 0; i < p->steps_len; i++)
    for (size_t k = 0; k < p->steps[i]->needs_len; k++)
      readers_len[number_of(w, p->steps[i]->needs[k])]++;
  for (size_t i = 0; i < p->steps_len; i++) {
    readers[i] = tm_xcalloc(readers_len[i] + 1, sizeof(size_t));
    readers_len[i] = 0;
  }
  for (size_t i = 0; i < p->steps_len; i++) {
    w->waits_for[i] = p->steps[i]->needs_len;
    if (w->waits_for[i] == 0)
      ready[ready_len++] = i;
    for (size_t k = 0; k < p->steps[i]->needs_len; k++) {
      size_t from = number_of(w, p->steps[i]->needs[k]);
      readers[from][readers_len[from]++] = i;
    }
  }
  for (; done < ready_len; done++)
    for (size_t k = 0; k < readers_len[ready[done]]; k++)
      if (--w->waits_for[readers[ready[done]][k]] == 0)
        ready[ready_len++] = readers[ready[done]][k];
  for (size_t i = 0; i < p->steps_len; i++)
    free(readers[i]);
  free(readers);
  free(readers_len);
  free(ready);
  return done == p->steps_len;
}

/* Every remaining step waits for a remaining step, so following them leads into a cycle. */
static const struct tm_step *next_left(const struct walk *w, const struct tm_step *s)
{
  for (size_t i = 0; i < s->needs_len; i++)
    if (w->waits_for[number_of(w, s->needs[i])] > 0)
      return s->needs[i];
  return s;
}

static int refuse_cycle(const struct tm_pipeline *p, const struct walk *w, struct tm_err *err)
{
  const struct tm_step *s = NULL, *first;
  struct tm_buf text = TM_BUF_NONE;
  size_t shown = 0;
  for (size_t i = 0; i < p->steps_len && !s; i++)
    s = w->waits_for[i] > 0 ? p->steps[i] : NULL;
  for (size_t i = 0; i < p->steps_len; i++) /* enough to be in the cycle */
    s = next_left(w, s);
  first = s;
  do {
    if (shown++ < SHOWN_MAX)
      tm_buf_printf(&text, "%s'%s'%s%s%s", shown > 1 ? ", which reads what is written by " : "",
                    s->name, *s->where ? " (" : "", s->where, *s->where ? ")" : "");
    s = next_left(w, s);
  } while (s != first);
  if (shown > SHOWN_MAX)
    tm_buf_printf(&text, " and %zu others", shown - SHOWN_MAX);
  tm_err_set(err, TM_EUSAGE,
             "steps wait for each other: step %s, which reads what is written by '%s'; accepted: "
             "steps that can run one after the other",
             tm_buf_str(&text), first->name);
  tm_buf_release(&text);
  return TM_EUSAGE;
}

int tm_graph_link(struct tm_pipeline *p, struct tm_err *err)
{
  struct walk w = { .waits_for = tm_xcalloc(p->steps_len + 1, sizeof(size_t)) };
  bool is_new;
  int rc = 0;
  for (size_t i = 0; i < p->steps_len; i++)
    *tm_map_add(&w.number, p->steps[i]->name, strlen(p->steps[i]->name), &is_new) = i;
  for (size_t i = 0; i < p->steps_len; i++)
    link_step(p->steps[i], p, &w.number);
  if (!is_acyclic(p, &w))
    rc = refuse_cycle(p, &w, err);
  tm_map_release(&w.number);
  free(w.waits_for);
  return rc;
}
