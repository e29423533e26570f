/* archive_index.h - the entries of an archive, in a file beside the job's state, for the next run.
 *
 * Public format, version 2, little-endian. The version also increases when the rules of listing
 * change, so that listings of earlier programs are not used. A head of 96 bytes, then a record for
 * each entry:
 *
 *   head     0 "TMARIX1\n"   8 version u32   12 zero u32   16 size of the archive i64
 *            24 its mtime i64 (ns)   32 hash of its path u64
 *            40 limits: entries i64, size i64, ratio i64   64 records i64   72 their bytes i64
 *            80 hash of these u64   88 check u64, of bytes 0 to 87
 *   record   0 name length u32   4 how it is read u8, zero u8, method u16   8 CRC-32 u32
 *            12 fault length u32   16 place i64   24 packed i64   32 size i64   40 name, fault
 *
 * The file gets its name when it is complete. Its bytes may be hostile: a damaged index counts as
 * missing; the users of names and places check them again, because they may be forged.
 */
#ifndef TM_DATA_ARCHIVE_ARCHIVE_INDEX_H
#define TM_DATA_ARCHIVE_ARCHIVE_INDEX_H

#include "data/archive/archive_source.h"

#define TM_ARCHIVE_HEAD   96
#define TM_ARCHIVE_RECORD 40

struct tm_archive_index;

/* Opens the index for this archive and these limits; NULL without a message if there is none. */
struct tm_archive_index *tm_archive_index_open(const struct tm_archive_options *o);
/* 1; 0: the end; negative. */
int tm_archive_index_next(struct tm_archive_index *x, struct tm_archive_entry *out,
                          struct tm_err *err);

/* Makes a new index for writing. NULL with a message. */
struct tm_archive_index *tm_archive_index_make(const struct tm_archive_options *o,
                                               struct tm_err *err);
int tm_archive_index_add(struct tm_archive_index *x, const struct tm_archive_entry *entry,
                         struct tm_err *err);
/* Call it after the last entry: gives the file its name. */
int tm_archive_index_finish(struct tm_archive_index *x, struct tm_err *err);

/* Removes an unfinished file. NULL: a no-op. */
void tm_archive_index_close(struct tm_archive_index *x);

#endif
