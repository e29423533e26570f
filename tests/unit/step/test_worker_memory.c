/* test_worker_memory.c - what a worker takes in the memory of the supervisor, besides its link
 * (test_link_memory.c). A job may have 100,000 workers. */
#include "unit.h"

#include <malloc.h>

#include "step_rig.h"

/* Buffers of a step have their size with FEW workers. With MANY, lists of workers have as much room
 * for each as those of 100,000 have. */
#define FEW  4096
#define MANY 7224

/* Bytes: the worker, its mini-batch with a name of 12 bytes, what the step notes of both, and 84 of
 * the message that asked for the worker: the keeper's outbox is kept up to 1 MB. */
#define EACH 720

/* What happens to be on its way when memory is measured counts, too: the least of some looks. */
#define LOOKS 20

/* What the rig itself has in memory. */
static size_t of_rig(const struct step_rig *r)
{
  size_t n = malloc_usable_size(r->workers.at) + malloc_usable_size(r->j.seen.at) +
             malloc_usable_size(r->j.items[0].data);

  for (size_t i = 0; i < r->workers.len; i++)
    n += malloc_usable_size(r->workers.at[i]) + malloc_usable_size(r->workers.at[i]->sent.at);
  return n;
}

static size_t in_use(const struct step_rig *r)
{
  struct mallinfo2 m = mallinfo2();

  return m.uordblks + m.hblkhd - of_rig(r);
}

static size_t bytes;

/* Each worker holds a mini-batch. */
static void measure(struct step_rig *r)
{
  if (r->handed == r->j.workers) {
    bytes = in_use(r);
    tm_loop_stop(&r->loop);
  }
}

/* The supervisor's memory while so many workers hold one mini-batch each. */
static size_t memory_of(int workers)
{
  struct step_rig r;

  step_setup(&r);
  r.j.workers = workers;
  r.j.size = 1;
  r.on_turn = measure;
  job_add(&r.j, "mute", workers);
  step_open(&r);
  step_start(&r);
  step_set_node(&r, TM_LOCAL_NODE);
  step_run(&r);
  step_close(&r);
  return bytes;
}

static size_t look(void)
{
  size_t few = memory_of(FEW), many = memory_of(MANY), each = (many - few) / (MANY - FEW);

  if (getenv("TM_SHOW"))
    print_message("%d workers with one mini-batch each: %d bytes; %d workers: %d; each %d\n", FEW,
                  (int)few, MANY, (int)many, (int)each);
  return each;
}

static void a_worker_takes_little_memory(void **state)
{
  size_t least = SIZE_MAX;

  if (mallinfo2().uordblks == 0) /* a sanitizer's allocator does not count */
    skip();
  for (int i = 0; i < LOOKS && least > EACH; i++) {
    size_t each = look();
    least = each < least ? each : least;
  }
  assert_true(least <= EACH);
}

UNIT_HOOKS(.serve = job_serve);
UNIT_TESTS({
    cmocka_unit_test(a_worker_takes_little_memory),
});
