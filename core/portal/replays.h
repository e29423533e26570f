/* replays.h - the replays that the helper runs (control.h).
 *
 * A replay writes to a pipe. The other end of the pipe, its reader, is the page that shows it:
 *  (1) when nobody has the reader any more, the replay is asked to end, as by Ctrl-C, and killed
 *      half a second later, with all processes of its session's first group. So it ends when its
 *      page does, and when the portal does, also if that is killed.
 *  (2) when it has ended, what it has started is killed, also in another session if it can write to
 *      the pipe (pipe_writers.h). The last line of its output says how it has ended.
 *  (3) a job has one replay at most. It counts until its last line is written.
 *
 * Caller: poll what tm_replays_polls() adds, for tm_replays_timeout_ms() at most; then
 * tm_replays_turn().
 */
#ifndef TM_PORTAL_REPLAYS_H
#define TM_PORTAL_REPLAYS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TM_REPLAYS       16 /* at once */
#define TM_REPLAYS_POLLS (2 * TM_REPLAYS)

struct tm_replay {
  char *dir;       /* of its job */
  pid_t pid;       /* 0: it has ended */
  int process;     /* pidfd */
  int pipe;        /* where it writes */
  int64_t kill_ns; /* when it is killed; 0: its reader is there; INT64_MAX: it has been */
  char last[100];  /* line of the output */
};

struct tm_replays {
  struct tm_replay at[TM_REPLAYS];
  size_t len;
};

bool tm_replays_has(const struct tm_replays *r, const char *dir);
/* There are fewer than TM_REPLAYS. *reader is the caller's to close; reading it does not block.
 * Returns errno. */
int tm_replays_start(struct tm_replays *r, const char *program, const char *const *argv,
                     const char *dir, int *reader);
size_t tm_replays_polls(const struct tm_replays *r, struct pollfd *polls);
int tm_replays_timeout_ms(const struct tm_replays *r, int64_t now_ns); /* -1: none */
void tm_replays_turn(struct tm_replays *r, int64_t now_ns);

#endif
