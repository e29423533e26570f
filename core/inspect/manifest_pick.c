/* manifest_pick.c - reads one mini-batch from the manifest of a job that is not running
 * (inspection.h). */
#include <inttypes.h>

#include "commit/manifest.h"
#include "base/check.h"
#include "commit/manifest_file.h"
#include "inspect/inspection.h"

static int refuse(const struct tm_manifest *m, const char *path, uint64_t index, struct tm_err *err)
{
  uint64_t count = tm_manifest_count(m);
  if (!tm_manifest_has_end(m) && m->size_found > tm_manifest_length(m))
    return tm_err_set(err, TM_EDAMAGE,
                      "mini-batch %" PRIu64
                      " cannot be read: '%s' is torn or damaged at byte %" PRId64
                      ", after the first %" PRIu64 " mini-batches; 'tidemill verify' has details",
                      index, path, tm_manifest_length(m), count);
  if (count == 0)
    return tm_err_set(err, TM_EUSAGE, "there is no mini-batch %" PRIu64 ": the list has none",
                      index);
  return tm_err_set(
      err, TM_EUSAGE, "there is no mini-batch %" PRIu64 "; accepted: 0 to %" PRIu64 "%s", index,
      count - 1, tm_manifest_has_end(m) ? "" : ", where the list ended when the job did");
}

int tm_manifest_pick(struct tm_manifest_found *out, const char *path, uint64_t index,
                     struct tm_err *err)
{
  tm_require(path);
  struct tm_manifest *m = NULL;
  struct tm_manifest_entry e;
  *out = (struct tm_manifest_found) { 0 };
  int rc = tm_manifest_open_read(&m, tm_fs_real(), path, 0, err);
  if (rc >= 0 && index >= tm_manifest_count(m))
    rc = refuse(m, path, index, err);
  if (rc >= 0 && (rc = tm_manifest_read(m, index, &e, err)) >= 0) {
    out->dataset = e.dataset;
    out->items = e.items;
    tm_buf_add(&out->bytes, e.bytes, e.len);
  }
  tm_manifest_close(m);
  return rc < 0 ? rc : 0;
}

void tm_manifest_found_release(struct tm_manifest_found *f)
{
  tm_buf_release(&f->bytes);
}
