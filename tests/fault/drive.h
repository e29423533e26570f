/* drive.h - runs sessions of a small step with commit/commit.h on a simulated disk, and checks what
 * must be true at every moment.
 *
 * The step has DRIVE_COUNT mini-batches with fixed outcomes: some fail, some return less, some
 * spill their rows. `random` chooses their order and when to flush and sync. The driver records
 * what a finished sync covered as promised, and checks it whenever the step is opened again.
 */
#ifndef TM_TESTS_DRIVE_H
#define TM_TESTS_DRIVE_H

#include "commit/commit.h"
#include "disk.h"

#define DRIVE_COUNT 10 /* mini-batches */

/* An fsync to skip, to check that its absence is noticed. */
enum { DRIVE_OPEN = 1, DRIVE_RUN = 2, DRIVE_FINISH = 4 };
struct drive_site {
  const char *name, *path_end;
  uint64_t from, to; /* fsyncs of such a path in one phase */
  int phases;
};

enum drive_end {
  DRIVE_DONE, /* finish has returned 0 */
  /* an error with a message after a power cut, the planned fault or a kill */
  DRIVE_STOPPED,
  DRIVE_BAD, /* a broken promise; `words` says which */
};

struct drive {
  struct tm_disk *disk;
  uint64_t random;
  const struct drive_site *site; /* or NULL */
  uint64_t kill_at;              /* step of the next session at which it stops; 0: never */
  int phase;                     /* a phase of a site */
  uint64_t phases;               /* begun so far */
  bool promised[DRIVE_COUNT];
  bool is_finished;
  char words[2600];

  /* State of the session. */
  struct tm_commit *commit;
  uint64_t listed;
  bool added[DRIVE_COUNT], flushed[DRIVE_COUNT], begun[DRIVE_COUNT];
  struct tm_sync sync;
  int sync_state; /* 0 none, 1 begun, 2 run */
};

/* Creates a disk with the folders that a job finds. */
void drive_init(struct drive *d, uint64_t seed);
void drive_release(struct drive *d);
enum drive_end drive_session(struct drive *d);
/* After a finished session: output and list of failed items are complete. False: `words` says why
 * not. */
bool drive_check_result(struct drive *d);
/* Runs sessions without cuts, kills and faults until one is done, cuts the power once more, and
 * checks the result. */
bool drive_to_end(struct drive *d);

#endif
