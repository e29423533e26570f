/* entry.c - see entry.h.
 *
 *   tm_entries -> archive (an open file) <- tm_entry, tm_entry ...
 *
 *  (1) An archive stays open while one of its entries is being read; of the others, the last few
 *      do.
 *  (2) A walk is at one entry. Reading another entry moves it; the first reader then walks back to
 *      its position.
 */
#include "data/archive/entry.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/archive/entry_own.h"
#include "data/archive/seven_zip.h"
#include "data/rows/open.h"

#define OPEN_MAX   8   /* archives */
#define NAME_SHOWN 300 /* bytes */

struct archive_file {
  char *path;
  size_t path_len;
  int64_t size, mtime_ns;
  bool is_zip;              /* the stream is the file's own bytes; else its decompressed contents */
  struct tm_stream *stream; /* the file's bytes, or its decompressed contents */
  struct tm_walk *walk;     /* for reading in order; or NULL */
  int64_t walk_number;      /* the entry it is at; -1: before the first */
  int64_t walk_done;        /* bytes read of that entry */
  uint32_t users;
  uint64_t used; /* time of the last use */
};

struct tm_entries {
  const struct tm_fs *fs;
  char *index_dir;
  struct TM_ARRAY(struct archive_file *) open;
  struct tm_zip_entry *spare;
  uint64_t uses;
  bool sizes_alone;
};

struct tm_entry {
  struct tm_entries *all;
  char *path;
  size_t archive_len;
  struct tm_entry_place place;
  struct archive_file *file; /* NULL: a plain file */
  int fd;
  struct tm_zip_entry *zip;
  int64_t done;
};

struct tm_entries *tm_entries_new(const struct tm_fs *fs, const char *index_dir)
{
  struct tm_entries *all = TM_NEW(struct tm_entries);
  all->fs = fs;
  all->index_dir = tm_xstrdup(index_dir);
  return all;
}

static void close_file(struct archive_file *f)
{
  tm_walk_close(f->walk);
  tm_stream_close(f->stream);
  free(f->path);
  free(f);
}

void tm_entries_free(struct tm_entries *all)
{
  if (all == NULL)
    return;
  for (size_t i = 0; i < all->open.len; i++)
    close_file(all->open.at[i]);
  TM_ARRAY_RELEASE(&all->open);
  tm_zip_entry_close(all->spare, NULL);
  free(all->index_dir);
  free(all);
}

/* ---- archives ---- */

static void drop_one(struct tm_entries *all) /* keeps (1) */
{
  size_t oldest = all->open.len;
  if (all->open.len < OPEN_MAX)
    return;
  for (size_t i = 0; i < all->open.len; i++)
    if (all->open.at[i]->users == 0 &&
        (oldest == all->open.len || all->open.at[i]->used < all->open.at[oldest]->used))
      oldest = i;
  if (oldest == all->open.len)
    return;
  tm_require(all->open.at[oldest]->users == 0); /* keeps (1) */
  close_file(all->open.at[oldest]);
  all->open.at[oldest] = all->open.at[--all->open.len];
}

void tm_entries_compare_sizes(struct tm_entries *all)
{
  all->sizes_alone = true;
}

/* Whether the archive is unchanged since it was listed. */
static int check(const struct tm_entries *all, const char *path, const struct tm_item *item,
                 struct tm_err *err)
{
  struct tm_stat st;
  int rc = all->fs->stat(all->fs->self, path, true, &st);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot open '%s'", path);
  if (st.size == item->size && (all->sizes_alone || st.mtime_ns == item->mtime_ns))
    return 0;
  return tm_err_set(err, TM_ECHANGED,
                    "'%s' has changed since it was listed: it has another size or time", path);
}

static struct tm_stream *open_stream(struct tm_entries *all, const struct archive_file *f,
                                     struct tm_err *err)
{
  struct tm_rows_pack pack = { .index_dir = all->index_dir,
                               .listed_ns = all->sizes_alone ? f->mtime_ns : 0 };
  if (!f->is_zip)
    return tm_rows_open(all->fs, f->path, &pack, false, err);
  int fd = tm_fs_open(all->fs, f->path, O_RDONLY, 0, err);
  return fd < 0 ? NULL : tm_stream_of_file(all->fs, fd, f->path, f->size);
}

static struct archive_file *open_file(struct tm_entries *all, const struct tm_item *item,
                                      struct tm_err *err)
{
  struct archive_file *f = TM_NEW(struct archive_file);
  f->path = tm_xstrndup(item->path, item->archive_len);
  f->path_len = item->archive_len;
  f->size = item->size;
  f->mtime_ns = item->mtime_ns;
  f->is_zip = item->entry.how == TM_ENTRY_IN_ZIP;
  f->walk_number = -1;
  if (check(all, f->path, item, err) == 0)
    f->stream = open_stream(all, f, err);
  if (f->stream != NULL)
    return f;
  close_file(f);
  return NULL;
}

static struct archive_file *find_file(struct tm_entries *all, const struct tm_item *item,
                                      struct tm_err *err)
{
  bool is_zip = item->entry.how == TM_ENTRY_IN_ZIP;
  struct archive_file *f;
  for (size_t i = 0; i < all->open.len; i++) {
    f = all->open.at[i];
    if (f->path_len == item->archive_len && memcmp(f->path, item->path, f->path_len) == 0 &&
        f->is_zip == is_zip && f->size == item->size && f->mtime_ns == item->mtime_ns)
      return f;
  }
  drop_one(all);
  f = open_file(all, item, err);
  if (f != NULL)
    *TM_ARRAY_ADD(&all->open) = f;
  return f;
}

/* ---- opening ---- */

/* "cannot read '1.png' of 'images.zip': <why>"; a long name is cut, so that the reason fits. */
static int name_words(const char *path, size_t len, size_t archive_len, struct tm_err *err)
{
  struct tm_buf name = TM_BUF_NONE;
  tm_text_one_line(&name, path + archive_len + 1, len - archive_len - 1, NAME_SHOWN);
  tm_err_wrap(err, "cannot read '%s' of '%.*s'", tm_buf_str(&name), (int)archive_len, path);
  tm_buf_release(&name);
  return err->code;
}

static int place_words(const struct tm_entry *e, struct tm_err *err)
{
  return e->file ? name_words(e->path, strlen(e->path), e->archive_len, err) : err->code;
}

static int open_plain(struct tm_entry *e, struct tm_err *err)
{
  const struct tm_fs *fs = e->all->fs;
  struct tm_stat st;
  e->fd = tm_fs_open(fs, e->path, O_RDONLY, 0, err);
  if (e->fd < 0)
    return e->fd;
  int rc = fs->fstat(fs->self, e->fd, &st);
  e->place.size = st.size;
  return rc < 0 ? tm_err_system(err, rc, "cannot read '%s'", e->path) : 0;
}

int tm_entry_refuse(const struct tm_entries *all, const struct tm_item *item, struct tm_err *err)
{
  char *path = tm_xstrndup(item->path, item->archive_len);
  int rc = check(all, path, item, err);
  free(path);
  if (rc < 0)
    return rc;
  tm_err_set(err, TM_EINPUT, "%.*s", (int)item->fault_len, item->fault);
  if (tm_item_is_archive(item)) /* the fault names it */
    return TM_EINPUT;
  return name_words(item->path, item->path_len, item->archive_len, err);
}

static int open_entry(struct tm_entry *e, const struct tm_item *item, struct tm_err *err)
{
  e->place = item->entry;
  if (item->fault_len > 0)
    return tm_entry_refuse(e->all, item, err);
  e->file = find_file(e->all, item, err);
  if (e->file == NULL)
    return err->code;
  e->file->users++;
  e->file->used = ++e->all->uses;
  if (e->place.how != TM_ENTRY_IN_ZIP)
    return 0;
  e->zip = tm_zip_entry_open(e->file->stream, e->file->path, &e->place, &e->all->spare, err);
  return e->zip ? 0 : place_words(e, err);
}

struct tm_entry *tm_entry_open(struct tm_entries *all, const struct tm_item *item,
                               struct tm_err *err)
{
  struct tm_entry *e = TM_NEW(struct tm_entry);
  e->all = all;
  e->fd = -1;
  e->path = tm_xstrndup(item->path, item->path_len);
  e->archive_len = item->archive_len;
  if ((item->is_entry ? open_entry(e, item, err) : open_plain(e, err)) == 0)
    return e;
  tm_entry_close(e);
  return NULL;
}

void tm_entry_close(struct tm_entry *e)
{
  if (e == NULL)
    return;
  tm_zip_entry_close(e->zip, &e->all->spare);
  tm_fs_close(e->all->fs, e->fd);
  tm_require(!e->file || e->file->users > 0);
  if (e->file != NULL)
    e->file->users--;
  free(e->path);
  free(e);
}

int64_t tm_entry_size(const struct tm_entry *e)
{
  return e->place.size;
}

/* ---- reading ---- */

/* A worker judges the header of a 7z before libarchive reads it. */
static int judge_seven_zip(struct archive_file *f, struct tm_err *err)
{
  struct tm_seven_zip z;
  int rc = tm_seven_zip_read(&z, f->stream, f->path, err);
  if (rc == 0)
    tm_seven_zip_release(&z);
  return rc;
}

static int walk_again(struct archive_file *f, struct tm_err *err)
{
  bool is_seven_zip = tm_seven_zip_is_in(f->stream);
  tm_walk_close(f->walk);
  f->walk = NULL;
  if (is_seven_zip && judge_seven_zip(f, err) < 0)
    return err->code;
  f->walk =
      tm_walk_open(f->stream, f->path, is_seven_zip ? TM_WALK_SEVEN_ZIP : TM_WALK_IN_ORDER, 0, err);
  f->walk_number = -1;
  f->walk_done = 0;
  return f->walk ? 0 : err->code;
}

static int pass_bytes(struct archive_file *f, int64_t to, struct tm_err *err)
{
  tm_require(f->walk && f->walk_done <= to); /* it goes forward only */
  char passed[4096];
  while (f->walk_done < to) {
    size_t n =
        to - f->walk_done < (int64_t)sizeof passed ? (size_t)(to - f->walk_done) : sizeof passed;
    int64_t got = tm_walk_read(f->walk, passed, n, err);
    if (got < (int64_t)n)
      return got < 0 ? (int)got : tm_err_set(err, TM_EDAMAGE, "its data end too early");
    f->walk_done += got;
  }
  return 0;
}

/* Moves the walk to the entry's read position. Keeps (2). */
static int stand_at(struct tm_entry *e, struct tm_err *err)
{
  struct archive_file *f = e->file;
  struct archive_entry *entry;
  bool is_behind = f->walk_number > e->place.place ||
                   (f->walk_number == e->place.place && f->walk_done > e->done);
  int rc = f->walk == NULL || is_behind ? walk_again(f, err) : 0;
  while (rc == 0 && f->walk_number < e->place.place) {
    rc = tm_walk_next(f->walk, &entry, err);
    if (rc == 0)
      return tm_err_set(err, TM_EDAMAGE, "the archive does not have this entry any more");
    f->walk_number++;
    f->walk_done = 0;
    rc = rc < 0 ? rc : 0;
  }
  return rc < 0 ? rc : pass_bytes(f, e->done, err);
}

static int64_t read_walked(struct tm_entry *e, void *p, size_t n, struct tm_err *err)
{
  int rc = stand_at(e, err);
  int64_t got = rc < 0 ? rc : tm_walk_read(e->file->walk, p, n, err);
  if (got > 0)
    e->file->walk_done += got;
  return got;
}

static int64_t read_some(struct tm_entry *e, void *p, size_t n, struct tm_err *err)
{
  struct tm_stream *s;
  if (e->file == NULL)
    return tm_fs_read_at(e->all->fs, e->fd, e->path, p, n, e->done, err);
  if (e->zip != NULL)
    return tm_zip_entry_read(e->zip, p, n, err);
  if (e->place.how == TM_ENTRY_WALKED)
    return read_walked(e, p, n, err);
  s = e->file->stream;
  return s->read(s, p, n, e->place.place + e->done, err);
}

int64_t tm_entry_read(struct tm_entry *e, void *p, size_t n, struct tm_err *err)
{
  int64_t left = e->place.size - e->done;
  bool is_plain = e->file == NULL;
  n = is_plain || (int64_t)n < left ? n : (size_t)left;
  if (n == 0)
    return 0;
  int64_t got = read_some(e, p, n, err);
  if (got >= 0 && got < (int64_t)n && !is_plain)
    got = tm_err_set(err, TM_EDAMAGE, "its data end too early; the archive has been cut off");
  if (got < 0)
    return place_words(e, err);
  e->done += got;
  return got;
}
