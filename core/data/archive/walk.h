/* walk.h - an archive from its beginning, header by header, through libarchive over our own reads.
 *
 * It never starts a program, and supports no format that leads to other files. Caller: open; next
 * until it is not 1, read between two; close. The stream belongs to the caller, who does not use it
 * meanwhile.
 *
 * libarchive keeps a header completely, however long it is, and compares each file of a cpio that
 * has several names with all of those before it. So a header has at most 16 MB, and a cpio at most
 * 30,000 such files; an archive beyond that is refused. Folders do not count: the link counts in
 * their headers are changed before libarchive reads them.
 */
#ifndef TM_DATA_ARCHIVE_WALK_H
#define TM_DATA_ARCHIVE_WALK_H

#include "data/stream/stream.h"

struct archive_entry;
struct tm_walk;

enum tm_walk_kind {
  TM_WALK_IN_ORDER,  /* tar and cpio */
  TM_WALK_SEVEN_ZIP, /* 7z in a plain file; the caller has judged its header (seven_zip.h) */
  TM_WALK_ZIP,       /* one entry of a zip; the walk begins at its local header */
};

/* `path` is for messages; begins at byte `from` of the stream. NULL: no memory. The first _next()
 * reports what is wrong with the archive. */
struct tm_walk *tm_walk_open(struct tm_stream *s, const char *path, enum tm_walk_kind kind,
                             int64_t from, struct tm_err *err);
/* 1; 0: the end; negative: TM_EINPUT. */
int tm_walk_next(struct tm_walk *w, struct archive_entry **out, struct tm_err *err);
/* Static text why the current entry must not be used, according to its headers; or NULL. Call it
 * once, before reading its data. */
const char *tm_walk_header_fault(struct tm_walk *w);
/* Up to n bytes of the current entry, in order; 0 at its end. */
int64_t tm_walk_read(struct tm_walk *w, void *p, size_t n, struct tm_err *err);
/* Whether it is a tar: its entries' contents are contiguous. */
bool tm_walk_is_tar(const struct tm_walk *w);
/* Offsets in the stream: of the current header (at the end: of the bytes that were read as one),
 * and after the bytes that have been read. */
int64_t tm_walk_header_at(const struct tm_walk *w);
int64_t tm_walk_at(const struct tm_walk *w);
/* Reads a piece of the bytes after the last entry, because check sums are there. 1: there may be
 * more, and _drained() is the offset in the stream; 0: the end. */
int tm_walk_drain(struct tm_walk *w, struct tm_err *err);
int64_t tm_walk_drained(const struct tm_walk *w);
void tm_walk_close(struct tm_walk *w); /* NULL: a no-op */

#endif
