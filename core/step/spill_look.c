/* spill_look.c - see spill_look.h. */
#include "step/spill_look.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/time.h"
#include "sys/errand.h"

#define PIECE    (1u << 20) /* bytes */
#define CLOSE_NS (2 * TM_S)

struct tm_spill_look {
  struct tm_spill_look_options o; /* of these the thread uses fs, length and hash */
  char *path;                     /* or NULL */
  struct TM_ARRAY(char *) files;
  struct tm_look_finding found; /* of the thread until it has ended */
  atomic_bool is_hurried;
  struct tm_errand errand;
};

static int ignore_name(void *data, const char *name, int type)
{
  return 0;
}

/* A client of a network file system may remember that a name does not exist. Reading the folder
 * makes it ask the server again. */
static void refresh_folder(const struct tm_spill_look *l, const char *path)
{
  char *dir = tm_path_dir(path);

  l->o.fs->dir_read(l->o.fs->self, dir, ignore_name, NULL);
  free(dir);
}

static void find_error(struct tm_look_finding *f, int code)
{
  f->kind = code == -ENOENT ? TM_LOOK_MISSING : TM_LOOK_UNREADABLE;
}

/* Whether the file has the right bytes; it has as many. */
static void compare(struct tm_spill_look *l, int fd)
{
  char *piece = tm_xmalloc(PIECE);
  struct tm_hash *sum = tm_hash_new();
  int64_t got = 1;
  uint64_t at = 0;

  while (got > 0 && !atomic_load(&l->is_hurried)) {
    got = tm_fs_read_at(l->o.fs, fd, l->path, piece, PIECE, (int64_t)at, &l->found.err);
    if (got > 0)
      tm_hash_add(sum, piece, (size_t)got);
    at += got > 0 ? (uint64_t)got : 0;
  }
  l->found.length = (int64_t)at;
  if (got < 0)
    find_error(&l->found, (int)got);
  else if (at != l->o.length)
    l->found.kind = TM_LOOK_LENGTH;
  else
    l->found.kind = tm_hash_end(sum) == l->o.hash ? TM_LOOK_GOOD : TM_LOOK_HASH;
  tm_hash_free(sum);
  free(piece);
}

static void look_into(struct tm_spill_look *l, int fd)
{
  struct tm_stat st;
  int rc = l->o.fs->fstat(l->o.fs->self, fd, &st);

  if (rc < 0) {
    tm_err_system(&l->found.err, rc, "cannot look at it");
    find_error(&l->found, rc);
    return;
  }
  l->found.length = st.size;
  if (st.size < 0 || (uint64_t)st.size != l->o.length)
    l->found.kind = TM_LOOK_LENGTH;
  else
    compare(l, fd);
}

static void look_for_rows(struct tm_spill_look *l)
{
  int fd = tm_fs_open(l->o.fs, l->path, O_RDONLY, 0, &l->found.err);

  if (fd == -ENOENT) {
    refresh_folder(l, l->path);
    fd = tm_fs_open(l->o.fs, l->path, O_RDONLY, 0, &l->found.err);
  }
  if (fd < 0) {
    find_error(&l->found, fd);
    return;
  }
  look_into(l, fd);
  tm_fs_close(l->o.fs, fd);
}

/* 0, or a negative code. */
static int look_for_file(const struct tm_spill_look *l, const char *path)
{
  struct tm_stat st;
  int rc = l->o.fs->stat(l->o.fs->self, path, false, &st);

  if (rc == -ENOENT) {
    refresh_folder(l, path);
    rc = l->o.fs->stat(l->o.fs->self, path, false, &st);
  }
  return rc;
}

static void look_for_files(struct tm_spill_look *l)
{
  int rc = 0;

  for (size_t i = 0; rc == 0 && i < l->files.len && !atomic_load(&l->is_hurried); i++) {
    rc = look_for_file(l, l->files.at[i]);
    if (rc < 0) {
      l->found.file = i + 1;
      tm_err_system(&l->found.err, rc, "cannot look at it");
      find_error(&l->found, rc);
    }
  }
}

/* The thread. */
static void run(void *data)
{
  struct tm_spill_look *l = data;

  if (l->path)
    look_for_rows(l);
  if (l->found.kind == TM_LOOK_GOOD)
    look_for_files(l);
}

static void free_look(void *data)
{
  struct tm_spill_look *l = data;

  TM_ARRAY_RELEASE_EACH(&l->files);
  free(l->path);
  free(l);
}

static void on_wake(void *data)
{
  struct tm_spill_look *l = data; /* lives until the loop turns */

  (void)tm_errand_end(&l->errand, TM_ERRAND_JOIN);
  l->o.on_ended(l->o.data, l, &l->found);
}

struct tm_spill_look *tm_spill_look_start(const struct tm_spill_look_options *o, struct tm_err *err)
{
  struct tm_spill_look *l = TM_NEW(struct tm_spill_look);

  l->o = *o;
  l->path = o->path ? tm_xstrdup(o->path) : NULL;
  for (size_t i = 0; i < o->files_len; i++)
    *TM_ARRAY_ADD(&l->files) = tm_xstrdup(o->files[i]);
  atomic_init(&l->is_hurried, false);
  l->errand = (struct tm_errand) {
    .loop = o->loop, .run = run, .on_wake = on_wake, .free_data = free_look, .data = l
  };
  return tm_errand_start(&l->errand, err) == 0 ? l : NULL;
}

void tm_spill_look_hurry(struct tm_spill_look *l)
{
  atomic_store(&l->is_hurried, true);
}

void tm_spill_look_close(struct tm_spill_look *l)
{
  tm_spill_look_hurry(l);
  (void)tm_errand_end(&l->errand, CLOSE_NS);
}
