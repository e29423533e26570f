/* slurm_text.h - reads what Slurm's commands print. Pure.
 *
 * The bytes may be anything: a prolog, a wrapper or another version of Slurm may have printed them.
 * Readers skip lines that they do not know, and never read beyond `len`. Texts are copied into
 * fixed fields, cut if necessary; control characters and bytes beyond ASCII become '?'.
 *
 * The formats: squeue(1) for states, reasons and times ("JOB STATE CODES", %T, %r, %L), with the
 * fields that tm_slurm_command_queue_of_names() asks for; srun(1), "OUTPUT ENVIRONMENT VARIABLES",
 * for SLURM_JOB_CPUS_PER_NODE. The lines of srun are those of 22.05.
 */
#ifndef TM_SLURM_TEXT_H
#define TM_SLURM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TM_SLURM_TEXT_MAX 128 /* bytes of a field, with the NUL */

/* ---- squeue ---- */

/* What a state of a Slurm job means for its node. */
enum tm_slurm_state {
  TM_SLURM_WAITS,    /* PENDING, CONFIGURING, REQUEUED, ... */
  TM_SLURM_RUNS,     /* RUNNING, SUSPENDED, ... */
  TM_SLURM_ENDS,     /* COMPLETING, which hides the state in which it will have ended */
  TM_SLURM_ENDED,    /* COMPLETED, FAILED, TIMEOUT, PREEMPTED, NODE_FAIL, ... */
  TM_SLURM_CANCELED, /* CANCELLED: by a user */
  TM_SLURM_UNKNOWN,  /* a word of another version */
};

/* Why a Slurm job has ended. */
enum tm_slurm_end {
  TM_SLURM_END_NOT_KNOWN, /* it has not ended, or its state is a word of another version */
  TM_SLURM_END_NODE_FAIL,
  TM_SLURM_END_PREEMPTED,
  TM_SLURM_END_TIMEOUT,
  TM_SLURM_END_CANCELED, /* somebody ran scancel */
  TM_SLURM_END_OUT_OF_MEMORY,
  TM_SLURM_END_OTHER, /* FAILED, COMPLETED, ... */
};

struct tm_slurm_job {
  uint32_t id;
  enum tm_slurm_state state;
  enum tm_slurm_end end;
  int64_t left_s; /* of its time limit; -1: without a limit, or not known */
  char name[TM_SLURM_TEXT_MAX];
  char state_name[TM_SLURM_TEXT_MAX]; /* "NODE_FAIL" */
  char host[TM_SLURM_TEXT_MAX];       /* "" while it waits; a list for several */
  char reason[TM_SLURM_TEXT_MAX];     /* "Resources"; "" for None */
};

/* The next Slurm job in the output of squeue: *at, 0 at first, moves behind its line. False: it
 * was the last. */
bool tm_slurm_text_next_job(const char *text, size_t len, size_t *at, struct tm_slurm_job *out);

/* ---- srun ---- */

enum tm_slurm_line {
  TM_SLURM_LINE_OTHER,
  TM_SLURM_LINE_QUEUED,  /* "srun: job 26 queued and waiting for resources": `job` */
  TM_SLURM_LINE_GRANTED, /* "srun: job 26 has been allocated resources": `job` */
  TM_SLURM_LINE_ERROR,   /* `text`: without "srun: error: " */
};

struct tm_slurm_said {
  enum tm_slurm_line kind;
  uint32_t job;
  char text[TM_SLURM_TEXT_MAX];
};

/* One line that srun wrote to standard error, with or without its line break. */
void tm_slurm_text_line(const char *line, size_t len, struct tm_slurm_said *out);
/* Why srun has failed, from all that it wrote: the reason for which nothing was allocated, if it
 * gives one, else its last error, else its last line. "": it wrote nothing. */
void tm_slurm_text_error(const char *text, size_t len, char out[TM_SLURM_TEXT_MAX]);

/* The following take a line of srun, or a text of tm_slurm_text_error(). Whether it says that the
 * controller was not reached: there is no Slurm job. */
bool tm_slurm_text_is_unreached(const char *line);
/* Whether it says that the controller did not answer: there may be a Slurm job unknown to srun. */
bool tm_slurm_text_is_unanswered(const char *line);
/* Whether it says that no machine has what was requested. srun also says so while all suitable
 * machines are down or drained. */
bool tm_slurm_text_is_unavailable(const char *line);

/* ---- the allocation ---- */

/* The CPUs of the host with this index, from 0, in SLURM_JOB_CPUS_PER_NODE: "2(x3),4". 0: there is
 * no such host, or the text cannot be read up to it. */
int64_t tm_slurm_text_cpus(const char *text, size_t host);
/* The next host in the output of `scontrol show hostnames`: the length of *name, which points into
 * `text`. *at, 0 at first, moves behind its line. 0: it was the last. */
size_t tm_slurm_text_next_host(const char *text, size_t len, size_t *at, const char **name);

#endif
