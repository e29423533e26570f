/* page_frame.c - what is around each page, and the answer that holds it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "page/svg.h"
#include "portal/pages/pages.h"

/* How a page refers to the portal's first page: "./", or so many "../". */
static void add_up(struct tm_buf *path, const struct tm_visit *v)
{
  size_t depth = v->target->len - 1 + v->target->is_folder; /* the prefix is the first segment */
  for (size_t i = 1; i < depth; i++)
    tm_buf_add_str(path, "../");
  if (depth <= 1)
    tm_buf_add_str(path, "./");
}

void tm_frame_href(struct tm_html *h, const struct tm_visit *v, const char *fmt, ...)
{
  struct tm_buf path = TM_BUF_NONE;
  va_list ap;
  add_up(&path, v);
  va_start(ap, fmt);
  tm_buf_vprintf(&path, fmt, ap);
  va_end(ap);
  tm_html_href_path(h, tm_buf_str(&path));
  tm_buf_release(&path);
}

/* `job`: its key; NULL: the title names none. */
static void add_head(struct tm_html *h, const char *title, const char *job)
{
  tm_html_doctype(h);
  tm_html_open(h, "html lang='en'");
  tm_html_open(h, "head");
  tm_html_void(h, "meta charset='utf-8'");
  tm_html_void(h, "meta name='viewport' content='width=device-width,initial-scale=1'");
  tm_html_void(h, "meta name='color-scheme' content='light dark'");
  tm_html_open(h, "title");
  tm_html_text(h, title);
  if (job)
    tm_html_textf(h, " · %s", job);
  tm_html_close(h, "title");
  tm_html_void(h, "link rel='icon' href='/portal.svg'");
}

static void add_link(struct tm_html *h, const struct tm_visit *v, const char *path,
                     const char *words, bool is_here)
{
  tm_html_open(h, "a");
  tm_frame_href(h, v, "%s", path);
  if (is_here)
    tm_html_attr(h, "aria-current", "page");
  tm_html_text(h, words);
  tm_html_close(h, "a");
}

static void add_top(struct tm_html *h, const struct tm_visit *v)
{
  enum tm_page_kind kind = v->route.kind;
  tm_html_open(h, "a class='skip' href='#main'");
  tm_html_text(h, "Skip to the page");
  tm_html_close(h, "a");
  tm_html_open(h, "header class='top'");
  tm_html_open(h, "div class='wrap'");
  tm_html_put(h, "span class='brand'", "tidemill");
  tm_html_open(h, "nav aria-label='Workspace'");
  add_link(h, v, "", "Jobs", kind == TM_PAGE_JOBS);
  add_link(h, v, "datasets", "Datasets", kind == TM_PAGE_DATASETS);
  tm_html_close(h, "nav");
  tm_html_open(h, "span class='ws' title='the workspace'");
  tm_html_name(h, v->portal->workspace);
  tm_html_close(h, "span");
  tm_html_put(h, "span class='live' id='live'", "");
  tm_html_put(h, "span class='vh' id='announced' role='status'", "");
  tm_html_open(h,
               "button type='button' class='theme' id='theme' aria-label='Light or dark' hidden");
  tm_html_text(h, "◐");
  tm_html_close(h, "button");
  tm_html_close(h, "div");
  tm_html_close(h, "header");
}

static void add_way(struct tm_html *h, const struct tm_visit *v, const char *job)
{
  static const struct {
    const char *path, *words;
    enum tm_page_kind kind;
  } links[] = { { "/job/", "Job", TM_PAGE_JOB },
                { "/logs", "Logs", TM_PAGE_LOGS },
                { "/files/", "Outputs + logs", TM_PAGE_FILES },
                { "/report.html", "Report as a file", TM_PAGE_REPORT } };
  if (!job)
    return;
  tm_html_open(h, "nav class='way' aria-label='Job'");
  tm_html_open(h, "b");
  tm_html_name(h, job);
  tm_html_close(h, "b");
  for (size_t i = 0; i < TM_COUNT_OF(links); i++) {
    char *path = tm_xprintf("jobs/%s%s", job, links[i].path);
    add_link(h, v, path, links[i].words, v->route.kind == links[i].kind);
    free(path);
  }
  tm_html_close(h, "nav");
}

static void add_content(struct tm_html *h, const struct tm_visit *v, const struct tm_page_frame *f,
                        const struct tm_page_section *s)
{
  if (f->at)
    *f->at = s->at;
  s->add(h, v, f->data);
}

/* The sections of a report are sections themselves, with ids. */
static void add_section(struct tm_html *h, const struct tm_visit *v, const struct tm_page_frame *f,
                        const struct tm_page_section *s)
{
  tm_html_open(h, "div class='part'");
  if (!f->is_report)
    tm_html_attr(h, "id", s->name);
  if (s->is_live)
    tm_html_attr(h, "data-live", s->name);
  add_content(h, v, f, s);
  tm_html_close(h, "div");
}

static void add_files(struct tm_html *h, const struct tm_page_frame *f)
{
  if (f->is_report)
    tm_html_void(h, "link rel='stylesheet' href='/report.css'");
  tm_html_void(h, "link rel='stylesheet' href='/portal.css'");
  if (f->is_report) {
    tm_html_open(h, "script src='/report.js' defer");
    tm_html_close(h, "script");
  }
  tm_html_open(h, "script src='/portal.js' defer");
  tm_html_close(h, "script");
}

static void add_page(struct tm_html *h, const struct tm_visit *v, const struct tm_page_frame *f)
{
  add_head(h, f->title, f->is_report ? NULL : f->job);
  add_files(h, f);
  tm_html_close(h, "head");
  tm_html_open(h, "body");
  tm_html_attr(h, "data-prefix", v->portal->prefix);
  if (v->portal->access.allows_control)
    tm_html_attr(h, "data-token", v->portal->access.page_token);
  if (f->topic)
    tm_html_attr(h, "data-topic", f->topic);
  if (f->is_report)
    tm_html_attr(h, "data-titled", "1");
  if (f->file)
    tm_html_attr(h, "data-file", f->file);
  add_top(h, v);
  tm_html_open(h, "main id='main' class='wrap'");
  tm_svg_defs(h);
  add_way(h, v, f->job);
  for (size_t i = 0; i < f->sections_len; i++)
    add_section(h, v, f, &f->sections[i]);
  tm_html_close(h, "main");
  tm_html_close(h, "body");
  tm_html_close(h, "html");
}

static const struct tm_page_section *asked_for(const struct tm_visit *v,
                                               const struct tm_page_frame *f)
{
  struct tm_buf name = TM_BUF_NONE;
  const struct tm_page_section *found = NULL;
  if (tm_target_text(v->target->query, "section", &name))
    for (size_t i = 0; i < f->sections_len; i++)
      if (strcmp(f->sections[i].name, tm_buf_str(&name)) == 0)
        found = &f->sections[i];
  tm_buf_release(&name);
  return found;
}

void tm_frame_answer(const struct tm_visit *v, const struct tm_page_frame *f)
{
  struct tm_html h;
  const struct tm_page_section *piece = asked_for(v, f);
  tm_answer_init(v->answer, 200, piece ? TM_ANSWER_PIECE : TM_ANSWER_PAGE);
  tm_html_init(&h, &v->answer->body);
  if (piece)
    add_content(&h, v, f, piece);
  else
    add_page(&h, v, f);
  tm_html_finish(&h);
  if (piece)
    tm_answer_match(v->answer, v->request->if_none_match);
}

void tm_frame_to_folder(const struct tm_visit *v)
{
  tm_answer_init(v->answer, 303, TM_ANSWER_PAGE);
  tm_answer_header(v->answer, "Location", "%.*s/", (int)strcspn(v->request->target, "?"),
                   v->request->target);
}

/* What is between two backticks is code. */
static void add_code(struct tm_html *h, const char *words)
{
  for (const char *tick, *end; *words; words = end + 1) {
    tick = strchr(words, '`');
    end = tick ? strchr(tick + 1, '`') : NULL;
    if (!end)
      break;
    tm_html_text_n(h, words, (size_t)(tick - words));
    tm_html_open(h, "code");
    tm_html_text_n(h, tick + 1, (size_t)(end - tick - 1));
    tm_html_close(h, "code");
  }
  tm_html_text(h, words);
}

/* Messages of the library begin with a small letter, and end without a full stop. */
static void add_sentence(struct tm_html *h, const char *words)
{
  size_t n = strlen(words);
  bool is_small = *words >= 'a' && *words <= 'z';
  tm_html_open(h, "p class='sentence'");
  if (is_small)
    tm_html_textf(h, "%c", *words - 'a' + 'A');
  add_code(h, words + is_small);
  if (n > 0 && !strchr(".!?\n", words[n - 1]))
    tm_html_text(h, ".");
  tm_html_close(h, "p");
}

static void add_words(struct tm_html *h, const struct tm_visit *v, void *data)
{
  const char *const *texts = data;
  tm_html_put(h, "h1", texts[0]);
  add_sentence(h, texts[1]);
}

void tm_frame_fail(const struct tm_visit *v, int status, const char *title, const char *words)
{
  const char *texts[] = { title, words };
  static const struct tm_page_section sections[] = { { "fault", add_words, false, 0 } };
  struct tm_page_frame f = {
    .title = title, .sections = sections, .sections_len = 1, .data = texts
  };
  tm_frame_answer(v, &f);
  v->answer->status = status;
}

bool tm_frame_is_missing(const struct tm_err *err)
{
  return err->code == TM_EUSAGE || err->code == -ENOENT;
}

void tm_frame_fail_by(const struct tm_visit *v, const struct tm_err *err)
{
  bool is_missing = tm_frame_is_missing(err);
  tm_frame_fail(v, is_missing ? 404 : 500, is_missing ? "Not found" : "Cannot be shown", err->text);
}

void tm_frame_fail_job(const struct tm_visit *v, const char *key, const struct tm_err *err)
{
  char *words;
  if (!tm_frame_is_missing(err)) {
    tm_frame_fail_by(v, err);
    return;
  }
  words = tm_xprintf("The workspace has no job '%s'. It may have been removed.", key);
  tm_frame_fail(v, 404, "Not found", words);
  free(words);
}

void tm_frame_plain(struct tm_answer *a, int status, const char *title, const char *words,
                    bool tries_again)
{
  struct tm_html h;
  tm_answer_init(a, status, TM_ANSWER_PAGE);
  tm_html_init(&h, &a->body);
  add_head(&h, title, NULL);
  tm_html_void(&h, "link rel='stylesheet' href='/portal.css'");
  if (tries_again)
    tm_html_void(&h, "meta http-equiv='refresh' content='0'");
  tm_html_close(&h, "head");
  tm_html_open(&h, "body");
  tm_html_open(&h, "main class='wrap'");
  tm_html_put(&h, "h1", title);
  add_sentence(&h, words);
  tm_html_close(&h, "main");
  tm_html_close(&h, "body");
  tm_html_close(&h, "html");
  tm_html_finish(&h);
}
