/* page_logs.c - the merged view of a job's logs: all, or by errors, step, worker, node.
 *
 * jobs/KEY/logs, jobs/KEY/logs/errors, jobs/KEY/logs/step/NAME, .../worker/NAME, .../node/ID
 *
 * It is the end of the view; with /at/N behind it the lines from N on, with /before/N those before
 * it. With ?find=TEXT it is the lines that contain the text, of the whole view.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "portal/pages/pages.h"

#define CONTEXT 20 /* lines that are shown before the one that was found */

struct logs {
  const char *key, *kind, *name; /* of the filter; "": none */
  struct tidemill_record *record;
  struct tm_merged_log *log;
  struct tm_merged_choice choice;
  char *find;
  int64_t from; /* the first line to show, of those that are kept */
};

/* Reads the position at the end of the path. Returns how many words are before it. */
static size_t read_place(const struct tm_visit *v, struct logs *l)
{
  const struct tm_target *t = v->target;
  size_t words = t->len - v->route.rest;
  l->choice = (struct tm_merged_choice) { .at = -1, .before = -1 };
  if (words < 2)
    return words;
  const char *way = t->segments[t->len - 2];
  int64_t *place = strcmp(way, "at") == 0       ? &l->choice.at
                   : strcmp(way, "before") == 0 ? &l->choice.before
                                                : NULL;
  if (!place || !tm_text_int(t->segments[t->len - 1], place) || *place < 0)
    return words;
  return words - 2;
}

/* Reads the filter from the path. False: the path has no such filter. */
static bool read_filter(const struct tm_visit *v, struct logs *l, struct tidemill_logs_options *o)
{
  const struct tm_target *t = v->target;
  size_t words = read_place(v, l);
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

/* A link to the view at a place: "/at/20". */
static void add_view_link(struct tm_html *h, const struct tm_visit *v, const struct logs *l,
                          const char *place)
{
  tm_html_open(h, "a");
  tm_frame_href(h, v, "jobs/%s/logs%s%s%s%s%s", l->key, *l->kind ? "/" : "", l->kind,
                *l->name ? "/" : "", l->name, place);
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

/* Leads to the page of a mini-batch, with the lines of its time. */
static void add_mini_batch_form(struct tm_html *h, const struct logs *l)
{
  size_t n = tidemill_record_info(l->record)->steps_len;
  tm_html_open(h, "form class='logbar' action='mini-batch'");
  tm_html_open(h, "label");
  tm_html_text(h, "mini-batch ");
  tm_html_void(h, "input name='n' inputmode='numeric' size='9' required");
  tm_html_close(h, "label");
  tm_html_open(h, "label");
  tm_html_text(h, "of step ");
  tm_html_open(h, "select name='step'");
  for (size_t i = 0; i < n; i++)
    tm_html_put(h, "option", tidemill_record_step(l->record, i)->name);
  tm_html_close(h, "select");
  tm_html_close(h, "label");
  tm_html_put(h, "button", "show");
  tm_html_close(h, "form");
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
  tm_html_open(h, "form class='search' role='search'");
  tm_html_open(h, "label");
  tm_html_put(h, "span class='vh'", "Search all lines");
  tm_html_void(h, "input type='search' name='find' placeholder='Search all lines'");
  tm_html_attr(h, "value", l->find);
  tm_html_close(h, "label");
  tm_html_close(h, "form");
  if (v->target->len == v->route.rest && !v->target->is_folder && job->steps_len > 0)
    add_mini_batch_form(h, l);
}

static void add_link(struct tm_html *h, const struct tm_visit *v, const struct logs *l,
                     const char *words, const char *way, int64_t line)
{
  char place[40] = "";
  if (line >= 0)
    snprintf(place, sizeof place, "/%s/%" PRId64, way, line);
  tm_html_text(h, " ");
  add_view_link(h, v, l, place);
  tm_html_text(h, words);
  tm_html_close(h, "a");
}

/* The positions of the lines that are shown: from the first, to behind the last. */
static int64_t from_of(const struct tm_merged_log *l)
{
  return l->first < l->total ? tm_merged_at(l, l->first)->number : l->at > 0 ? l->at : 0;
}

static int64_t to_of(const struct tm_merged_log *l)
{
  return l->first < l->total ? tm_merged_at(l, l->total - 1)->number + 1 : from_of(l);
}

static void add_found(struct tm_html *h, const struct tm_merged_log *l)
{
  tm_html_int(h, l->total);
  tm_html_text(h, l->total == 1 ? " line of " : " lines of ");
  tm_html_int(h, l->read);
  tm_html_text(h, l->total == 1 ? " contains the text." : " contain the text.");
  if (l->first > 0) {
    tm_html_text(h, " The last ");
    tm_html_int(h, l->total - l->first);
    tm_html_text(h, " are shown.");
  }
}

static void add_note(struct tm_html *h, const struct tm_visit *v, const struct logs *l)
{
  const struct tm_merged_log *log = l->log;
  bool is_search = *l->find, is_end = !log->is_full && log->at < 0 && log->before < 0;
  tm_html_open(h, "p class='more' role='status'");
  if (is_search) {
    add_found(h, log);
  } else if (log->total > log->first) {
    tm_html_text(h, "Lines ");
    tm_html_int(h, from_of(log) + 1);
    tm_html_text(h, " to ");
    tm_html_int(h, to_of(log));
    tm_html_text(h, ".");
  }
  if (log->is_behind) {
    tm_html_text(h, " There is more to read, ");
    tm_html_int(h, log->read);
    tm_html_text(h, " lines so far: reload the page to read on.");
  }
  if (!is_search && from_of(log) > 0)
    add_link(h, v, l, "earlier lines", "before", from_of(log));
  if (!is_search && log->is_full)
    add_link(h, v, l, "later lines", "at", to_of(log));
  if (is_search || !is_end)
    add_link(h, v, l, "the end", "", -1);
  tm_html_close(h, "p");
}

static void add_place(struct tm_html *h, const struct tm_visit *v, const struct logs *l,
                      int64_t number)
{
  char place[40];
  snprintf(place, sizeof place, "/at/%" PRId64, number > CONTEXT ? number - CONTEXT : 0);
  add_view_link(h, v, l, place);
  tm_html_int(h, number + 1);
  tm_html_close(h, "a");
}

static void add_log_lines(struct tm_html *h, const struct tm_visit *v, void *data)
{
  const struct logs *l = data;
  int64_t from = l->from > l->log->first ? l->from : l->log->first;
  add_note(h, v, l);
  tm_html_open(h, "div class='log merged' role='log' tabindex='0' aria-label='Lines'");
  tm_html_attr_num(h, "data-first", (double)l->log->first);
  tm_html_attr_num(h, "data-lines", (double)l->log->total);
  tm_html_attr_num(h, "data-from", (double)from_of(l->log));
  tm_html_attr_num(h, "data-to", (double)to_of(l->log));
  if (l->log->at >= 0 || l->log->before >= 0 || *l->find)
    tm_html_attr(h, "data-part", "1");
  if (l->log->is_behind)
    tm_html_attr(h, "data-more", "1");
  for (int64_t n = from; n < l->log->total; n++) {
    const struct tm_merged_line *line = tm_merged_at(l->log, n);
    if (*l->find)
      add_place(h, v, l, line->number);
    tm_piece_line(h, line->source, line->text, line->len, line->more);
  }
  tm_html_close(h, "div");
  if (l->log->total == 0 && !*l->find)
    tm_html_put(h, "p class='dim'", "There are no lines.");
}

static void read_choice(const struct tm_visit *v, struct logs *l,
                        const struct tidemill_logs_options *o)
{
  struct tm_buf find = TM_BUF_NONE;
  const char *query = v->target->query;
  tm_target_text(query, "find", &find);
  tm_buf_add_str(&find, "");
  l->find = tm_buf_take(&find);
  l->from = tm_target_int(query, "from", 0);
  l->choice.options = o;
  l->choice.find = l->find;
  if (*l->find)
    l->choice.at = l->choice.before = -1;
}

static void answer_logs(const struct tm_visit *v, struct logs *l, struct tm_page_frame *f)
{
  struct tm_err err = TM_ERR_NONE;
  l->record = tm_watch_record(&v->portal->watch, l->key, v->request->now_ns, &err);
  if (!l->record) {
    tm_frame_fail_job(v, l->key, &err);
    return;
  }
  l->log = tm_merged_read(&v->portal->logs, tidemill_record_info(l->record)->dir, &l->choice,
                          v->request->now_ns, &err);
  if (l->log)
    tm_frame_answer(v, f);
  else
    tm_frame_fail_by(v, &err);
}

void tm_page_logs(const struct tm_visit *v)
{
  static const struct tm_page_section sections[] = { { "head", add_logs_head, false, 0 },
                                                     { "window", add_log_lines, false, 0 } };
  struct tidemill_logs_options o = TIDEMILL_LOGS_OPTIONS_INIT;
  struct logs l = { .key = v->route.words[0] };
  if (!read_filter(v, &l, &o)) {
    tm_frame_fail(v, 404, "Not found", "Logs are shown by errors, step, worker or node.");
    return;
  }
  struct tm_buf title = TM_BUF_NONE;
  tm_buf_add_str(&title, *l.kind && !*l.name ? "Errors in logs" : "Logs");
  if (*l.name)
    tm_buf_printf(&title, " of %s", l.name);
  struct tm_page_frame f = { .title = title.data,
                             .topic = l.key,
                             .job = l.key,
                             .file = "merged",
                             .sections = sections,
                             .sections_len = TM_COUNT_OF(sections),
                             .data = &l };
  read_choice(v, &l, &o);
  answer_logs(v, &l, &f);
  tm_buf_release(&title);
  free(l.find);
}
