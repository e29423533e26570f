/* section_failures.c - why tries and items failed: the groups of errors, of which the largest comes
 * first and is open, and the failed items. The size is limited: the first TM_PAGE_ERRORS groups are
 * shown in full, the others as rows of a table, and a row of a table has the beginning of its
 * message. */
#include <string.h>

#include "base/text.h"
#include "base/time.h"
#include "page/section.h"

#define TM_PAGE_ERRORS 100
#define CELL_MAX       160     /* bytes of a message or an item in a table */
#define ITEMS_OPEN     20      /* more failed items are behind a switch */
#define ITEMS_BYTES    1800000 /* of their table: escaped, a text may have six times its size */

static bool has(const char *text)
{
  return text && *text;
}

/* The kind of a failure, as a word. */
static const struct {
  const char *status, *kind;
} kinds[] = { { "RUN_EXCEPTION", "error" },     { "LOAD_EXCEPTION", "error" },
              { "INIT_EXCEPTION", "init()" },   { "INIT_TIMEOUT", "init()" },
              { "RUN_TIMEOUT", "timeout" },     { "LOAD_TIMEOUT", "timeout" },
              { "RUN_WRONG_RETURN", "result" }, { "PROCESS_DIED", "died" },
              { "RUN_DONE", "items" } };

static const char *kind_of(const char *status)
{
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
    if (strcmp(tm_text_or_empty(status), kinds[i].status) == 0)
      return kinds[i].kind;
  return "error";
}

/* The first bytes of a text, cut between characters. */
static void add_beginning(struct tm_html *h, const char *text)
{
  size_t n = strlen(text), end = n;
  if (n > CELL_MAX)
    for (end = CELL_MAX; end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80;)
      end--;
  tm_html_text_n(h, text, end);
  if (end < n)
    tm_html_text(h, "…");
}

static void add_number(struct tm_html *h, int64_t n, const char *one, const char *more)
{
  tm_html_open(h, "span class='n'");
  if (n > 0) {
    tm_html_int(h, n);
    tm_html_text(h, " ");
    tm_html_put(h, "small", tm_text_counted(n, one, more));
  }
  tm_html_close(h, "span");
  tm_html_text(h, " ");
}

static void add_span(struct tm_html *h, const struct tm_step_model *m,
                     const struct tm_error_group *g)
{
  if (g->first_ns <= 0 || !m)
    return;
  tm_html_text(h, " · ");
  tm_html_text(h, g->tries == 1 || g->last_ns - g->first_ns < TM_S ? "after " : "from ");
  tm_page_duration(h, g->first_ns - m->origin_ns);
  if (g->tries > 1 && g->last_ns - g->first_ns >= TM_S) {
    tm_html_text(h, " to ");
    tm_page_duration(h, g->last_ns - m->origin_ns);
  }
}

static void add_workers(struct tm_html *h, const struct tm_error_group *g)
{
  for (size_t i = 0; i < g->workers_len; i++) {
    tm_html_text(h, i == 0 ? " · " : ", ");
    tm_html_name(h, g->workers[i]);
  }
  if (g->has_more_workers)
    tm_html_text(h, " and others");
}

static void add_summary(struct tm_html *h, const struct tm_job_page *page,
                        const struct tm_error_group *g)
{
  const char *kind = kind_of(g->status);
  tm_html_open(h, "summary");
  add_number(h, g->tries, "try", "tries");
  add_number(h, g->items, "item", "items");
  tm_html_open(h, "span class='msg'");
  tm_html_open(h, "i");
  tm_html_attr(h, "class", strcmp(kind, "died") == 0 ? "kind died" : "kind");
  tm_html_text(h, kind);
  tm_html_close(h, "i");
  tm_html_text(h, " ");
  tm_html_open(h, "b");
  if (g->is_mixed)
    tm_page_pattern(h, tm_text_or_empty(g->pattern));
  else
    add_beginning(h, tm_text_or_empty(g->message));
  tm_html_close(h, "b");
  tm_html_text(h, " ");
  tm_html_open(h, "small");
  tm_html_text(h, g->status);
  if (has(g->where)) {
    tm_html_text(h, " · ");
    tm_html_name(h, g->where);
  }
  add_span(h, tm_page_model(page), g);
  add_workers(h, g);
  tm_html_close(h, "small");
  tm_html_close(h, "span");
  tm_html_close(h, "summary");
}

/* The first error: where it was, its message, and its stack. */
static void add_first(struct tm_html *h, const struct tm_job_page *page,
                      const struct tm_error_group *g, const char *stack)
{
  tm_html_open(h, "pre dir='auto'");
  tm_html_open(h, "span class='dim'");
  if (g->mini_batch >= 0) {
    tm_html_text(h, "first: mini-batch ");
    tm_html_textf(h, "%lld", (long long)g->mini_batch);
    if (g->try_number > 0)
      tm_html_textf(h, ", try %lld", (long long)g->try_number);
  } else {
    tm_html_text(h, "first: init()");
  }
  if (has(g->worker)) {
    tm_html_text(h, ", ");
    tm_html_name(h, g->worker);
  }
  if (has(g->item)) {
    tm_html_text(h, ", ");
    tm_html_name(h, g->item);
  }
  tm_html_close(h, "span");
  tm_html_text(h, "\n");
  bool is_cut = tm_html_long(h, g->message);
  if (has(stack)) {
    tm_html_text(h, "\n");
    tm_html_long(h, stack);
  }
  tm_html_close(h, "pre");
  const struct tm_fact_step *step = tm_page_fact(page);
  if (is_cut && has(step->error_file)) {
    tm_html_open(h, "p class='more'");
    tm_html_text(h, "The whole message is in ");
    tm_page_file(h, page, step->error_file);
    tm_html_close(h, "p");
  }
}

static void add_replay(struct tm_html *h, const struct tm_job_page *page,
                       const struct tm_error_group *g)
{
  struct tm_buf command = TM_BUF_NONE;
  if (g->mini_batch < 0 || page->job->is_removed)
    return;
  tm_error_add_replay(&command, page->job->dir,
                      page->job->steps.len > 1 ? tm_page_fact(page)->name : NULL);
  tm_buf_printf(&command, " --mini-batch %lld", (long long)g->mini_batch);
  tm_page_command(h, command.data, "runs this mini-batch again, here");
  tm_buf_release(&command);
}

static void add_log(struct tm_html *h, const struct tm_job_page *page,
                    const struct tm_error_group *g)
{
  const struct tm_fact_step *step = tm_page_fact(page);
  char *own = tm_error_group_log(g, tm_text_or_empty(step->logs_dir));
  const char *log = has(own) ? own : step->error_file;
  if (has(log)) {
    tm_html_open(h, "p class='more'");
    tm_html_text(h, "Log: ");
    tm_page_file(h, page, log);
    tm_html_close(h, "p");
  }
  free(own);
}

static void add_group(struct tm_html *h, const struct tm_job_page *page,
                      const struct tm_error_group *g, const char *stack, size_t number)
{
  tm_html_open(h, "details class='err'");
  tm_section_id(h, page, "error-%zu", number);
  if (number == 1)
    tm_html_attr(h, "open", "");
  add_summary(h, page, g);
  tm_html_open(h, "div class='err-body'");
  add_first(h, page, g, stack);
  add_replay(h, page, g);
  add_log(h, page, g);
  tm_html_close(h, "div");
  tm_html_close(h, "details");
  tm_html_text(h, "\n");
}

static void add_rest(struct tm_html *h, const struct tm_job_page *page,
                     const struct tm_error_groups *groups, const size_t *order)
{
  static const char *const columns[] = { "Kind", "Message", "Where", "#Tries", "#Items", NULL };
  tm_html_open(h, "details class='more'");
  tm_html_open(h, "summary");
  tm_page_count(h, (int64_t)(groups->list.len - TM_PAGE_ERRORS), "further error", "further errors");
  tm_html_close(h, "summary");
  tm_page_table_begin(h, "Further errors", columns);
  for (size_t i = TM_PAGE_ERRORS; i < groups->list.len; i++) {
    const struct tm_error_group *g = &groups->list.at[order[i]];
    tm_html_open(h, "tr");
    tm_section_id(h, page, "error-%zu", i + 1);
    tm_page_cell(h, kind_of(g->status));
    tm_html_open(h, "td class='path'");
    add_beginning(h, tm_text_or_empty(g->is_mixed ? g->pattern : g->message));
    tm_html_close(h, "td");
    tm_page_cell(h, g->where);
    tm_page_cell_int(h, g->tries);
    tm_page_cell_int(h, g->items);
    tm_html_close(h, "tr");
  }
  tm_page_table_end(h);
  tm_html_close(h, "details");
}

static void add_groups(struct tm_html *h, const struct tm_job_page *page,
                       const struct tm_error_groups *groups)
{
  const char *const *stacks = page->steps[page->step].stacks;
  size_t *order = tm_xmalloc((groups->list.len + 1) * sizeof(*order));
  tm_error_groups_order(groups, order);
  tm_html_open(h, "div class='errors'");
  for (size_t i = 0; i < groups->list.len && i < TM_PAGE_ERRORS; i++)
    add_group(h, page, &groups->list.at[order[i]], stacks ? stacks[order[i]] : NULL, i + 1);
  tm_html_close(h, "div");
  if (groups->list.len > TM_PAGE_ERRORS)
    add_rest(h, page, groups, order);
  free(order);
  if (groups->other_tries + groups->other_items == 0)
    return;
  tm_html_open(h, "p class='more'");
  tm_html_text(h, "Other errors, not listed: ");
  tm_page_count(h, groups->other_tries, "try and ", "tries and ");
  tm_page_count(h, groups->other_items, "item.", "items.");
  tm_html_close(h, "p");
}

/* Failed items. */

/* A line break in a name is shown as the program shows it elsewhere: \n. */
static void add_name(struct tm_html *h, const char *item)
{
  struct tm_buf line = TM_BUF_NONE;
  size_t n = strlen(item);
  for (size_t i = 0; i < n; i++) {
    if (item[i] == '\n')
      tm_buf_add_str(&line, "\\n");
    else
      tm_buf_add_char(&line, item[i]);
  }
  add_beginning(h, tm_buf_str(&line));
  tm_buf_release(&line);
}

static void add_item(struct tm_html *h, const struct tm_job_page *page,
                     const struct tm_fact_item *item, bool is_first_of_mini_batch)
{
  tm_html_open(h, "tr");
  if (is_first_of_mini_batch)
    tm_section_id(h, page, "mini-batch-%lld", (long long)item->mini_batch);
  tm_html_open(h, "td class='path'");
  tm_html_open(h, "bdi");
  add_name(h, tm_text_or_empty(item->item));
  tm_html_close(h, "bdi");
  tm_html_close(h, "td");
  tm_page_cell_mini_batch(h, page, item->mini_batch);
  tm_page_cell(h, kind_of(item->status));
  tm_html_open(h, "td class='path'");
  add_beginning(h, tm_text_or_empty(item->error));
  tm_html_close(h, "td");
  tm_html_close(h, "tr");
}

static void add_items(struct tm_html *h, const struct tm_job_page *page,
                      const struct tm_fact_step *step)
{
  static const char *const columns[] = { "Item", "#Mini-batch", "Kind", "Error", NULL };
  size_t n = step->failed_items.len;
  tm_html_open(h, "details class='more failed-items'");
  tm_section_id(h, page, "failed-items");
  if (n <= ITEMS_OPEN)
    tm_html_attr(h, "open", "");
  tm_html_open(h, "summary");
  tm_page_count(h, (int64_t)n + step->failed_items_more, "failed item", "failed items");
  tm_html_close(h, "summary");
  tm_page_table_begin(h, "Failed items", columns);
  size_t from = tm_html_bytes(h), shown = 0;
  for (; shown < n && tm_html_bytes(h) - from < ITEMS_BYTES; shown++) {
    const struct tm_fact_item *item = &step->failed_items.at[shown];
    add_item(h, page, item, shown == 0 || item[-1].mini_batch != item->mini_batch);
  }
  tm_page_table_end(h);
  if (shown < n || step->failed_items_more > 0) {
    tm_html_open(h, "p class='more'");
    tm_html_text(h, "The table has the first ");
    tm_html_int(h, (int64_t)shown);
    tm_html_text(h, " of them.");
    tm_html_close(h, "p");
  }
  tm_html_close(h, "details");
}

/* Where all of them are. */
static void add_items_file(struct tm_html *h, const struct tm_job_page *page,
                           const struct tm_fact_step *step)
{
  struct tm_buf path = TM_BUF_NONE;
  tm_buf_printf(&path, "%s/failed_items.jsonl", step->name);
  tm_html_open(h, "p class='more'");
  tm_html_text(h, "All failed items, with their whole messages, are in ");
  tm_page_file(h, page, path.data);
  tm_html_text(h, ".");
  tm_html_close(h, "p");
  tm_buf_release(&path);
}

void tm_section_failures(struct tm_html *h, const struct tm_job_page *page)
{
  const struct tm_fact_step *step = tm_page_fact(page);
  const struct tm_step_model *m = tm_page_model(page);
  const struct tm_error_groups *groups =
      step && page->steps ? page->steps[page->step].groups : NULL;
  struct tm_buf note = TM_BUF_NONE;
  if (!step || ((!groups || groups->list.len == 0) && step->failed_items.len == 0))
    return;
  if (groups) {
    int64_t errors = (int64_t)groups->list.len;
    tm_text_count(&note, errors, tm_text_counted(errors, " distinct error", " distinct errors"));
  }
  if (m && m->tries_failed > 0) {
    tm_buf_add_str(&note, groups ? ", " : "");
    tm_text_count(&note, m->tries_failed,
                  tm_text_counted(m->tries_failed, " failed try", " failed tries"));
  }
  tm_section_begin(h, page, "failures", "Failures", TM_SECTION_OF_STEP, tm_buf_str(&note));
  if (groups)
    add_groups(h, page, groups);
  if (step->failed_items.len > 0) {
    add_items(h, page, step);
    add_items_file(h, page, step);
  }
  tm_section_end(h);
  tm_buf_release(&note);
}
