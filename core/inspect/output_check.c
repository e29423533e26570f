/* output_check.c - see output_check.h. */
#include "inspect/output_check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"
#include "inspect/verify.h"
#include "sys/fs.h"

/* A flush writes the journal some milliseconds after the rows. So the rows of a job that was
 * killed between the two may be newer by this much. */
#define LATE_NS TM_S

struct look {
  char *first; /* difference, or NULL */
  int64_t bytes, mini_batches;
};

static void on_fault(void *data, const char *path, int64_t at, const char *what)
{
  struct look *l = data;
  if (l->first)
    return;
  l->first = at < 0 ? tm_xprintf("'%s': %s", path, what)
                    : tm_xprintf("'%s' from byte %" PRId64 ": %s", path, at, what);
}

static void on_step(void *data, const struct tm_step_verify *step)
{
  struct look *l = data;
  l->bytes += step->output_bytes + step->failure_bytes;
  l->mini_batches += step->committed + step->failed;
}

int tm_output_check(struct tm_buf *note, const char *dir, struct tm_err *err)
{
  struct look l = { .first = NULL };
  struct tm_verify_options o = { .dir = dir, .on_fault = on_fault, .on_step = on_step, .data = &l };
  int64_t faults = tm_verify_own_job(&o, err);
  if (faults > 0) {
    char *job = tm_text_shell_word(dir);
    faults = tm_err_set(err, TM_EDAMAGE,
                        "the output is not what was committed: %s; nothing is run; restore the "
                        "files, or start a new job; to list all differences (%" PRId64
                        "): tidemill verify %s",
                        l.first, faults, job);
    free(job);
  } else if (faults < 0) {
    tm_err_wrap(err, "the output cannot be compared with the journal, and nothing is run");
  } else {
    tm_buf_printf(note, "the rows are what was committed: %" PRId64 " bytes of %" PRId64 " %s",
                  l.bytes, l.mini_batches,
                  tm_text_counted(l.mini_batches, "mini-batch", "mini-batches"));
  }
  free(l.first);
  return faults < 0 ? (int)faults : 0;
}

/* When the file was last written to; 0: it does not exist. Frees `path`. */
static int64_t mtime_of(char *path)
{
  struct tm_stat st = { 0 };
  int rc = tm_fs_real()->stat(NULL, path, true, &st);
  free(path);
  return rc < 0 ? 0 : st.mtime_ns;
}

static bool is_step_touched(const char *dir, const struct tm_step *step)
{
  const char *rows = step->config.append_row_file_name;
  int64_t journal = mtime_of(tm_xprintf("%s/%s/state/journal", dir, step->name));
  int64_t latest = mtime_of(tm_xprintf("%s/%s/state/failures", dir, step->name));
  if (journal == 0)
    return false;
  for (int i = 0; step->config.output_action == TM_APPEND_ROW && i < 2; i++) {
    int64_t written =
        mtime_of(tm_xprintf("%s/%s/output/%s%s", dir, step->name, rows, i ? ".partial" : ""));
    latest = written > latest ? written : latest;
  }
  return latest > journal + LATE_NS;
}

bool tm_output_is_touched(const char *dir, const struct tm_pipeline *pipeline)
{
  for (size_t i = 0; i < pipeline->steps_len; i++)
    if (is_step_touched(dir, pipeline->steps[i]))
      return true;
  return false;
}
