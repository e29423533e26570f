/* worker_page.c - memory that a worker shares with its keeper. Keeps invariant 10 (core/README.md):
 *
 *  (1) An assignment moves queued -> begun -> done (worker) or queued -> taken (keeper), by
 *      compare-and-swap on one word: only one of the two can get it, and after a death at any point
 *      the word is true.
 *  (2) A reading of `doing` is of one moment, also if the worker dies during a change: the worker
 *      writes the record that is not current, then publishes it by incrementing the count in
 *      `doing`. A copied record is of one moment if the count is unchanged afterwards, since only
 *      then nobody has begun to write that record again.
 *
 * The other side of the page is a user's process, which may write anything. Nothing read here is
 * used as an index or a pointer, and an invalid phase is read as idle.
 */
#include "node/worker_page.h"

#include <stddef.h>

static uint64_t word_of(uint64_t seq, enum tm_assignment_state state)
{
  return seq << 2 | (uint64_t)state;
}

static enum tm_assignment_state state_in(uint64_t word, uint64_t seq)
{
  if (word >> 2 == seq)
    return (enum tm_assignment_state)(word & 3);
  /* its place belongs to a later assignment: it was closed */
  return word >> 2 < seq ? TM_ASSIGNMENT_QUEUED : TM_ASSIGNMENT_DONE;
}

const char *tm_phase_name(enum tm_phase phase)
{
  static const char *const names[] = { "start",  "init",     "idle",    "load",    "run",
                                       "return", "shutdown", "recover", "prefetch" };
  return (unsigned)phase < sizeof names / sizeof *names ? names[phase] : "idle";
}

static bool move_queued(struct tm_page *p, uint64_t seq, enum tm_assignment_state to)
{
  _Atomic uint64_t *at = &p->words[seq % TM_PAGE_WORDS];
  uint64_t word = atomic_load_explicit(at, memory_order_acquire);
  while (state_in(word, seq) == TM_ASSIGNMENT_QUEUED)
    if (atomic_compare_exchange_weak_explicit(at, &word, word_of(seq, to), memory_order_acq_rel,
                                              memory_order_acquire))
      return true;
  return false;
}

bool tm_page_begin(struct tm_page *p, uint64_t seq)
{
  return move_queued(p, seq, TM_ASSIGNMENT_BEGUN);
}

bool tm_page_take_back(struct tm_page *p, uint64_t seq)
{
  return move_queued(p, seq, TM_ASSIGNMENT_TAKEN);
}

void tm_page_done(struct tm_page *p, uint64_t seq)
{
  uint64_t begun = word_of(seq, TM_ASSIGNMENT_BEGUN);
  atomic_compare_exchange_strong_explicit(&p->words[seq % TM_PAGE_WORDS], &begun,
                                          word_of(seq, TM_ASSIGNMENT_DONE), memory_order_acq_rel,
                                          memory_order_relaxed);
}

void tm_page_set(struct tm_page *p, enum tm_phase phase, int64_t now_ns, uint64_t seq,
                 uint64_t index, uint32_t try)
{
  _Static_assert(TM_PHASE_LAST < 16, "a phase has four bits");
  uint64_t count = (atomic_load_explicit(&p->doing, memory_order_relaxed) >> 4) + 1;
  struct tm_page_record *r = &p->records[count & 1], *before = &p->records[~count & 1];
  bool is_same = atomic_load_explicit(&before->seq, memory_order_relaxed) == seq;
  uint32_t rows = is_same ? atomic_load_explicit(&before->rows, memory_order_relaxed) : 0;
  /* (2): a reader that sees one of the following stores sees the count before it */
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&r->since_ns, now_ns, memory_order_relaxed);
  atomic_store_explicit(&r->begun_wall_ns,
                        atomic_load_explicit(&p->begun_wall_ns, memory_order_relaxed),
                        memory_order_relaxed);
  atomic_store_explicit(&r->seq, seq, memory_order_relaxed);
  atomic_store_explicit(&r->index, index, memory_order_relaxed);
  atomic_store_explicit(&r->try, try, memory_order_relaxed);
  atomic_store_explicit(&r->item, 0, memory_order_relaxed);
  atomic_store_explicit(&r->rows, rows, memory_order_relaxed);
  atomic_store_explicit(&p->doing, count << 4 | (uint64_t)phase, memory_order_release);
}

void tm_page_set_begun(struct tm_page *p, int64_t wall_ns)
{
  atomic_store_explicit(&p->begun_wall_ns, wall_ns, memory_order_relaxed);
}

void tm_page_set_rows(struct tm_page *p, uint32_t rows)
{
  uint64_t count = atomic_load_explicit(&p->doing, memory_order_relaxed) >> 4;
  atomic_store_explicit(&p->records[count & 1].rows, rows, memory_order_relaxed);
}

/* A moment that a time can be added to; 0 for what cannot be one. */
static int64_t moment(int64_t wall_ns)
{
  return wall_ns > 0 && wall_ns < INT64_MAX / 2 ? wall_ns : 0;
}

void tm_page_read(const struct tm_page *p, struct tm_page_view *out)
{
  for (int i = 0; i < 100000;
       i++) { /* a page that changes all the time is being scribbled on: the last reading will do */
    uint64_t doing = atomic_load_explicit(&p->doing, memory_order_acquire);
    const struct tm_page_record *r = &p->records[doing >> 4 & 1];
    out->phase = (doing & 15) <= TM_PHASE_LAST ? (enum tm_phase)(doing & 15) : TM_PHASE_IDLE;
    out->since_ns = atomic_load_explicit(&r->since_ns, memory_order_relaxed);
    out->begun_wall_ns = moment(atomic_load_explicit(&r->begun_wall_ns, memory_order_relaxed));
    out->seq = atomic_load_explicit(&r->seq, memory_order_relaxed);
    out->index = atomic_load_explicit(&r->index, memory_order_relaxed);
    out->try = atomic_load_explicit(&r->try, memory_order_relaxed);
    out->item = atomic_load_explicit(&r->item, memory_order_relaxed);
    out->rows = atomic_load_explicit(&r->rows, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&p->doing, memory_order_relaxed) == doing)
      return;
  }
}

enum tm_assignment_state tm_page_state(const struct tm_page *p, uint64_t seq)
{
  return state_in(atomic_load_explicit(&p->words[seq % TM_PAGE_WORDS], memory_order_acquire), seq);
}

/* The seq of the word at place i, or 0: a word with another seq was damaged. */
static uint64_t seq_at(uint64_t word, size_t i)
{
  uint64_t seq = word >> 2;

  return seq % TM_PAGE_WORDS == i ? seq : 0;
}

void tm_page_states_read(struct tm_page_states *out, const struct tm_page *p)
{
  uint64_t words[TM_PAGE_WORDS];

  *out = (struct tm_page_states) { 0 };
  for (size_t i = 0; i < TM_PAGE_WORDS; i++) {
    words[i] = atomic_load_explicit(&p->words[i], memory_order_acquire);
    if (seq_at(words[i], i) > out->last)
      out->last = seq_at(words[i], i);
    out->has_begun |= (words[i] & 3) == TM_ASSIGNMENT_BEGUN || (words[i] & 3) == TM_ASSIGNMENT_DONE;
  }
  for (size_t i = 0; i < TM_PAGE_WORDS; i++)
    if (seq_at(words[i], i) > 0 && seq_at(words[i], i) + TM_PAGE_WORDS > out->last)
      out->bits[i / 4] |= (unsigned char)((words[i] & 3) << i % 4 * 2);
}

enum tm_assignment_state tm_page_states_of(const struct tm_page_states *s, uint64_t seq)
{
  size_t i = seq % TM_PAGE_WORDS;

  if (seq > s->last)
    return TM_ASSIGNMENT_QUEUED;
  if (s->last - seq >= TM_PAGE_WORDS)
    return TM_ASSIGNMENT_DONE; /* a later assignment has its place, so it was closed */
  return (enum tm_assignment_state)(s->bits[i / 4] >> i % 4 * 2 & 3);
}
