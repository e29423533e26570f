/* section.c - see section.h. */
#include "page/section.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "insight/facts_json.h"

#define DATE_LEN 10 /* 2026-01-31 */

/* Sections. */

const struct tm_fact_step *tm_page_fact(const struct tm_job_page *page)
{
  return page->step < page->job->steps.len ? &page->job->steps.at[page->step] : NULL;
}

const struct tm_step_model *tm_page_model(const struct tm_job_page *page)
{
  return page->steps && page->step < page->job->steps.len ? page->steps[page->step].model : NULL;
}

void tm_section_begin(struct tm_html *h, const struct tm_job_page *page, const char *id,
                      const char *title, enum tm_section_scope scope, const char *note)
{
  bool names_step = scope == TM_SECTION_OF_STEP && page->job->steps.len > 1;
  const struct tm_fact_step *step = tm_page_fact(page);
  tm_html_open(h, "section");
  if (names_step && page->is_further)
    tm_html_attrf(h, "id", "%s-%zu", id, page->step + 1);
  else
    tm_html_attr(h, "id", id);
  tm_html_attr(h, "aria-label", title);
  tm_html_open(h, "h2");
  tm_html_text(h, title);
  if (note || (names_step && step)) {
    tm_html_text(h, " ");
    tm_html_open(h, "small");
    if (names_step && step) {
      tm_html_text(h, "step ");
      tm_html_name(h, step->name);
    }
    if (names_step && step && note)
      tm_html_text(h, " · ");
    tm_html_text(h, note);
    tm_html_close(h, "small");
  }
  tm_html_close(h, "h2");
}

void tm_section_end(struct tm_html *h)
{
  tm_html_close(h, "section");
}

void tm_section_id(struct tm_html *h, const struct tm_job_page *page, const char *fmt, ...)
{
  struct tm_buf id = TM_BUF_NONE;
  va_list ap;
  va_start(ap, fmt);
  tm_buf_vprintf(&id, fmt, ap);
  va_end(ap);
  if (page->is_further)
    tm_buf_printf(&id, "-of-%zu", page->step + 1);
  tm_html_attr(h, "id", tm_buf_str(&id));
  tm_buf_release(&id);
}

/* Numbers. */

/* Two digits, and none if they say nothing: "71 %", "0.26 %", "under 0.01 %". */
void tm_text_percent(struct tm_buf *text, double share)
{
  double percent = share * 100;
  if (percent > 0 && percent < 0.01)
    tm_buf_add_str(text, "under 0.01 %");
  else if (percent > 0 && percent < 0.995)
    tm_buf_printf(text, "%.2f %%", percent);
  else if (percent > 0 && percent < 9.95)
    tm_buf_printf(text, fabs(percent - round(percent)) < 0.05 ? "%.0f %%" : "%.1f %%", percent);
  else if (percent > 99 && percent < 100)
    tm_buf_printf(text, "%.1f %%", floor(percent * 10) / 10);
  else
    tm_buf_printf(text, "%.0f %%", percent);
}

static void add(struct tm_html *h, struct tm_buf *text)
{
  tm_html_text_n(h, tm_buf_str(text), text->len);
  tm_buf_release(text);
}

void tm_page_duration(struct tm_html *h, int64_t ns)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_time_precise(&text, ns > 0 ? ns : 0);
  add(h, &text);
}

void tm_page_bytes(struct tm_html *h, int64_t bytes)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_text_bytes(&text, bytes);
  add(h, &text);
}

void tm_page_percent(struct tm_html *h, double share)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_text_percent(&text, share);
  add(h, &text);
}

/* "(15:54:18 +01:00)", with the date if that differs from the one in `utc`. */
static void add_local(struct tm_html *h, const char *utc, int64_t wall_ns, int64_t offset_s)
{
  struct tm_buf text = TM_BUF_NONE;
  int minutes = (int)((offset_s < 0 ? -offset_s : offset_s) / 60);
  tm_time_second(&text, wall_ns + offset_s * TM_S);
  bool is_same_day = strncmp(tm_buf_str(&text), utc, DATE_LEN) == 0;
  tm_html_open(h, "span class='local'");
  tm_html_textf(h, " (%s %c%02d:%02d)", tm_buf_str(&text) + (is_same_day ? DATE_LEN + 1 : 0),
                offset_s < 0 ? '-' : '+', minutes / 60, minutes % 60);
  tm_html_close(h, "span");
  tm_buf_release(&text);
}

void tm_page_moment(struct tm_html *h, const struct tm_job_page *page, int64_t wall_ns)
{
  struct tm_buf text = TM_BUF_NONE;
  int64_t offset_s = page->utc_offset_s ? page->utc_offset_s(wall_ns) : 0;
  tm_time_iso(&text, wall_ns);
  tm_html_open(h, "time");
  tm_html_attr(h, "datetime", tm_buf_str(&text));
  if (offset_s != 0)
    tm_html_attrf(h, "data-offset", "%d", (int)offset_s);
  tm_buf_clear(&text);
  tm_time_second(&text, wall_ns);
  tm_html_textf(h, "%s UTC", tm_buf_str(&text));
  if (offset_s != 0)
    add_local(h, tm_buf_str(&text), wall_ns, offset_s);
  tm_html_close(h, "time");
  tm_buf_release(&text);
}

void tm_page_count(struct tm_html *h, int64_t n, const char *one, const char *more)
{
  tm_html_int(h, n);
  tm_html_text(h, " ");
  tm_html_text(h, tm_text_counted(n, one, more));
}

/* Commands, links, tables. */

void tm_page_command(struct tm_html *h, const char *command, const char *why)
{
  tm_html_open(h, "p class='cmd'");
  tm_html_open(h, "span class='run'");
  tm_html_put(h, "code", command);
  tm_html_open(h, "button type='button' class='copy' hidden");
  tm_html_attrf(h, "aria-label", "Copy the command: %s", why ? why : command);
  tm_html_text(h, "Copy");
  tm_html_close(h, "button");
  tm_html_close(h, "span");
  if (why) {
    tm_html_text(h, " ");
    tm_html_put(h, "span class='why'", why);
  }
  tm_html_close(h, "p");
}

void tm_page_file(struct tm_html *h, const struct tm_job_page *page, const char *path)
{
  size_t n = strlen(tm_text_or_empty(page->job->dir));
  bool is_inside = n > 0 && strncmp(path, page->job->dir, n) == 0 && path[n] == '/';
  const char *shown = is_inside ? path + n + 1 : path;
  tm_html_open(h, "a");
  if (page->is_elsewhere && shown[0] != '/') {
    struct tm_buf whole = TM_BUF_NONE;
    tm_buf_printf(&whole, "%s/%s", page->job->dir, shown);
    tm_html_href_path(h, whole.data);
    tm_buf_release(&whole);
  } else {
    tm_html_href_path(h, shown);
  }
  tm_html_name(h, shown);
  tm_html_close(h, "a");
}

/* A segment of a path, and neither the folder itself nor the one above. */
static bool is_segment(const char *name)
{
  return name && name[0] != '\0' && name[0] != '.' && !strchr(name, '/');
}

bool tm_page_lead(struct tm_html *h, const struct tm_job_page *page, const char *kind,
                  const char *name)
{
  const struct tm_fact_step *step = tm_page_fact(page);
  struct tm_buf path = TM_BUF_NONE;
  if (!page->is_live || !step || !is_segment(step->name) || !is_segment(name))
    return false;
  tm_buf_printf(&path, "../%s/%s/%s", kind, step->name, name);
  tm_html_open(h, "a");
  tm_html_href_path(h, path.data);
  tm_buf_release(&path);
  return true;
}

void tm_page_cell_worker(struct tm_html *h, const struct tm_job_page *page, const char *name)
{
  tm_html_open(h, "td");
  bool leads = tm_page_lead(h, page, "workers", name);
  tm_html_name(h, name);
  if (leads)
    tm_html_close(h, "a");
  tm_html_close(h, "td");
}

void tm_page_cell_mini_batch(struct tm_html *h, const struct tm_job_page *page, int64_t n)
{
  char number[24];
  snprintf(number, sizeof(number), "%" PRId64, n);
  tm_html_open(h, "td class='num'");
  bool leads = n >= 0 && tm_page_lead(h, page, "mini-batches", number);
  if (n >= 0)
    tm_html_int(h, n);
  if (leads)
    tm_html_close(h, "a");
  tm_html_close(h, "td");
}

void tm_page_pattern(struct tm_html *h, const char *pattern)
{
  static const char *const marks[] = { "<item>", "<n>", "'...'" };
  const char *from = pattern;
  for (const char *at = pattern; *at;) {
    size_t n = 0;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
      if (strncmp(at, marks[i], strlen(marks[i])) == 0)
        n = strlen(marks[i]);
    if (n == 0) {
      at++;
      continue;
    }
    tm_html_text_n(h, from, (size_t)(at - from));
    tm_html_put(h, "var", *at == '\'' ? "…" : at[1] == 'n' ? "number" : "item");
    from = at += n;
  }
  tm_html_text(h, from);
}

void tm_page_cell(struct tm_html *h, const char *text)
{
  tm_html_put(h, "td", text);
}

void tm_page_cell_int(struct tm_html *h, int64_t n)
{
  tm_html_open(h, "td class='num'");
  if (n >= 0)
    tm_html_int(h, n);
  tm_html_close(h, "td");
}

void tm_page_cell_bytes(struct tm_html *h, int64_t bytes)
{
  tm_html_open(h, "td class='num'");
  if (bytes >= 0)
    tm_page_bytes(h, bytes);
  tm_html_close(h, "td");
}

void tm_page_table_begin(struct tm_html *h, const char *caption, const char *const *columns)
{
  tm_html_open(h, "div class='scroll' tabindex='0' role='group'");
  tm_html_attr(h, "aria-label", caption);
  tm_html_open(h, "table class='data'");
  tm_html_put(h, "caption", caption);
  tm_html_open(h, "thead");
  tm_html_open(h, "tr");
  for (; *columns; columns++) {
    if (**columns == '#')
      tm_html_put(h, "th scope='col' class='num'", *columns + 1);
    else
      tm_html_put(h, "th scope='col'", *columns);
  }
  tm_html_close(h, "tr");
  tm_html_close(h, "thead");
  tm_html_open(h, "tbody");
}

void tm_page_table_end(struct tm_html *h)
{
  tm_html_close(h, "tbody");
  tm_html_close(h, "table");
  tm_html_close(h, "div");
}

/* States. */

static bool has(const char *text)
{
  return text && *text;
}

struct tm_page_state tm_page_state_of_step(const struct tm_fact_step *step)
{
  return tm_state_shown(tm_fact_state_name(step->state), step->counts.items_failed > 0,
                        has(step->reused_from));
}

struct tm_page_state tm_page_state_of_job(const struct tm_fact_job *job)
{
  bool is_reused = job->steps.len > 0;
  for (size_t i = 0; i < job->steps.len; i++)
    is_reused = is_reused && has(job->steps.at[i].reused_from);
  return tm_state_shown(tm_fact_state_name(job->state), job->counts.items_failed > 0, is_reused);
}

const struct tm_fact_step *tm_page_uncounted(const struct tm_fact_job *job)
{
  for (size_t i = 0; i < job->steps.len; i++) {
    const struct tm_fact_step *step = &job->steps.at[i];
    if (step->damage_at_byte >= 0 && step->state == TM_FACT_INTERRUPTED)
      return step;
  }
  return NULL;
}
