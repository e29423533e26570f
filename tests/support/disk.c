/* disk.c - see disk.h. This file has the contents of files and the calls; disk_names.c has the
 * names.
 *
 * An operation on a file is a write or a cut. fsync of a file moves its operations to the platters;
 * fsync of a folder moves the changes of its names. Nodes are freed only with the disk, because
 * tests are small.
 */
#include "disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "disk_own.h"

uint64_t tm_disk_random(uint64_t *state, uint64_t below)
{
  uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  x ^= x >> 31;
  return below ? x % below : x;
}

static uint64_t any(struct tm_disk *d, uint64_t below)
{
  return tm_disk_random(&d->random, below);
}

/* Cuts set the length to exactly `at`; writes fill any gap before `at` with zeros. */
static void bytes_cut(struct tm_buf *b, size_t len)
{
  if (len > b->len) {
    size_t more = len - b->len; /* extending changes b->len */
    memset(tm_buf_extend(b, more), 0, more);
  }
  b->len = len;
}

static void bytes_write(struct tm_buf *b, size_t at, const char *p, size_t n)
{
  if (at + n > b->len) {
    size_t old = b->len;
    memset(tm_buf_extend(b, at + n - old), 0, at + n - old);
  }
  if (n > 0)
    memcpy(b->data + at, p, n);
}

static void op_apply(struct tm_buf *b, const struct tm_disk_write *w)
{
  if (w->is_cut)
    bytes_cut(b, (size_t)w->at);
  else
    bytes_write(b, (size_t)w->at, w->bytes, w->len);
}

/* Applies a part of a write, all of it, only its length, or nothing. */
static void op_apply_some(struct tm_disk *d, struct tm_buf *b, const struct tm_disk_write *w)
{
  uint64_t how = any(d, w->is_cut ? 2 : 6);
  if (how == 0 || w->is_lost)
    return;
  if (how <= 2 || w->len < 2) {
    op_apply(b, w);
    return;
  }
  size_t from = how == 3 ? 0 : (size_t)any(d, w->len),
         to = how == 4 ? w->len : from + (size_t)any(d, w->len - from);
  if (how == 5 &&
      (size_t)w->at + w->len > b->len) /* the new length has reached the disk, the bytes have not */
    bytes_cut(b, (size_t)w->at + w->len);
  else
    bytes_write(b, (size_t)w->at + from, w->bytes + from, to - from);
}

static void ops_release(struct tm_disk_node *n)
{
  for (size_t i = 0; i < n->ops.len; i++)
    free(n->ops.at[i].bytes);
  n->ops.len = 0;
}

/* Counts a call. If it returns true, the call is not carried out and returns *rc. A call at which
 * the power fails may or may not be carried out. */
static bool is_refused(struct tm_disk *d, int *rc)
{
  *rc = -EIO;
  if (d->is_cut)
    return true;
  if (++d->calls == d->plan.cut_at) {
    d->is_cut = true;
    return any(d, 2) == 0;
  }
  if (d->calls == d->plan.fault_at && d->plan.fault == TM_DISK_FAIL) {
    d->has_failed = true;
    *rc = d->plan.code;
    return true;
  }
  return false;
}

static size_t shortened(struct tm_disk *d, size_t n)
{
  if (d->calls != d->plan.fault_at || d->plan.fault != TM_DISK_SHORT || n < 2)
    return n;
  d->has_failed = true;
  return n / 2;
}

static int answer(const struct tm_disk *d, int rc)
{
  return d->is_cut ? -EIO : rc; /* after the power cut the program sees no result */
}

static void cut_node(struct tm_disk *d, struct tm_disk_node *n, int64_t length)
{
  struct tm_disk_write w = { .at = length, .is_cut = true, .serial = d->serial++ };
  *TM_ARRAY_ADD(&n->ops) = w;
  op_apply(&n->seen, &w);
  n->changed = d->serial;
}

static struct tm_disk_file *file_of(struct tm_disk *d, int fd)
{
  return fd >= 100 && (size_t)(fd - 100) < d->files.len && d->files.at[fd - 100].node
             ? &d->files.at[fd - 100]
             : NULL;
}

static int add_name(struct tm_disk *d, const char *path, struct tm_disk_node *node)
{
  struct tm_disk_place nowhere = { NULL, NULL }, to;
  int rc = tm_disk_place(d, path, &to);
  if (rc == 0)
    tm_disk_change_add(d, nowhere, to, node);
  return rc;
}

static int disk_open(void *self, const char *path, int flags, int mode)
{
  struct tm_disk *d = self;
  int rc;
  if (is_refused(d, &rc))
    return rc;
  struct tm_disk_node *n = tm_disk_find(d, path);
  if (!n && !(flags & O_CREAT))
    return answer(d, -ENOENT);
  if (!n) {
    n = tm_disk_node_new(d, S_IFREG | (uint32_t)mode);
    if ((rc = add_name(d, path, n)) < 0)
      return answer(d, rc);
  }
  if (flags & O_TRUNC)
    cut_node(d, n, 0);
  *TM_ARRAY_ADD(&d->files) = (struct tm_disk_file) { n, tm_xstrdup(path) };
  return answer(d, 100 + (int)d->files.len - 1);
}

static int disk_close(void *self, int fd)
{
  struct tm_disk *d = self;
  int rc;
  struct tm_disk_file *f = file_of(d, fd);
  bool refused = is_refused(d, &rc);
  if (!f)
    return -EBADF;
  f->node = NULL; /* close() closes the descriptor even when it fails */
  return refused ? rc : answer(d, 0);
}

static int64_t disk_pread(void *self, int fd, void *p, size_t n, int64_t at)
{
  struct tm_disk *d = self;
  int rc;
  struct tm_disk_file *f = file_of(d, fd);
  if (is_refused(d, &rc))
    return rc;
  if (!f)
    return -EBADF;
  if (d->is_cut || (size_t)at >= f->node->seen.len)
    return answer(d, 0);
  n = shortened(d, n < f->node->seen.len - (size_t)at ? n : f->node->seen.len - (size_t)at);
  memcpy(p, f->node->seen.data + at, n);
  return (int64_t)n;
}

static int64_t disk_pwrite(void *self, int fd, const void *p, size_t n, int64_t at)
{
  struct tm_disk *d = self;
  int rc;
  struct tm_disk_file *f = file_of(d, fd);
  if (is_refused(d, &rc))
    return rc;
  if (!f)
    return -EBADF;
  n = shortened(d, n);
  struct tm_disk_write w = {
    .at = at, .len = n, .bytes = tm_xmalloc(n + 1), .serial = d->serial++
  };
  if (n > 0)
    memcpy(w.bytes, p, n);
  *TM_ARRAY_ADD(&f->node->ops) = w;
  op_apply(&f->node->seen, &w);
  f->node->changed = d->serial;
  return d->is_cut ? -EIO : (int64_t)n;
}

static bool ends_with(const char *text, const char *end)
{
  size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

/* Whether to skip this fsync. */
static bool is_left_out(struct tm_disk *d, const char *path)
{
  if (!d->left_out || !ends_with(path, d->left_out))
    return false;
  d->met++;
  return d->met >= d->left_out_from && d->met <= d->left_out_to;
}

void tm_disk_leave_out(struct tm_disk *d, const char *path_end, uint64_t from, uint64_t to)
{
  d->left_out = path_end;
  d->left_out_from = from;
  d->left_out_to = to;
  d->met = 0;
}

void tm_disk_watch(struct tm_disk *d, void (*on_fsync)(void *data, const char *path), void *data)
{
  d->on_fsync = on_fsync;
  d->data = data;
}

static void sync_node(struct tm_disk *d, struct tm_disk_node *n, uint64_t mark)
{
  size_t left = 0;
  tm_disk_names_sync(d, n, mark);
  if (n->changed <= mark)
    n->kept_changed = n->changed;
  for (size_t i = 0; i < n->ops.len; i++) {
    struct tm_disk_write *w = &n->ops.at[i];
    if (w->serial >= mark) {
      n->ops.at[left++] = *w;
      continue;
    }
    if (!w->is_lost)
      op_apply(&n->kept, w);
    free(w->bytes);
  }
  n->ops.len = left;
}

static int disk_fsync(void *self, int fd)
{
  struct tm_disk *d = self;
  int rc;
  struct tm_disk_file *f = file_of(d, fd);
  if (is_refused(d, &rc)) {
    /* After a failed fsync the data count as clean, so a later fsync does not write them. */
    for (size_t i = 0; f && !d->is_cut && rc == -EIO && i < f->node->ops.len; i++)
      f->node->ops.at[i].is_lost = !f->node->ops.at[i].is_cut;
    return rc;
  }
  if (!f)
    return -EBADF;
  if (d->on_fsync)
    d->on_fsync(d->data, f->path);
  if (is_left_out(d, f->path))
    return answer(d, 0);
  sync_node(d, f->node, d->serial);
  return answer(d, 0);
}

static int disk_ftruncate(void *self, int fd, int64_t length)
{
  struct tm_disk *d = self;
  int rc;
  struct tm_disk_file *f = file_of(d, fd);
  if (is_refused(d, &rc))
    return rc;
  if (!f)
    return -EBADF;
  cut_node(d, f->node, length);
  return answer(d, 0);
}

static int stat_node(const struct tm_disk_node *n, struct tm_stat *out)
{
  *out = (struct tm_stat) { .size = (int64_t)n->seen.len,
                            .mode = n->mode,
                            .dev = 1,
                            .ino = n->number,
                            .mtime_ns = (int64_t)n->changed };
  return 0;
}

static int disk_fstat(void *self, int fd, struct tm_stat *out)
{
  struct tm_disk *d = self;
  int rc;
  struct tm_disk_file *f = file_of(d, fd);
  if (is_refused(d, &rc))
    return rc;
  return f ? answer(d, stat_node(f->node, out)) : -EBADF;
}

static int disk_stat(void *self, const char *path, bool follow, struct tm_stat *out)
{
  struct tm_disk *d = self;
  int rc;
  if (is_refused(d, &rc))
    return rc;
  struct tm_disk_node *n = tm_disk_find(d, path);
  return answer(d, n ? stat_node(n, out) : -ENOENT);
}

static int disk_rename(void *self, const char *from, const char *to)
{
  int rc;
  return is_refused(self, &rc) ? rc : answer(self, tm_disk_rename(self, from, to));
}

static int disk_rename_new(void *self, const char *from, const char *to)
{
  int rc;
  if (is_refused(self, &rc))
    return rc;
  return answer(self, tm_disk_find(self, to) ? -EEXIST : tm_disk_rename(self, from, to));
}

static int disk_exchange(void *self, const char *a, const char *b)
{
  int rc;
  return is_refused(self, &rc) ? rc : answer(self, tm_disk_exchange(self, a, b));
}

void tm_disk_cannot_exchange(struct tm_disk *d)
{
  d->cannot_exchange = true;
}

static int disk_unlink(void *self, const char *path)
{
  struct tm_disk *d = self;
  struct tm_disk_place nowhere = { NULL, NULL }, from;
  int rc;
  if (is_refused(d, &rc))
    return rc;
  struct tm_disk_node *n = tm_disk_find(d, path);
  if (!n || n->names.len > 0)
    return answer(d, n ? -ENOTEMPTY : -ENOENT);
  tm_disk_place(d, path, &from);
  tm_disk_change_add(d, from, nowhere, NULL);
  return answer(d, 0);
}

static int add_new(struct tm_disk *d, const char *path, uint32_t mode, const char *leads_to)
{
  struct tm_disk_node *n;
  int rc;
  if (is_refused(d, &rc))
    return rc;
  if (tm_disk_find(d, path))
    return answer(d, -EEXIST);
  n = tm_disk_node_new(d, mode);
  tm_buf_add_str(&n->seen, leads_to); /* a link is complete or missing */
  tm_buf_add_str(&n->kept, leads_to);
  return answer(d, add_name(d, path, n));
}

static int disk_mkdir(void *self, const char *path, int mode)
{
  return add_new(self, path, S_IFDIR | (uint32_t)mode, "");
}

static int disk_symlink(void *self, const char *target, const char *path)
{
  return add_new(self, path, S_IFLNK | 0777, target);
}

static int disk_volume(void *self, const char *path, struct tm_volume *out)
{
  (void)self, (void)path;
  *out = (struct tm_volume) { .free_bytes = INT64_MAX, .free_files = INT64_MAX };
  return 0;
}

static int disk_readlink(void *self, const char *path, char *out, size_t size)
{
  struct tm_disk *d = self;
  int rc;
  if (is_refused(d, &rc))
    return rc;
  struct tm_disk_node *n = tm_disk_find(d, path);
  if (!n || !S_ISLNK(n->mode))
    return answer(d, n ? -EINVAL : -ENOENT);
  size_t len = n->seen.len < size ? n->seen.len : size;
  memcpy(out, n->seen.data, len);
  return answer(d, (int)len);
}

static int type_of(const struct tm_disk_node *n)
{
  return S_ISDIR(n->mode) ? DT_DIR : S_ISLNK(n->mode) ? DT_LNK : DT_REG;
}

/* The callback may remove names, so this lists them first. */
static int disk_dir_read(void *self, const char *path, tm_on_name on_name, void *data)
{
  struct tm_disk *d = self;
  int rc;
  if (is_refused(d, &rc))
    return rc;
  struct tm_disk_node *n = tm_disk_find(d, path);
  if (!n || !tm_disk_node_is_dir(n))
    return answer(d, n ? -ENOTDIR : -ENOENT);
  size_t len = n->names.len;
  struct tm_disk_name *names = tm_xcalloc(len + 1, sizeof(*names));
  for (size_t i = 0; i < len; i++)
    names[i] = (struct tm_disk_name) { tm_xstrdup(n->names.at[i].base), n->names.at[i].node };
  rc = 0;
  for (size_t i = 0; i < len && rc >= 0; i++)
    rc = on_name(data, names[i].base, type_of(names[i].node));
  for (size_t i = 0; i < len; i++)
    free(names[i].base);
  free(names);
  return answer(d, rc < 0 ? rc : 0);
}

struct removal {
  struct tm_disk *d;
  const char *path;
};

static int remove_below(struct tm_disk *d, const char *path);

static int on_removed(void *data, const char *name, int type)
{
  const struct removal *r = data;
  char *inner = tm_path_join(r->path, name);
  int rc = remove_below(r->d, inner);
  free(inner);
  return rc;
}

/* Reading each name counts as a call. */
static int remove_below(struct tm_disk *d, const char *path)
{
  int rc = disk_unlink(d, path);
  if (rc == -ENOTEMPTY &&
      (rc = disk_dir_read(d, path, on_removed, &(struct removal) { d, path })) == 0)
    rc = disk_unlink(d, path);
  return rc == -ENOENT ? 0 : rc;
}

static int disk_tree_remove(void *self, const char *path, struct tm_err *err)
{
  int rc = remove_below(self, path);
  return rc < 0 ? tm_err_system(err, rc, "cannot remove '%s'", path) : 0;
}

struct tm_disk *tm_disk_new(uint64_t seed)
{
  struct tm_disk *d = TM_NEW(struct tm_disk);
  d->fs = (struct tm_fs) { .self = d,
                           .open = disk_open,
                           .close = disk_close,
                           .pread = disk_pread,
                           .pwrite = disk_pwrite,
                           .fsync = disk_fsync,
                           .ftruncate = disk_ftruncate,
                           .fstat = disk_fstat,
                           .stat = disk_stat,
                           .rename = disk_rename,
                           .rename_new = disk_rename_new,
                           .exchange = disk_exchange,
                           .unlink = disk_unlink,
                           .mkdir = disk_mkdir,
                           .symlink = disk_symlink,
                           .volume = disk_volume,
                           .readlink = disk_readlink,
                           .dir_read = disk_dir_read,
                           .tree_remove = disk_tree_remove };
  d->random = seed;
  tm_disk_node_new(d, S_IFDIR | 0700);
  return d;
}

void tm_disk_free(struct tm_disk *d)
{
  tm_disk_kill(d);
  tm_disk_names_release(d);
  for (size_t i = 0; i < d->nodes.len; i++) {
    ops_release(d->nodes.at[i]);
    TM_ARRAY_RELEASE(&d->nodes.at[i]->ops);
    tm_buf_release(&d->nodes.at[i]->seen);
    tm_buf_release(&d->nodes.at[i]->kept);
    free(d->nodes.at[i]);
  }
  TM_ARRAY_RELEASE(&d->nodes);
  TM_ARRAY_RELEASE(&d->files);
  free(d);
}

const struct tm_fs *tm_disk_fs(struct tm_disk *d)
{
  return &d->fs;
}

void tm_disk_plan(struct tm_disk *d, const struct tm_disk_plan *plan)
{
  d->plan = *plan;
  d->calls = 0;
  d->has_failed = false;
}

uint64_t tm_disk_calls(const struct tm_disk *d)
{
  return d->calls;
}

bool tm_disk_is_cut(const struct tm_disk *d)
{
  return d->is_cut;
}

bool tm_disk_has_failed(const struct tm_disk *d)
{
  return d->has_failed;
}

void tm_disk_kill(struct tm_disk *d)
{
  for (size_t i = 0; i < d->files.len; i++)
    free(d->files.at[i].path);
  d->files.len = 0;
}

void tm_disk_restart(struct tm_disk *d)
{
  tm_disk_kill(d);
  for (size_t i = 0; i < d->nodes.len; i++) {
    struct tm_disk_node *n = d->nodes.at[i];
    for (size_t k = 0; k < n->ops.len; k++)
      op_apply_some(d, &n->kept, &n->ops.at[k]);
    ops_release(n);
    tm_buf_clear(&n->seen);
    tm_buf_add(&n->seen, n->kept.data, n->kept.len);
    if (any(d, 2) == 0)
      n->changed = n->kept_changed;
    n->kept_changed = n->changed;
  }
  tm_disk_names_settle(d);
  d->is_cut = false;
}

uint64_t tm_disk_mark(const struct tm_disk *d)
{
  return d->serial;
}

void tm_disk_sync(struct tm_disk *d, int fd, uint64_t mark)
{
  sync_node(d, file_of(d, fd)->node, mark);
}

static void walk(const struct tm_disk_node *n, const char *path, tm_disk_on_node on_node,
                 void *data)
{
  for (size_t i = 0; i < n->names.len; i++) {
    const struct tm_disk_name *name = &n->names.at[i];
    char *inner = tm_xprintf("%s/%s", path, name->base);
    on_node(data, inner, name->node->mode, tm_buf_str(&name->node->seen), name->node->seen.len);
    walk(name->node, inner, on_node, data);
    free(inner);
  }
}

void tm_disk_walk(struct tm_disk *d, tm_disk_on_node on_node, void *data)
{
  walk(d->nodes.at[0], "", on_node, data);
}

int tm_disk_read(struct tm_disk *d, const char *path, struct tm_buf *out)
{
  struct tm_disk_node *n = tm_disk_find(d, path);
  if (!n)
    return -ENOENT;
  tm_buf_add(out, n->seen.data, n->seen.len);
  return 0;
}
