/* drive.h - sessions of a small step over run/commit.h on a simulated disk, and what must be true
 * of it at every moment.
 *
 * The step has DRIVE_COUNT mini-batches whose outcomes are fixed: some fail, some return less, some
 * spill their rows. In what order they come, when is flushed and synced, is drawn from `random`.
 * What a finished sync had covered is remembered as promised, and looked for whenever the step is
 * opened again.
 */
#ifndef TM_TESTS_DRIVE_H
#define TM_TESTS_DRIVE_H

#include "disk.h"
#include "run/commit.h"

#define DRIVE_COUNT 10 /* mini-batches */

/* An fsync that is left out, to see that its lack is noticed. */
enum { DRIVE_OPEN = 1, DRIVE_RUN = 2, DRIVE_FINISH = 4 };
struct drive_site {
  const char *name, *path_end;
  uint64_t from, to; /* fsyncs of such a path in one phase */
  int phases;
};

enum drive_end {
  DRIVE_DONE, /* finish has returned 0 */
  /* an error with words after the power went or the planned fault happened, or the session was
   * killed */
  DRIVE_STOPPED,
  DRIVE_BAD, /* something that must not be; `words` say what */
};

struct drive {
  struct tm_disk *disk;
  uint64_t random;
  const struct drive_site *site; /* or NULL */
  uint64_t kill_at;              /* step of the next session at which it just ends; 0: never */
  int phase;                     /* one of those of a site */
  uint64_t phases;               /* begun so far */
  bool promised[DRIVE_COUNT];
  bool is_finished;
  char words[2600];

  /* Of the session. */
  struct tm_commit *commit;
  uint64_t listed;
  bool added[DRIVE_COUNT], flushed[DRIVE_COUNT], begun[DRIVE_COUNT];
  struct tm_sync sync;
  int sync_state; /* 0 none, 1 begun, 2 run */
};

/* A disk with the folders that a job finds. */
void drive_init(struct drive *d, uint64_t seed);
void drive_release(struct drive *d);
enum drive_end drive_session(struct drive *d);
/* After a finished session: output and list of failed items are complete. False: `words` say why
 * not. */
bool drive_check_result(struct drive *d);
/* Sessions without cuts, kills and faults until one is done, then the power is cut once more; looks
 * at the result. */
bool drive_to_end(struct drive *d);

#endif
