/* job_keeper.h - a keeper that breaks the protocol. The variable TM_TEST_KEEPER chooses how:
 *
 *   version   HELLO of a different version    early     a frame before HELLO
 *   type      a frame of an unknown type      stranger  START_FAILED of an unknown worker
 *   socket    STARTED without a socket        ended     ENDED before STARTED
 *   taken     TAKEN without a request         failed    START_FAILED, which is allowed
 *   deaf      HELLO, then nothing
 *
 * When its channel has ended, it waits until somebody opens the FIFO that TM_TEST_KEEPER_WAITS
 * names, and ends.
 */
#ifndef TM_TESTS_JOB_KEEPER_H
#define TM_TESTS_JOB_KEEPER_H

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node/keeper.h"
#include "node/node_msg.h"
#include "sys/messages/link.h"

static inline void bad_say(struct tm_link *l, uint32_t type, uint32_t worker, const char *bytes)
{
  struct tm_msg f = {
    .type = type, .worker = worker, .payload = bytes, .length = (uint32_t)strlen(bytes), .fd = -1
  };
  tm_link_send(l, &f);
  tm_link_flush(l, NULL);
}

/* What it answers to START. False: nothing. */
static inline bool bad_answer(const char *mode, struct tm_msg *f)
{
  static const struct {
    const char *mode;
    uint32_t type, add;
  } answers[] = { { "type", 120, 0 },
                  { "stranger", TM_MSG_START_FAILED, 7 },
                  { "socket", TM_MSG_STARTED, 0 },
                  { "ended", TM_MSG_ENDED, 0 },
                  { "taken", TM_MSG_TAKEN, 0 },
                  { "failed", TM_MSG_START_FAILED, 0 } };
  for (size_t i = 0; i < TM_COUNT_OF(answers); i++)
    if (strcmp(mode, answers[i].mode) == 0) {
      f->type = answers[i].type;
      f->worker += answers[i].add;
      return true;
    }
  return false;
}

static inline int job_keeper(void)
{
  const char *mode = getenv("TM_TEST_KEEPER");
  struct tm_link l;
  struct tm_msg f;
  if (!mode)
    return tm_keeper_run();
  tm_link_init(&l, TM_KEEPER_CONTROL_FD);
  if (strcmp(mode, "early") == 0)
    bad_say(&l, TM_MSG_NOTE, 0, "good morning");
  bad_say(&l, TM_MSG_HELLO, 0, strcmp(mode, "version") == 0 ? "another" : tm_hello());
  while (tm_link_read(&l, &f, true, NULL, NULL) > 0)
    if (f.type == TM_MSG_START && bad_answer(mode, &f))
      bad_say(&l, f.type, f.worker, "no such machine");
  tm_link_release(&l);
  if (getenv("TM_TEST_KEEPER_WAITS"))
    (void)open(getenv("TM_TEST_KEEPER_WAITS"), O_RDONLY | O_CLOEXEC);
  return 0;
}

#endif
