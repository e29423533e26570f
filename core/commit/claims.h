/* claims.h - the paths of output files that are noted, and not in their places yet (files.h).
 *
 * A path is claimed by a file, or by the folders above it. Each call takes time for the depth of
 * the path, however many files are claimed. A file has a number of the caller's.
 */
#ifndef TM_COMMIT_CLAIMS_H
#define TM_COMMIT_CLAIMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct tm_claims {              /* zeroed: nothing is claimed */
  struct tm_map files, folders; /* number + 1, or 0; how many files are below it */
  size_t len;                   /* files */
};

enum tm_claim {
  TM_CLAIM_NONE,
  TM_CLAIM_FILE,   /* a file has this path */
  TM_CLAIM_FOLDER, /* a file is below it */
  TM_CLAIM_BELOW,  /* it is below a file */
};

void tm_claims_release(struct tm_claims *c);
/* Who claims `path`. *number: of the file, for TM_CLAIM_FILE. */
enum tm_claim tm_claims_find(const struct tm_claims *c, const char *path, uint64_t *number);
/* `path` is not claimed. */
void tm_claims_add(struct tm_claims *c, const char *path, uint64_t number);
/* `path` is that of a file that was added. Frees all memory after the last one. */
void tm_claims_remove(struct tm_claims *c, const char *path);

#endif
