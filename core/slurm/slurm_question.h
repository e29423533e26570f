/* slurm_question.h - when Slurm is asked about the nodes of a job, and how long its answer is
 * waited for. Pure: it reads no clock, and asks nobody. Times are ns of one clock.
 *
 *  (1) One squeue asks about all nodes with a question, and one runs at a time. One that takes
 *      TM_SLURM_ASK_LIMIT_NS is to be ended.
 *  (2) While nodes wait in the queue: 5 s after the first of them was requested, then each 30 s.
 *  (3) Once when a node has started: for the time that it has left. It gets no work before.
 *  (4) Once when it was lost, or its command has ended: for the reason. Its command normally
 *      ends with it, and is waited for, because Slurm knows no reason before. While its Slurm
 *      job still ends (COMPLETING), Slurm does not tell the reason: then again, at growing
 *      intervals.
 *  (5) An answer to (3) is waited for during TM_SLURM_START_NS, one to (4) during
 *      TM_SLURM_ANSWER_NS, or TM_SLURM_ENDING_NS if the Slurm job still ends. Then it is not
 *      known.
 *
 * Caller: tell what happens to the nodes; at each tick, ask what tm_slurm_asking_next() says;
 * mark the questions that are part of it as asked; pass each of them its answer.
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
#define TM_SLURM_COMMAND_NS   (250 * INT64_C(1000000)) /* so long the end of the command has */
#define TM_SLURM_AGAIN_NS     (50 * INT64_C(1000000))  /* then twice that, ... */
#define TM_SLURM_AGAIN_MAX_NS (1 * INT64_C(1000000000))

/* ---- of one node ---- */

enum tm_slurm_question_state {
  TM_SLURM_QUESTION_NONE,
  TM_SLURM_QUESTION_DUE,
  TM_SLURM_QUESTION_ASKED,
  TM_SLURM_QUESTION_OVER, /* it was about the end, which is settled: there is no other question */
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
/* The answer; `job` NULL: Slurm knows no such job, or has not answered. True: it is final, and not
 * one of a question that was not asked. */
bool tm_slurm_question_answered(struct tm_slurm_question *q, const struct tm_slurm_job *job,
                                int64_t now_ns);
/* Whether nobody waits for an answer, or not any more. */
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
