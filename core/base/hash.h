/* hash.h - XXH3, 64 bits: check sums of records and files. Not for secrets. Output is the same on
 * every machine. */
#ifndef TM_BASE_HASH_H
#define TM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

struct tm_buf;

/* Adds "xxhash 0.8.1": the version of the loaded library. */
void tm_hash_library(struct tm_buf *out);

uint64_t tm_hash64(const void *p, size_t n);
uint64_t tm_hash64_seed(const void *p, size_t n, uint64_t seed);

/* The same over pieces: new, add..., end (any number of times, more may follow), free. _reset
 * starts over. */
struct tm_hash;
struct tm_hash *tm_hash_new(void);
void tm_hash_reset(struct tm_hash *h);
void tm_hash_add(struct tm_hash *h, const void *p, size_t n);
uint64_t tm_hash_end(const struct tm_hash *h);
void tm_hash_free(struct tm_hash *h);

#endif
