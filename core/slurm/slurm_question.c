/* slurm_question.c - see slurm_question.h. */
#include "slurm/slurm_question.h"

#include "base/check.h"

void tm_slurm_question_start(struct tm_slurm_question *q, int64_t now_ns)
{
  if (q->is_of_end)
    return;
  q->state = TM_SLURM_QUESTION_DUE;
  q->due_ns = now_ns;
  q->until_ns = now_ns + TM_SLURM_START_NS;
}

/* An answer that is on its way is about the time before. */
void tm_slurm_question_end(struct tm_slurm_question *q, bool is_over, int64_t now_ns)
{
  if (q->state == TM_SLURM_QUESTION_OVER)
    return;
  if (!q->is_of_end)
    *q = (struct tm_slurm_question) { .is_of_end = true,
                                      .begun_ns = now_ns,
                                      .until_ns = now_ns + TM_SLURM_ANSWER_NS,
                                      .due_ns = now_ns + TM_SLURM_COMMAND_NS,
                                      .again_ns = TM_SLURM_AGAIN_NS };
  q->state = TM_SLURM_QUESTION_DUE;
  if (is_over)
    q->due_ns = now_ns;
}

void tm_slurm_question_asked(struct tm_slurm_question *q)
{
  tm_require(q->state == TM_SLURM_QUESTION_DUE);
  q->state = TM_SLURM_QUESTION_ASKED;
}

/* Keeps (4), (5). */
static void ask_again(struct tm_slurm_question *q, int64_t now_ns)
{
  q->state = TM_SLURM_QUESTION_DUE;
  q->due_ns = now_ns + q->again_ns;
  q->until_ns = q->begun_ns + TM_SLURM_ENDING_NS;
  q->again_ns *= 2;
  if (q->again_ns > TM_SLURM_AGAIN_MAX_NS)
    q->again_ns = TM_SLURM_AGAIN_MAX_NS;
}

bool tm_slurm_question_answered(struct tm_slurm_question *q, const struct tm_slurm_job *job,
                                int64_t now_ns)
{
  if (q->state != TM_SLURM_QUESTION_ASKED)
    return false;
  if (q->is_of_end && job && job->state == TM_SLURM_ENDS) {
    ask_again(q, now_ns);
    return false;
  }
  q->state = q->is_of_end ? TM_SLURM_QUESTION_OVER : TM_SLURM_QUESTION_NONE;
  return true;
}

bool tm_slurm_question_is_settled(const struct tm_slurm_question *q, int64_t now_ns)
{
  return q->state == TM_SLURM_QUESTION_NONE || q->state == TM_SLURM_QUESTION_OVER ||
         now_ns >= q->until_ns;
}

void tm_slurm_asking_ended(struct tm_slurm_asking *a)
{
  a->is_asking = false;
}

enum tm_slurm_ask tm_slurm_asking_next(struct tm_slurm_asking *a, bool some_wait, int64_t due_ns,
                                       int64_t now_ns)
{
  bool is_wait_due;

  if (!some_wait)
    a->wait_ns = 0;
  else if (a->wait_ns == 0)
    a->wait_ns = now_ns + TM_SLURM_FIRST_NS;
  if (a->is_asking)
    return now_ns - a->asked_ns >= TM_SLURM_ASK_LIMIT_NS ? TM_SLURM_ASK_END : TM_SLURM_ASK_NOTHING;
  is_wait_due = some_wait && now_ns >= a->wait_ns;
  if (!is_wait_due && now_ns < due_ns)
    return TM_SLURM_ASK_NOTHING;
  if (is_wait_due)
    a->wait_ns = now_ns + TM_SLURM_NEXT_NS;
  a->is_asking = true;
  a->asked_ns = now_ns;
  return is_wait_due ? TM_SLURM_ASK_ALL : TM_SLURM_ASK_DUE;
}
