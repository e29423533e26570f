/* extras.c - what a script reports for a mini-batch besides its return value: failed items, and
 * files that it made.
 *
 * In a worker, the script's binding fills it, and the agent checks and fsyncs the files: a file
 * named in a result survives a power failure. The supervisor treats all of it as hostile bytes.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "agent/agent_own.h"
#include "base/mem.h"
#include "data/archive/entry_load.h"
#include "sys/fs.h"

void tm_extras_clear(struct tm_extras *e)
{
  tm_buf_clear(&e->marks);
  tm_buf_clear(&e->files);
  tm_buf_clear(&e->columns);
  tm_buf_clear(&e->faults);
}

void tm_extras_release(struct tm_extras *e)
{
  tm_buf_release(&e->marks);
  tm_buf_release(&e->files);
  tm_buf_release(&e->columns);
  tm_buf_release(&e->faults);
}

void tm_extras_name_entries(struct tm_extras *e, const struct tm_entry_loader *entries)
{
  struct tm_buf marks = TM_BUF_NONE, words = TM_BUF_NONE;
  struct tm_reader r;
  struct tm_mark mark;
  if (e->marks.len == 0)
    return;
  tm_reader_init(&r, e->marks.data, e->marks.len);
  while (tm_mark_next(&r, &mark)) {
    tm_buf_clear(&words);
    tm_buf_add(&words, mark.words, mark.len);
    tm_entry_loader_name(entries, &words);
    tm_buf_add_u32(&marks, mark.number);
    tm_buf_add_bytes32(&marks, tm_buf_str(&words), words.len);
  }
  tm_buf_clear(&e->marks);
  tm_buf_add(&e->marks, tm_buf_str(&marks), marks.len);
  tm_buf_release(&marks);
  tm_buf_release(&words);
}

bool tm_mark_next(struct tm_reader *r, struct tm_mark *out)
{
  if (r->at >= r->end || r->bad)
    return false;
  out->number = tm_read_u32(r);
  out->words = tm_read_bytes32(r, &out->len);
  return !r->bad;
}

void tm_extras_encode(struct tm_buf *out, const struct tm_extras *e)
{
  tm_buf_add_bytes32(out, tm_buf_str(&e->marks), e->marks.len);
  tm_buf_add_bytes32(out, tm_buf_str(&e->files), e->files.len);
  tm_buf_add_bytes32(out, tm_buf_str(&e->columns), e->columns.len);
  tm_buf_add_bytes32(out, tm_buf_str(&e->faults), e->faults.len);
}

bool tm_extras_read(struct tm_reader *r, struct tm_said *out)
{
  struct tm_reader *const to[] = { &out->marks, &out->files, &out->columns, &out->faults };
  for (size_t i = 0; i < TM_COUNT_OF(to); i++) {
    size_t len = 0;
    const char *bytes = tm_read_bytes32(r, &len);
    tm_reader_init(to[i], bytes, bytes ? len : 0);
  }
  return !r->bad;
}

/* Checks that the script has written the requested file, and fsyncs it. */
static int settle_file(const char *call, const char *path, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;
  int rc = fs->stat(fs->self, path, false, &st);
  if (rc < 0)
    return tm_err_system(err, rc, "%s: nothing was written there", call);
  if (!S_ISREG(st.mode))
    return tm_err_set(err, TM_ESCRIPT,
                      "%s: the script did not make a file there; ask for a path for each file",
                      call);
  int fd = tm_fs_open(fs, path, O_RDONLY, 0, err);
  if (fd < 0)
    return fd;
  rc = tm_fs_sync(fs, fd, path, err);
  tm_fs_close(fs, fd);
  return rc;
}

int tm_extras_settle(struct tm_agent *a, uint64_t seq)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_reader r;
  char *dir = tm_staging_path(a->trial.setup.staging_dir, a->trial.setup.worker_name, seq);
  int rc = 0;
  tm_reader_init(&r, tm_buf_str(&a->trial.extras.files), a->trial.extras.files.len);
  while (rc == 0 && r.at < r.end) {
    size_t len = 0;
    const char *bytes = tm_read_bytes32(&r, &len);
    char *name = tm_xstrndup(bytes, len), *call = tm_output_file_call(name);
    char *path = tm_output_file_staged_by(&a->trial.setup, dir, name);
    rc = settle_file(call, path, &err);
    free(call);
    free(name);
    free(path);
  }
  free(dir);
  if (rc < 0) {
    a->trial.error.status = TM_RUN_WRONG_RETURN;
    tm_buf_add_str(&a->trial.error.message, err.text);
  }
  return rc;
}

void tm_extras_drop_files(struct tm_agent *a, uint64_t seq)
{
  if (a->trial.extras.files.len == 0)
    return;
  char *dir = tm_staging_path(a->trial.setup.staging_dir, a->trial.setup.worker_name, seq);
  tm_staging_remove(tm_fs_real(), a->trial.setup.output_dir, dir);
  free(dir);
}
