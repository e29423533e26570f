/* power_case.h - a folder with a pipeline of two steps and its inputs; the program run over it; and
 * the job's directory put there as a disk holds it after a power cut.
 *
 *   DIR/pipeline.lua alpha.lua beta.lua in/   what is run
 *   DIR/root/job                              the job; what is beneath root is what the disk is about
 *   DIR/trace                                 of the programs that are traced
 *
 * One at a time in one process: it takes in what is left of a program's processes, to see that
 * there are none.
 */
#ifndef TM_TESTS_POWER_CASE_H
#define TM_TESTS_POWER_CASE_H

#include "power_trace.h"

struct power_case {
  char *dir, *root, *job_dir, *trace_file;
  const char *program, *traced;                  /* tidemill, tidemill-faults */
  char *rows[POWER_STEPS], *failed[POWER_STEPS]; /* of an undisturbed run: sorted lines */
  struct tm_buf promised[POWER_STEPS][4];        /* beginnings of files, since the last cut */
  bool has_definition;                           /* job.json is there after the last cut */
  bool has_crashed;                              /* the program, in the last resume: by a signal */
  char words[4000];                              /* why something is wrong */
};

/* Of a run: go on with the job; take some ms for each mini-batch; the job fails for its failed
 * items. */
enum { POWER_RESUME = 1, POWER_SLOW = 2, POWER_STRICT = 4 };

void power_case_init(struct power_case *c, const char *program, const char *traced);
void power_case_release(struct power_case *c);
/* Removes the job and the trace. */
void power_case_clear(struct power_case *c);
/* Runs the program with its calls traced; `kill_at` as in faults_fs.h, or 0. Returns the exit
 * status, 137 when it was killed; -1 with words: it did not end, or left something behind. */
int power_case_trace(struct power_case *c, int flags, uint64_t kill_at);
/* Keeps what is there as what must come out. False: it is not complete. */
bool power_case_learn(struct power_case *c);
/* The job's directory becomes what programs see on the disk. */
void power_case_put(struct power_case *c, struct tm_disk *disk);
/* The power is cut after the replay's last op; the disk's contents are put there and looked at:
 * what was promised, what a program that ended had said. False with words. `is_over`: the last
 * session had ended and had said Completed. */
bool power_case_cut(struct power_case *c, struct power_replay *r, bool is_over);
/* Runs `tidemill run --resume` to the end and looks at everything. False with words. */
bool power_case_resume(struct power_case *c);

#endif
