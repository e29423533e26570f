/* hand.c - see hand.h.
 *
 * A seq's place is seq % TM_PAGE_WORDS, as in the page: so the span first..next is never longer
 * than the page, even if entries in between have been taken back.
 */
#include "sched/hand.h"

#include <string.h>

#include "base/check.h"
#include "base/time.h"

#define WINDOW_NS  (2 * TM_MS) /* amount of work that a worker should have ahead */
#define WINDOW_MAX 256         /* half of the page */

void tm_hand_init(struct tm_hand *h)
{
  memset(h, 0, sizeof(*h));
  h->first = h->next = 1;
}

void tm_hand_release(struct tm_hand *h)
{
  for (size_t i = 0; i < TM_PAGE_WORDS; i++)
    tm_buf_release(&h->at[i].first_item);
}

size_t tm_hand_window(const struct tm_hand *h)
{
  int64_t more;

  if (h->mean_ns == 0)
    return 1;
  more = WINDOW_NS / h->mean_ns;
  return 1 + (size_t)(more < WINDOW_MAX - 1 ? more : WINDOW_MAX - 1);
}

bool tm_hand_has_room(const struct tm_hand *h, int64_t now_ns)
{
  const struct tm_held *first = &h->at[h->first % TM_PAGE_WORDS];

  if (h->len > 0 && now_ns - first->handed_ns >= TM_HAND_LATE_NS)
    return false;
  return h->len < tm_hand_window(h) && h->next - h->first < TM_PAGE_WORDS;
}

struct tm_held *tm_hand_add(struct tm_hand *h)
{
  struct tm_held *held = &h->at[h->next % TM_PAGE_WORDS];

  tm_require(h->next - h->first < TM_PAGE_WORDS && held->seq == 0);
  held->seq = h->next++;
  h->len++;
  tm_buf_clear(&held->first_item);
  return held;
}

struct tm_held *tm_hand_find(struct tm_hand *h, uint64_t seq)
{
  struct tm_held *held = &h->at[seq % TM_PAGE_WORDS];

  return seq != 0 && held->seq == seq ? held : NULL;
}

void tm_hand_remove(struct tm_hand *h, uint64_t seq)
{
  struct tm_held *held = tm_hand_find(h, seq);

  tm_require(held);
  held->seq = 0;
  h->len--;
  while (h->first < h->next && h->at[h->first % TM_PAGE_WORDS].seq == 0)
    h->first++;
}

void tm_hand_measure(struct tm_hand *h, int64_t ns)
{
  if (ns < 1)
    ns = 1;
  h->mean_ns = h->mean_ns == 0 ? ns : (7 * h->mean_ns + ns) / 8;
  if (h->mean_ns < 1)
    h->mean_ns = 1;
}

size_t tm_hand_waiting(const struct tm_hand *h, int64_t before_ns, uint64_t seqs[TM_PAGE_WORDS])
{
  size_t n = 0;

  for (uint64_t seq = h->first + 1; seq < h->next; seq++) {
    const struct tm_held *held = &h->at[seq % TM_PAGE_WORDS];
    if (held->seq == seq && held->handed_ns < before_ns)
      seqs[n++] = seq;
  }
  return n;
}
