/* prepared_copies.c - see prepared_copies.h. */
#include "model/prepared_copies.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "model/prepared_key.h"
#include "model/prepared_lock.h"

#define KEY_LEN (TM_PREPARED_KEY_SIZE - 1)

static char *with(const char *copy, const char *suffix)
{
  return tm_xprintf("%s%s", copy, suffix);
}

/* ---- finding ---- */

struct search {
  struct tm_prepared_copies *out;
  const struct tm_fs *fs;
  const char *folder;
  int64_t until_ns;
};

struct sum {
  const struct tm_fs *fs;
  const char *folder;
  int64_t bytes;
};

static int add_size(void *data, const char *name, int type)
{
  struct sum *s = data;
  struct tm_stat st;
  char *path = tm_path_join(s->folder, name);

  if (s->fs->stat(s->fs->self, path, false, &st) == 0)
    s->bytes += st.size;
  free(path);
  return 0;
}

static int64_t size_of(const struct tm_fs *fs, const char *copy, const char *suffix)
{
  char *folder = with(copy, suffix);
  struct sum s = { .fs = fs, .folder = folder };

  (void)fs->dir_read(fs->self, folder, add_size, &s); /* missing: nothing */
  free(folder);
  return s.bytes;
}

static bool is_known(const struct tm_prepared_copies *c, const char *copy)
{
  for (size_t i = 0; i < c->paths.len; i++)
    if (strcmp(c->paths.at[i], copy) == 0)
      return true;
  return false;
}

static bool is_old_enough(const struct search *s, const char *copy)
{
  static const char *const suffixes[] = { "", ".part", ".lock" };
  bool is_old = true;

  for (size_t i = 0; i < TM_COUNT_OF(suffixes); i++) {
    char *path = with(copy, suffixes[i]);
    struct tm_stat st;
    if (s->fs->stat(s->fs->self, path, false, &st) == 0)
      is_old = is_old && st.mtime_ns <= s->until_ns;
    free(path);
  }
  return is_old;
}

static void add_copy(struct search *s, const char *copy)
{
  struct tm_prepared_lock lock;

  if (tm_prepared_lock_take(&lock, s->fs, copy, false, NULL) != 0) { /* else it is being made */
    s->out->bytes += size_of(s->fs, copy, "") + size_of(s->fs, copy, ".part");
    *TM_ARRAY_ADD(&s->out->paths) = tm_xstrdup(copy);
  }
  tm_prepared_lock_drop(&lock);
}

/* "<key>", "<key>.part" and "<key>.lock" are one copy. */
static int on_name(void *data, const char *name, int type)
{
  struct search *s = data;
  const char *rest = name + KEY_LEN;

  if (strspn(name, "0123456789abcdef") != KEY_LEN ||
      (*rest && strcmp(rest, ".part") != 0 && strcmp(rest, ".lock") != 0))
    return 0;
  char *key = tm_xstrndup(name, KEY_LEN), *copy = tm_path_join(s->folder, key);
  if (!is_known(s->out, copy) && is_old_enough(s, copy))
    add_copy(s, copy);
  free(key);
  free(copy);
  return 0;
}

void tm_prepared_copies_find(struct tm_prepared_copies *out, const struct tm_fs *fs,
                             const char *folder, int64_t until_ns)
{
  struct search s = { .out = out, .fs = fs, .folder = folder, .until_ns = until_ns };

  *out = (struct tm_prepared_copies) { .bytes = 0 };
  (void)fs->dir_read(fs->self, folder, on_name, &s); /* missing: none was made */
}

/* ---- removing ---- */

static int remove_one(const struct tm_fs *fs, const char *copy, struct tm_err *err)
{
  struct tm_prepared_lock lock;
  char *part = with(copy, ".part");
  int held = tm_prepared_lock_take(&lock, fs, copy, false, NULL), rc = 0;

  if (held != 0) {
    rc = tm_fs_remove_tree(fs, copy, err);
    if (rc >= 0)
      rc = tm_fs_remove_tree(fs, part, err);
    if (rc >= 0 && held > 0) /* while it is held: whoever waits for it looks for its name */
      rc = fs->unlink(fs->self, lock.path);
  }
  tm_prepared_lock_drop(&lock);
  free(part);
  return rc < 0 ? rc : 0;
}

int tm_prepared_copies_remove(const struct tm_prepared_copies *c, const struct tm_fs *fs,
                              struct tm_err *err)
{
  int rc = 0;

  for (size_t i = 0; i < c->paths.len && rc == 0; i++) {
    struct tm_err why = TM_ERR_NONE;
    rc = remove_one(fs, c->paths.at[i], &why);
    if (rc < 0)
      tm_err_set(err, rc, "cannot remove '%s': %s", c->paths.at[i],
                 why.code < 0 ? why.text : tm_code_text(rc));
  }
  return rc;
}

static void drop_part(const struct tm_fs *fs, const char *copy)
{
  struct tm_prepared_lock lock;
  char *part = with(copy, ".part");

  if (tm_fs_exists(fs, part)) {
    if (tm_prepared_lock_take(&lock, fs, copy, true, NULL) > 0)
      (void)tm_fs_remove_tree(fs, part, NULL); /* else the next one tries again */
    tm_prepared_lock_drop(&lock);
  }
  free(part);
}

void tm_prepared_copies_drop_parts(const struct tm_fs *fs, const char *folder)
{
  struct tm_prepared_copies copies;

  tm_prepared_copies_find(&copies, fs, folder, INT64_MAX);
  for (size_t i = 0; i < copies.paths.len; i++)
    drop_part(fs, copies.paths.at[i]);
  tm_prepared_copies_release(&copies);
}

void tm_prepared_copies_release(struct tm_prepared_copies *c)
{
  TM_ARRAY_RELEASE_EACH(&c->paths);
}
