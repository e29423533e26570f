/* db.h - the database of a workspace, `<workspace>/workspace.db`, and questions to it. SQLite is seen here alone.
 *
 * Caller: open; begin, ask, commit where something is written; close in every case. Each process that has something to say
 * to the database opens it, does it and closes it: nothing is held while a job runs. What has been committed is on the disk.
 * A process may be killed at any moment: what it had not committed has not been.
 *
 * Errors have words that name the file. TM_EDAMAGE: it is no database of ours, or its bytes are bad; TM_EVERSION: a later
 * tidemill has made it; TM_EINUSE: another process has kept it for longer than is waited; else a negated errno.
 */
#ifndef TM_STORE_DB_H
#define TM_STORE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define TM_DB_NAME "workspace.db"

struct tm_db;
struct tm_query;

enum tm_db_mode {
  TM_DB_READ, /* a database that is not there is none, and is not made; the folder may be read-only */
  TM_DB_WRITE, /* made where it is missing */
};

/* `workspace`: an absolute folder, which is there. 1: *out is open. 0: there is none (TM_DB_READ), *out is NULL. */
int tm_db_open(struct tm_db **out, const char *workspace, enum tm_db_mode mode, struct tm_err *err);
/* A number that is another one after a change has been committed; reads the facts of the database's files alone. */
uint64_t tm_db_stamp(const char *workspace);
void tm_db_close(struct tm_db *db); /* NULL: a no-op; without a commit nothing has been written */

/* What follows is one change: all of it or nothing; others that want to write wait. */
int tm_db_begin(struct tm_db *db, struct tm_err *err);
int tm_db_commit(struct tm_db *db, struct tm_err *err);

/* Asks. `types` has a letter for each `?`: 'i' int64_t, 's' const char * (NULL: null), 'b' const void * and size_t, bytes;
 * strings and bytes are copied. NULL with words. */
struct tm_query *tm_db_ask(struct tm_db *db, struct tm_err *err, const char *sql, const char *types,
                           ...);
/* The same again with other values, for many rows. */
int tm_query_again(struct tm_query *q, struct tm_err *err, const char *types, ...);
/* 1: a row, 0: the end, or negative. */
int tm_query_next(struct tm_query *q, struct tm_err *err);
int64_t tm_query_int(const struct tm_query *q, int column);
/* Until the next call; NULL for null. */
const char *tm_query_str(const struct tm_query *q, int column);
const void *tm_query_bytes(const struct tm_query *q, int column, size_t *len);
void tm_query_close(struct tm_query *q); /* NULL: a no-op */

/* Asks for something that has no rows: 0 or negative. */
int tm_db_do(struct tm_db *db, struct tm_err *err, const char *sql, const char *types, ...);

/* Adds "sqlite 3.40.1": of the library that is loaded. */
struct tm_buf;
void tm_db_library(struct tm_buf *out);

#endif
