/* claims.c - see claims.h. A map cannot remove keys, so a value of 0 is a key that is not there;
 * the maps are released when they hold nothing else.
 */
#include "commit/claims.h"

#include <string.h>

#include "base/check.h"

void tm_claims_release(struct tm_claims *c)
{
  tm_map_release(&c->files);
  tm_map_release(&c->folders);
  *c = (struct tm_claims) { 0 };
}

static uint64_t value_of(const struct tm_map *m, const char *path, size_t len)
{
  const uint64_t *value = tm_map_find(m, path, len);
  return value ? *value : 0;
}

/* The length of the next folder above `path`, from the outermost; `len`: of the one before, or 0.
 * 0: there are no more. */
static size_t next_folder(const char *path, size_t len)
{
  const char *slash = path[0] ? strchr(path + len + 1, '/') : NULL;
  return slash ? (size_t)(slash - path) : 0;
}

enum tm_claim tm_claims_find(const struct tm_claims *c, const char *path, uint64_t *number)
{
  uint64_t file = value_of(&c->files, path, strlen(path));
  *number = file ? file - 1 : 0;
  if (file)
    return TM_CLAIM_FILE;
  if (value_of(&c->folders, path, strlen(path)) > 0)
    return TM_CLAIM_FOLDER;
  for (size_t n = next_folder(path, 0); n > 0; n = next_folder(path, n))
    if (value_of(&c->files, path, n) > 0)
      return TM_CLAIM_BELOW;
  return TM_CLAIM_NONE;
}

void tm_claims_add(struct tm_claims *c, const char *path, uint64_t number)
{
  uint64_t *file = tm_map_add(&c->files, path, strlen(path), NULL);
  tm_require(*file == 0);
  *file = number + 1;
  for (size_t n = next_folder(path, 0); n > 0; n = next_folder(path, n))
    ++*tm_map_add(&c->folders, path, n, NULL);
  c->len++;
}

static void remove_below(struct tm_claims *c, const char *folder, size_t len)
{
  uint64_t *below = tm_map_add(&c->folders, folder, len, NULL);
  tm_require(*below > 0);
  --*below;
}

void tm_claims_remove(struct tm_claims *c, const char *path)
{
  tm_require(c->len > 0);
  tm_require(value_of(&c->files, path, strlen(path)) > 0);
  if (--c->len == 0) {
    tm_claims_release(c);
    return;
  }
  *tm_map_add(&c->files, path, strlen(path), NULL) = 0;
  for (size_t n = next_folder(path, 0); n > 0; n = next_folder(path, n))
    remove_below(c, path, n);
}
