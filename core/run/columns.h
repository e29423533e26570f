/* columns.h - the columns of a step's output, where run() returns data frames: those of the first frame that is accepted are
 * the file's. A later frame in another order is put into that order; one with other columns is refused, and so is an array
 * where the file has a header, or a frame where a file that is to have one began with an array. What is empty fits always.
 *
 * Steps, on the job's thread: _init; _open once the commit is open; for each result _fit; then, when it is added to the commit,
 * _begin_add before and _end_add after it.
 *
 *  (1) The header line is in the record of the first mini-batch that is committed, and nowhere else: it is added where the
 *      output has no bytes yet.
 *  (2) <step>/state/columns is on the disk before the first rows of a frame are added. It names the mini-batch that they are of,
 *      and counts in a later session if that one is committed.
 *
 * The file, little-endian: u32 version (1), u64 mini-batch, u32 n, n names (bytes32), u64 xxh3-64 of all that.
 */
#ifndef TM_RUN_COLUMNS_H
#define TM_RUN_COLUMNS_H

#include "run/commit.h"

struct tm_columns {
  struct tm_buf names; /* bytes32 each; empty: not known yet */
  char *path;
  const struct tm_fs *fs;
  char separator;
  bool has_header; /* the file has one, or will */
  bool has_arrays; /* rows are in the output that have no columns */
  bool is_saved;
};

void tm_columns_init(struct tm_columns *c, const struct tm_fs *fs, const char *state_dir,
                     char separator, bool has_header);
void tm_columns_release(struct tm_columns *c);
/* What an earlier session left. TM_EDAMAGE, TM_EVERSION, or a system error. */
int tm_columns_open(struct tm_columns *c, const struct tm_commit *commit, struct tm_err *err);

/* What a worker returned: `names` is empty for an array. */
struct tm_columns_rows {
  struct tm_reader names;
  const char *rows;
  size_t rows_len;
  const char *spilled; /* the rows are in this file, `length` bytes with `hash`; or NULL */
  uint64_t length, hash;
};
/* 0: they can be added as they are. 1: the rows, in the order of the file's columns, are in `out`; a spilled file is removed.
 * TM_ESCRIPT: refused, the words name both. TM_EPROTOCOL: no names that a worker of ours sends. TM_EDAMAGE: the spilled file
 * is not what it should be. */
int tm_columns_fit(struct tm_columns *c, const struct tm_columns_rows *r, struct tm_buf *out,
                   struct tm_err *err);

/* Rows of mini-batch `index` are added next; of frames, or (is_frame false) of an array. A system error. */
int tm_columns_begin_add(struct tm_columns *c, struct tm_commit *commit, uint64_t index,
                         bool is_frame, struct tm_err *err);
/* They are in the commit. */
void tm_columns_end_add(struct tm_columns *c, const struct tm_commit *commit, bool is_frame);

#endif
