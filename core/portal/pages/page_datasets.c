/* page_datasets.c - the registered datasets of the workspace. */
#include <inttypes.h>
#include <string.h>

#include "portal/pages/pages.h"

#define SHOWN_PATHS 1000

struct datasets {
  const char *name; /* all versions of it; NULL: the newest version of each */
  int64_t count;
  struct tm_html *h;
  const struct tm_visit *v;
  int rc;
};

static void add_paths(struct tm_html *h, const struct tidemill_dataset *d, size_t n)
{
  tm_html_open(h, "details");
  tm_html_open(h, "summary");
  tm_html_int(h, (int64_t)n);
  tm_html_text(h, n == 1 ? " path" : " paths");
  tm_html_close(h, "summary");
  tm_html_open(h, "ul class='files'");
  for (size_t i = 0; i < n && i < SHOWN_PATHS; i++) {
    tm_html_open(h, "li class='path'");
    tm_html_name(h, tidemill_dataset_path(d, i));
    tm_html_close(h, "li");
  }
  tm_html_close(h, "ul");
  tm_html_close(h, "details");
}

static int on_dataset(struct tidemill_dataset *d, void *data)
{
  struct datasets *s = data;
  const struct tidemill_dataset_info *i = tidemill_dataset_info(d);
  struct tm_html *h = s->h;
  s->count++;
  tm_html_open(h, "tr");
  tm_html_open(h, "td");
  tm_html_open(h, "a");
  tm_frame_href(h, s->v, "datasets/%s", i->name);
  tm_html_name(h, i->name);
  tm_html_close(h, "a");
  tm_html_put(h, "small", i->description);
  tm_html_close(h, "td");
  tm_html_open(h, "td class='num'");
  tm_html_int(h, i->version);
  tm_html_close(h, "td");
  tm_html_put(h, "td", i->type);
  tm_html_open(h, "td class='num'");
  tm_html_int(h, i->files);
  tm_html_close(h, "td");
  tm_html_open(h, "td class='num'");
  tm_piece_bytes(h, i->bytes);
  tm_html_close(h, "td");
  tm_html_open(h, "td class='num dim'");
  tm_piece_time(h, i->registered_ns);
  tm_html_close(h, "td");
  tm_html_open(h, "td class='path'");
  if (s->name)
    add_paths(h, d, i->paths_len);
  tm_html_close(h, "td");
  tm_html_close(h, "tr");
  return 0;
}

static void add_none(struct tm_html *h)
{
  tm_html_put(h, "p", "No dataset is registered. This command registers one:");
  tm_piece_command(h, "tidemill dataset register NAME 'FILES*'");
}

static void add_datasets(struct tm_html *h, const struct tm_visit *v, void *data)
{
  static const char *const columns[] = { "Dataset", "Version",    "Type", "Files",
                                         "Size",    "Registered", "Paths" };
  struct datasets *s = data;
  struct tm_err err = TM_ERR_NONE;
  s->h = h;
  s->v = v;
  tm_html_put(h, "h1", s->name ? s->name : "Datasets");
  tm_html_open(h, "table class='data'");
  tm_html_put(h, "caption class='vh'", "Registered datasets");
  tm_html_open(h, "thead");
  tm_html_open(h, "tr");
  for (size_t i = 0; i < TM_COUNT_OF(columns); i++)
    tm_html_put(h, "th scope='col'", columns[i]);
  tm_html_close(h, "tr");
  tm_html_close(h, "thead");
  tm_html_open(h, "tbody");
  s->rc = tidemill_workspace_datasets(v->portal->ws, s->name, on_dataset, s, &err);
  tm_html_close(h, "tbody");
  tm_html_close(h, "table");
  if (s->rc < 0)
    tm_html_put(h, "p class='sentence'", err.text);
  else if (s->count == 0 && !s->name)
    add_none(h);
}

static void answer(const struct tm_visit *v, struct datasets *s)
{
  static const struct tm_page_section sections[] = { { "datasets", add_datasets, false, 0 } };
  struct tm_page_frame f = { .title = "Datasets · tidemill portal",
                             .sections = sections,
                             .sections_len = TM_COUNT_OF(sections),
                             .data = s };
  tm_frame_answer(v, &f);
  if (s->name && s->count == 0)
    v->answer->status = 404;
}

void tm_page_datasets(const struct tm_visit *v)
{
  answer(v, &(struct datasets) { .name = NULL });
}

void tm_page_dataset(const struct tm_visit *v)
{
  answer(v, &(struct datasets) { .name = v->route.words[0] });
}
