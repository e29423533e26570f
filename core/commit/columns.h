/* columns.h - the columns of a step's output, if run() returns data frames.
 *
 * The first accepted frame sets them. The columns of a later frame are put into the same order. A
 * frame with other columns is refused. So is an array if the file has a header, and a frame if the
 * file began with an array and should have a header. Empty results always fit.
 *
 * Steps, on the job's thread: _init; _open once the commit is open; _fit for each result; then,
 * when it is added to the commit, _begin_add before and _end_add after it.
 *
 *  (1) The header line is in the record of the first committed mini-batch, and only there: it is
 *      added while the output is empty.
 *  (2) <step>/state/columns is on the disk before the first rows of a frame are added. It names
 *      their mini-batch; a later session uses it if that mini-batch is committed.
 *
 * The file, little-endian: u32 version (1), u64 mini-batch, u32 n, n names (bytes32), u64 xxh3-64
 * of all that.
 */
#ifndef TM_COMMIT_COLUMNS_H
#define TM_COMMIT_COLUMNS_H

#include "commit/commit.h"

struct tm_columns {
  struct tm_buf names; /* bytes32 each; empty: unknown so far */
  char *path;
  const struct tm_fs *fs;
  char separator;
  bool has_header; /* the file has a header, or will have one */
  bool has_arrays; /* the output has rows without columns */
  bool is_saved;
};

void tm_columns_init(struct tm_columns *c, const struct tm_fs *fs, const char *state_dir,
                     char separator, bool has_header);
void tm_columns_release(struct tm_columns *c);
/* Reads the file of an earlier session. TM_EDAMAGE, TM_EVERSION, or a system error. */
int tm_columns_open(struct tm_columns *c, const struct tm_commit *commit, struct tm_err *err);

/* A worker's result: `names` is empty for an array. */
struct tm_columns_rows {
  struct tm_reader names;
  const char *rows;
  size_t rows_len;
  const char *spilled; /* a file with the rows, `length` bytes with `hash`; or NULL */
  uint64_t length, hash;
};
/* 0: add the rows unchanged. 1: `out` has the rows in the order of the file's columns; a spilled
 * file is removed. TM_ESCRIPT: refused, the message names both. TM_EPROTOCOL: invalid names.
 * TM_EDAMAGE: the spilled file is not as announced. */
int tm_columns_fit(struct tm_columns *c, const struct tm_columns_rows *r, struct tm_buf *out,
                   struct tm_err *err);

/* Adds the line that _begin_add() will note before rows of a frame: nothing if there is none. */
void tm_columns_add_header(const struct tm_columns *c, const struct tm_commit *commit,
                           bool is_frame, struct tm_buf *out);
/* Call it before adding rows of mini-batch `index`: of a frame, or (is_frame false) of an array. A
 * system error. */
int tm_columns_begin_add(struct tm_columns *c, struct tm_commit *commit, uint64_t index,
                         bool is_frame, struct tm_err *err);
/* Call it when they are in the commit. */
void tm_columns_end_add(struct tm_columns *c, const struct tm_commit *commit, bool is_frame);

#endif
