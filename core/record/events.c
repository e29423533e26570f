/* events.c - the list of listeners, the names of verdicts, and where the outputs of a step are.
 *
 * The list is intrusive: the owner of a listener owns its memory, and adding never fails. No
 * listener is removed while a job runs.
 */
#include "record/events.h"

#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"

void tm_events_add(struct tm_events *events, struct tm_listener *listener)
{
  tm_require(listener->on_event);
  struct tm_listener **at = &events->first;

  while (*at) {
    tm_require(*at != listener);
    at = &(*at)->next;
  }
  listener->next = NULL;
  *at = listener;
}

void tm_events_emit(const struct tm_events *events, const struct tm_event *e)
{
  for (struct tm_listener *l = events->first; l; l = l->next)
    l->on_event(l->data, e);
}

const char *tm_event_failed(const struct tm_event *e)
{
  if (e->kind == TM_EVENT_SHUTDOWN_FAILED)
    return "shutdown()";
  if (e->kind != TM_EVENT_INIT_FAILED)
    return NULL;
  return e->failed ? e->failed : "init()";
}

void tm_step_view_add_workers(struct tm_buf *out, const struct tm_step_view *s)
{
  if (s->workers > 0)
    tm_buf_printf(out, "%" PRId64 " workers at most", s->workers);
  else
    tm_buf_add_str(out, "as many workers as its nodes decide");
}

int64_t tm_attempt_left(const struct tm_attempt *a)
{
  bool is_over = a->is_final || a->status == TM_CANCELED || a->is_uncounted;
  return is_over ? 0 : a->items - a->succeeded - a->failed;
}

void tm_attempt_add_input(struct tm_buf *out, const struct tm_attempt *a)
{
  if (a->items > 0) /* rows of a table are counted by workers */
    tm_buf_printf(out, "%" PRId64 " %s%s", a->items, tm_text_counted(a->items, "item", "items"),
                  *a->dataset ? " " : ", ");
  if (*a->dataset)
    tm_buf_printf(out, "of input '%s', ", a->dataset);
  tm_buf_printf(out, a->has_keys ? "%.*s" : "first '%.*s'", (int)a->first_item_len, a->first_item);
}

const char *tm_verdict_name(enum tm_verdict v)
{
  switch (v) {
  case TM_RUNNING: return "Running";
  case TM_COMPLETED: return "Completed";
  case TM_FAILED: return "Failed";
  case TM_CANCELED_JOB: return "Canceled";
  case TM_SKIPPED: return "Skipped";
  }
  tm_require(!"a verdict");
}

bool tm_step_view_output(struct tm_output_view *out, const struct tm_step_view *v, size_t i)
{
  const struct tm_json *list = tm_json_get(v->effective, "outputs"), *output;

  if (!list || list->type != TM_JSON_ARRAY || i >= list->list.len)
    return false;
  output = list->list.at[i];
  *out = (struct tm_output_view) { .name = tm_json_str(output, "name", ""),
                                   .folder = tm_json_str(output, "folder", ""),
                                   .destination = tm_json_str(output, "destination", NULL) };
  if (strcmp(tm_json_str(output, "mode", "mount"), "mount") != 0 && v->verdict != TM_COMPLETED)
    out->destination = NULL;
  return true;
}

void tm_step_view_add_folder(struct tm_buf *path, const struct tm_step_view *v,
                             const struct tm_output_view *output)
{
  tm_require(output->folder);
  const char *below = strchr(output->folder, '/'); /* the step's folder has the step's name */

  tm_buf_add_str(path, v->dir);
  tm_buf_add_str(path, below ? below : "");
}

const char *tm_attempt_error_item(const struct tm_attempt *a, size_t *len)
{
  const char *item = NULL;
  *len = 0;
  if (a->are_rows || a->items <= 0)
    return NULL;
  if (a->items == 1 && !a->is_uncounted && a->first_item) {
    item = a->first_item;
    *len = a->first_item_len;
  } else if (a->named_item) {
    item = a->named_item;
    *len = strlen(item);
  }
  return item;
}
