/* fuzz_partition.c - a partition format and a path, with NUL between them. Values lie within the
 * path, and only those of {name:%} may be empty. Each value is found again by its name. */
#include "fuzz.h"

#include <stdlib.h>

#include "base/mem.h"
#include "data/files/partition.h"

#define LONGEST 400 /* bytes of either */

static void check_value(const struct tm_key *key, bool may_be_any, const char *path,
                        size_t path_len)
{
  if (key->type == TM_KEY_NULL)
    fuzz_require(may_be_any);
  else if (key->type == TM_KEY_STRING && !may_be_any)
    fuzz_require(key->string.len > 0 && key->string.at >= path &&
                 key->string.len <= (size_t)(path + path_len - key->string.at));
  else if (key->type == TM_KEY_STRING &&
           key->string.len > 0) /* reads its bytes, so that a sanitizer checks them */
    fuzz_require(memchr(key->string.at, key->string.at[key->string.len - 1], key->string.len));
}

static void check_name(const char *value, size_t n)
{
  struct tm_buf path = TM_BUF_NONE;
  struct tm_key key;
  struct tm_partition *p = tm_partition_new("{k:%}/x", NULL);
  tm_buf_add_str(&path, "/a/");
  tm_partition_add_name(&path, value, n);
  tm_buf_add_str(&path, "/x");
  fuzz_require(path.data[3] != '.');
  fuzz_require(tm_partition_match(p, path.data, path.len, &key, NULL) == 0);
  fuzz_require(key.type == TM_KEY_STRING && key.string.len == n &&
               (n == 0 || memcmp(key.string.at, value, n) == 0));
  tm_partition_free(p);
  tm_buf_release(&path);
}

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
  char *path = malloc(path_len + 1); /* exact size: a sanitizer sees a read beyond it */
  memcpy(path, nul ? nul + 1 : "", path_len);
  struct tm_partition *p = tm_partition_new(format, &err);
  fuzz_require(p != NULL || err.code == TM_EUSAGE);
  if (p != NULL && tm_partition_match(p, path, path_len, keys, &err) == 0)
    for (size_t i = 0; i < tm_partition_len(p); i++)
      check_value(&keys[i], strstr(format, ":%}") != NULL, path, path_len);
  check_name(path, path_len);
  tm_partition_free(p);
  free(path);
  free(format);
  return 0;
}
