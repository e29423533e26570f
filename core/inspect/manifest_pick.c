/* manifest_pick.c - reads one mini-batch, or counts the files, of the manifest of a job that is not
 * running (inspection.h). */
#include <inttypes.h>

#include "commit/manifest.h"
#include "base/check.h"
#include "commit/manifest_file.h"
#include "data/item.h"
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

/* ---- files ---- */

static void add_item(struct tm_manifest_files *f, const struct tm_item *item)
{
  if (f->files < 0 || item->is_rows || item->is_entry) {
    *f = (struct tm_manifest_files) { -1, -1 };
    return;
  }
  f->files++;
  f->bytes = f->bytes < 0 || item->size < 0 || item->size > INT64_MAX - f->bytes
                 ? -1
                 : f->bytes + item->size;
}

static int add_entries(struct tm_manifest_files *out, size_t n, struct tm_manifest *m,
                       struct tm_err *err)
{
  struct tm_manifest_entry e;
  int rc = 0;
  for (uint64_t i = 0; rc >= 0 && i < tm_manifest_count(m); i++) {
    struct tm_reader r;
    struct tm_item item;
    rc = tm_manifest_read(m, i, &e, err);
    if (rc < 0 || e.dataset >= n)
      continue;
    for (tm_reader_init(&r, e.bytes, e.len); tm_item_next(&r, &item);)
      add_item(&out[e.dataset], &item);
    if (r.bad)
      out[e.dataset] = (struct tm_manifest_files) { -1, -1 };
  }
  return rc;
}

int tm_manifest_count_files(struct tm_manifest_files *out, size_t n, const char *path, int64_t max,
                            struct tm_err *err)
{
  struct tm_manifest *m = NULL;
  for (size_t i = 0; i < n; i++)
    out[i] = (struct tm_manifest_files) { 0, 0 };
  int rc = tm_manifest_open_read(&m, tm_fs_real(), path, 0, err);
  if (rc >= 0 && (!tm_manifest_has_end(m) || m->size_found > max))
    rc = tm_err_set(err, TM_ELIMIT, "'%s' is not complete, or is too large", path);
  if (rc >= 0)
    rc = add_entries(out, n, m, err);
  for (size_t i = 0; i < n && rc < 0; i++)
    out[i] = (struct tm_manifest_files) { -1, -1 };
  tm_manifest_close(m);
  return rc < 0 ? rc : 0;
}
