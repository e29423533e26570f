/* archive_source.c - what all kinds of archives refuse, and the type of an entry. */
#include "data/archive/archive_source.h"

#include <inttypes.h>
#include <stdarg.h>
#include <sys/stat.h>

int tm_archive_refuse(const char *path, struct tm_err *err, const char *fmt, ...)
{
  va_list ap;
  va_start(ap, fmt);
  tm_err_vset(err, TM_EINPUT, fmt, ap);
  va_end(ap);
  return tm_err_wrap(err, "the archive '%s' cannot be listed", path);
}

int tm_archive_check_held(const struct tm_archive_options *o, int64_t held, struct tm_err *err)
{
  if (held <= TM_ARCHIVE_SMALL || held / o->limits.ratio < o->size)
    return 0;
  return tm_archive_refuse(o->path, err,
                           "it holds more than %" PRId64 " times its own %" PRId64
                           " bytes; if that is right, raise max_ratio of the dataset",
                           o->limits.ratio, o->size);
}

enum tm_raw_type tm_archive_type_of(uint32_t mode, int64_t size)
{
  switch (mode & S_IFMT) {
  case S_IFDIR: return TM_RAW_FOLDER;
  case S_IFLNK: return TM_RAW_LINK;
  case S_IFIFO:
  case S_IFCHR:
  case S_IFBLK:
  case S_IFSOCK: return size > 0 ? TM_RAW_FILE : TM_RAW_OTHER;
  default: return TM_RAW_FILE;
  }
}
