/* page_logs.c - the end of the merged view of a job's logs: all, or by errors, step, worker, node.
 *
 * jobs/KEY/logs, jobs/KEY/logs/errors, jobs/KEY/logs/step/NAME, .../worker/NAME, .../node/ID
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "portal/pages/pages.h"

struct logs {
  const char *key, *kind, *name; /* of the filter; "": none */
  struct tidemill_record *record;
  struct tm_merged_log *log;
  int64_t from; /* the first line to show */
};

/* Reads the filter from the path. False: there is no such one. */
static bool read_filter(const struct tm_visit *v, struct logs *l, struct tidemill_logs_options *o)
{
  const struct tm_target *t = v->target;
  size_t words = t->len - v->route.rest;
  l->kind = words > 0 ? t->segments[v->route.rest] : "";
  l->name = words > 1 ? t->segments[v->route.rest + 1] : "";
  if (words == 0)
    return true;
  o->errors = words == 1 && strcmp(l->kind, "errors") == 0;
  if (words == 2 && strcmp(l->kind, "step") == 0)
    o->step = l->name;
  if (words == 2 && strcmp(l->kind, "worker") == 0)
    o->worker = l->name;
  if (words == 2 && strcmp(l->kind, "node") == 0)
    o->node = l->name;
  return o->errors || o->step || o->worker || o->node;
}

static void add_filter(struct tm_html *h, const struct tm_visit *v, const struct logs *l,
                       const char *words, const char *kind, const char *name)
{
  bool is_here = strcmp(kind, l->kind) == 0 && strcmp(name, l->name) == 0;
  tm_html_open(h, "a");
  tm_frame_href(h, v, "jobs/%s/logs%s%s%s%s", l->key, *kind ? "/" : "", kind, *name ? "/" : "",
                name);
  if (is_here)
    tm_html_attr(h, "aria-current", "page");
  tm_html_text(h, words);
  tm_html_close(h, "a");
  tm_html_text(h, " ");
}

static void add_logs_head(struct tm_html *h, const struct tm_visit *v, void *data)
{
  const struct logs *l = data;
  const struct tidemill_record_info *job = tidemill_record_info(l->record);
  tm_html_open(h, "h1");
  tm_html_text(h, "Logs ");
  if (*l->name)
    tm_html_put(h, "small", l->name);
  tm_html_close(h, "h1");
  tm_html_open(h, "nav class='way' aria-label='Logs'");
  add_filter(h, v, l, "all", "", "");
  add_filter(h, v, l, "errors", "errors", "");
  for (size_t i = 0; i < job->steps_len && job->steps_len > 1; i++) {
    const char *step = tidemill_record_step(l->record, i)->name;
    add_filter(h, v, l, step, "step", step);
  }
  if (strcmp(l->kind, "worker") == 0 || strcmp(l->kind, "node") == 0)
    add_filter(h, v, l, l->name, l->kind, l->name);
  tm_html_close(h, "nav");
}

static void add_note(struct tm_html *h, const struct logs *l)
{
  int64_t first = tm_merged_first(l->log);
  if (!l->log->is_behind && first == 0)
    return;
  tm_html_open(h, "p class='more'");
  if (l->log->is_behind) {
    tm_html_text(h, "The logs are long: ");
    tm_html_int(h, l->log->total);
    tm_html_text(h, " lines have been read so far. Reload the page to read on.");
  } else {
    tm_html_int(h, first);
    tm_html_text(h, " earlier lines are not shown here; each file is, as a whole, in "
                    "“Outputs + logs”.");
  }
  tm_html_close(h, "p");
}

static void add_log_lines(struct tm_html *h, const struct tm_visit *v, void *data)
{
  const struct logs *l = data;
  int64_t first = tm_merged_first(l->log), from = l->from > first ? l->from : first;
  if (l->from == 0)
    add_note(h, l);
  tm_html_open(h, "div class='log merged' role='log' tabindex='0' aria-label='Lines'");
  tm_html_attr_num(h, "data-lines", (double)l->log->total);
  if (l->log->is_behind)
    tm_html_attr(h, "data-more", "1");
  for (int64_t n = from; n < l->log->total; n++) {
    const struct tm_merged_line *line = tm_merged_at(l->log, n);
    tm_piece_line(h, line->source, line->text, line->len, line->more);
  }
  tm_html_close(h, "div");
  if (l->log->total == 0)
    tm_html_put(h, "p class='dim'", "There are no lines.");
}

void tm_page_logs(const struct tm_visit *v)
{
  static const struct tm_page_section sections[] = { { "head", add_logs_head, false, 0 },
                                                     { "window", add_log_lines, false, 0 } };
  struct tm_err err = TM_ERR_NONE;
  struct tidemill_logs_options o = TIDEMILL_LOGS_OPTIONS_INIT;
  struct logs l = { .key = v->route.words[0], .from = tm_target_int(v->target->query, "from", 0) };
  if (!read_filter(v, &l, &o)) {
    tm_frame_fail(v, 404, "Not found", "Logs are shown by errors, step, worker or node.");
    return;
  }
  l.record = tm_watch_record(&v->portal->watch, l.key, v->request->now_ns, &err);
  if (l.record)
    l.log = tm_merged_read(&v->portal->logs, tidemill_record_info(l.record)->dir, &o,
                           v->request->now_ns, &err);
  if (!l.log) {
    tm_frame_fail_by(v, &err);
    return;
  }
  struct tm_page_frame f = { .title = "Logs",
                             .topic = l.key,
                             .job = l.key,
                             .file = "merged",
                             .sections = sections,
                             .sections_len = TM_COUNT_OF(sections),
                             .data = &l };
  tm_frame_answer(v, &f);
}
