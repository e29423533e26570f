/* spill.c - a result too large for a frame goes through a file.
 *
 * The file's name holds the worker, the assignment, the length and the hash of the bytes, so that
 * no two results share a name and an incomplete file is recognised. It is written before the frame
 * that names it is sent, and not fsynced: it is needed only until the result is committed, and a
 * try whose result was lost with the machine is run again. From the frame on, the supervisor owns
 * it and removes it.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent_own.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"

static int write_file(struct tm_agent *a, const char *path, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  if (!a->has_spill_dir && tm_fs_make_dir(fs, a->trial.setup.spill_dir, 0700, err) < 0)
    return err->code;
  a->has_spill_dir = true;
  int fd = tm_fs_open(fs, path, O_WRONLY | O_CREAT | O_TRUNC, 0600, err);
  if (fd < 0)
    return fd;
  int rc = tm_fs_write_at(fs, fd, path, a->trial.rows.data, a->trial.rows.len, 0, err);
  tm_fs_close(fs, fd);
  if (rc < 0)
    fs->unlink(fs->self, path);
  return rc;
}

int tm_spill_write(struct tm_agent *a, uint64_t seq)
{
  tm_require(a->trial.rows.len > 0);
  struct tm_err err = TM_ERR_NONE;
  uint64_t hash = tm_hash64(a->trial.rows.data, a->trial.rows.len);
  char *name = tm_xprintf("%s.%" PRIu64 ".%zu.%016" PRIx64, a->trial.setup.worker_name, seq,
                          a->trial.rows.len, hash);
  char *path = tm_path_join(a->trial.setup.spill_dir, name);
  int rc = write_file(a, path, &err);
  if (rc < 0) {
    a->trial.error.status = TM_RUN_EXCEPTION;
    tm_buf_printf(&a->trial.error.message, "the result of %zu bytes cannot be stored: %s",
                  a->trial.rows.len, err.text);
  } else {
    tm_buf_add_bytes32(&a->payload, name, strlen(name));
    tm_buf_add_u64(&a->payload, a->trial.rows.len);
    tm_buf_add_u64(&a->payload, hash);
  }
  free(path);
  free(name);
  return rc < 0 ? rc : 0;
}
