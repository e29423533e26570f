/* archive_source.h - an archive as it is, before it is judged: what the kinds of archives share.
 *
 * A source returns the entries as they are in the archive; archive.c judges them.
 */
#ifndef TM_DATA_ARCHIVE_ARCHIVE_SOURCE_H
#define TM_DATA_ARCHIVE_ARCHIVE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "data/item.h"
#include "sys/fs.h"

/* Contents below this size are not a bomb, whatever their ratio. */
#define TM_ARCHIVE_SMALL (INT64_C(16) << 20)

struct tm_archive_limits {
  int64_t entries; /* including folders */
  int64_t size;    /* bytes of one entry's contents */
  int64_t ratio;   /* bytes of contents per packed byte */
};

struct tm_archive_options {
  const struct tm_fs *fs;
  const char *path; /* absolute; the caller's, until close */
  int64_t size, mtime_ns;
  const char *index_dir; /* or NULL: nothing is stored */
  struct tm_archive_limits limits;
  void (*on_warning)(void *data, const char *text); /* or NULL */
  void *data;
};

/* An entry; memory of the archive, valid until the next call. */
struct tm_archive_entry {
  const char *name; /* NUL-ended; clean (entry_name.h) or, with a fault, only for messages */
  size_t name_len;
  struct tm_entry_place place;
  const char *fault; /* a message, or NULL */
};

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

/* "'x.zip' cannot be listed: ..." */
int tm_archive_refuse(const char *path, struct tm_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Checks the bytes of contents found so far: negative, with a message, if they are too many for an
 * archive of this size. */
int tm_archive_check_held(const struct tm_archive_options *o, int64_t held, struct tm_err *err);

#endif
