/* power_case.h - a folder with a pipeline of two steps and its inputs. Runs the program on it, and
 * restores the job's directory as a disk holds it after a power cut.
 *
 *   DIR/pipeline.lua alpha.lua beta.lua in/   the pipeline, its scripts and inputs
 *   DIR/root/job                              the job; the disk simulates everything below root
 *   DIR/trace                                 the trace of the traced programs
 *
 * Use one case at a time in a process: the process adopts orphans of the program, to check that
 * there are none.
 */
#ifndef TM_TESTS_POWER_CASE_H
#define TM_TESTS_POWER_CASE_H

#include "power_trace.h"

struct power_case {
  char *dir, *root, *job_dir, *trace_file;
  const char *program, *traced;                  /* tidemill, tidemill-faults */
  char *rows[POWER_STEPS], *failed[POWER_STEPS]; /* sorted lines of an undisturbed run */
  struct tm_buf promised[POWER_STEPS][4];        /* beginnings of files, since the last cut */
  bool has_definition;                           /* job.json exists after the last cut */
  bool has_crashed;                              /* a signal ended the program in the last resume */
  char words[4000];                              /* what is wrong */
};

/* Options of a run: resume the job; take some ms for each mini-batch; failed items fail the job. */
enum { POWER_RESUME = 1, POWER_SLOW = 2, POWER_STRICT = 4 };

void power_case_init(struct power_case *c, const char *program, const char *traced);
void power_case_release(struct power_case *c);
/* Removes the job and the trace. */
void power_case_clear(struct power_case *c);
/* Runs the program and traces its calls; `kill_at` as in faults_fs.h, or 0. Returns the exit
 * status, or 137 after a kill; -1 with a message if it did not end or left something behind. */
int power_case_trace(struct power_case *c, int flags, uint64_t kill_at);
/* Keeps the present result as the expected one. False: it is not complete. */
bool power_case_learn(struct power_case *c);
/* Replaces the job's directory by what programs see on the disk. */
void power_case_put(struct power_case *c, struct tm_disk *disk);
/* Cuts the power after the replay's last op, restores the disk's contents and checks them against
 * what was promised and reported. False with a message. `is_over`: the last session had ended and
 * reported Completed. */
bool power_case_cut(struct power_case *c, struct power_replay *r, bool is_over);
/* Runs `tidemill run --resume` to the end and checks everything. False with a message. */
bool power_case_resume(struct power_case *c);

#endif
