/* page_files.c - outputs and logs as on disk: a folder, a file as it is, a piece of a text file. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "portal/job_files.h"
#include "portal/log_window.h"
#include "portal/moment.h"
#include "portal/pages/pages.h"
#include "portal/request/range.h"

#define SAMPLE_BYTES 4096
#define FIND_NS      (200 * TM_MS)
#define FIND_PIECE   (1 << 20)

struct files {
  const char *key;
  char *dir, *path; /* of the job; relative, "": the directory itself */
  struct tm_job_entries entries;
  struct tm_job_file file;
  struct tm_window window;
  struct tm_buf bytes;
  size_t skip;
  char *search;        /* "": none */
  int64_t searched_to; /* behind what was searched; -1: found */
};

/* ---- a folder ---- */

static void add_path_links(struct tm_html *h, const struct tm_visit *v, const struct files *f)
{
  tm_html_open(h, "h1");
  tm_html_open(h, "a");
  tm_frame_href(h, v, "jobs/%s/files/", f->key);
  tm_html_name(h, f->key);
  tm_html_close(h, "a");
  for (size_t at = 0; f->path[at];) {
    size_t n = strcspn(f->path + at, "/");
    char *to = tm_xstrndup(f->path, at + n), *name = tm_xstrndup(f->path + at, n);
    at += n + (f->path[at + n] == '/');
    tm_html_text(h, " / ");
    if (f->path[at])
      tm_html_open(h, "a");
    if (f->path[at])
      tm_frame_href(h, v, "jobs/%s/files/%s/", f->key, to);
    tm_html_name(h, name);
    if (f->path[at])
      tm_html_close(h, "a");
    free(to);
    free(name);
  }
  tm_html_close(h, "h1");
}

static void add_entry(struct tm_html *h, const struct tm_visit *v, const struct files *f,
                      const struct tm_job_entry *e)
{
  const char *slash = *f->path ? "/" : "";
  tm_html_open(h, "li");
  if (!e->is_shown) {
    tm_html_name(h, e->name);
    tm_html_put(h, "small", "leads out of the job, or is not a file");
  } else {
    tm_html_open(h, "a");
    if (e->is_folder)
      tm_frame_href(h, v, "jobs/%s/files/%s%s%s/", f->key, f->path, slash, e->name);
    else
      tm_frame_href(h, v, "jobs/%s/view/0/%s%s%s", f->key, f->path, slash, e->name);
    tm_html_name(h, e->name);
    tm_html_text(h, e->is_folder ? "/" : "");
    tm_html_close(h, "a");
    tm_html_open(h, "small");
    if (!e->is_folder)
      tm_piece_bytes(h, e->bytes);
    tm_html_close(h, "small");
  }
  tm_html_close(h, "li");
}

static void add_folder(struct tm_html *h, const struct tm_visit *v, void *data)
{
  const struct files *f = data;
  add_path_links(h, v, f);
  tm_html_open(h, "ul class='tree'");
  for (size_t i = 0; i < f->entries.at.len; i++)
    add_entry(h, v, f, &f->entries.at.at[i]);
  tm_html_close(h, "ul");
  if (f->entries.at.len == 0)
    tm_html_put(h, "p class='dim'", "The folder is empty.");
  if (f->entries.is_cut)
    tm_html_textf(h, "Only %d entries are shown.", TM_JOB_FILES_MAX);
}

static void answer_folder(const struct tm_visit *v, struct files *f)
{
  static const struct tm_page_section sections[] = { { "folder", add_folder, true, 0 } };
  struct tm_err err = TM_ERR_NONE;
  struct tm_page_frame frame = { .title = *f->path ? f->path : "Outputs + logs",
                                 .topic = f->key,
                                 .job = f->key,
                                 .sections = sections,
                                 .sections_len = TM_COUNT_OF(sections),
                                 .data = f };
  if (!v->target->is_folder) {
    tm_frame_to_folder(v);
  } else if (tm_job_entries_read(&f->entries, f->dir, f->path, &err) < 0) {
    tm_frame_fail_by(v, &err);
  } else {
    tm_frame_answer(v, &frame);
  }
}

/* ---- a file as it is ---- */

static bool is_text(const struct tm_job_file *file)
{
  char sample[SAMPLE_BYTES];
  ssize_t n = pread(file->fd, sample, sizeof sample, 0);
  return n >= 0 && tm_job_file_is_text(sample, (size_t)n);
}

static void answer_file(const struct tm_visit *v, struct files *f)
{
  struct tm_range range = tm_range_of(v->request->range, f->file.bytes);
  if (range.kind == TM_RANGE_OUTSIDE) {
    tm_answer_init(v->answer, 416, TM_ANSWER_TEXT);
    tm_answer_header(v->answer, "Content-Range", "bytes */%" PRId64, f->file.bytes);
    return;
  }
  tm_answer_init(v->answer, range.kind == TM_RANGE_PART ? 206 : 200,
                 is_text(&f->file) ? TM_ANSWER_TEXT : TM_ANSWER_ATTACHMENT);
  if (range.kind == TM_RANGE_PART)
    tm_answer_header(v->answer, "Content-Range", "bytes %" PRId64 "-%" PRId64 "/%" PRId64,
                     range.from, range.from + range.bytes - 1, f->file.bytes);
  v->answer->fd = f->file.fd;
  v->answer->from = range.from;
  v->answer->bytes = range.bytes;
  f->file.fd = -1;
}

/* ---- opening ---- */

static bool has_folder(const char *dir)
{
  struct tm_job_file folder;
  if (!dir || tm_job_file_open(&folder, dir, "", NULL) < 0)
    return false;
  close(folder.fd);
  return true;
}

static bool begin(const struct tm_visit *v, struct files *f, size_t rest)
{
  struct tm_err err = TM_ERR_NONE;
  f->key = v->route.words[0];
  f->dir = tm_watch_dir(&v->portal->watch, f->key);
  f->path = tm_target_rest(v->target, rest);
  f->file.fd = -1;
  if (f->dir && tm_job_file_open(&f->file, f->dir, f->path, &err) >= 0)
    return true;
  f->file.fd = -1;
  if (has_folder(f->dir)) {
    tm_frame_fail_by(v, &err);
  } else {
    err.code = TM_EUSAGE;
    tm_frame_fail_job(v, f->key, &err);
  }
  return false;
}

static void end(struct files *f)
{
  tm_job_entries_release(&f->entries);
  tm_buf_release(&f->bytes);
  if (f->file.fd >= 0)
    close(f->file.fd);
  free(f->dir);
  free(f->path);
  free(f->search);
}

void tm_page_files(const struct tm_visit *v)
{
  struct files f = { .key = NULL };
  if (begin(v, &f, v->route.rest)) {
    if (f.file.is_folder)
      answer_folder(v, &f);
    else
      answer_file(v, &f);
  }
  end(&f);
}

/* ---- a piece of a text file ---- */

static void add_piece_link(struct tm_html *h, const struct tm_visit *v, const struct files *f,
                           const char *id, const char *words, const char *where)
{
  tm_html_open(h, "a");
  tm_html_attr(h, "id", id);
  tm_frame_href(h, v, "jobs/%s/view/%s/%s", f->key, where, f->path);
  tm_html_text(h, words);
  tm_html_close(h, "a");
  tm_html_text(h, " ");
}

static void add_search(struct tm_html *h, const struct files *f)
{
  tm_html_open(h, "form class='search' role='search'");
  tm_html_open(h, "label");
  tm_html_put(h, "span class='vh'", "Search in the file");
  tm_html_void(h, "input type='search' name='find' placeholder='Search from here on'");
  tm_html_attr(h, "value", f->search);
  tm_html_close(h, "label");
  tm_html_close(h, "form");
  if (*f->search && f->searched_to >= f->file.bytes)
    tm_html_put(h, "p role='status'", "The text is not in the rest of the file.");
  else if (*f->search && f->searched_to >= 0)
    tm_html_put(h, "p role='status'",
                "The text is not in what could be searched in a moment; search again to continue.");
}

static void add_view_head(struct tm_html *h, const struct tm_visit *v, void *data)
{
  const struct files *f = data;
  add_path_links(h, v, f);
  tm_html_open(h, "p class='logbar'");
  add_piece_link(h, v, f, "first", "begin", "0");
  add_piece_link(h, v, f, "last", "end", "end");
  tm_html_open(h, "a");
  tm_frame_href(h, v, "jobs/%s/files/%s", f->key, f->path);
  tm_html_text(h, "the whole file, ");
  tm_piece_bytes(h, f->file.bytes);
  tm_html_close(h, "a");
  tm_html_close(h, "p");
  add_search(h, f);
}

static void add_lines(struct tm_html *h, const struct files *f)
{
  struct tm_window_line line;
  size_t n = (size_t)(f->window.to - f->window.from), at = 0;
  const char *data = tm_buf_str(&f->bytes) + f->skip;
  while (tm_window_line(data, n, &at, &line))
    tm_piece_line(h, NULL, line.text, line.len, line.more);
}

static void add_window(struct tm_html *h, const struct tm_visit *v, void *data)
{
  const struct files *f = data;
  char before[40], after[40];
  snprintf(before, sizeof before, "before-%" PRId64, f->window.from);
  snprintf(after, sizeof after, "%" PRId64, f->window.to);
  if (f->window.from > 0)
    add_piece_link(h, v, f, "earlier", "earlier lines", before);
  tm_html_open(h, "div class='log' role='log' tabindex='0' aria-label='Lines'");
  tm_html_attr_num(h, "data-from", (double)f->window.from);
  tm_html_attr_num(h, "data-to", (double)f->window.to);
  tm_html_attr_num(h, "data-size", (double)f->file.bytes);
  add_lines(h, f);
  tm_html_close(h, "div");
  if (f->window.to < f->file.bytes)
    add_piece_link(h, v, f, "later", "later lines", after);
}

/* Moves the window to the first place of the text at or behind `from`, within a moment. */
static void search(struct files *f, int64_t from)
{
  size_t n = strlen(f->search), overlap = n > 0 ? n - 1 : 0;
  char *piece = tm_xmalloc(FIND_PIECE);
  int64_t until_ns = tm_moment_now_ns() + FIND_NS;
  f->searched_to = from;
  while (n > 0 && n < FIND_PIECE / 2 && f->searched_to < f->file.bytes &&
         tm_moment_now_ns() < until_ns) {
    ssize_t got = pread(f->file.fd, piece, FIND_PIECE, f->searched_to);
    const char *found = got > 0 ? memmem(piece, (size_t)got, f->search, n) : NULL;
    if (found) {
      const char *line = memrchr(piece, '\n', (size_t)(found - piece));
      int64_t back = line ? found - line - 1 : found - piece < 4096 ? found - piece : 4096;
      f->window.from = f->searched_to + (found - piece) - back;
      f->searched_to = -1;
      break;
    }
    f->searched_to =
        got > (ssize_t)overlap ? f->searched_to + got - (ssize_t)overlap : f->file.bytes;
    if (f->file.bytes - f->searched_to <= (int64_t)overlap)
      f->searched_to = f->file.bytes;
  }
  free(piece);
  if (f->searched_to >= 0 && f->searched_to < f->file.bytes)
    f->window.from = f->searched_to;
  char where[24];
  snprintf(where, sizeof where, "%" PRId64, f->window.from);
  f->window = tm_window_at(where, f->file.bytes);
}

static void read_window(struct files *f)
{
  size_t want = (size_t)(f->window.to - f->window.from);
  char *at = tm_buf_extend(&f->bytes, want);
  ssize_t n = pread(f->file.fd, at, want, f->window.from);
  f->bytes.len = n > 0 ? (size_t)n : 0; /* the file may have become shorter */
  tm_window_cut(&f->window, f->bytes.data, f->bytes.len, f->file.bytes, &f->skip);
}

/* From /PREFIX/jobs/KEY/view/WHERE/PATH to /PREFIX/jobs/KEY/files/PATH/. */
static void to_folder(const struct tm_visit *v)
{
  const char *target = v->request->target, *view = target, *path;
  for (int i = 0; i < 3; i++)
    view = strchr(view + 1, '/');
  path = strchr(strchr(view + 1, '/') + 1, '/') + 1;
  tm_answer_init(v->answer, 303, TM_ANSWER_PAGE);
  tm_answer_header(v->answer, "Location", "%.*s/files/%.*s/", (int)(view - target), target,
                   (int)strcspn(path, "?"), path);
}

void tm_page_view(const struct tm_visit *v)
{
  static const struct tm_page_section sections[] = { { "head", add_view_head, false, 0 },
                                                     { "window", add_window, false, 0 } };
  struct files f = { .key = NULL };
  struct tm_buf text = TM_BUF_NONE;
  if (begin(v, &f, v->route.rest - 1) && f.file.is_folder) {
    to_folder(v);
  } else if (f.file.fd >= 0) {
    struct tm_page_frame frame = { .title = f.path,
                                   .topic = f.key,
                                   .job = f.key,
                                   .file = f.path,
                                   .sections = sections,
                                   .sections_len = TM_COUNT_OF(sections),
                                   .data = &f };
    f.window = tm_window_at(v->route.words[1], f.file.bytes);
    tm_target_text(v->target->query, "find", &text);
    tm_buf_add_str(&text, "");
    f.search = tm_buf_take(&text);
    if (*f.search)
      search(&f, f.window.from);
    read_window(&f);
    tm_frame_answer(v, &frame);
  }
  end(&f);
}
