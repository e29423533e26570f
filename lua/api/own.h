/* own.h - private structs of the objects in tidemill.h.
 *
 *   runtime_api.c   runtimes: their loop, waiting, closing
 *   program_api.c   finds the program that keepers and workers run
 *   pipeline_api.c  definitions: loads, checks and shows them, sets parameters
 *   values_api.c    values of parameters
 *   earlier.c   what a definition takes from earlier jobs
 *   source_api.c    the record of a definition without a file
 *   build.c     definitions made by calls, by handles to steps and inputs (handles.h)
 *   job_api.c       jobs, from a submission to the end
 *   job_report.c    what a job writes for its user
 *   output_api.c    copies a job's rows to the user's file
 *   plan.c      what a job would do (plan.h), with explain.c
 *   head.c      what a table looks like
 *   host.c      the host's functions and values in Lua
 *   console.c   consoles, for users who type Lua
 *   script_api.c    an entry script in this process (script_api.h)
 *   words.c     translates option names in errors for hosts
 *   event.c     events of core as events of tidemill.h
 */
#ifndef TM_API_OWN_H
#define TM_API_OWN_H

#include <stdatomic.h>
#include <stdbool.h>

#include <tidemill.h>

#include "base/json.h"
#include "base/mem.h"
#include "job/job.h"
#include "plan/given.h"
#include "plan/pipeline.h"
#include "report/report.h"
#include "sys/fs.h"
#include "sys/loop.h"

struct lua_State;

/* A function or value that a host adds for pipeline files. */
struct tm_host_value {
  char *name;
  int (*function)(struct lua_State *L); /* or NULL */
  struct tm_json *value;
};

/* The host's listener for messages. */
struct tm_log {
  void (*on_log)(enum tidemill_level level, const char *text, void *data); /* or NULL */
  void *data;
};

struct tidemill_runtime {
  struct tm_loop loop;
  struct tm_wake wake;   /* of its own loop, as is the timer */
  struct tm_timer limit; /* of the current wait */
  bool is_waiting, is_late;
  struct tidemill_job
      *waited; /* the job of the wait; NULL: all jobs, or the job was closed meanwhile */
  atomic_bool is_woken;
  struct tidemill_runtime_options o;
  bool is_command;           /* command_host.h */
  struct tm_log log;         /* for messages about these */
  char *workspace, *program; /* from the options; workspace NULL: found for each pipeline */
  const struct tm_fs *fs;
  struct tidemill_job *jobs; /* open ones, the newest first */
  size_t pipelines;          /* not freed yet */
  size_t consoles;           /* not closed yet */
  size_t loading;            /* loads in progress: a callback may run during one */
  struct TM_ARRAY(struct tm_host_value) added;
  void (*on_lua)(struct lua_State *L, void *data); /* or NULL */
  void *on_lua_data;
};

struct tidemill_pipeline {
  struct tidemill_runtime *rt;
  struct tm_json *tree; /* plan/read.h */
  char *file;           /* absolute: where relative paths start */
  /* the definition was read from this file, and a resumed job reads it again */
  bool has_file;
  bool is_built;           /* by calls: build.c */
  char *working_dir;       /* absolute; or NULL */
  char *output_file;       /* absolute: where the caller wants the rows; or NULL */
  bool overwrites;         /* replaces that file */
  struct tm_json *command; /* as in plan/pipeline.h */
  struct TM_ARRAY(struct tm_param) params;
  struct TM_ARRAY(struct tidemill_pipeline_step *) steps; /* handles.h */
  /* What it takes from earlier jobs (earlier.c). Directories, or NULL. */
  char *job, *like, *only_failed;
  struct tm_json *like_record;
  struct tm_pipeline *checked; /* the result of the last check; NULL: none, or changed since */
  char *graph, *plan;          /* as last requested */
};

struct tidemill_job {
  struct tidemill_runtime *rt;
  struct tidemill_job *next;
  struct tidemill_job_options o;
  struct tidemill_screen screen;
  struct tm_pipeline *pipeline; /* owned; or NULL */
  struct tm_job *job;
  struct tm_events events;
  struct tm_report *report;
  struct tm_joblog_file *joblog; /* or NULL */
  struct tm_listener listener;
  /* When it fires, it does what a callback asked for, or what must happen before the first turn of
   * the loop. */
  struct tm_timer later;
  bool is_started, has_ended, wants_cancel, wants_kill, wants_close;
  int calls;                                   /* running callbacks of the host */
  struct tm_counts seen;                       /* as in the last progress event */
  struct tidemill_counts counts, *step_counts; /* as last returned; of each step, or NULL */
  struct TM_ARRAY(int64_t) rows;               /* bytes of each step's output, in the last event */
  char *dir, *workspace, *registry, *result;
};

/* What the job writes for its user. TM_EUSAGE: the joblog cannot be opened. Close it in every case,
 * after the job, which emits its last events then. */
int tm_job_report_open(struct tidemill_job *job, struct tm_err *err);
void tm_job_report_close(struct tidemill_job *job);

/* 0, or TM_EUSAGE: an argument that `call` needs is NULL. Takes pairs of a name and an argument,
 * NULL-ended. */
int tm_need(struct tm_err *err, const char *call, ...) __attribute__((sentinel));
/* Copies a host's options over the defaults in `out`, up to the size of the host's struct, which is
 * its first member. `given` NULL: a no-op. TM_EUSAGE: that size is 0, or the host's struct has more
 * members than `out` and one of them is not 0. `what`: "the options"; `init`: the macro that the
 * host should use. */
int tm_take_options(void *out, size_t size, const void *given, const char *call, const char *what,
                    const char *init, struct tm_err *err);
/* If the host is a command, replaces the members of structs that an error names by the program's
 * options. Returns its code. */
int tm_words_for_host(const struct tidemill_runtime *rt, struct tm_err *err);
/* Sets an option of the constructor that would make the input in Lua, as text, and checks it.
 * TM_EUSAGE. */
int tm_api_set_input(struct tm_json *input, const char *key, const char *value, bool is_command,
                     struct tm_err *err);
/* The current directory; the caller frees it. NULL and an error. */
char *tm_api_here(struct tm_err *err);
/* Whether a call may turn or close the loop now: 0 or TM_EUSAGE. `what`: the call. */
int tm_runtime_may_turn(const struct tidemill_runtime *rt, const char *what, struct tm_err *err);
/* Turns the loop until `is_done` returns true; results as for tidemill_runtime_run(). */
int tm_runtime_wait(struct tidemill_runtime *rt, bool (*is_done)(const void *data),
                    const void *data, int timeout_ms, const char *what, struct tm_err *err);

/* The absolute path of the program; the caller frees it. NULL and an error. `given`: as in the
 * options. */
char *tm_program_find(const struct tm_fs *fs, const char *given, struct tm_err *err);

/* Takes the tree over, also if it fails. `tree` NULL: fails with the error in `err`. `name`: the
 * file, or the place where relative paths start. */
int tm_draft_new(struct tidemill_pipeline **out, struct tidemill_runtime *rt, struct tm_json *tree,
                 const char *name, bool has_file, struct tm_err *err);
/* Checks the definition; the caller frees the result. NULL and an error. */
struct tm_pipeline *tm_draft_define(const struct tidemill_pipeline *p, struct tm_err *err);
/* What is required of the scripts: nothing, because the job has copies; they exist; they
 * compile. */
enum tm_scripts { TM_SCRIPTS_KEPT, TM_SCRIPTS_THERE, TM_SCRIPTS_COMPILED };
/* The same for a job: with the items of earlier jobs. */
struct tm_pipeline *tm_draft_settle(const struct tidemill_pipeline *p, enum tm_scripts scripts,
                                    struct tm_err *err);
/* *out: the workspace in which outputs will be registered, which the caller frees; it exists. NULL
 * with 0: none will be. */
int tm_draft_registry(char **out, const struct tidemill_pipeline *p,
                      const struct tm_pipeline *settled, struct tm_err *err);
/* Call it after every change of the tree or the parameters. */
void tm_draft_changed(struct tidemill_pipeline *p);
/* The parameter of that name, without a value; the caller fills it, and it takes the memory
 * over. */
struct tm_param *tm_draft_param(struct tidemill_pipeline *p, const char *name);
void tm_draft_release_params(struct tidemill_pipeline *p);
void tm_draft_release_handles(struct tidemill_pipeline *p);
/* Adds the items of earlier jobs to a checked definition. */
int tm_draft_take_earlier(const struct tidemill_pipeline *p, struct tm_pipeline *settled,
                          struct tm_err *err);
/* Reports to the host how it differs from the job of set_like. */
void tm_draft_tell_earlier(const struct tidemill_pipeline *p, const struct tm_pipeline *settled);
void tm_draft_release_earlier(struct tidemill_pipeline *p);
/* The definition for the job's record if there is no file; the caller frees it. NULL: there is a
 * file, or the definition cannot be recorded. */
struct tm_json *tm_draft_source(const struct tidemill_pipeline *p);
/* Makes a pipeline of the definition in such a record. */
int tm_draft_of_source(struct tidemill_pipeline **out, struct tidemill_runtime *rt,
                       const struct tm_json *source, struct tm_err *err);
/* Compiles the scripts of all steps: 0, or TM_ESCRIPT with file:line. */
int tm_draft_check_scripts(const struct tm_pipeline *p, struct tm_err *err);

/* Adds the host's functions and values to a state, and calls its on_lua; may raise. `data`: the
 * runtime. */
void tm_host_prepare(void *data, struct lua_State *L);
void tm_host_values_release(struct tidemill_runtime *rt);
/* Passes the text of print() and io.write() of a state to `log`, which must live as long; may
 * raise. */
void tm_host_take_prints(struct lua_State *L, const struct tm_log *log);

/* Finds or makes the workspace for a file; the caller frees its path. NULL and an error. */
char *tm_runtime_workspace(const struct tidemill_runtime *rt, const char *file, struct tm_err *err);

/* *out: the existing workspace, which the caller frees, or NULL. `cwd`: the current directory.
 * Negative: it is not trusted (store/trust.h). */
int tm_runtime_known_workspace(char **out, const struct tidemill_runtime *rt, const char *file,
                               const char *cwd, struct tm_err *err);
/* TM_EUSAGE: an input is a list on standard input, which is the host's. */
int tm_refuse_stdin(const struct tidemill_runtime *rt, const struct tm_pipeline *p,
                    struct tm_err *err);
/* The absolute directory of a job by the host's name for it; the caller frees it. NULL and an
 * error. */
char *tm_runtime_job(const struct tidemill_runtime *rt, const char *job, struct tm_err *err);

/* Calls on_event of the host, if it has one. */
void tm_event_tell(struct tidemill_job *job, const struct tm_event *e);
/* The job has ended. */
void tm_event_tell_end(struct tidemill_job *job);
enum tidemill_state tm_event_state(enum tm_verdict verdict);
void tm_event_counts(struct tidemill_counts *out, const struct tm_counts *c);

#endif
