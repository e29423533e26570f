/* slurm_question.h - when Slurm is asked about the nodes of a job, and how long its answer is
 * awaited. Pure: it reads no clock, and asks nobody. Times are ns of one clock.
 *
 *  (1) One squeue runs at a time, and asks about all nodes with a question. The caller ends it
 *      after TM_SLURM_ASK_LIMIT_NS.
 *  (2) Slurm is asked about waiting nodes 5 s after the first of them was requested, then every
 *      30 s.
 *  (3) It is asked once about a node that has started: how much time is left. The node gets no work
 *      before that.
 *  (4) It is asked once about a node that was lost, or whose command has ended: why. Slurm knows no
 *      reason while the command lives, which normally ends with its node: the question waits for
 *      that. While the Slurm job still ends (COMPLETING), Slurm does not tell the reason, and is
 *      asked again, at growing intervals.
 *  (5) The answer to (3) is awaited for TM_SLURM_START_NS, and that to (4) for TM_SLURM_ANSWER_NS,
 *      or for TM_SLURM_ENDING_NS while the Slurm job still ends. After that it is "not known".
 *
 * Caller: report what happens to the nodes. At each tick, do what tm_slurm_asking_next() says: mark
 * its questions as asked, and pass each of them its answer.
 */
#ifndef TM_SLURM_QUESTION_H
#define TM_SLURM_QUESTION_H

#include "slurm/slurm_text.h"

#define TM_SLURM_ASK_LIMIT_NS (20 * INT64_C(1000000000))
#define TM_SLURM_FIRST_NS     (5 * INT64_C(1000000000))
#define TM_SLURM_NEXT_NS      (30 * INT64_C(1000000000))
#define TM_SLURM_START_NS     (1 * INT64_C(1000000000))
#define TM_SLURM_ANSWER_NS    (3 * INT64_C(1000000000))
#define TM_SLURM_ENDING_NS    (10 * INT64_C(1000000000))
#define TM_SLURM_COMMAND_NS   (250 * INT64_C(1000000)) /* the wait for the command's end */
#define TM_SLURM_AGAIN_NS     (50 * INT64_C(1000000))  /* doubles up to: */
#define TM_SLURM_AGAIN_MAX_NS (1 * INT64_C(1000000000))

/* ---- of one node ---- */

enum tm_slurm_question_state {
  TM_SLURM_QUESTION_NONE,
  TM_SLURM_QUESTION_DUE,
  TM_SLURM_QUESTION_ASKED,
  TM_SLURM_QUESTION_OVER, /* it was about the end, which is settled: no question follows */
};

/* Zeroed: no question. */
struct tm_slurm_question {
  enum tm_slurm_question_state state;
  bool is_of_end;
  int64_t due_ns;
  int64_t until_ns; /* nobody waits longer for the answer */
  int64_t begun_ns; /* is_of_end: when the end was noticed */
  int64_t again_ns;
};

/* The node has started. */
void tm_slurm_question_start(struct tm_slurm_question *q, int64_t now_ns);
/* It is lost, or its command has ended (`is_over`); call it for both. */
void tm_slurm_question_end(struct tm_slurm_question *q, bool is_over, int64_t now_ns);
void tm_slurm_question_asked(struct tm_slurm_question *q);
/* The answer; `job` NULL: Slurm knows no such job, or has not answered. True: the question was
 * asked, and this answer is final. */
bool tm_slurm_question_answered(struct tm_slurm_question *q, const struct tm_slurm_job *job,
                                int64_t now_ns);
/* Whether no answer is awaited. */
bool tm_slurm_question_is_settled(const struct tm_slurm_question *q, int64_t now_ns);

/* ---- of all of them ---- */

/* Zeroed: nothing is asked. */
struct tm_slurm_asking {
  bool is_asking;
  int64_t asked_ns;
  int64_t wait_ns; /* when the waiting nodes are asked about; 0: none waits */
};

enum tm_slurm_ask {
  TM_SLURM_ASK_NOTHING,
  TM_SLURM_ASK_DUE, /* about the questions that are due */
  TM_SLURM_ASK_ALL, /* and about the nodes that wait */
  TM_SLURM_ASK_END, /* the question that runs has taken too long */
};

/* What to do now. DUE and ALL begin a question; tm_slurm_asking_ended() ends it. `due_ns`: when the
 * first question of a node is due; INT64_MAX: there is none. */
enum tm_slurm_ask tm_slurm_asking_next(struct tm_slurm_asking *a, bool some_wait, int64_t due_ns,
                                       int64_t now_ns);
void tm_slurm_asking_ended(struct tm_slurm_asking *a);

#endif
