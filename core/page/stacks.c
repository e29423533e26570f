/* stacks.c - see stacks.h. */
#include "page/stacks.h"

#include <stdbool.h>
#include <string.h>

void tm_stacks_init(struct tm_stacks *s)
{
  *s = (struct tm_stacks) { 0 };
  *TM_ARRAY_ADD(&s->nodes) = (struct tm_stack_node) { .name = tm_xstrdup("all") };
}

void tm_stacks_release(struct tm_stacks *s)
{
  for (size_t i = 0; i < s->nodes.len; i++)
    free(s->nodes.at[i].name);
  TM_ARRAY_RELEASE(&s->nodes);
  tm_map_release(&s->known);
}

/* The child of that name; `parent` itself if there is no room for it. */
static size_t child_of(struct tm_stacks *s, size_t parent, const char *name, size_t len)
{
  char key[sizeof(parent) + TM_STACK_NAME];
  bool is_new;
  len = len > TM_STACK_NAME ? TM_STACK_NAME : len;
  memcpy(key, &parent, sizeof(parent));
  memcpy(key + sizeof(parent), name, len);
  if (s->nodes.len >= TM_STACK_NODES && !tm_map_find(&s->known, key, sizeof(parent) + len))
    return parent;
  uint64_t *known = tm_map_add(&s->known, key, sizeof(parent) + len, &is_new);
  if (!is_new)
    return (size_t)*known;
  *known = s->nodes.len;
  struct tm_stack_node node = { .name = tm_xstrndup(name, len),
                                .parent = parent,
                                .depth = s->nodes.at[parent].depth + 1 };
  *TM_ARRAY_ADD(&s->nodes) = node;
  return s->nodes.len - 1;
}

/* The samples at the end of a line, and *end: where the stack before them ends; -1: none. */
static int64_t samples_of(const char *line, const char *line_end, const char **end)
{
  const char *digits = line_end;
  int64_t n = 0;
  while (digits > line && digits[-1] >= '0' && digits[-1] <= '9')
    digits--;
  if (digits == line_end || line_end - digits > 18 || digits - line < 2 || digits[-1] != ' ')
    return -1;
  for (const char *c = digits; c < line_end; c++)
    n = n * 10 + (*c - '0');
  *end = digits - 1;
  return n;
}

static void add_stack(struct tm_stacks *s, const char *at, const char *end, int64_t samples)
{
  size_t node = 0;
  for (int depth = 0; at <= end && depth < TM_STACK_DEPTH; depth++) {
    const char *next = memchr(at, ';', (size_t)(end - at));
    const char *stop = next ? next : end;
    if (stop > at)
      node = child_of(s, node, at, (size_t)(stop - at));
    at = stop + 1;
  }
  int64_t *self = &s->nodes.at[node].self;
  *self = *self > INT64_MAX / 2 - samples ? INT64_MAX / 2 : *self + samples;
}

void tm_stacks_add(struct tm_stacks *s, const char *text, size_t len)
{
  const char *stop = text + len;
  while (text < stop) {
    const char *newline = memchr(text, '\n', (size_t)(stop - text)), *end = NULL;
    const char *line_end = newline ? newline : stop;
    int64_t n = samples_of(text, line_end, &end);
    if (n > 0)
      add_stack(s, text, end, n);
    else if (n < 0 && line_end > text)
      s->bad_lines++;
    text = line_end + 1;
  }
}

/* ---- order ---- */

struct child {
  size_t at, parent;
  int64_t samples;
};

static int by_parent(const void *a, const void *b)
{
  const struct child *x = a, *y = b;
  if (x->parent != y->parent)
    return x->parent < y->parent ? -1 : 1;
  if (x->samples != y->samples)
    return x->samples < y->samples ? 1 : -1;
  return (x->at > y->at) - (x->at < y->at);
}

void tm_stacks_settle(struct tm_stacks *s)
{
  size_t n = s->nodes.len;
  struct child *list = tm_xcalloc(n, sizeof(*list));
  for (size_t i = 0; i < n; i++)
    s->nodes.at[i].samples = s->nodes.at[i].self;
  for (size_t i = n; i-- > 1;) {
    int64_t *sum = &s->nodes.at[s->nodes.at[i].parent].samples;
    int64_t more = s->nodes.at[i].samples;
    *sum = *sum > INT64_MAX - more ? INT64_MAX : *sum + more;
  }
  for (size_t i = 1; i < n; i++)
    list[i] = (struct child) { i, s->nodes.at[i].parent, s->nodes.at[i].samples };
  if (n > 2)
    qsort(list + 1, n - 1, sizeof(*list), by_parent);
  for (size_t i = n; i-- > 1;) { /* from the back, so that each becomes the first */
    struct tm_stack_node *parent = &s->nodes.at[list[i].parent];
    s->nodes.at[list[i].at].next = parent->child;
    parent->child = list[i].at;
  }
  free(list);
}

/* ---- hot lines ---- */

static int by_self(const void *a, const void *b)
{
  const struct tm_stack_line *x = a, *y = b;
  if (x->self != y->self)
    return x->self < y->self ? 1 : -1;
  return strcmp(x->name, y->name);
}

static bool is_below_itself(const struct tm_stacks *s, size_t i)
{
  for (size_t up = s->nodes.at[i].parent; up != 0; up = s->nodes.at[up].parent)
    if (strcmp(s->nodes.at[up].name, s->nodes.at[i].name) == 0)
      return true;
  return false;
}

struct tm_stack_line *tm_stacks_hot(const struct tm_stacks *s, size_t max, size_t *len)
{
  struct TM_ARRAY(struct tm_stack_line) list = { 0 };
  struct tm_map lines = { 0 };
  for (size_t i = 1; i < s->nodes.len; i++) {
    const struct tm_stack_node *node = &s->nodes.at[i];
    bool is_new;
    uint64_t *at = tm_map_add(&lines, node->name, strlen(node->name), &is_new);
    if (is_new) {
      *at = list.len;
      *TM_ARRAY_ADD(&list) = (struct tm_stack_line) { .name = node->name };
    }
    struct tm_stack_line *line = &list.at[*at];
    line->self += node->self;
    if (!is_below_itself(s, i))
      line->samples += node->samples;
  }
  if (list.len > 1)
    qsort(list.at, list.len, sizeof(*list.at), by_self);
  *len = list.len < max ? list.len : max;
  tm_map_release(&lines);
  return list.at;
}
