/* attempt.c - see attempt.h. */
#include "step/attempt.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "commit/part_read.h"
#include "data/item.h"
#include "data/table/table.h"
#include "record/part.h"
#include "step/returns.h"

#define ITEMS_MAX 1000 /* that are looked for in a message */
#define WORDS_MAX 4096 /* bytes of a message in which they are looked for */

/* The item that the message of a failed try names, to free(). NULL: none of the first ITEMS_MAX. */
static char *find_named(struct tm_supervisor *s, const struct tm_in_flight *held,
                        const struct tm_answer *a)
{
  enum tm_path_naming best = TM_PATH_UNNAMED;
  struct tm_manifest_entry entry;
  struct tm_reader r;
  struct tm_item item;
  char *words, *found = NULL;
  if (a->status == TM_RUN_DONE || a->status == TM_CANCELED || !*a->message || held->items < 2 ||
      held->is_uncounted || tm_part_read(s->manifest, held->index, held->part, &entry, NULL) < 0)
    return NULL;
  words = tm_xstrndup(a->message, strnlen(a->message, WORDS_MAX));
  tm_reader_init(&r, entry.bytes, entry.len);
  for (int i = 0; i < ITEMS_MAX && best < TM_PATH_NAMED_IN_FULL && tm_item_next(&r, &item); i++) {
    char *path = tm_xstrndup(item.path, item.path_len);
    enum tm_path_naming naming = tm_path_naming(words, path);
    if (naming > best) {
      free(found);
      found = path;
      best = naming;
    } else {
      free(path);
    }
  }
  free(words);
  return found;
}

static const struct tm_dataset *input_of(const struct tm_supervisor *s,
                                         const struct tm_in_flight *held)
{
  const struct tm_step *step = s->o.step;
  return held->dataset < step->inputs_len ? step->inputs[held->dataset] : NULL;
}

static bool has_gaps(const struct tm_supervisor *s, const struct tm_in_flight *held)
{
  const struct tm_dataset *input = input_of(s, held);
  return input && input->table && tm_table_ops_leave_out(&input->table->ops);
}

/* The number in its file, from 1, of a row that failed alone; 0: other items, or nobody knows it,
 * because the rows before it have not been counted or some are left out. */
static int64_t find_row(struct tm_supervisor *s, const struct tm_in_flight *held,
                        const struct tm_answer *a)
{
  struct tm_manifest_entry entry;
  struct tm_reader r;
  struct tm_item item;
  if (a->status == TM_RUN_DONE || a->status == TM_CANCELED || held->part == 0 || held->items != 1 ||
      has_gaps(s, held) || tm_part_read(s->manifest, held->index, held->part, &entry, NULL) < 0)
    return 0;
  tm_reader_init(&r, entry.bytes, entry.len);
  return tm_item_next(&r, &item) ? tm_item_row(&item, tm_part_first(held->part)) : 0;
}

/* Workers say how long, so it may be anything; no run() takes longer than its timeout. */
static void note_length(struct tm_supervisor *s, int64_t run_ns)
{
  int64_t timeout_ns = s->o.step->config.run_invocation_timeout_ns;

  if (run_ns > timeout_ns)
    run_ns = timeout_ns;
  if (run_ns > s->longest_run_ns)
    s->longest_run_ns = run_ns;
}

void tm_attempt_emit(struct tm_worker *w, const struct tm_in_flight *held,
                     const struct tm_answer *a, int64_t failed)
{
  struct tm_supervisor *s = w->s;
  const struct tm_dataset *input = input_of(s, held);
  int64_t succeeded =
      a->status == TM_RUN_DONE ? tm_returns_succeeded(s, held, a->marked, a->head.returned) : 0;
  bool is_unknown = held->is_uncounted || (held->items == 0 && a->status != TM_RUN_DONE);
  bool has_causes = a->status == TM_RUN_DONE && a->causes.list.len > 0;
  bool are_rows = input && tm_dataset_is_table(input);
  char *named = tm_attempt_named_item(s, held, a);
  struct tm_buf words = TM_BUF_NONE;
  struct tm_attempt attempt = { .index = held->index,
                                .try = held->try,
                                .picked = held->picked,
                                .status = a->status,
                                .part_first =
                                    held->part != 0 ? (int64_t)tm_part_first(held->part) + 1 : 0,
                                .is_final = a->status == TM_RUN_DONE || failed > 0,
                                .items = is_unknown ? 1 : held->items,
                                .is_uncounted = is_unknown,
                                .succeeded = succeeded,
                                .failed = failed,
                                .begin_wall_ns =
                                    tm_step_node_our_time(w->node, a->head.begin_wall_ns),
                                .total_ns = a->head.total_ns,
                                .run_ns = a->head.run_ns,
                                .cpu_ns = a->head.cpu_ns,
                                .bytes = a->status == TM_RUN_DONE ? a->bytes : 0,
                                .signal = a->signal,
                                .stack = a->stack,
                                .script_where = a->where,
                                .dataset = input && input->name ? input->name : "",
                                .first_item = held->first_item->bytes,
                                .first_item_len = held->first_item->len,
                                .named_item = named,
                                .has_keys = held->has_keys,
                                .are_rows = are_rows,
                                .row = are_rows ? find_row(s, held, a) : 0,
                                .manifest_at = held->manifest_at };
  struct tm_event e = { .kind = TM_EVENT_TRY_ENDED, .attempt = &attempt };

  note_length(s, a->head.run_ns);
  if (has_causes) {
    attempt.causes = a->causes.list.at;
    attempt.causes_len = a->causes.list.len;
    tm_causes_add_text(&words, &a->causes);
  }
  tm_step_node_add_run(w->node, a->head.run_ns);
  attempt.message = has_causes ? words.data : a->message;
  tm_supervisor_emit(s, &e, w);
  tm_buf_release(&words);
  free(named);
}

char *tm_attempt_named_item(struct tm_supervisor *s, const struct tm_in_flight *held,
                            const struct tm_answer *a)
{
  const struct tm_dataset *input = input_of(s, held);
  return input && tm_dataset_is_table(input) ? NULL : find_named(s, held, a);
}

/* The path of the script's log, or of its output if it logged nothing: the logger makes its file
 * with the first line. To free(). */
static char *log_of_script(const struct tm_worker *w)
{
  char *log =
      tm_xprintf("%s/user/entry_script_log/%s/%s.log.txt", w->s->logs_dir, w->node->name, w->name);
  if (tm_fs_exists(w->s->o.fs, log))
    return log;
  free(log);
  return tm_xprintf("%s/user/stdout/%s/%s.stdout.txt", w->s->logs_dir, w->node->name, w->name);
}

struct tm_failed_try tm_attempt_failed(const struct tm_worker *w, const struct tm_in_flight *held,
                                       struct tm_answer *a, char **log)
{
  *log = a->status == TM_RUN_DONE
             ? log_of_script(w)
             : tm_xprintf("%s/user/error/%s/%s.txt", w->s->logs_dir, w->node->name, w->name);
  return (struct tm_failed_try) { .index = held->index,
                                  .try = held->try,
                                  .dataset = held->dataset,
                                  .status = a->status,
                                  .message = a->message,
                                  .message_len = strlen(a->message),
                                  .where = a->where,
                                  .log = *log,
                                  .is_uncounted = held->is_uncounted,
                                  .has_gaps = has_gaps(w->s, held),
                                  .causes = a->status == TM_RUN_DONE ? &a->causes : NULL };
}

int tm_attempt_list_items(struct tm_buf *out, const struct tm_failed_try *t, uint64_t part,
                          struct tm_supervisor *s, struct tm_err *err)
{
  struct tm_manifest_entry entry;
  int rc = tm_part_read(s->manifest, t->index, part, &entry, err);

  if (rc == 0)
    tm_failed_lines_all(out, t, &entry);
  return rc;
}
