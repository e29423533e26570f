/* walk.h - an archive from its beginning, header by header, through libarchive over our own reads.
 *
 * No program is ever started for it, and no format is known that leads to other files. Caller: open; next until it is not 1, read
 * between two; close. The stream is the caller's, and nobody else's meanwhile.
 *
 * libarchive keeps a header whole, however long it is, and compares each file of a cpio that has several names with all
 * of those before it. So a header has at most 16 MB, and a cpio at most 30,000 such files; beyond that the archive is refused.
 * Folders do not count: what their headers say of links is changed before libarchive reads it.
 */
#ifndef TM_DATA_FILES_WALK_H
#define TM_DATA_FILES_WALK_H

#include "data/rows/stream.h"

struct archive_entry;
struct tm_walk;

enum tm_walk_kind {
  TM_WALK_IN_ORDER, /* tar and cpio */
  TM_WALK_ARCHIVE, /* of a plain file (stream->size known) 7z, too: its header is judged first (seven_zip.h) */
  TM_WALK_SEVEN_ZIP, /* 7z alone, which somebody has judged */
  TM_WALK_ZIP,       /* one entry of a zip, whose local header is where the walk begins */
};

/* `path` is for the words; begins at byte `from` of the stream. NULL: memory. What is wrong with the archive the first
 * _next() says. */
struct tm_walk *tm_walk_open(struct tm_stream *s, const char *path, enum tm_walk_kind kind,
                             int64_t from, struct tm_err *err);
/* 1; 0: the end; negative: TM_EINPUT. */
int tm_walk_next(struct tm_walk *w, struct archive_entry **out, struct tm_err *err);
/* Why the entry at hand must not be used, as its headers have it: static words, or NULL. Once, before its data are read. */
const char *tm_walk_header_fault(struct tm_walk *w);
/* Of the entry at hand: up to n bytes, in order; 0 at its end. */
int64_t tm_walk_read(struct tm_walk *w, void *p, size_t n, struct tm_err *err);
/* It is a tar, whose entries' contents stand in one run. */
bool tm_walk_is_tar(const struct tm_walk *w);
/* In the stream: of the header at hand, or of what was taken for the next one at the end; behind what has been read of it. */
int64_t tm_walk_header_at(const struct tm_walk *w);
int64_t tm_walk_at(const struct tm_walk *w);
/* Reads on behind the last entry, a piece of what follows: check sums stand there. 1: there may be more, and _drained() is where
 * it stands in the stream; 0: the end. */
int tm_walk_drain(struct tm_walk *w, struct tm_err *err);
int64_t tm_walk_drained(const struct tm_walk *w);
void tm_walk_close(struct tm_walk *w); /* NULL: a no-op */

#endif
