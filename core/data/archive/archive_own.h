/* archive_own.h - what the files that list archives share; only they include it.
 *
 * A source returns the entries as they are in the archive; archive.c judges them.
 */
#ifndef TM_DATA_ARCHIVE_ARCHIVE_OWN_H
#define TM_DATA_ARCHIVE_ARCHIVE_OWN_H

#include "data/archive/archive.h"

enum tm_raw_type { TM_RAW_FILE, TM_RAW_FOLDER, TM_RAW_LINK, TM_RAW_OTHER };

struct tm_raw_entry {
  enum tm_raw_type type;
  const char *name; /* memory of the source, until the next call */
  size_t name_len;
  const char *link;  /* target of a link, NUL-ended; NULL: unknown */
  bool is_symbolic;  /* else a link holds a name within the archive */
  const char *fault; /* static text, or NULL */
  struct tm_entry_place place;
};

struct tm_source {
  /* 1; 0: the end; negative, with a message. */
  int (*next)(struct tm_source *s, struct tm_raw_entry *out, struct tm_err *err);
  void (*close)(struct tm_source *s);
};

/* The type of an entry of a zip or 7z, from its Unix mode and the size of its contents. The mode is
 * that of the packed file. A program that packs its standard input ("zip out.zip -", "7z a -si")
 * stores the mode of a pipe, socket or device together with contents: that is a file. An unknown
 * type comes from another system. */
enum tm_raw_type tm_archive_type_of(uint32_t mode, int64_t size);

/* In zip_source.c; takes over `fd`. NULL with a message. */
struct tm_source *tm_zip_source(const struct tm_archive_options *o, int fd, struct tm_err *err);
/* In seven_zip_source.c; the same. */
struct tm_source *tm_seven_zip_source(const struct tm_archive_options *o, int fd,
                                      struct tm_err *err);
/* In walk_source.c. */
struct tm_source *tm_walk_source(const struct tm_archive_options *o, struct tm_err *err);

/* "'x.zip' cannot be listed: ..." */
int tm_archive_refuse(const char *path, struct tm_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Checks the bytes of contents found so far: negative, with a message, if they are too many for an
 * archive of this size. */
int tm_archive_check_held(const struct tm_archive_options *o, int64_t held, struct tm_err *err);

#endif
