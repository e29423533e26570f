/* agent_msg.h - the protocol of supervisor and worker, over the worker's own socket.
 *
 *   supervisor                                worker
 *     SETUP                      ------->       loads the script
 *                                <-------     LOADED | INIT_FAILED
 *                                             init()
 *                                <-------     READY | INIT_FAILED
 *     MINI_BATCH ... (a window)  ------->       run()
 *                                <-------     RESULT | FAILED, one per MINI_BATCH that it began
 *     ARM                        ------->       calls can be interrupted from here on
 *                                <-------     RETIRED: after an interruption it begins nothing
 *                                             more, and waits to be killed
 *     STOP                       ------->       shutdown()
 *                                <-------     BYE, and it exits with 0, even if shutdown() failed
 *
 * Messages and their header: sys/messages/msg.h. RESULT and FAILED have `index`, `try` and `part`
 * of their MINI_BATCH. All numbers are little-endian; bytes32 = u32 length and the bytes.
 */
#ifndef TM_AGENT_AGENT_MSG_H
#define TM_AGENT_AGENT_MSG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/level.h"
#include "sys/messages/msg.h"

enum tm_agent_msg {
  TM_MSG_SETUP = 1,  /* struct tm_setup */
  TM_MSG_MINI_BATCH, /* struct tm_mini_batch_head, items */
  TM_MSG_STOP,       /* - */
  TM_MSG_ARM,        /* - */
  /* u64: nanoseconds in init(), 0: the script has none; u64 flags: TM_READY_PREFETCH, or 0 */
  TM_MSG_READY = 33,
  TM_MSG_INIT_FAILED, /* struct tm_failure */
  TM_MSG_RESULT,      /* struct tm_result_head, rows or spill */
  TM_MSG_FAILED,      /* struct tm_failure */
  TM_MSG_BYE,         /* -; or struct tm_failure: shutdown() failed */
  TM_MSG_LOADED,      /* -; the script defines run(), init() is next */
  TM_MSG_RETIRED,     /* the reason */
};

/* How a try ended: the Status column of processed_mini-batches.csv. */
#define TM_STATUS_MAP(XX)                                                                          \
  XX(RUN_DONE)                                                                                     \
  XX(RUN_EXCEPTION)                                                                                \
  XX(RUN_TIMEOUT)                                                                                  \
  XX(RUN_WRONG_RETURN)                                                                             \
  XX(LOAD_TIMEOUT)                                                                                 \
  XX(LOAD_EXCEPTION) XX(INIT_EXCEPTION) XX(INIT_TIMEOUT) XX(PROCESS_DIED) XX(CANCELED)
enum tm_status {
#define XX(name) TM_##name,
  TM_STATUS_MAP(XX)
#undef XX
};
const char *tm_status_name(enum tm_status s); /* "RUN_DONE" */

/* Everything that a worker must know. A new field is a line here, and one in tm_setup_of_step()
 * (step/worker_setup.c) if the definition of a step says it: the struct and the message follow. In
 * the message: u32 version, then the fields in this order, numbers and flags as u64. TEXT and LIST
 * are node/msg_strings.h: any bytes except NUL, paths need not be UTF-8. No number is negative. */
#define TM_SETUP_MAP(TEXT, LIST, FLAG, NUMBER)                                                     \
  TEXT(worker_name)      /* process000 */                                                          \
  TEXT(node_id)          /* decimal */                                                             \
  TEXT(script)           /* the copy to run */                                                     \
  TEXT(script_name)      /* its name in messages: the user's path */                               \
  TEXT(script_dir)       /* folder of the copy: require looks here first */                        \
  TEXT(library_dir)      /* with has_own_script: libraries are looked for in it; or "" */          \
  LIST(arguments)        /* for the script */                                                      \
  LIST(runner_arguments) /* those that the runner took, as given */                                \
  LIST(datasets)         /* names of the inputs, by number; "" without a name */                   \
  TEXT(tables)           /* the inputs that are tables (data/table/table_load.h), or "" */         \
  TEXT(schema_file)      /* their schemas */                                                       \
  TEXT(index_dir)        /* indexes of packed files, or "" */                                      \
  TEXT(models_dir)       /* prepared models (model/prepared.h), or "" */                           \
  TEXT(session)          /* which session of the job this is: its epoch, in hexadecimal */         \
  TEXT(output_dir)                                                                                 \
  LIST(outputs) /* names of the outputs, in order; "" without a name */                            \
  TEXT(log_dir) /* user/entry_script_log/<node>/ */                                                \
  TEXT(temp_dir)                                                                                   \
  TEXT(memory_dir)          /* for small archives (data/archive/entry_load.h), or "" */            \
  TEXT(logger_file)         /* user/entry_script_log/<node>/<worker>.log.txt */                    \
  TEXT(error_file)          /* user/error/<node>/<worker>.txt */                                   \
  TEXT(spill_dir)           /* folder for large results */                                         \
  TEXT(libraries_dir)       /* folder for records of libraries (tm_plugin_record()), or "" */      \
  LIST(staged_in)           /* tm_output_staging() of each output; or empty */                     \
  TEXT(staging_dir)         /* for files of context:output_file(); "": in output_dir itself */     \
  TEXT(profile_file)        /* file for profiling samples; "": no profiling */                     \
  NUMBER(logging_level)     /* enum tm_level */                                                    \
  FLAG(has_own_script)      /* it is part of tidemill: libraries are not looked for beside it */   \
  FLAG(append_row)          /* rows are stored; else only counted */                               \
  FLAG(escapes_line_breaks) /* in strings; else they are errors */                                 \
  NUMBER(separator)         /* for the rows of data frames: an ASCII character */                  \
  FLAG(verify_items)        /* compares size and mtime of each item before run() */                \
  FLAG(sizes_alone)         /* compares only sizes: its machine sees other times of files */       \
  FLAG(is_interruptible)    /* from the start; else an ARM may come */                             \
  FLAG(ignores_warnings)    /* SIGTERM and SIGUSR1, which announce the end of its node */          \
  NUMBER(max_result_size)   /* bytes */                                                            \
  NUMBER(memory_limit)      /* worker_memory_limit, bytes; 0: none */                              \
  NUMBER(cores)             /* for this worker: tm_setup_cores() */                                \
  FLAG(is_only_worker)      /* the step has at most one on its node at once */                     \
  FLAG(owns_process)        /* nothing but the script runs in its process */                       \
  NUMBER(patience_ns)       /* how long to wait for files of the job that appear late */           \
  NUMBER(run_timeout_ns)    /* for messages; 0: none */                                            \
  NUMBER(init_timeout_ns)                                                                          \
  NUMBER(load_timeout_ns) /* likewise, for prefetch() */

/* After decoding, it owns its strings. The length of a list `x` is `x_len`. */
struct tm_setup {
#define TEXT(name) char *name;
#define LIST(name)                                                                                 \
  char **name;                                                                                     \
  size_t name##_len;
#define FLAG(name)   bool name;
#define NUMBER(name) int64_t name;
  TM_SETUP_MAP(TEXT, LIST, FLAG, NUMBER)
#undef TEXT
#undef LIST
#undef FLAG
#undef NUMBER
};

void tm_setup_encode(struct tm_buf *out, const struct tm_setup *s);
/* Release `out` with tm_setup_release(). */
int tm_setup_decode(struct tm_setup *out, const char *p, size_t n, struct tm_err *err);
void tm_setup_release(struct tm_setup *s);

struct tm_mini_batch_head { /* 16 bytes on the wire, then the items (data/item.h) */
  uint64_t seq;     /* 1, 2, 3, ... for this worker: its place in the page (node/worker_page.h) */
  uint32_t dataset; /* number of the input */
  uint32_t items;   /* 0: rows of a table that are not counted yet */
};
void tm_mini_batch_head_encode(char out[16], const struct tm_mini_batch_head *h);
bool tm_mini_batch_head_read(struct tm_reader *r, struct tm_mini_batch_head *h);

#define TM_READY_PREFETCH 1u /* the script has prefetch(): the worker gets mini-batches ahead */

#define TM_RESULT_HEAD       56
#define TM_ITEMS_UNKNOWN     UINT32_MAX
#define TM_FAILURE_NO_RUN    1u /* INIT_FAILED: the script was loaded but defines no run() */
#define TM_FAILURE_LOADING   8u /* INIT_FAILED: while the script was loaded, before init() */
#define TM_FAILURE_BAD_STATE 4u /* FAILED: a file written by the job itself is missing or damaged */
#define TM_RESULT_EXTRAS     2u /* RESULT: struct tm_extras follows the head */
struct tm_result_head {         /* 56 bytes on the wire */
  uint64_t seq;
  int64_t begin_wall_ns; /* when the worker began it */
  int64_t total_ns;      /* from there to the encoded result */
  int64_t run_ns;        /* of run() */
  int64_t cpu_ns;        /* process time */
  uint32_t returned;     /* elements */
  /* 1: followed by bytes32 name of a file in spill_dir, u64 length, u64 xxh3; 0: by the rows */
  uint32_t is_spilled;
  uint32_t flags; /* TM_FAILURE_..., TM_RESULT_EXTRAS, or 0 */
  /* passed to run(), or rows of a table that could not be loaded; TM_ITEMS_UNKNOWN */
  uint32_t items;
};
void tm_result_head_encode(char out[TM_RESULT_HEAD], const struct tm_result_head *h);
bool tm_result_head_read(struct tm_reader *r, struct tm_result_head *h);
#define TM_SPILL_ABOVE (1u << 20) /* bytes of rows */

struct tm_entry_loader;

/* What a script reports for a mini-batch besides the rows. On the wire: bytes32 each, in this
 * order. */
struct tm_extras {
  struct tm_buf marks; /* failed items, no duplicates: u32 number from 1, bytes32 message */
  /* of context:output_file(), no duplicates: bytes32 name (tm_output_file_name()) */
  struct tm_buf files;
  /* of a returned data message, in the order of its rows' fields: bytes32 name; empty: no message
   */
  struct tm_buf columns;
  /* warnings (data/message/fault_list.h): values of a table that did not fit, ragged rows */
  struct tm_buf faults;
};
#define TM_OUTPUT_NAME_MAX 1000 /* bytes */
void tm_extras_clear(struct tm_extras *e);
/* What the marks say of extracted files names entries (data/archive/entry_load.h). */
void tm_extras_name_entries(struct tm_extras *e, const struct tm_entry_loader *entries);
void tm_extras_release(struct tm_extras *e);
/* A failed item: its number in the mini-batch, from 1. */
struct tm_mark {
  uint32_t number;
  const char *words; /* `len` bytes of the list */
  size_t len;
};
/* The next one of a list of marks; false at its end, or with r->bad if it is damaged. */
bool tm_mark_next(struct tm_reader *r, struct tm_mark *out);
void tm_extras_encode(struct tm_buf *out, const struct tm_extras *e);
/* The bytes of each, in the reader's memory. Read them with tm_read_ functions: they may be
 * hostile. */
struct tm_said {
  struct tm_reader marks, files, columns, faults;
};
bool tm_extras_read(struct tm_reader *r, struct tm_said *out);
/* Whether a file within a folder can have this name: not empty, not absolute, no part "", "." or
 * "..", no line break. */
bool tm_output_name_is_good(const char *name, size_t len);
/* Names of files in results and logs: in the step's first output the path there, in a further one
 * "/OUTPUT/path". */
bool tm_output_file_is_good(const char *name, size_t len);
/* `output` NULL: the first. Each of these is to free(). */
char *tm_output_file_name(const char *output, const char *path);
/* Its path in the output: `output_dir` is the first output's; those of others are beside it. */
char *tm_output_file_place(const char *output_dir, const char *name);
/* The folder of its output. */
char *tm_output_file_folder(const char *output_dir, const char *name);
/* Its path before it is committed, in an output without a destination: below the folder of its
 * try. */
char *tm_output_file_below(const char *staging, const char *name);
/* Its path before it is committed: if the output folder is a link to a destination, within that
 * destination, so that a rename can give the file its name. */
struct tm_fs;
#define TM_STAGING_PREFIX ".tidemill-staging-"
char *tm_output_file_staged(const struct tm_fs *fs, const char *output_dir, const char *staging,
                            const char *name);
/* The same for a worker, as the setup says. */
char *tm_output_file_staged_by(const struct tm_setup *s, const char *staging, const char *name);
/* Where such files are in the folder of an output; NULL: the folder is the job's own. To free(). */
char *tm_output_staging(const struct tm_fs *fs, const char *folder);
/* The script's call for it, for messages. */
char *tm_output_file_call(const char *name);
/* The folder for files of assignment `seq` of a worker, to free(). */
char *tm_staging_path(const char *staging_dir, const char *worker_name, uint64_t seq);
/* Removes the files of one try, whose folder is `staging`, or of all tries of a step, also in
 * destinations. */
void tm_staging_remove(const struct tm_fs *fs, const char *output_dir, const char *staging);
void tm_staging_remove_all(const struct tm_fs *fs, const char *output_dir, const char *staging_dir);

/* A try or an init() that failed. */
struct tm_failure {
  struct tm_result_head head;
  enum tm_status status;
  char *message; /* one or more lines, without the stack; NUL bytes become '?' */
  char *stack;   /* "" if there is none */
  char *where;   /* "score.lua:12", "" when unknown */
};
void tm_failure_encode(struct tm_buf *out, const struct tm_failure *f);
/* Release `out` with tm_failure_release(). */
int tm_failure_decode(struct tm_failure *out, const char *p, size_t n, struct tm_err *err);
void tm_failure_release(struct tm_failure *f);

#endif
