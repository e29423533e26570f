/* errors.c - see errors.h.
 *
 *  (1) The file is replaced atomically, by a rename: a reader sees the old or the new one. It is
 *      not synced, because the loop must not wait for a disk; the important parts are also in the
 *      failed items and in the worker's own error file.
 *  (2) The text of earlier sessions stays, below: resuming does not lose an error of yesterday.
 */
#include "report/errors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "record/error_key.h"

#define MESSAGE_MAX     4000       /* bytes of a message */
#define ITEM_MAX        1000       /* bytes of a path */
#define SCREEN_LINE_MAX 500        /* bytes of a line of a message, if lines are limited too */
#define EARLIER_MAX     (4u << 20) /* bytes */
#define WRITE_NS        TM_S

static const char earlier_line[] = "---- earlier sessions of this job ----\n";

void tm_errors_init(struct tm_errors *s, const struct tm_fs *fs, const char *logs_dir)
{
  tm_require(logs_dir);
  struct tm_buf text = TM_BUF_NONE;
  *s = (struct tm_errors) { .fs = fs, .logs_dir = tm_xstrdup(logs_dir) };
  s->path = tm_path_join(logs_dir, "user/error.txt");
  if (tm_fs_read_file(fs, s->path, EARLIER_MAX, &text, NULL) >= 0 && text.len > 0)
    s->earlier = tm_buf_take(&text); /* (2) */
  tm_buf_release(&text);
}

void tm_error_add_replay(struct tm_buf *out, const char *job_dir, const char *step)
{
  tm_require(job_dir);
  tm_buf_add_str(out, "tidemill replay ");
  tm_text_shell(out, job_dir);
  if (step) {
    tm_buf_add_str(out, " --step ");
    tm_text_shell(out, step);
  }
}

void tm_errors_set_job(struct tm_errors *s, const char *job_dir, const char *step)
{
  tm_require(s->logs_dir);
  struct tm_buf text = TM_BUF_NONE;
  tm_error_add_replay(&text, job_dir, step);
  free(s->replay);
  s->replay = tm_buf_take(&text);
}

void tm_errors_release(struct tm_errors *s)
{
  for (size_t i = 0; i < s->list.len; i++) {
    struct tm_error *e = &s->list.at[i];
    free(e->message);
    free(e->where);
    free(e->worker);
    free(e->log);
    free(e->item);
    free(e->detail);
    free(e->again);
    free(e->pattern);
    for (size_t w = 0; w < e->workers_len; w++)
      free(e->workers[w]);
  }
  TM_ARRAY_RELEASE(&s->list);
  tm_map_release(&s->known);
  tm_buf_release(&s->key);
  free(s->path);
  free(s->logs_dir);
  free(s->replay);
  free(s->earlier);
  memset(s, 0, sizeof(*s));
}

/* Adding. */

static char *keep_message(const char *message)
{
  size_t n = strlen(message);
  if (n <= MESSAGE_MAX)
    return tm_xstrndup(message, n);
  for (n = MESSAGE_MAX; n > 0 && ((unsigned char)message[n] & 0xc0) == 0x80;)
    n--; /* not within a character */
  return tm_xprintf("%.*s...", (int)n, message);
}

static char *keep_item(const char *item, size_t len)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_text_one_line(&text, item, len, ITEM_MAX);
  return text.len > 0 ? tm_buf_take(&text) : (tm_buf_release(&text), tm_xstrdup(""));
}

static bool is_one_row(const struct tm_attempt *a)
{
  return a->are_rows && a->items == 1 && !a->is_uncounted && a->part_first > 0;
}

static void set_row(struct tm_error *n, const struct tm_attempt *a)
{
  n->row = is_one_row(a) ? a->row : 0;
  n->number = is_one_row(a) ? a->part_first : 0;
}

/* The item of the first: the one that the message names, or the first of its mini-batch. */
static void set_item(struct tm_error *n, const struct tm_attempt *a)
{
  const char *named = a->are_rows ? NULL : a->named_item;
  n->item = named ? keep_item(named, strlen(named)) : keep_item(a->first_item, a->first_item_len);
  n->items = named || a->is_uncounted ? 1 : a->items;
  n->are_rows = a->are_rows;
  set_row(n, a);
}

static char *log_of(const struct tm_errors *s, const struct tm_event *e)
{
  return e->node_id ? tm_xprintf("%s/user/error/%s/%s.txt", s->logs_dir, e->node_id,
                                 e->worker ? e->worker : "")
                    : tm_xstrdup("");
}

/* Notes that the error has happened once more. */
static void note_one(struct tm_error *n, const struct tm_event *e, const char *message)
{
  if (n->first_ns == 0)
    n->first_ns = e->wall_ns;
  if (e->wall_ns > n->last_ns) /* clocks jump */
    n->last_ns = e->wall_ns;
  n->is_mixed = n->is_mixed || strncmp(n->message, message, strlen(n->message)) != 0;
  for (size_t i = 0; i < n->workers_len; i++)
    if (e->worker && strcmp(n->workers[i], e->worker) == 0)
      return;
  if (e->worker && n->workers_len < TM_ERROR_WORKERS)
    n->workers[n->workers_len++] = tm_xstrdup(e->worker);
  else if (e->worker)
    n->has_more_workers = true;
}

static struct tm_error *add_new(struct tm_errors *s, const struct tm_event *e, const char *message,
                                const char *where)
{
  struct tm_error *n = TM_ARRAY_ADD(&s->list);
  *n = (struct tm_error) { .count = 1, .message = keep_message(message) };
  n->pattern = tm_xstrdup(tm_buf_str(&s->key) + s->pattern_at);
  n->where = tm_xstrdup(where);
  n->worker = tm_xstrdup(e->worker ? e->worker : "");
  n->log = log_of(s, e);
  n->hook = tm_event_failed(e);
  n->status = e->attempt ? e->attempt->status : TM_INIT_EXCEPTION;
  n->index = n->hook ? 0 : e->attempt->index;
  if (!n->hook && s->replay)
    n->again = tm_xprintf("%s --mini-batch %" PRIu64, s->replay, n->index);
  n->item = NULL;
  n->items = 1;
  if (n->hook)
    n->item = tm_xstrdup("");
  else
    set_item(n, e->attempt);
  return n;
}

static bool is_of_one_item(const struct tm_attempt *a)
{
  return a && a->items == 1 && !a->is_uncounted && !a->are_rows && a->first_item;
}

/* With `is_whole` the message is that of a whole mini-batch. */
static void make_key(struct tm_errors *s, const struct tm_event *e, const char *message,
                     const char *where, bool is_whole)
{
  const struct tm_attempt *a = e->kind == TM_EVENT_SHUTDOWN_FAILED ? NULL : e->attempt;
  struct tm_error_signature of = { .status = tm_event_failed(e),
                                   .where = where,
                                   .message = message };
  if (a)
    of.status = tm_status_name(a->status);
  if (a && !(is_whole && is_of_one_item(a)))
    of.item = tm_attempt_error_item(a, &of.item_len);
  s->pattern_at = tm_error_key(&s->key, &of);
}

/* The error with this key, or a new one; NULL: the limit of distinct errors is reached. */
static uint64_t *find_place(struct tm_errors *s, bool *is_new)
{
  *is_new = false;
  return s->list.len < TM_ERRORS_MAX ? tm_map_add(&s->known, s->key.data, s->key.len, is_new)
                                     : tm_map_find(&s->known, s->key.data, s->key.len);
}

/* The place of the error of a try; NULL as above. An item that was tried alone may have failed in
 * its whole mini-batch before, with the same words. */
static uint64_t *place_of(struct tm_errors *s, const struct tm_event *e, const char *message,
                          const char *where, bool *is_new)
{
  const struct tm_attempt *a = e->kind == TM_EVENT_TRY_ENDED ? e->attempt : NULL;
  uint64_t *known = NULL;
  *is_new = false;
  if (is_of_one_item(a) && a->part_first > 0) {
    make_key(s, e, message, where, true);
    known = tm_map_find(&s->known, s->key.data, s->key.len);
  }
  if (known)
    return known;
  make_key(s, e, message, where, false);
  return find_place(s, is_new);
}

static void replace(char **text, char *by)
{
  free(*text);
  *text = by;
}

/* The bad item of a mini-batch was found: it is named in place of the first item, with its own
 * worker. */
static void name_found_item(struct tm_errors *s, struct tm_error *known, const struct tm_event *e)
{
  const struct tm_attempt *a = e->attempt;
  bool is_found = a && a->part_first > 0 && a->failed > 0 && (is_of_one_item(a) || is_one_row(a));
  if (!is_found || known->items <= 1 || known->index != a->index || known->is_items)
    return;
  replace(&known->item, keep_item(a->first_item, a->first_item_len));
  known->items = 1;
  set_row(known, a);
  replace(&known->worker, tm_xstrdup(e->worker ? e->worker : ""));
  replace(&known->log, log_of(s, e));
}

/* An earlier error with the same message, if only one of the two has a place: LuaJIT does not tell
 * the place of a stack overflow in compiled code. NULL: there is none. */
static struct tm_error *find_other_half(struct tm_errors *s, const struct tm_attempt *a)
{
  bool may_be = a && a->status == TM_RUN_EXCEPTION, has_place = may_be && *a->script_where;
  for (size_t i = 0; may_be && i < s->list.len; i++) {
    struct tm_error *e = &s->list.at[i];
    if (e->status == a->status && (*e->where != '\0') != has_place && !e->is_items && !e->hook &&
        strcmp(e->message, a->message) == 0)
      return e;
  }
  return NULL;
}

/* Counts the error with its other half, which gets the place. */
static void add_to_other_half(struct tm_error *known, const struct tm_event *e)
{
  const struct tm_attempt *a = e->attempt;
  known->count++;
  note_one(known, e, a->message);
  known->failed += a->failed;
  if (*known->where)
    return;
  free(known->where);
  known->where = tm_xstrdup(a->script_where);
}

bool tm_errors_add(struct tm_errors *s, const struct tm_event *e)
{
  const struct tm_attempt *a = e->kind == TM_EVENT_TRY_ENDED ? e->attempt : NULL;
  const char *message = a ? a->message : e->message;
  const char *where = a ? a->script_where : e->script_where;
  bool is_new;
  uint64_t *place;
  s->count++;
  s->due.is_changed = true;
  struct tm_error *half = find_other_half(s, a);
  if (half && *half->where) {
    add_to_other_half(half, e);
    return false;
  }
  place = place_of(s, e, message, where, &is_new);
  if (!place) {
    s->others++;
    return false;
  }
  if (is_new && half) {
    *place = (uint64_t)(half - s->list.at) + 1;
    add_to_other_half(half, e);
    return false;
  }
  if (is_new) {
    *place = s->list.len + 1;
    add_new(s, e, message, where);
  } else {
    s->list.at[*place - 1].count++;
    name_found_item(s, &s->list.at[*place - 1], e);
  }
  note_one(&s->list.at[*place - 1], e, message);
  s->list.at[*place - 1].failed += a ? a->failed : 0;
  return is_new;
}

/* Replaces the path of the worker's own error file, which has nothing about it. */
static void fill_cause(struct tm_errors *s, struct tm_error *n, const struct tm_event *e,
                       const struct tm_item_cause *cause)
{
  free(n->log);
  n->log = tm_path_join(e->step->dir, "failed_items.jsonl");
  n->detail = *cause->detail ? tm_xstrdup(cause->detail) : NULL;
  n->is_items = true;
  n->count = 0;
  if (!cause->first_item)
    return; /* one of the mini-batch's items; nobody knows which */
  free(n->item);
  n->item = keep_item(cause->first_item, cause->first_item_len);
  n->items = 1;
}

bool tm_errors_add_cause(struct tm_errors *s, const struct tm_event *e,
                         const struct tm_item_cause *cause)
{
  bool is_new;
  uint64_t *place;
  s->items += cause->items;
  s->due.is_changed = true;
  s->pattern_at = tm_error_key(
      &s->key,
      &(struct tm_error_signature) { .message = cause->message,
                                     .item = cause->first_item,
                                     .item_len = cause->first_item ? cause->first_item_len : 0 });
  place = find_place(s, &is_new);
  if (!place) {
    s->others++;
    return false;
  }
  if (is_new) {
    *place = s->list.len + 1;
    fill_cause(s, add_new(s, e, cause->message, ""), e, cause);
  }
  note_one(&s->list.at[*place - 1], e, cause->message);
  s->list.at[*place - 1].count += cause->items;
  s->list.at[*place - 1].failed += cause->items;
  return is_new;
}

/* The text. */

static void add_blanks(struct tm_buf *out, int n)
{
  while (n-- > 0)
    tm_buf_add_char(out, ' ');
}

static void add_message(struct tm_buf *out, const char *message, int indent, int lines_max)
{
  for (int line = 0; *message; line++) {
    size_t n = strcspn(message, "\n");
    if (lines_max > 0 && line == lines_max) {
      add_blanks(out, indent + 2);
      tm_buf_add_str(out, "...\n");
      return;
    }
    if (line > 0)
      add_blanks(out, indent + 2);
    tm_text_one_line(out, message, n, lines_max > 0 ? SCREEN_LINE_MAX : 0);
    tm_buf_add_char(out, '\n');
    message += n + (message[n] == '\n');
  }
}

/* "row 57", or "row 7 of the mini-batch" */
static void add_row(struct tm_buf *out, const struct tm_error *e)
{
  tm_buf_add_str(out, "row ");
  tm_text_count(out, e->row > 0 ? e->row : e->number, e->row > 0 ? "" : " of the mini-batch");
}

static void add_item(struct tm_buf *out, const struct tm_error *e)
{
  bool is_row = e->are_rows && e->number > 0;
  tm_buf_printf(out, ", %s", e->item);
  if (is_row) {
    tm_buf_add_str(out, ", ");
    add_row(out, e);
  }
  if (e->items > 1) {
    tm_buf_add_str(out, e->are_rows && !is_row ? ", " : " and ");
    tm_text_count(out, e->are_rows && !is_row ? e->items : e->items - 1,
                  e->are_rows && !is_row ? " rows" : " more");
  }
}

void tm_error_add_first(struct tm_buf *out, const struct tm_error *e)
{
  if (e->hook) {
    tm_buf_printf(out, "first: %s at %s", e->hook, e->worker);
    return;
  }
  tm_buf_printf(out, "first: mini-batch %" PRIu64, e->index);
  if (!e->is_items || e->detail)
    tm_buf_printf(out, " (%s)", e->detail ? e->detail : tm_status_name(e->status));
  if (*e->worker)
    tm_buf_printf(out, " at %s", e->worker);
  if (*e->item)
    add_item(out, e);
}

/* "2026-01-31 23:59:58,123 to 2026-02-01 00:00:10,000, at process000, process001 and others" */
static void add_span(struct tm_buf *out, const struct tm_error *e)
{
  tm_time_log(out, e->first_ns);
  tm_buf_add_str(out, " to ");
  tm_time_log(out, e->last_ns);
  for (size_t i = 0; i < e->workers_len; i++) {
    bool is_last = i > 0 && i + 1 == e->workers_len && !e->has_more_workers;
    tm_buf_printf(out, "%s%s", i == 0 ? ", at " : is_last ? " and " : ", ", e->workers[i]);
  }
  if (e->has_more_workers)
    tm_buf_add_str(out, " and others");
  tm_buf_add_char(out, '\n');
}

/* What the messages of the group have in common, and when they came. */
static void add_group(struct tm_buf *out, const struct tm_error *e, int indent, bool has_span)
{
  if (e->is_mixed) {
    add_blanks(out, indent + 2);
    tm_buf_add_str(out, "pattern: ");
    tm_text_one_line(out, e->pattern, strlen(e->pattern), SCREEN_LINE_MAX);
    tm_buf_add_char(out, '\n');
  }
  if (has_span && e->last_ns - e->first_ns >= TM_S) {
    add_blanks(out, indent + 2);
    add_span(out, e);
  }
}

void tm_error_add_text(struct tm_buf *out, const struct tm_error *e, int indent, int lines_max)
{
  tm_require(e->message && indent >= 0);
  const char *message = *e->message ? e->message : "(no message)";
  add_blanks(out, indent);
  tm_text_grouped(out, e->count);
  if (e->is_cut)
    tm_buf_add_str(out, " or more");
  tm_buf_add_str(out, e->is_items || e->counts_items
                          ? tm_text_counted(e->count, " item: ", " items: ")
                          : tm_text_counted(e->count, " time: ", " times: "));
  if (*e->where && strncmp(message, e->where, strlen(e->where)) != 0) {
    tm_text_one_line(out, e->where, strlen(e->where), 0);
    tm_buf_add_str(out, ": ");
  }
  add_message(out, message, indent, lines_max);
  add_group(out, e, indent, lines_max == 0);
  add_blanks(out, indent + 2);
  tm_error_add_first(out, e);
  tm_buf_add_char(out, '\n');
  if (*e->log) {
    add_blanks(out, indent + 2);
    tm_buf_printf(out, "%s: %s\n", e->is_items ? "list" : "log", e->log);
  }
  if (e->again) {
    add_blanks(out, indent + 2);
    tm_buf_printf(out, "again: %s\n", e->again);
  }
}

static void add_summary(struct tm_buf *out, const struct tm_errors *s, int64_t wall_ns)
{
  tm_text_count(out, s->count, tm_text_counted(s->count, " error", " errors"));
  if (s->items > 0) {
    tm_buf_add_str(out, " of tries, ");
    tm_text_count(out, s->items,
                  tm_text_counted(s->items, " item that failed although run() returned",
                                  " items that failed although run() returned"));
  }
  tm_buf_add_str(out, ", ");
  tm_text_grouped(out, (int64_t)s->list.len);
  tm_buf_printf(out, "%s distinct; until ", s->others > 0 ? " or more" : "");
  tm_time_log(out, wall_ns);
  tm_buf_add_str(out, "\n\n");
  for (size_t i = 0; i < s->list.len; i++) {
    tm_error_add_text(out, &s->list.at[i], 0, 0);
    tm_buf_add_char(out, '\n');
  }
  if (s->others > 0) {
    tm_text_grouped(out, s->others);
    tm_buf_printf(out, " times: others, which came after the first %d\n\n", TM_ERRORS_MAX);
  }
  if (s->earlier) {
    tm_buf_add_str(out, earlier_line);
    tm_buf_add_str(out, s->earlier);
  }
}

int tm_errors_write(struct tm_errors *s, int64_t wall_ns, int64_t mono_ns, bool now,
                    struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  int rc;
  if (!tm_log_due_begin(&s->due, WRITE_NS, mono_ns, now))
    return 0;
  add_summary(&text, s, wall_ns);
  rc = tm_log_replace(s->fs, s->path, &text, err); /* keeps (1) */
  s->due.is_given_up = rc < 0;
  tm_buf_release(&text);
  return rc;
}
