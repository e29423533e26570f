/* random.h - random-looking numbers that are the same in every run: struct random r = { 7 };
 * random_below(&r, 10). */
#ifndef TM_TESTS_RANDOM_H
#define TM_TESTS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
  uint64_t state;
};

static inline uint64_t random_next(struct random *r)
{
  uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* 0 up to below - 1; below > 0. */
static inline size_t random_below(struct random *r, size_t below)
{
  return (size_t)(random_next(r) % below);
}

#endif
