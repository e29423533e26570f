/* fates.h - what has become of each mini-batch: two bits each (core/README.md: invariant 11). Zero-initialised is empty: all open. */
#ifndef TM_RUN_FATES_H
#define TM_RUN_FATES_H

#include <stdint.h>

#include "run/commit.h"

struct tm_fates {
  uint64_t *words; /* 32 mini-batches each */
  size_t len, cap;
};

enum tm_fate tm_fates_get(const struct tm_fates *f, uint64_t index); /* never put: TM_FATE_OPEN */
void tm_fates_put(struct tm_fates *f, uint64_t index, enum tm_fate fate);
void tm_fates_reopen(struct tm_fates *f); /* every failed one is open again */
void tm_fates_release(struct tm_fates *f);

#endif
