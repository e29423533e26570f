/* graph_text.c - the picture of a pipeline: see graph.h.
 *
 * Steps without needs are at the left of the tree; below each step are those that wait for it:
 *
 *   cut
 *   |-- sharpen
 *   |   `-- join (also waits for blur)
 *   `-- blur
 *       `-- join, above
 *
 * Names of steps are ASCII and need no quotes anywhere.
 */
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "plan/graph.h"

struct drawing {
  struct tm_buf *out;
  const struct tm_pipeline *p;
  struct readers {
    const struct tm_step **at;
    size_t len, cap;
    bool is_drawn;
  } * readers; /* by step */
  struct tm_map number;
};

static struct readers *readers_of(const struct drawing *d, const struct tm_step *s)
{
  return &d->readers[*tm_map_find(&d->number, s->name, strlen(s->name))];
}

static void open_drawing(struct drawing *d)
{
  bool is_new;
  d->readers = tm_xcalloc(d->p->steps_len + 1, sizeof(*d->readers));
  for (size_t i = 0; i < d->p->steps_len; i++)
    *tm_map_add(&d->number, d->p->steps[i]->name, strlen(d->p->steps[i]->name), &is_new) = i;
  for (size_t i = 0; i < d->p->steps_len; i++)
    for (size_t k = 0; k < d->p->steps[i]->needs_len; k++) {
      struct readers *r = readers_of(d, d->p->steps[i]->needs[k]);
      *TM_ARRAY_ADD(r) = d->p->steps[i];
    }
}

static void close_drawing(struct drawing *d)
{
  for (size_t i = 0; i < d->p->steps_len; i++)
    free(d->readers[i].at);
  free(d->readers);
  tm_map_release(&d->number);
}

static void add_others(struct drawing *d, const struct tm_step *s, const struct tm_step *above)
{
  const char *before = " (also waits for ";
  for (size_t i = 0; i < s->needs_len; i++) {
    if (s->needs[i] == above)
      continue;
    tm_buf_printf(d->out, "%s%s", before, s->needs[i]->name);
    before = ", ";
  }
  if (*before == ',')
    tm_buf_add_char(d->out, ')');
}

static void add_line(struct drawing *d, const struct tm_step *s, const struct tm_step *above)
{
  tm_buf_add_str(d->out, s->name);
  if (readers_of(d, s)->is_drawn)
    tm_buf_add_str(d->out, ", above");
  else
    add_others(d, s, above);
  tm_buf_add_char(d->out, '\n');
}

/* A node on the path in the tree: the step, and its next reader. */
struct level {
  const struct tm_step *step;
  const struct readers *readers;
  size_t next;
};

static void add_indent(struct drawing *d, const struct level *levels, size_t len, bool is_last)
{
  for (size_t i = 0; i + 1 < len; i++)
    tm_buf_add_str(d->out, levels[i].next < levels[i].readers->len ? "|   " : "    ");
  tm_buf_add_str(d->out, is_last ? "`-- " : "|-- ");
}

/* Depth first, without recursion: a chain may be as long as the definition. */
static void add_tree(struct drawing *d, const struct tm_step *root)
{
  struct TM_ARRAY(struct level) levels = { 0 };
  struct readers *r = readers_of(d, root);
  add_line(d, root, NULL);
  r->is_drawn = true;
  *TM_ARRAY_ADD(&levels) = (struct level) { root, r, 0 };
  while (levels.len > 0) {
    struct level *top = &levels.at[levels.len - 1];
    if (top->next == top->readers->len) {
      levels.len--;
      continue;
    }
    const struct tm_step *child = top->readers->at[top->next++];
    add_indent(d, levels.at, levels.len, top->next == top->readers->len);
    add_line(d, child, top->step);
    r = readers_of(d, child);
    if (r->is_drawn)
      continue;
    r->is_drawn = true;
    *TM_ARRAY_ADD(&levels) = (struct level) { child, r, 0 };
  }
  TM_ARRAY_RELEASE(&levels);
}

static void add_text(struct tm_buf *out, const struct tm_pipeline *p)
{
  struct drawing d = { .out = out, .p = p };
  open_drawing(&d);
  for (size_t i = 0; i < p->steps_len; i++)
    if (p->steps[i]->needs_len == 0)
      add_tree(&d, p->steps[i]);
  close_drawing(&d);
}

static void add_dot(struct tm_buf *out, const struct tm_pipeline *p)
{
  tm_buf_printf(out, "digraph \"%s\" {\n  rankdir=LR;\n  node [shape=box];\n", p->name);
  for (size_t i = 0; i < p->steps_len; i++) {
    tm_buf_printf(out, "  \"%s\";\n", p->steps[i]->name);
    for (size_t k = 0; k < p->steps[i]->needs_len; k++)
      tm_buf_printf(out, "  \"%s\" -> \"%s\";\n", p->steps[i]->needs[k]->name, p->steps[i]->name);
  }
  tm_buf_add_str(out, "}\n");
}

/* Nodes are numbered, because a name may be a keyword of the language ("end"). */
static void add_mermaid(struct tm_buf *out, const struct tm_pipeline *p)
{
  struct drawing d = { .out = out, .p = p };
  open_drawing(&d);
  tm_buf_add_str(out, "flowchart LR\n");
  for (size_t i = 0; i < p->steps_len; i++)
    tm_buf_printf(out, "  s%zu[\"%s\"]\n", i, p->steps[i]->name);
  for (size_t i = 0; i < p->steps_len; i++)
    for (size_t k = 0; k < p->steps[i]->needs_len; k++)
      tm_buf_printf(out, "  s%zu --> s%zu\n",
                    (size_t)(readers_of(&d, p->steps[i]->needs[k]) - d.readers), i);
  close_drawing(&d);
}

void tm_graph_add(struct tm_buf *out, const struct tm_pipeline *p, enum tm_graph_format format)
{
  switch (format) {
  case TM_GRAPH_TEXT: add_text(out, p); break;
  case TM_GRAPH_DOT: add_dot(out, p); break;
  case TM_GRAPH_MERMAID: add_mermaid(out, p); break;
  }
}
