/* logs_show.c - see logs_show.h. */
#include "cli/logs_show.h"

#include <inttypes.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "report/try_rows.h"
#include "run/survey.h"

#define WRITE_BYTES (64u << 10)

static void add_line(struct tm_logs *l, const struct tm_logs_step *step,
                     const struct tm_log_piece *line, const char *indent)
{
  tm_buf_add_str(&l->out, indent);
  if (l->shows_names)
    tm_buf_printf(&l->out, "[%s] ", step->name);
  if (line->source)
    tm_buf_printf(&l->out, "%s| ", line->source);
  tm_buf_add(&l->out, line->text, line->len);
  tm_buf_add_char(&l->out, '\n');
}

static int write_out(struct tm_logs *l)
{
  int rc = l->out.len > 0 ? tm_cli_write(&l->out) : 0;
  tm_buf_clear(&l->out);
  return rc;
}

/* The step whose next line is the earliest; of one moment, the one that the last line was of. NULL: there is none. */
static const struct tm_logs_step *next_step(const struct tm_logs *l,
                                            const struct tm_logs_step *last)
{
  const struct tm_logs_step *first = NULL;
  int64_t wall_ns, first_ns = INT64_MAX;
  for (size_t i = 0; i < l->steps.len; i++) {
    const struct tm_logs_step *step = &l->steps.at[i];
    if (tm_log_set_peek(step->set, &wall_ns) &&
        (!first || wall_ns < first_ns || (wall_ns == first_ns && step == last))) {
      first = step;
      first_ns = wall_ns;
    }
  }
  return first;
}

int tm_logs_show(struct tm_logs *l)
{
  const struct tm_logs_step *step = NULL;
  struct tm_log_piece line;
  int rc = 0;
  while (rc == 0 && (step = next_step(l, step)) && tm_log_set_next(step->set, &line)) {
    add_line(l, step, &line, "");
    if (l->out.len >= WRITE_BYTES)
      rc = write_out(l);
  }
  return rc == 0 ? write_out(l) : rc;
}

/* ---- one mini-batch ---- */

struct one {
  struct tm_logs *l;
  const struct tm_logs_step *step;
  int64_t tries;
  struct tm_map told; /* errors of the tries before: tries may be of one millisecond */
};

/* Whether a line, and those that belong to it, are not of this try: an error of another try of the mini-batch. */
static bool is_of_another(struct one *o, const struct tm_log_piece *piece, bool is_bad,
                          bool *has_error)
{
  struct tm_log_line line;
  bool is_new;
  if (!tm_log_line_read(piece->text, piece->len, &line))
    return false;
  if (!is_bad && line.level >= TM_WARNING && tm_log_try_of(line.message, line.message_len) >= 0)
    return true; /* how a later try on this worker ended */
  if (tm_log_mini_batch(line.message, line.message_len) < 0)
    return false;
  if (!is_bad || *has_error)
    return true;
  tm_map_add(&o->told, piece->text, piece->len, &is_new);
  *has_error = is_new;
  return !is_new;
}

/* What its worker logged meanwhile. */
static void add_logged(struct one *o, const struct tm_try_row *row)
{
  struct tm_logs *l = o->l;
  struct tm_log_choice c = { .worker = row->process,
                             .mini_batch = l->choice.mini_batch,
                             .from_ns = row->begin_wall_ns / 1000000 * 1000000, /* logs have ms */
                             .until_ns = row->begin_wall_ns + row->elapsed_ns };
  struct tm_log_set *set = tm_log_set_new(o->step->logs_dir, &c, NULL, NULL);
  struct tm_log_piece line;
  struct tm_log_line head;
  bool shows_names = l->shows_names, is_left_out = false, has_error = false;
  bool is_bad = strcmp(row->status, "RUN_DONE") != 0;
  l->shows_names = false; /* the heading says it */
  tm_log_set_finish(set);
  while (tm_log_set_next(set, &line)) {
    if (tm_log_line_read(line.text, line.len, &head))
      is_left_out = is_of_another(o, &line, is_bad, &has_error);
    if (!is_left_out)
      add_line(l, o->step, &line, "  ");
  }
  l->shows_names = shows_names;
  tm_log_set_free(set);
}

/* Which of its items, where it was a part. */
static void add_part(struct tm_buf *out, const char *detail)
{
  static const char word[] = " part=";
  const char *part = strstr(detail, word), *path = strstr(detail, " first=");
  if (!part || (path && path < part))
    return;
  part += sizeof(word) - 1;
  tm_buf_add_str(out, " (of its items ");
  tm_buf_add(out, part, strcspn(part, " "));
  tm_buf_add_char(out, ')');
}

static void on_row(void *data, const struct tm_try_row *row)
{
  struct one *o = data;
  struct tm_buf *out = &o->l->out;
  if (o->tries++ == 0)
    tm_buf_printf(out, "mini-batch %" PRId64 " of step '%s': %s\n", o->l->choice.mini_batch,
                  o->step->name, row->detail);
  tm_buf_printf(out, "handed out %" PRId64 ": %s", row->picked, row->status);
  if (*row->process)
    tm_buf_printf(out, " at %s", row->process);
  tm_buf_printf(out, "; %s %s, %s succeeded, %s failed", row->total,
                strcmp(row->total, "1") == 0 ? "item" : "items", row->succeeded, row->failed);
  add_part(out, row->detail);
  if (row->begin_wall_ns > 0)
    tm_buf_printf(out, "; began %s, %s s, run() %s s", row->began, row->elapsed, row->run);
  tm_buf_add_char(out, '\n');
  if (*row->message)
    tm_buf_printf(out, "  %s\n", row->message);
  if (row->begin_wall_ns > 0 && *row->process)
    add_logged(o, row);
}

/* Nothing of it in the logs: it is not there, or not tried yet. */
static int say_none(const struct tm_logs *l, const struct tm_logs_step *step, struct tm_err *err)
{
  struct tm_manifest_extent extent;
  char *path = tm_xprintf("%s/%s/state/manifest", l->dir, step->name);
  int rc = tm_manifest_look(&extent, path, err);
  free(path);
  if (rc < 0)
    return rc;
  if (l->choice.mini_batch >= extent.mini_batches && extent.has_end)
    return tm_err_set(err, TM_EUSAGE,
                      "step '%s' has no mini-batch %" PRId64 "; it has %" PRId64
                      ", numbered from 0",
                      step->name, l->choice.mini_batch, extent.mini_batches);
  tm_cli_say("mini-batch %" PRId64 " of step '%s' has not been tried", l->choice.mini_batch,
             step->name);
  return 0;
}

static void add_way_on(struct tm_logs *l, const struct tm_logs_step *step)
{
  tm_buf_add_str(&l->out, "again: tidemill replay ");
  tm_text_shell(&l->out, l->dir);
  if (l->shows_names)
    tm_buf_printf(&l->out, " --step %s", step->name);
  tm_buf_printf(&l->out, " --mini-batch %" PRId64 "\n", l->choice.mini_batch);
}

int tm_logs_show_mini_batch(struct tm_logs *l, struct tm_err *err)
{
  struct tm_err none = TM_ERR_NONE;
  size_t missing = 0;
  for (size_t i = 0; i < l->steps.len; i++) {
    struct one o = { .l = l, .step = &l->steps.at[i] };
    int64_t n = tm_try_rows_read(o.step->logs_dir, l->choice.mini_batch, on_row, &o, err);
    tm_map_release(&o.told);
    if (n < 0)
      return (int)n;
    if (n > 0)
      add_way_on(l, o.step);
    else if (say_none(l, o.step, &none) < 0)
      missing++;
  }
  if (missing == l->steps.len) {
    *err = none;
    return none.code;
  }
  return write_out(l);
}
