/* db.h - the database of a workspace, `<workspace>/workspace.db`, and queries to it. Only this file
 * uses SQLite.
 *
 * Caller: open; begin, ask, commit for a change; close in every case. Each process opens the
 * database, does one thing and closes it: nothing is open while a job runs. A committed change is
 * on the disk. A process may be killed at any moment: an uncommitted change is then undone.
 *
 * Error messages name the file. TM_EDAMAGE: it is not our database, or its bytes are damaged;
 * TM_EVERSION: a later tidemill made it; TM_EINUSE: another process has locked it for longer than
 * the wait; else a negated errno.
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
  TM_DB_READ,  /* a missing database is not made; the folder may be read-only */
  TM_DB_WRITE, /* made if missing */
};

/* `workspace`: an existing absolute folder. 1: *out is open. 0: there is none (TM_DB_READ), and
 * *out is NULL. */
int tm_db_open(struct tm_db **out, const char *workspace, enum tm_db_mode mode, struct tm_err *err);
/* A number that changes with each committed change; it only looks at the metadata of the database's
 * files. */
uint64_t tm_db_stamp(const char *workspace);
void tm_db_close(struct tm_db *db); /* NULL: a no-op; uncommitted changes are undone */

/* Begins a transaction: all of it or nothing is committed. Other writers wait. */
int tm_db_begin(struct tm_db *db, struct tm_err *err);
int tm_db_commit(struct tm_db *db, struct tm_err *err);

/* Prepares a query. `types` has a letter for each `?`: 'i' int64_t, 's' const char * (NULL: null),
 * 'b' const void * and size_t (bytes). Strings and bytes are copied. NULL with a message. */
struct tm_query *tm_db_ask(struct tm_db *db, struct tm_err *err, const char *sql, const char *types,
                           ...);
/* Runs the same query with other values, for many rows. */
int tm_query_again(struct tm_query *q, struct tm_err *err, const char *types, ...);
/* 1: a row, 0: the end, or negative. */
int tm_query_next(struct tm_query *q, struct tm_err *err);
int64_t tm_query_int(const struct tm_query *q, int column);
/* Valid until the next call; NULL for null. */
const char *tm_query_str(const struct tm_query *q, int column);
const void *tm_query_bytes(const struct tm_query *q, int column, size_t *len);
void tm_query_close(struct tm_query *q); /* NULL: a no-op */

/* Runs a statement without rows: 0 or negative. */
int tm_db_do(struct tm_db *db, struct tm_err *err, const char *sql, const char *types, ...);

/* Adds "sqlite 3.40.1": the version of the loaded library. */
struct tm_buf;
void tm_db_library(struct tm_buf *out);

#endif
