/* fuzz_partition.c - a partition format and a path, NUL between them: values lie within the path, and are not empty. */
#include "fuzz.h"

#include <stdlib.h>

#include "base/mem.h"
#include "data/files/partition.h"

#define LONGEST 400 /* bytes of either */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_key keys[TM_PARTITION_KEYS_MAX];
  const char *text = (const char *)data;
  const char *nul = size > 0 ? memchr(text, 0, size) : NULL;
  size_t format_len = nul ? (size_t)(nul - text) : size;
  size_t path_len = nul ? size - format_len - 1 : 0;
  if (format_len > LONGEST || path_len > LONGEST)
    return 0;
  char *format = tm_xstrndup(size > 0 ? text : "", format_len);
  char *path = malloc(path_len + 1); /* of this size: a sanitizer sees a read beyond it */
  memcpy(path, nul ? nul + 1 : "", path_len);
  struct tm_partition *p = tm_partition_new(format, &err);
  fuzz_require(p != NULL || err.code == TM_EUSAGE);
  if (p != NULL && tm_partition_match(p, path, path_len, keys, &err) == 0)
    for (size_t i = 0; i < tm_partition_len(p); i++)
      fuzz_require(keys[i].type == TM_KEY_DATETIME ||
                   (keys[i].string.len > 0 && keys[i].string.at >= path &&
                    keys[i].string.len <= (size_t)(path + path_len - keys[i].string.at)));
  tm_partition_free(p);
  free(path);
  free(format);
  return 0;
}
