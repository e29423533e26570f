/* item_check.c - see item_check.h. */
#include "data/item_check.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/time.h"

static int tell_change(const struct tm_item *item, const char *path, const struct tm_stat *st,
                       int rc, struct tm_err *err)
{
  struct tm_buf why = TM_BUF_NONE;
  if (rc < 0)
    return tm_err_set(err, rc, "cannot read input '%s', which was there when it was listed: %s",
                      path, tm_code_text(rc));
  if (st->size != item->size) {
    tm_buf_printf(&why, "size %" PRId64 " -> %" PRId64, item->size, st->size);
  } else {
    tm_buf_add_str(&why, "modified ");
    tm_time_iso(&why, item->mtime_ns);
    tm_buf_add_str(&why, " -> ");
    tm_time_iso(&why, st->mtime_ns);
  }
  tm_err_set(err, TM_ECHANGED, "input '%s' changed since it was listed: %s", path,
             tm_buf_str(&why));
  tm_buf_release(&why);
  return TM_ECHANGED;
}

int tm_item_check(const struct tm_fs *fs, const struct tm_item *item, bool sizes_alone,
                  struct tm_err *err)
{
  struct tm_stat st = { 0 };
  if (item->size < 0)
    return 0;
  char *path = tm_xstrndup(item->path, tm_item_file_len(item));
  int rc = fs->stat(fs->self, path, true, &st);
  bool is_same = rc == 0 && st.size == item->size && (sizes_alone || st.mtime_ns == item->mtime_ns);
  rc = is_same ? 0 : tell_change(item, path, &st, rc, err);
  free(path);
  return rc;
}
