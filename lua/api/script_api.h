/* script_api.h - private struct of an entry script in this process.
 *
 *   script_load.c   loads it for a step of a pipeline or for a mini-batch of a job; its folders and
 *   end
 *   script_api.c        calls it: mini-batches, init(), run(), shutdown(), results
 */
#ifndef TM_API_SCRIPT_API_H
#define TM_API_SCRIPT_API_H

#include <signal.h>

#include <tidemill.h>

#include "agent/trial.h"
#include "api/own.h"
#include "base/repeats.h"
#include "entry/script_folders.h"
#include "entry/step_walk.h"
#include "prompt/replay.h"
#include "snapshot/snapshot.h"

struct tidemill_script {
  struct tm_log log;
  bool is_program; /* prints go to standard output unchanged */
  bool is_claimed; /* it has claimed SIGPROF */
  struct tm_script_folders folders;
  struct tm_trial trial; /* strings of its setup belong to the step, the job, or the folders */
  struct tidemill_script_info info;
  const struct tm_step *step; /* of the pipeline, or of the job; NULL: none was found */
  char *const *variables;     /* NULL-ended; or NULL */
  /* Of a step of a pipeline. */
  struct tm_pipeline *pipeline;
  char *script_dir;
  struct tm_snapshot copy; /* of a step with a model: its script is not a file */
  struct tm_step_walk walk;
  /* Of a mini-batch of a job. */
  struct tm_replay *replay;
  /* The last mini-batch that was read. */
  int64_t read; /* how many so far */
  bool has_mini_batch;
  struct tm_run_call call;
  struct tidemill_mini_batch given;
  struct tm_buf head;
  struct tm_repeats repeats; /* warnings about one mini-batch */
  /* Calls. */
  bool is_ready;                 /* its init() has returned */
  volatile sig_atomic_t is_open; /* trial.script is valid: keeps (1) of script_api.c */
  volatile int64_t begun_ns;     /* monotonic; when the current call began */
  volatile int64_t limit_ns;     /* the call's timeout, or 0 */
  struct tm_buf text;
  struct tidemill_returned returned;
  struct tm_buf words;
  struct tidemill_script_error failed;
};

/* Takes over a pipeline that is settled. */
int tm_script_load_step(struct tidemill_script **out, const struct tidemill_runtime *rt,
                        struct tm_pipeline *p, const struct tidemill_script_options *o,
                        struct tm_err *err);
void tm_script_say(const struct tidemill_script *s, enum tidemill_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Frees its Lua state. */
void tm_script_unload(struct tidemill_script *s);
/* Called in a signal handler, on the script's thread. */
void tm_script_on_ask(void *data);

#endif
