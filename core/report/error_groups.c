/* error_groups.c - see error_groups.h. */
#include "report/error_groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "record/error_key.h"

#define MESSAGE_MAX 4000 /* bytes of a message that are kept, likewise of other texts */

static void release_group(struct tm_error_group *n)
{
  free(n->key);
  free(n->status);
  free(n->where);
  free(n->message);
  free(n->item);
  free(n->worker);
  free(n->node);
  free(n->log);
  for (size_t i = 0; i < n->workers_len; i++)
    free(n->workers[i]);
}

void tm_error_groups_forget(struct tm_error_half *half)
{
  for (size_t i = 0; i < half->list.len; i++)
    release_group(&half->list.at[i]);
  TM_ARRAY_RELEASE(&half->list);
  tm_map_release(&half->known);
  *half = (struct tm_error_half) { .others = 0 };
}

void tm_error_groups_release(struct tm_error_groups *g)
{
  tm_error_groups_forget(&g->tries);
  tm_error_groups_forget(&g->items);
  TM_ARRAY_RELEASE(&g->list);
  tm_buf_release(&g->key);
  memset(g, 0, sizeof(*g));
}

static char *keep(const char *text)
{
  text = tm_text_or_empty(text);
  return tm_xstrndup(text, tm_text_front(text, MESSAGE_MAX));
}

static char *keep_message(const char *message)
{
  struct tm_buf text = TM_BUF_NONE;
  size_t len = tm_text_front(message, MESSAGE_MAX);
  tm_buf_add(&text, message, len);
  tm_buf_add_str(&text, message[len] ? "..." : "");
  return tm_buf_take(&text);
}

/* The group of an error. *is_new: it has its key only. NULL: it is not kept. */
static struct tm_error_group *find(struct tm_error_groups *g, struct tm_error_half *half,
                                   const struct tm_error_signature *of, bool *is_new)
{
  size_t pattern_at = tm_error_key(&g->key, of);
  uint64_t *place = half->list.len < TM_ERROR_GROUPS_MAX
                        ? tm_map_add(&half->known, g->key.data, g->key.len, is_new)
                        : tm_map_find(&half->known, g->key.data, g->key.len);
  *is_new = place && *place == 0;
  if (!place)
    return NULL;
  if (*is_new) {
    struct tm_error_group *n = TM_ARRAY_ADD(&half->list);
    *n = (struct tm_error_group) { .key = tm_xstrndup(g->key.data, g->key.len),
                                   .status = keep(of->status),
                                   .where = keep(of->where),
                                   .message = keep_message(of->message) };
    n->pattern = n->key + pattern_at;
    *place = half->list.len;
  }
  return &half->list.at[*place - 1];
}

static void note_message(struct tm_error_group *n, const char *message)
{
  n->is_mixed = n->is_mixed || strncmp(n->message, message, MESSAGE_MAX - 4) != 0;
}

static void note_worker(struct tm_error_group *n, const char *worker)
{
  if (!*worker)
    return;
  for (size_t i = 0; i < n->workers_len; i++)
    if (strcmp(n->workers[i], worker) == 0)
      return;
  if (n->workers_len < TM_ERROR_WORKERS)
    n->workers[n->workers_len++] = tm_xstrdup(worker);
  else
    n->has_more_workers = true;
}

/* ---- tries ---- */

/* "dataset=NAME count=N ... first=PATH": the path, to the end. */
static const char *first_item(const char *detail)
{
  const char *at = strstr(detail, " first=");
  return at ? at + strlen(" first=") : "";
}

static void set_first_try(struct tm_error_group *n, const struct tm_try_row *row)
{
  n->mini_batch = row->mini_batch;
  n->try_number = row->picked;
  n->item = keep(*row->item ? row->item : first_item(row->detail));
  n->worker = keep(row->process);
  n->node = keep(row->node);
}

static void note_time(struct tm_error_group *n, const struct tm_try_row *row)
{
  int64_t end_ns = row->begin_wall_ns > 0 ? row->begin_wall_ns + row->elapsed_ns : 0;
  if (end_ns > 0 && (n->first_ns == 0 || end_ns < n->first_ns))
    n->first_ns = end_ns;
  if (end_ns > n->last_ns)
    n->last_ns = end_ns;
}

void tm_error_groups_add_try(struct tm_error_groups *g, const struct tm_try_row *row)
{
  struct tm_error_signature of = { .status = row->status,
                                   .where = row->where,
                                   .message = row->message,
                                   .item = row->item,
                                   .item_len = strlen(row->item) };
  bool is_new;
  if (!*row->category || strcmp(row->category, "canceled") == 0)
    return;
  struct tm_error_group *n = find(g, &g->tries, &of, &is_new);
  if (!n) {
    g->tries.others++;
    return;
  }
  if (is_new)
    set_first_try(n, row);
  note_message(n, row->message);
  note_time(n, row);
  note_worker(n, row->process);
  n->tries++;
}

/* ---- items ---- */

static void set_first_item(struct tm_error_group *n, const struct tm_error_item *i)
{
  n->mini_batch = i->mini_batch;
  n->try_number = i->try_number;
  n->item = keep(i->names ? i->names : i->item);
  n->worker = keep("");
  n->node = keep("");
  n->log = keep(i->log);
}

void tm_error_groups_add_item(struct tm_error_groups *g, const struct tm_error_item *i)
{
  const char *item = i->names ? i->names : i->are_rows ? "" : tm_text_or_empty(i->item);
  struct tm_error_signature of = { .status = i->status,
                                   .where = i->where,
                                   .message = tm_text_or_empty(i->message),
                                   .item = item,
                                   .item_len = strlen(item) };
  bool is_new;
  struct tm_error_group *n = find(g, &g->items, &of, &is_new);
  if (!n) {
    g->items.others += i->items;
    return;
  }
  if (is_new)
    set_first_item(n, i);
  note_message(n, of.message);
  n->items += i->items;
}

/* ---- the list ---- */

/* The listed group of the same error, if only one of the two has a line: LuaJIT does not tell the
 * place of a stack overflow in compiled code. */
static struct tm_error_group *find_other_half(struct tm_error_groups *g,
                                              const struct tm_error_group *n)
{
  if (strcmp(n->status, "RUN_EXCEPTION") != 0)
    return NULL;
  for (size_t i = 0; i < g->list.len; i++) {
    struct tm_error_group *e = &g->list.at[i];
    if ((*e->where != '\0') != (*n->where != '\0') && strcmp(e->status, n->status) == 0 &&
        strcmp(e->message, n->message) == 0)
      return e;
  }
  return NULL;
}

static void join_workers(struct tm_error_group *to, const struct tm_error_group *n)
{
  for (size_t i = 0; i < n->workers_len; i++) {
    size_t k = 0;
    while (k < to->workers_len && strcmp(to->workers[k], n->workers[i]) != 0)
      k++;
    if (k == to->workers_len && k < TM_ERROR_WORKERS)
      to->workers[to->workers_len++] = n->workers[i];
    else if (k == to->workers_len)
      to->has_more_workers = true;
  }
  to->has_more_workers = to->has_more_workers || n->has_more_workers;
}

static void join(struct tm_error_group *to, const struct tm_error_group *n)
{
  to->where = *to->where ? to->where : n->where;
  to->tries += n->tries;
  to->is_mixed = to->is_mixed || n->is_mixed;
  if (n->first_ns > 0 && (to->first_ns == 0 || n->first_ns < to->first_ns))
    to->first_ns = n->first_ns;
  if (n->last_ns > to->last_ns)
    to->last_ns = n->last_ns;
  join_workers(to, n);
}

/* The copies share their strings with the groups of the halves. */
static void list_tries(struct tm_error_groups *g, struct tm_map *places)
{
  for (size_t i = 0; i < g->tries.list.len; i++) {
    const struct tm_error_group *n = &g->tries.list.at[i];
    struct tm_error_group *to = find_other_half(g, n);
    if (to)
      join(to, n);
    else
      *(to = TM_ARRAY_ADD(&g->list)) = *n;
    *tm_map_add(places, n->key, strlen(n->key), NULL) = (uint64_t)(to - g->list.at) + 1;
  }
}

static void add_items(struct tm_error_group *to, const struct tm_error_group *n)
{
  to->items += n->items;
  to->is_mixed = to->is_mixed || n->is_mixed;
  if (to->mini_batch != n->mini_batch)
    return;
  to->message = n->message; /* which has all lines; its log is that of another try */
}

static void list_items(struct tm_error_groups *g, const struct tm_map *places)
{
  for (size_t i = 0; i < g->items.list.len; i++) {
    const struct tm_error_group *n = &g->items.list.at[i];
    const uint64_t *place = tm_map_find(places, n->key, strlen(n->key));
    if (place)
      add_items(&g->list.at[*place - 1], n);
    else if (g->list.len < TM_ERROR_GROUPS_MAX)
      *TM_ARRAY_ADD(&g->list) = *n;
    else
      g->other_items += n->items;
  }
}

void tm_error_groups_list(struct tm_error_groups *g)
{
  struct tm_map places = { 0 };
  g->list.len = 0;
  g->other_tries = g->tries.others;
  g->other_items = g->items.others;
  list_tries(g, &places);
  list_items(g, &places);
  tm_map_release(&places);
}

/* ---- for readers ---- */

static int64_t size_of(const struct tm_error_group *n)
{
  return n->tries > 0 ? n->tries : n->items;
}

/* Insertion: at most TM_ERROR_GROUPS_MAX, and groups of one size keep their order. */
void tm_error_groups_order(const struct tm_error_groups *g, size_t *order)
{
  for (size_t i = 0; i < g->list.len; i++) {
    size_t at = i;
    for (; at > 0 && size_of(&g->list.at[order[at - 1]]) < size_of(&g->list.at[i]); at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
}

char *tm_error_group_log(const struct tm_error_group *n, const char *logs_dir)
{
  if (*tm_text_or_empty(n->node) && *tm_text_or_empty(n->worker))
    return tm_xprintf("%s/user/error/%s/%s.txt", logs_dir, n->node, n->worker);
  return tm_xstrdup(tm_text_or_empty(n->log));
}
