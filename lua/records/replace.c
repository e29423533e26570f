/* replace.c - see replace.h. */
#include "records/replace.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "data/rows/open.h"
#include "sys/fs.h"

static bool is_ours(const char *path, const char *begin)
{
  size_t n = strlen(begin);
  char *front = tm_xmalloc(n);
  struct tm_stream *s =
      tm_rows_open(tm_fs_real(), path, &(struct tm_rows_pack) { .index_dir = NULL }, false, NULL);
  int64_t got = s ? s->read(s, front, n, 0, NULL) : 0;
  bool is_ours = got == (int64_t)n && memcmp(front, begin, n) == 0;
  tm_stream_close(s);
  free(front);
  return is_ours;
}

int tm_replace_check(const char *path, const char *begin, const char *format, bool overwrite,
                     struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;
  int rc = fs->stat(fs->self, path, true, &st);
  if (rc == 0 && S_ISDIR(st.mode))
    return tm_err_set(err, TM_EUSAGE, "'%s' is a folder; name a file in it", path);
  if (rc == 0 && S_ISREG(st.mode) && st.size > 0 && !overwrite && !is_ours(path, begin))
    return tm_err_set(err, TM_EUSAGE,
                      "'%s' is there already, and is not %s; name another file, or replace it "
                      "with 'tidemill report --overwrite'",
                      path, format);
  return 0;
}
