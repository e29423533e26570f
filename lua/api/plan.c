/* plan.c - see plan.h.
 *
 * The code of a job splits the inputs, so the plan says what a job would do with the same files.
 * Only the first and the last mini-batch are kept.
 */
#include "api/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/explain.h"
#include "base/check.h"
#include "base/command_template.h"
#include "base/mem.h"
#include "base/repeats.h"
#include "base/text.h"
#include "data/splitter.h"
#include "data/item.h"
#include "data/key.h"
#include "entry/scratch.h"
#include "entry/step_walk.h"
#include "entry/table_look.h"
#include "job/preflight.h"
#include "plan/model_script.h"
#include "slurm/slurm_test.h"

#define VALUE_MAX 200 /* shown bytes of a setting */

struct piece {
  uint64_t index;
  uint32_t items, dataset;
  char *from, *to; /* first and last item */
  bool is_rows;
  int64_t begin, end; /* of rows: a range of bytes in the file, */
  bool is_keys;       /* or of keys of a query: the first and the last */
  char *keys;         /* "store=north, date=2026-01-31", or NULL */
};

struct cutting {
  int64_t mini_batches, items;
  bool has_rows; /* of tables, whose number of rows is unknown */
  struct piece first, last;
  struct tm_buf table; /* of a table: columns and first rows */
};

#define ROWS_SHOWN 5

static void piece_release(struct piece *p)
{
  free(p->from);
  free(p->to);
  free(p->keys);
  memset(p, 0, sizeof(*p));
}

static void note_piece(struct piece *p, uint64_t index, const struct tm_mini_batch *mb)
{
  struct tm_reader r;
  struct tm_item item;
  piece_release(p);
  p->index = index;
  p->items = mb->items;
  p->dataset = mb->dataset;
  if (tm_keys_find(mb->bytes.data, mb->bytes.len, &r)) {
    struct tm_buf keys = TM_BUF_NONE;
    tm_keys_describe(&keys, r);
    p->keys = tm_buf_take(&keys);
  }
  tm_reader_init(&r, mb->bytes.data, mb->bytes.len);
  while (tm_item_next(&r, &item)) {
    free(p->to);
    p->to = tm_xstrndup(item.path, item.path_len);
    p->is_rows = item.is_rows;
    p->begin = item.begin;
    p->end = item.end;
    if (!p->from)
      p->from = tm_xstrdup(p->to);
  }
}

/* A query's rows count from its first key. A query without keys has no range. */
static void note_keys(struct piece *p, const struct tm_dataset *d)
{
  if (p->is_keys || !p->is_rows || d->kind != TM_DATASET_SQL)
    return;
  bool has_keys = tm_json_get(d->options, "key_column");
  int64_t from = tm_json_int(d->options, "key_from", 0);
  p->is_keys = true;
  p->begin = has_keys ? from + p->begin : 0;
  p->end = has_keys ? from + p->end - 1 : -1;
}

/* Warnings of which only the first of a kind is shown. */
struct warnings {
  const struct tm_plan *plan;
  struct tm_repeats repeats;
};

static void on_warning(void *data, const char *text)
{
  struct warnings *w = data;
  if (tm_repeats_add(&w->repeats, text))
    w->plan->on_warning(w->plan->data, text);
}

static void end_warnings(struct warnings *w)
{
  char *text;
  while ((text = tm_repeats_take(&w->repeats)) != NULL) {
    w->plan->on_warning(w->plan->data, text);
    free(text);
  }
  tm_repeats_release(&w->repeats);
}

static int check_model(const struct tm_step *step, const struct tm_data_frame *rows,
                       struct tm_err *err)
{
  struct tm_model_wish *wish = tm_model_wish_of(step);
  int rc = wish ? tm_model_wish_check(wish, rows, err) : 0;
  tm_model_wish_free(wish);
  return rc;
}

static int cut_all(struct cutting *c, const struct tm_plan *plan, const struct tm_step *step,
                   const char *spill_dir, struct tm_err *err)
{
  struct tm_step_walk w;
  struct tm_run_call call;
  struct tm_splitter_options options = tm_step_splitting(step);
  options.spill_dir = spill_dir;
  struct warnings warnings = { .plan = plan };
  options.on_warning = on_warning;
  options.data = &warnings;
  tm_step_walk_open(&w, step, options);
  const struct tm_mini_batch *mb = &w.mini_batch;
  bool has_looked = false;
  int rc;
  while ((rc = tm_splitter_next(w.splitter, &w.mini_batch, err)) > 0) {
    if (c->mini_batches == 0)
      note_piece(&c->first, 0, mb);
    if (!has_looked && !tm_step_walk_is_unread(&w)) {
      if ((rc = tm_step_walk_load(&w, &call, err)) < 0)
        break;
      if (call.frame)
        tm_table_look_add(&c->table, call.frame, ROWS_SHOWN, "  ");
      if (call.frame && (rc = check_model(step, call.frame, err)) < 0)
        break;
      has_looked = true;
    }
    c->has_rows |= w.is_table && mb->items == 0;
    note_piece(&c->last, (uint64_t)c->mini_batches++, mb);
    tm_require(mb->dataset < step->inputs_len && c->first.dataset < step->inputs_len);
    note_keys(&c->first, step->inputs[c->first.dataset]);
    note_keys(&c->last, step->inputs[mb->dataset]);
    c->items += mb->items;
  }
  if (rc == 0 && c->mini_batches == 0)
    rc = tm_splitter_no_input(w.splitter, err);
  tm_step_walk_close(&w);
  end_warnings(&warnings);
  return rc < 0 ? tm_err_wrap(err, "step '%s'", step->name) : 0;
}

/* Groups items in a folder of its own, which is empty again at the end. */
static int cut_step(struct cutting *c, const struct tm_plan *plan, const struct tm_step *step,
                    struct tm_err *err)
{
  struct tm_scratch scratch = { .path = NULL };
  int rc = 0;
  if (step->config.partition_keys_len > 0)
    rc = tm_scratch_make(&scratch, "dry", err);
  if (rc == 0)
    rc = cut_all(c, plan, step, scratch.path, err);
  tm_scratch_remove(&scratch);
  return rc;
}

/* ---- JSON ---- */

static struct tm_json *piece_to_json(const struct piece *p)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(v, "index", tm_json_new_int((int64_t)p->index));
  tm_json_set(v, "items",
              p->is_rows && p->items == 0 ? tm_json_new(TM_JSON_NULL) : tm_json_new_int(p->items));
  if (p->is_rows) {
    tm_json_set(v, "begin", tm_json_new_int(p->begin));
    tm_json_set(v, "end", tm_json_new_int(p->end));
  }
  tm_json_set_text(v, "keys", p->keys);
  tm_json_set(v, "from", tm_json_new_string(p->from));
  tm_json_set(v, "to", tm_json_new_string(p->to));
  return v;
}

static void set_effective(struct tm_json *v, const struct tm_step *step)
{
  static const char *const members[] = { "settings", "side_inputs", "arguments", "outputs",
                                         "parameters" };
  for (size_t i = 0; i < TM_COUNT_OF(members); i++) {
    const struct tm_json *member = tm_json_get(step->effective, members[i]);
    tm_json_set_copy(v, members[i], member);
  }
}

static struct tm_json *step_to_json(const struct tm_step *step, const struct cutting *c)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(v, "name", tm_json_new_string(step->name));
  tm_json_set(v, "mini_batches", tm_json_new_int(c->mini_batches));
  tm_json_set(v, "items", c->has_rows ? tm_json_new(TM_JSON_NULL) : tm_json_new_int(c->items));
  if (c->table.len > 0)
    tm_json_set(v, "table", tm_json_new_string(tm_buf_str(&c->table)));
  tm_json_set(v, "first", piece_to_json(&c->first));
  tm_json_set(v, "last", piece_to_json(&c->last));
  set_effective(v, step);
  return v;
}

/* ---- text ---- */

static void add_piece(struct tm_buf *out, const char *label, const struct piece *p)
{
  tm_buf_printf(out, "  %s mini-batch %" PRIu64 ", ", label, p->index);
  if (p->is_rows && p->items == 0)
    tm_buf_add_str(out, "rows: ");
  else
    tm_buf_printf(out, "%" PRIu32 " %s: ", p->items, tm_text_counted(p->items, "item", "items"));
  if (p->keys)
    tm_buf_printf(out, "%s: ", p->keys);
  tm_text_one_line(out, p->from, strlen(p->from), 0);
  if (p->is_rows && p->end >= p->begin)
    tm_buf_printf(out, ", %s %" PRId64 " to %" PRId64, p->is_keys ? "keys" : "bytes", p->begin,
                  p->end);
  else if (p->items > 1) {
    tm_buf_add_str(out, " ... ");
    tm_text_one_line(out, p->to, strlen(p->to), 0);
  }
  tm_buf_add_char(out, '\n');
}

static void add_value(struct tm_buf *out, const char *name, const struct tm_json *value)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_json_write(&text, value, (struct tm_json_style) { 0 });
  tm_buf_printf(out, "    %-24s ", name);
  tm_text_one_line(out, tm_buf_str(&text), text.len, VALUE_MAX);
  tm_buf_release(&text);
}

/* Adds settings and parameters as {NAME: {value, origin}}, except those that are the same in
 * `shared`, which may be NULL. */
static void add_origins(struct tm_buf *out, const char *title, const struct tm_json *values,
                        const struct tm_json *shared)
{
  bool has_title = false;
  for (size_t i = 0; values && i < values->list.len; i++) {
    const struct tm_json *v = values->list.at[i], *known = tm_json_get(shared, values->keys[i]);
    const char *parameter = tm_json_str(v, "parameter", NULL);
    if (known && tm_json_is_equal(known, v))
      continue;
    if (!has_title)
      tm_buf_printf(out, "  %s, and where each is from:\n", title);
    has_title = true;
    add_value(out, values->keys[i], tm_json_get(v, "value"));
    tm_buf_printf(out, "  (%s%s%s)\n", tm_json_str(v, "origin", ""), parameter ? " " : "",
                  parameter ? parameter : "");
  }
}

/* Settings with the same value and origin in all steps; the caller frees it. NULL: there is only
 * one step. */
static struct tm_json *shared_settings(const struct tm_pipeline *p)
{
  struct tm_json *shared = p->steps_len > 1 ? tm_json_new(TM_JSON_OBJECT) : NULL;
  const struct tm_json *first = tm_json_get(p->steps[0]->effective, "settings");
  for (size_t i = 0; shared && first && i < first->list.len; i++) {
    bool is_shared = true;
    for (size_t k = 1; k < p->steps_len && is_shared; k++) {
      const struct tm_json *v =
          tm_json_get(tm_json_get(p->steps[k]->effective, "settings"), first->keys[i]);
      is_shared = v && tm_json_is_equal(v, first->list.at[i]);
    }
    if (is_shared)
      tm_json_set(shared, first->keys[i], tm_json_copy(first->list.at[i]));
  }
  return shared;
}

static void add_list(struct tm_buf *out, const char *title, const struct tm_json *list)
{
  for (size_t i = 0; list && i < list->list.len; i++) {
    char *number = tm_xprintf("%zu", i + 1);
    if (i == 0)
      tm_buf_printf(out, "  %s:\n", title);
    const struct tm_json *v = list->list.at[i], *path = tm_json_get(v, "path");
    bool is_place = path && v->list.len == 1; /* an argument that is an output */
    add_value(out, number, is_place ? path : v);
    tm_buf_add_str(out, is_place ? "  in the job's directory\n" : "\n");
    free(number);
  }
}

/* All settings of the step, except those in `shared`. */
static void add_effective(struct tm_buf *out, const struct tm_step *step,
                          const struct tm_json *shared)
{
  add_origins(out, "parameters", tm_json_get(step->effective, "parameters"), NULL);
  add_origins(out, shared ? "settings of its own" : "settings",
              tm_json_get(step->effective, "settings"), shared);
  add_list(out, "side inputs", tm_json_get(step->effective, "side_inputs"));
  add_list(out, "arguments for the script", tm_json_get(step->effective, "arguments"));
  add_list(out, "outputs", tm_json_get(step->effective, "outputs"));
  for (size_t i = 0; i < step->notes_len; i++)
    tm_buf_printf(out, "  note: %s\n", step->notes[i].text);
}

static void add_step(struct tm_buf *out, const struct tm_step *step, const struct cutting *c,
                     const struct tm_json *shared)
{
  tm_buf_printf(out, "step '%s': ", step->name);
  tm_text_count(out, c->mini_batches,
                tm_text_counted(c->mini_batches, " mini-batch, ", " mini-batches, "));
  if (c->has_rows) {
    tm_buf_add_str(out, "rows, which are counted when they are read\n");
  } else {
    tm_text_count(out, c->items, tm_text_counted(c->items, " item\n", " items\n"));
  }
  tm_buf_add(out, tm_buf_str(&c->table), c->table.len);
  add_piece(out, "first:", &c->first);
  if (c->mini_batches > 1)
    add_piece(out, "last: ", &c->last);
  add_effective(out, step, shared);
}

/* Users can try it by hand. */
static int add_node_start(struct tm_buf *out, struct tm_json *v, const struct tm_plan *plan,
                          const struct tm_step *step, struct tm_err *err)
{
  char **argv;
  struct tm_json *words;
  if (!step->config.uses_slurm)
    return 0;
  if (!(argv = tm_slurm_test_sample(&step->config, plan->program, err)))
    return err->code;
  words = tm_json_set(v, "node_start", tm_json_new(TM_JSON_ARRAY));
  tm_buf_add_str(out, "  each node is started with:\n   ");
  for (size_t i = 0; argv[i]; i++) {
    tm_json_add(words, tm_json_new_string(argv[i]));
    tm_buf_add_char(out, ' ');
    tm_text_shell(out, argv[i]);
  }
  tm_buf_add_char(out, '\n');
  tm_command_words_free(argv);
  return 0;
}

/* The name of the step whose output this step reads; NULL: none. */
static const char *writer_of(const struct tm_step *step)
{
  for (size_t i = 0; i < step->inputs_len; i++)
    if (step->inputs[i]->step)
      return step->inputs[i]->step;
  return NULL;
}

/* Reports a step whose input exists only after other steps have run. */
static void add_later(struct tm_buf *out, struct tm_json *steps, const struct tm_step *step,
                      const struct tm_json *shared)
{
  tm_require(step->needs_len > 0);
  struct tm_json *v = tm_json_add(steps, tm_json_new(TM_JSON_OBJECT));
  struct tm_json *needs = tm_json_new(TM_JSON_ARRAY);
  tm_json_set(v, "name", tm_json_new_string(step->name));
  tm_buf_printf(out, "step '%s': begins when", step->name);
  for (size_t i = 0; i < step->needs_len; i++) {
    tm_json_add(needs, tm_json_new_string(step->needs[i]->name));
    tm_buf_printf(out, "%s '%s'", i ? "," : "", step->needs[i]->name);
  }
  tm_buf_printf(out, " %s Completed; its mini-batches are known then\n",
                step->needs_len == 1 ? "is" : "are");
  tm_json_set(v, "needs", needs);
  set_effective(v, step);
  add_effective(out, step, shared);
}

static void add_pipeline(struct tm_buf *out, const struct tm_plan *plan)
{
  const char *from = plan->pipeline->file ? plan->pipeline->file : plan->source;
  tm_buf_printf(out, "pipeline '%s' (", plan->pipeline->name);
  tm_text_one_line(out, from, strlen(from), 0);
  tm_buf_add_str(out, ")\n");
}

/* Whether an earlier result would replace the step (explain.h). */
static void add_explained(struct tm_buf *out, struct tm_json *steps,
                          const struct tm_json *explained)
{
  const char *from = tm_json_str(explained, "from", NULL);
  tm_require(!explained || steps->list.len > 0);
  if (!explained)
    return;
  tm_buf_printf(out, "  %s: %s\n", from ? "is reused" : "is run",
                tm_json_str(explained, "why", ""));
  tm_json_set(steps->list.at[steps->list.len - 1], "reuse", tm_json_copy(explained));
}

/* Writes both: `text` for users, `steps` for JSON. */
static int add_steps(struct tm_buf *text, struct tm_json *steps, const struct tm_plan *plan,
                     const struct tm_json *shared, const struct tm_json *explained,
                     struct tm_err *err)
{
  const struct tm_pipeline *p = plan->pipeline;
  int rc = 0;
  tm_require(!explained || explained->list.len == p->steps_len);
  for (size_t i = 0; i < p->steps_len && rc == 0; i++) {
    struct cutting c = { 0 };
    const struct tm_json *why = explained ? explained->list.at[i] : NULL;
    if (writer_of(p->steps[i])) {
      add_later(text, steps, p->steps[i], shared);
    } else if ((rc = cut_step(&c, plan, p->steps[i], err)) == 0) {
      tm_json_add(steps, step_to_json(p->steps[i], &c));
      add_step(text, p->steps[i], &c, shared);
    }
    if (rc == 0) {
      add_explained(text, steps, why);
      rc = add_node_start(text, steps->list.at[steps->list.len - 1], plan, p->steps[i], err);
    }
    piece_release(&c.first);
    piece_release(&c.last);
    tm_buf_release(&c.table);
  }
  return rc;
}

static int add(struct tm_buf *out, const struct tm_plan *plan, const struct tm_json *explained,
               struct tm_err *err)
{
  const struct tm_pipeline *p = plan->pipeline;
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  struct tm_json *steps = tm_json_new(TM_JSON_ARRAY);
  struct tm_json *shared = shared_settings(p);
  struct tm_buf text = TM_BUF_NONE;
  int rc;
  tm_json_set(v, "pipeline", tm_json_new_string(p->name));
  tm_json_set(v, "file", tm_json_new_string(p->file));
  tm_json_set(v, "steps", steps);
  add_pipeline(&text, plan);
  add_origins(&text, "settings of all steps", shared, NULL);
  rc = add_steps(&text, steps, plan, shared, explained, err);
  tm_buf_add_str(&text, "nothing has been run, nothing has been made\n");
  if (rc == 0 && plan->json)
    tm_json_write(out, v, (struct tm_json_style) { 0 });
  else if (rc == 0)
    tm_buf_add(out, text.data, text.len);
  tm_buf_release(&text);
  tm_json_free(shared);
  tm_json_free(v);
  return rc;
}

int tm_plan_add(struct tm_buf *out, const struct tm_plan *plan, struct tm_err *err)
{
  struct tm_preflight look = { .fs = plan->fs,
                               .pipeline = plan->pipeline,
                               .program = plan->program,
                               .workspace = plan->workspace,
                               .no_reuse = plan->no_reuse };
  struct tm_json *explained = NULL;
  int rc = tm_preflight(&look, err);
  if (rc == 0 && plan->explain) {
    explained = tm_explain(plan->pipeline, plan->fs, plan->workspace, plan->no_reuse, err);
    rc = explained ? 0 : err->code;
  }
  if (rc == 0)
    rc = add(out, plan, explained, err);
  tm_json_free(explained);
  return rc;
}
