/* identity.c - see identity.h.
 *
 * The hash is chained: each file is hashed with the hash so far as the seed. So memory does not
 * grow with the number of files, and the hash changes when a file moves in the listing or appears
 * twice.
 */
#include "store/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "data/files/listing.h"

#define NAMED 3                   /* number of changes that are listed by name */
#define PIECE ((size_t)256 << 10) /* bytes read at a time */

/* Reading. */

static void drop_list(struct tm_identity *id)
{
  for (size_t i = 0; i < id->list.len; i++)
    free(id->list.at[i].path);
  TM_ARRAY_RELEASE(&id->list);
}

void tm_identity_add(struct tm_identity *id, const char *path, size_t path_len, int64_t size,
                     int64_t mtime_ns)
{
  tm_require(path_len > 0);
  *TM_ARRAY_ADD(&id->list) = (struct tm_identity_file) { .path = tm_xstrndup(path, path_len),
                                                         .size = size,
                                                         .mtime_ns = mtime_ns };
}

/* *out: the hash of the contents, stored in place of the modification time. */
static int hash_contents(int64_t *out, const struct tm_fs *fs, const char *path, struct tm_err *err)
{
  int fd = tm_fs_open(fs, path, O_RDONLY, 0, err);
  struct tm_hash *hash;
  char *piece;
  int64_t at = 0, n;
  if (fd < 0)
    return fd;
  hash = tm_hash_new();
  piece = tm_xmalloc(PIECE);
  while ((n = tm_fs_read_at(fs, fd, path, piece, PIECE, at, err)) > 0) {
    tm_hash_add(hash, piece, (size_t)n);
    at += n;
  }
  *out = (int64_t)tm_hash_end(hash);
  free(piece);
  tm_hash_free(hash);
  tm_fs_close(fs, fd);
  return (int)n;
}

/* Reads size and time of a file if they are unknown, and hashes it if contents count. */
static int look(struct tm_identity *id, const struct tm_fs *fs, struct tm_item *item,
                struct tm_err *err)
{
  char *path;
  struct tm_stat st;
  int rc = 0;
  if (item->size >= 0 && !id->has_contents)
    return 0;
  path = tm_xstrndup(item->path, item->path_len);
  if (item->size < 0 && (rc = fs->stat(fs->self, path, true, &st)) == 0) {
    item->size = st.size;
    item->mtime_ns = st.mtime_ns;
  }
  if (rc == 0 && id->has_contents)
    rc = hash_contents(&item->mtime_ns, fs, path, err);
  else if (rc < 0) /* whoever opens it reports the error */
    rc = 0;
  free(path);
  return rc;
}

int tm_identity_count(struct tm_identity *id, const struct tm_fs *fs, const struct tm_item *item,
                      size_t strip, struct tm_err *err)
{
  tm_require(strip <= item->path_len);
  struct tm_item it = {
    .path = item->path, .path_len = item->path_len, .size = item->size, .mtime_ns = item->mtime_ns
  };
  struct tm_buf bytes = TM_BUF_NONE;
  int rc = look(id, fs, &it, err);
  if (rc < 0)
    return rc;
  it.path += strip;
  it.path_len -= strip;
  tm_item_add(&bytes, &it);
  id->hash = tm_hash64_seed(bytes.data, bytes.len, id->hash);
  tm_buf_release(&bytes);
  id->files++;
  id->bytes += it.size > 0 ? it.size : 0;
  if (id->is_listed && id->files <= (id->max > 0 ? id->max : TM_IDENTITY_MAX)) {
    tm_identity_add(id, it.path, it.path_len, it.size, it.mtime_ns);
  } else {
    id->is_listed = false;
    drop_list(id);
  }
  return 0;
}

/* Within a job's directory, relative paths count, because these are the same in another job. */
static size_t strip_of(const struct tm_dataset *d, const struct tm_item *item)
{
  size_t n = d->step && d->base_dir ? strlen(d->base_dir) : 0;
  bool is_within = n > 0 && item->path_len > n && strncmp(item->path, d->base_dir, n) == 0 &&
                   item->path[n] == '/';
  return is_within ? n + 1 : 0;
}

int tm_identity_count_of(struct tm_identity *id, const struct tm_fs *fs, const struct tm_dataset *d,
                         const struct tm_item *item, struct tm_err *err)
{
  return tm_identity_count(id, fs, item, strip_of(d, item), err);
}

static int read_files(struct tm_identity *id, const struct tm_fs *fs, const struct tm_dataset *d,
                      const atomic_bool *stop, struct tm_err *err)
{
  struct tm_listing_options o = { .fs = fs,
                                  .base_dir = d->base_dir,
                                  .paths = (const char *const *)d->paths,
                                  .paths_len = d->paths_len,
                                  .skip_unreadable = d->skip_unreadable };
  struct tm_listing *l = tm_listing_open(&o);
  struct tm_item item;
  int64_t before = id->files;
  int rc = 0;
  /* for archives the limit counts entries */
  int64_t limit = d->kind == TM_DATASET_ARCHIVES ? 0 : d->limit;
  while ((limit == 0 || id->files - before < limit) && rc >= 0 &&
         (rc = tm_listing_next(l, &item, err)) > 0)
    rc = stop && atomic_load(stop) ? tm_err_set(err, -ECANCELED, "the listing was stopped")
                                   : tm_identity_count_of(id, fs, d, &item, err);
  tm_listing_close(l);
  return rc < 0 ? rc : 0;
}

static int read_list_file(struct tm_identity *id, const struct tm_fs *fs,
                          const struct tm_dataset *d, struct tm_err *err)
{
  char *path = tm_path_absolute(d->base_dir, d->paths[0]);
  struct tm_stat st;
  int rc = fs->stat(fs->self, path, true, &st);
  struct tm_item item = {
    .path = path, .path_len = strlen(path), .size = st.size, .mtime_ns = st.mtime_ns
  };
  if (rc == 0)
    rc = tm_identity_count_of(id, fs, d, &item, err);
  else if (rc == -ENOENT)
    rc = 0;
  else
    tm_err_system(err, rc, "cannot look at '%s'", path);
  free(path);
  return rc;
}

int tm_identity_read_on(struct tm_identity *out, const struct tm_fs *fs, const struct tm_dataset *d,
                        const atomic_bool *stop, struct tm_err *err)
{
  bool is_list = d->kind == TM_DATASET_MANIFEST || d->kind == TM_DATASET_FAILED;
  return is_list ? read_list_file(out, fs, d, err) : read_files(out, fs, d, stop, err);
}

int tm_identity_read(struct tm_identity *out, const struct tm_fs *fs, const struct tm_dataset *d,
                     struct tm_err *err)
{
  *out = (struct tm_identity) { .is_listed = true };
  if (tm_dataset_is_stdin(d))
    return tm_err_set(
        err, TM_EUSAGE,
        "a list on standard input is read once, and cannot be registered; write it to "
        "a file");
  return tm_identity_read_on(out, fs, d, NULL, err);
}

void tm_identity_release(struct tm_identity *id)
{
  drop_list(id);
}

bool tm_identity_is_equal(const struct tm_identity *a, const struct tm_identity *b)
{
  return a->files == b->files && a->bytes == b->bytes && a->hash == b->hash;
}

/* Comparing. */

struct comparison {
  struct tm_buf *out;
  const char *word;
  bool has_contents;
  const char *base_dir;
  int64_t changes;
};

static bool begin_change(struct comparison *c)
{
  if (++c->changes > NAMED)
    return false;
  tm_buf_add_str(c->out, c->changes > 1 ? ", " : "");
  return true;
}

static void add_name(struct comparison *c, const char *path)
{
  size_t n = strlen(c->base_dir);
  if (n > 1 && strncmp(path, c->base_dir, n) == 0 && path[n] == '/')
    path += n + 1;
  tm_buf_printf(c->out, "%s '", c->word);
  tm_text_one_line(c->out, path, strlen(path), 0);
  tm_buf_add_char(c->out, '\'');
}

static void say_file(struct comparison *c, const struct tm_identity_file *then,
                     const struct tm_identity_file *now)
{
  if (then->size == now->size && then->mtime_ns == now->mtime_ns)
    return;
  if (!begin_change(c))
    return;
  add_name(c, now->path);
  if (then->size != now->size) {
    tm_buf_printf(c->out, ": size %lld -> %lld", (long long)then->size, (long long)now->size);
    return;
  }
  if (c->has_contents) {
    tm_buf_add_str(c->out, ": other contents");
    return;
  }
  tm_buf_add_str(c->out, ": modified ");
  tm_time_iso(c->out, then->mtime_ns);
  tm_buf_add_str(c->out, " -> ");
  tm_time_iso(c->out, now->mtime_ns);
}

static void say_word(struct comparison *c, const char *path, const char *word)
{
  if (!begin_change(c))
    return;
  add_name(c, path);
  tm_buf_add_str(c->out, word);
}

/* The value is the index in `then` plus 1; 0: seen already. */
static void compare_lists(struct comparison *c, const struct tm_identity *then,
                          const struct tm_identity *now)
{
  struct tm_map known = { 0 };
  for (size_t i = 0; i < then->list.len; i++)
    *tm_map_add(&known, then->list.at[i].path, strlen(then->list.at[i].path), NULL) = i + 1;
  for (size_t i = 0; i < now->list.len; i++) {
    const struct tm_identity_file *f = &now->list.at[i];
    uint64_t *at = tm_map_find(&known, f->path, strlen(f->path));
    if (!at)
      say_word(c, f->path, " is new");
    else if (*at > 0)
      say_file(c, &then->list.at[*at - 1], f);
    if (at)
      *at = 0;
  }
  for (size_t i = 0; i < then->list.len; i++) {
    const struct tm_identity_file *f = &then->list.at[i];
    uint64_t *at = tm_map_find(&known, f->path, strlen(f->path));
    if (*at == i + 1)
      say_word(c, f->path, " is gone");
  }
  tm_map_release(&known);
}

static void say_totals(struct tm_buf *out, const struct tm_identity *then,
                       const struct tm_identity *now)
{
  if (then->files != now->files)
    tm_buf_printf(out, "%lld files -> %lld", (long long)then->files, (long long)now->files);
  else if (then->bytes != now->bytes)
    tm_buf_printf(out, "%lld files, %lld bytes -> %lld", (long long)then->files,
                  (long long)then->bytes, (long long)now->bytes);
  else
    tm_buf_printf(
        out,
        "%lld %s of %lld bytes, as before, but a name, a size, a modification time or the "
        "order has changed",
        (long long)then->files, tm_text_counted(then->files, "file", "files"),
        (long long)then->bytes);
}

void tm_identity_compare(struct tm_buf *out, const struct tm_identity *then,
                         const struct tm_identity *now, const char *base_dir)
{
  tm_identity_compare_as(out, "input", then, now, base_dir);
}

void tm_identity_compare_as(struct tm_buf *out, const char *word, const struct tm_identity *then,
                            const struct tm_identity *now, const char *base_dir)
{
  struct comparison c = {
    .out = out, .word = word, .has_contents = now->has_contents, .base_dir = base_dir
  };
  if (tm_identity_is_equal(then, now))
    return;
  if (then->is_listed && now->is_listed)
    compare_lists(&c, then, now);
  if (c.changes > NAMED)
    tm_buf_printf(out, ", and %lld more", (long long)(c.changes - NAMED));
  if (c.changes == 0)
    say_totals(out, then, now);
}
