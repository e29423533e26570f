/* section_result.c - the head of a page: did the job work, why not, what is next. The sentence uses
 * the words of the result. */
#include <string.h>

#include "base/text.h"
#include "page/section.h"

static bool has(const char *text)
{
  return text && *text;
}

/* The last step that has an output. */
static const struct tm_fact_step *last_with_output(const struct tm_fact_job *job)
{
  const struct tm_fact_step *step = NULL;
  for (size_t i = 0; i < job->steps.len; i++)
    if (job->steps.at[i].outputs.len > 0)
      step = &job->steps.at[i];
  return step;
}

static void name_output(struct tm_html *h, const struct tm_job_page *page,
                        const struct tm_fact_step *step)
{
  tm_html_text(h, step->outputs.len == 1 ? " The output" : " The first output");
  if (page->job->steps.len > 1) {
    tm_html_text(h, " of step ");
    tm_html_name(h, step->name);
  }
  tm_html_text(h, " is ");
}

/* Where the output is, if there is one: of several steps, that of the last. */
static void add_output(struct tm_html *h, const struct tm_job_page *page)
{
  const struct tm_fact_step *step = last_with_output(page->job);
  if (!step)
    return;
  const struct tm_fact_output *o = &step->outputs.at[0];
  const char *where = has(o->destination) ? o->destination : o->path;
  if (!has(where))
    return;
  name_output(h, page, step);
  if (where == o->path)
    tm_page_file(h, page, where);
  else
    tm_html_put(h, "code", where);
  if (o->rows >= 0) {
    tm_html_text(h, ", ");
    tm_page_count(h, o->rows, "row", "rows");
  }
  tm_html_text(h, ".");
}

static void add_completed(struct tm_html *h, const struct tm_job_page *page)
{
  const struct tm_fact_counts *c = &page->job->counts;
  const struct tm_fact_step *step = tm_page_fact(page);
  tm_html_open(h, "b");
  if (c->items_succeeded < 0) {
    tm_html_text(h, "How many items were done is not known.");
  } else if (c->items_failed > 0) {
    tm_page_count(h, c->items_succeeded, "item was done, ", "items were done, ");
    tm_html_int(h, c->items_failed);
    tm_html_text(h, " failed.");
  } else if (c->items_succeeded == 0) {
    tm_html_text(h, "There was nothing to do.");
  } else {
    tm_html_text(h, c->items_succeeded == 1 ? "The only item was done." : "All ");
    if (c->items_succeeded > 1)
      tm_page_count(h, c->items_succeeded, "", "items were done.");
  }
  tm_html_close(h, "b");
  if (c->items_failed > 0 && step && step->error_threshold >= 0 &&
      (page->job->steps.len == 1 || step->counts.items_failed > 0)) {
    tm_html_text(h, " error_threshold ");
    if (page->job->steps.len > 1) {
      tm_html_text(h, "of step ");
      tm_html_name(h, step->name);
      tm_html_text(h, " ");
    }
    tm_html_text(h, "tolerates ");
    tm_html_int(h, step->error_threshold);
    tm_html_text(h, ".");
  }
  add_output(h, page);
}

static void add_uncounted(struct tm_html *h, const struct tm_fact_job *job,
                          const struct tm_fact_step *step)
{
  if (job->counts.items_succeeded > 0) {
    tm_html_text(h, " At least ");
    tm_page_count(h, job->counts.items_succeeded, "item is", "items are");
    tm_html_text(h, " in the output. How many more");
  } else {
    tm_html_text(h, " How many items");
  }
  tm_html_text(h, " were done is not known: the journal of step ");
  tm_html_name(h, step->name);
  tm_html_text(h, " is damaged.");
}

/* Nothing is kept of a job that was removed, unless somebody has copied it. */
static void add_was_done(struct tm_html *h, const struct tm_fact_job *job)
{
  if (job->counts.items_succeeded < 0) {
    tm_html_text(h, " How many items were done is not known.");
    return;
  }
  tm_html_text(h, " ");
  tm_page_count(h, job->counts.items_succeeded, "item was done.", "items were done.");
}

/* What a job that did not complete has done. */
static void add_kept(struct tm_html *h, const struct tm_fact_job *job)
{
  const struct tm_fact_step *uncounted = tm_page_uncounted(job);
  if (uncounted) {
    add_uncounted(h, job, uncounted);
    return;
  }
  if (job->counts.items_succeeded == 0) {
    tm_html_text(h, " No item was done.");
    return;
  }
  if (job->is_removed) {
    add_was_done(h, job);
    return;
  }
  tm_html_text(h, " What was done is kept: ");
  tm_page_count(h, job->counts.items_succeeded, "item is", "items are");
  tm_html_text(h, " in the output.");
}

/* No step before is from the same job. */
static bool is_first_from(const struct tm_fact_job *job, size_t step)
{
  for (size_t i = 0; i < step; i++)
    if (strcmp(tm_text_or_empty(job->steps.at[i].reused_from),
               tm_text_or_empty(job->steps.at[step].reused_from)) == 0)
      return false;
  return true;
}

static void add_reused(struct tm_html *h, const struct tm_job_page *page)
{
  tm_html_put(h, "b", "No work was done: an earlier job had the same inputs and settings.");
  for (size_t i = 0; i < page->job->steps.len; i++)
    if (is_first_from(page->job, i)) {
      tm_html_text(h, i == 0 ? " The result is that of " : " and ");
      tm_page_file(h, page, page->job->steps.at[i].reused_from);
    }
  tm_html_text(h, ".");
}

static void add_running(struct tm_html *h, const struct tm_job_page *page)
{
  const struct tm_fact_job *job = page->job;
  const struct tm_fact_counts *c = &job->counts;
  tm_html_open(h, "b");
  if (c->is_listed && c->created > 0) {
    tm_page_percent(h, (double)(c->succeeded + c->failed) / (double)c->created);
    tm_html_text(h, " of the mini-batches are done.");
  } else {
    tm_page_count(h, c->succeeded + c->failed, "mini-batch is", "mini-batches are");
    tm_html_text(h, " done; the inputs are still being listed.");
  }
  tm_html_close(h, "b");
  tm_html_text(h, " This is the job as of ");
  tm_page_moment(h, page, job->now_ns);
  tm_html_text(h, ".");
}

/* Whether a message begins with a word that a sentence may capitalize: not a name like init(). */
static bool begins_with_word(const char *message)
{
  size_t n = strspn(message, "abcdefghijklmnopqrstuvwxyz");
  return n > 0 && (message[n] == ' ' || message[n] == ':' || message[n] == ',');
}

/* A message as a sentence: with a capital, and a full stop, but for one that has several lines. */
static void add_clause(struct tm_html *h, const char *message)
{
  size_t n = strlen(message);
  char *copy = tm_xstrndup(message, n);
  if (begins_with_word(message))
    copy[0] = (char)(copy[0] - 'a' + 'A');
  bool is_cut = tm_html_long(h, copy);
  free(copy);
  if (!is_cut && !strchr(".!?\n", message[n - 1]))
    tm_html_text(h, ".");
}

static void add_cause(struct tm_html *h, const struct tm_job_page *page)
{
  const struct tm_fact_job *job = page->job;
  const struct tm_fact_step *step = tm_page_fact(page);
  tm_html_open(h, "b");
  if (has(job->cause))
    add_clause(h, job->cause);
  else if (job->state == TM_FACT_INTERRUPTED)
    tm_html_text(h, "The process that ran this job ended before the job did: it was killed, or its "
                    "machine stopped.");
  else if (job->state == TM_FACT_CANCELED)
    tm_html_text(h, "The job was canceled.");
  else if (job->state == TM_FACT_WAITING && step && has(step->waits_for))
    tm_html_textf(h, "The job waits for %s.", step->waits_for);
  else
    tm_html_textf(h, "%s.", tm_page_state_of_job(job).word);
  tm_html_close(h, "b");
  if (has(job->cancel_asked_by))
    tm_html_textf(h, " It was asked for by %s.", job->cancel_asked_by);
  if (job->state != TM_FACT_WAITING && job->state != TM_FACT_SKIPPED)
    add_kept(h, job);
}

static void add_sentence(struct tm_html *h, const struct tm_job_page *page)
{
  tm_html_open(h, "p class='sentence'");
  if (strcmp(tm_page_state_of_job(page->job).word, "Reused") == 0)
    add_reused(h, page);
  else if (page->job->state == TM_FACT_COMPLETED)
    add_completed(h, page);
  else if (page->job->state == TM_FACT_RUNNING)
    add_running(h, page);
  else
    add_cause(h, page);
  tm_html_close(h, "p");
}

static const char tries_file[] = "logs/sys/job_report/processed_mini-batches.csv";

/* Each mini-batch that succeeded has a row; if the table has fewer, all that is made of it lacks
 * the others. */
static void add_missing_rows(struct tm_html *h, const struct tm_job_page *page, size_t step)
{
  const struct tm_fact_step *fact = &page->job->steps.at[step];
  const struct tm_step_model *m = page->steps ? page->steps[step].model : NULL;
  if (!m || fact->state == TM_FACT_RUNNING || m->tries[TM_CATEGORY_OK] >= fact->counts.succeeded)
    return;
  tm_html_open(h, "p class='fault'");
  tm_html_text(h, "The table ");
  tm_html_textf(h, "%s/%s", fact->name, tries_file);
  tm_html_text(h, " has ");
  tm_html_int(h, m->tries[TM_CATEGORY_OK]);
  tm_html_text(h, " of the ");
  tm_page_count(h, fact->counts.succeeded, "mini-batch that succeeded",
                "mini-batches that succeeded");
  tm_html_text(h, ". The rest of its rows cannot be read or are missing, so times, rates and "
                  "pictures lack them.");
  tm_html_close(h, "p");
}

static void add_faulty_tables(struct tm_html *h, const struct tm_fact_step *step)
{
  struct tm_buf text = TM_BUF_NONE;
  for (size_t i = 0; i < step->faulty_tables.len; i++) {
    const struct tm_fact_table *t = &step->faulty_tables.at[i];
    tm_html_open(h, "p class='fault'");
    tm_html_text(h, "The table ");
    tm_buf_clear(&text);
    tm_fact_table_add_path(&text, step, t);
    tm_html_put(h, "code", tm_buf_str(&text));
    tm_html_text(h, " ");
    tm_buf_clear(&text);
    tm_table_faults_text(&text, &t->faults, step->state == TM_FACT_RUNNING);
    tm_html_text(h, tm_buf_str(&text));
    tm_html_text(h, ". This page has its other rows.");
    tm_html_close(h, "p");
  }
  if (step->faulty_tables_more > 0) {
    tm_html_open(h, "p class='fault'");
    tm_page_count(h, step->faulty_tables_more, "other table", "other tables");
    tm_html_text(h, " of the step cannot be read to the end.");
    tm_html_close(h, "p");
  }
  tm_buf_release(&text);
}

static void add_damage(struct tm_html *h, const struct tm_fact_step *step)
{
  tm_html_open(h, "p class='fault'");
  tm_html_text(h, "The journal of step ");
  tm_html_name(h, step->name);
  tm_html_text(h, ", ");
  tm_html_open(h, "code");
  tm_html_textf(h, "%s/state/journal", step->name);
  tm_html_close(h, "code");
  tm_html_text(h, ", is damaged at byte ");
  tm_html_int(h, step->damage_at_byte);
  tm_html_text(h,
               step->state == TM_FACT_INTERRUPTED
                   ? ". What is counted comes before it; times and pictures come from other files."
                   : ". Sessions that it has after that are missing here.");
  tm_html_close(h, "p");
}

/* What could not be read. */
static void add_faults(struct tm_html *h, const struct tm_job_page *page)
{
  const struct tm_fact_job *job = page->job;
  if (job->is_removed)
    tm_html_put(h, "p class='fault'",
                "The files of this job have been removed. This is what the workspace knows of it.");
  if (has(job->fault)) {
    tm_html_open(h, "p class='fault'");
    tm_html_text(h, "Not everything could be read: ");
    tm_html_text(h, job->fault);
    tm_html_text(h, ". This page shows what comes before it.");
    tm_html_close(h, "p");
  }
  for (size_t i = 0; i < job->steps.len; i++) {
    add_faulty_tables(h, &job->steps.at[i]);
    add_missing_rows(h, page, i);
  }
  for (size_t i = 0; i < job->steps.len; i++)
    if (job->steps.at[i].damage_at_byte >= 0)
      add_damage(h, &job->steps.at[i]);
}

/* A command to type next, or only what to do. */
static void add_next(struct tm_html *h, const char *command, const char *why)
{
  if (has(command))
    tm_page_command(h, command, has(why) ? why : NULL);
  else if (has(why))
    tm_html_put(h, "p class='more'", why);
}

/* Whether a step of this job ran, rather than take the result of another one. */
static bool has_run(const struct tm_fact_job *job)
{
  size_t i = 0;
  while (i < job->steps.len && has(job->steps.at[i].reused_from))
    i++;
  return i < job->steps.len || job->steps.len == 0;
}

/* Beside the last Completed job of the pipeline. */
static void add_comparison(struct tm_html *h, const struct tm_fact_job *job)
{
  if (!has(job->before) || !has_run(job))
    return;
  tm_html_open(h, "p class='more'");
  tm_html_text(h, "The last completed job of this pipeline, ");
  tm_html_name(h, job->before);
  tm_html_text(h, ", took ");
  tm_page_duration(h, job->before_elapsed_ns);
  tm_html_text(h, " for ");
  tm_page_count(h, job->before_items, "item", "items");
  if (job->before_items_failed > 0) {
    tm_html_text(h, "; ");
    tm_page_count(h, job->before_items_failed, "failed", "failed");
  }
  if (job->state == TM_FACT_COMPLETED && job->counts.items_total >= 0) {
    tm_html_text(h, ". This one took ");
    tm_page_duration(h, job->elapsed_ns);
    tm_html_text(h, " for ");
    tm_html_int(h, job->counts.items_total);
  }
  tm_html_text(h, ".");
  tm_html_close(h, "p");
}

static void add_line(struct tm_html *h, const struct tm_job_page *page)
{
  const struct tm_fact_job *job = page->job;
  tm_html_open(h, "p class='job'");
  tm_html_name(h, job->name);
  if (job->begin_ns > 0) {
    tm_html_text(h, " · started ");
    tm_page_moment(h, page, job->begin_ns);
  }
  if (has(job->host)) {
    tm_html_text(h, " on ");
    tm_html_name(h, job->host);
  }
  if (job->end_ns > 0) {
    tm_html_text(h, " · ended ");
    tm_page_moment(h, page, job->end_ns);
  }
  if (has(job->version))
    tm_html_textf(h, " · tidemill %s", job->version);
  tm_html_close(h, "p");
}

void tm_section_result(struct tm_html *h, const struct tm_job_page *page)
{
  const struct tm_fact_job *job = page->job;
  struct tm_page_state state = tm_page_state_of_job(job);
  tm_html_open(h, "section id='result' aria-label='Result'");
  tm_html_attr(h, "class", state.tone);
  tm_html_open(h, "div class='verdict'");
  tm_html_open(h, "span class='state'");
  tm_html_put(h, "i aria-hidden='true'", state.symbol);
  tm_html_text(h, " ");
  tm_html_text(h, state.word);
  tm_html_close(h, "span");
  tm_html_open(h, "h1");
  tm_html_name(h, has(job->pipeline) ? job->pipeline : job->name);
  tm_html_close(h, "h1");
  tm_html_close(h, "div");
  add_line(h, page);
  add_sentence(h, page);
  add_faults(h, page);
  add_next(h, job->next, job->next_why);
  add_next(h, job->next_other, job->next_other_why);
  add_comparison(h, job);
  tm_html_close(h, "section");
}
