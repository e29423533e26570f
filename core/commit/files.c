/* files.c - see files.h.
 *
 *  (1) A file gets its name after its line was written to the log, and before the record that
 *      commits it: after a kill, recovery finds the names that no record covers, and removes the
 *      files.
 *  (2) After a power failure, a record without its files does not count (tm_files_are_there), and
 *      the mini-batch is run again.
 *  (3) When a line is cut, its file has been removed from the disk.
 */
#include "commit/files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/agent_msg.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"

#define HASH_LEN   16 /* hexadecimal digits */
#define LINE_MAX_  (HASH_LEN + 1 + 20 + 1 + TM_OUTPUT_NAME_MAX + 1)
#define MOVE_BYTES (4u << 10) /* the cost of a rename, in bytes of rows */

int tm_files_open(struct tm_files *f, const struct tm_fs *fs, const char *path,
                  const char *output_dir, const char *output_name, struct tm_err *err)
{
  f->output_dir = tm_xstrdup(output_dir);
  f->output_name = tm_xstrdup(output_name);
  return tm_output_open(&f->log, fs, path, err);
}

static void release_move(struct tm_move *m)
{
  free(m->from);
  free(m->to);
  free(m->name);
  free(m->root);
}

static void release_dirs(struct tm_dirs *d)
{
  tm_strings_free(d->at, d->len);
  tm_map_release(&d->known);
  *d = (struct tm_dirs) { 0 };
}

void tm_files_close(struct tm_files *f)
{
  f->added = 0;
  tm_files_drop(f);
  free(f->moves);
  tm_claims_release(&f->claims);
  release_dirs(&f->dirty);
  release_dirs(&f->syncing);
  free(f->output_dir);
  free(f->output_name);
  tm_output_close(&f->log);
}

/* ---- the lines ---- */

/* The lines of a part of the log, one after the other: init, next until it returns 0, release. */
struct lines {
  struct tm_output *log;
  int64_t at, end; /* of the next line; of the part */
  uint64_t index;
  char name[TM_OUTPUT_NAME_MAX + 1];
};

static bool read_line(struct lines *l, const char *line, size_t len)
{
  char hash[HASH_LEN + 1], *rest;
  if (len <= HASH_LEN + 1)
    return false;
  const char *said = line + HASH_LEN + 1;
  snprintf(hash, sizeof(hash), "%016" PRIx64, tm_hash64(said, len - HASH_LEN - 1));
  if (memcmp(hash, line, HASH_LEN) != 0)
    return false;
  l->index = strtoull(said, &rest, 10);
  size_t name_len = len - (size_t)(rest + 1 - line) - 1;
  if (!tm_output_file_is_good(rest + 1, name_len))
    return false;
  memcpy(l->name, rest + 1, name_len);
  l->name[name_len] = 0;
  return true;
}

/* 1: a line. 0: the end, or an invalid line after a power failure. */
static int next_line(struct lines *l, struct tm_err *err)
{
  char bytes[LINE_MAX_];
  if (l->at >= l->end)
    return 0;
  size_t want = l->end - l->at < (int64_t)sizeof(bytes) ? (size_t)(l->end - l->at) : sizeof(bytes);
  int64_t got = tm_fs_read_at(l->log->fs, l->log->fd, l->log->path, bytes, want, l->at, err);
  if (got <= 0)
    return (int)got;
  const char *stop = memchr(bytes, '\n', (size_t)got);
  if (!stop || !read_line(l, bytes, (size_t)(stop + 1 - bytes)))
    return 0;
  l->at += stop + 1 - bytes;
  return 1;
}

static void add_line(struct tm_files *f, uint64_t index, const char *name, struct tm_buf *lines)
{
  struct tm_buf said = TM_BUF_NONE;
  tm_buf_printf(&said, "%" PRIu64 " %s\n", index, name);
  tm_buf_printf(lines, "%016" PRIx64 " ", tm_hash64(said.data, said.len));
  tm_buf_add(lines, said.data, said.len);
  tm_buf_release(&said);
}

/* ---- noting ---- */

/* 1: the name belongs to the mini-batch *index. */
static int find_owner(struct tm_files *f, const char *name, uint64_t *index, struct tm_err *err)
{
  struct lines l = { .log = &f->log, .end = f->log.written };
  int rc;
  while ((rc = next_line(&l, err)) > 0)
    if (strcmp(l.name, name) == 0) {
      *index = l.index;
      return 1;
    }
  return rc;
}

static int refuse_twice(const char *name, const char *whose, struct tm_err *err)
{
  char *call = tm_output_file_call(name);
  tm_err_set(err, TM_EDAMAGE,
             "%s: %s has that name; put context.minibatch_index in it, so that each mini-batch has "
             "names of its own",
             call, whose);
  free(call);
  return TM_EDAMAGE;
}

static int refuse_below(const char *name, struct tm_err *err)
{
  char *call = tm_output_file_call(name);
  tm_err_set(err, TM_EDAMAGE,
             "%s: another mini-batch has a file where its folder would be; give files other names "
             "than folders",
             call);
  free(call);
  return TM_EDAMAGE;
}

/* Checks the name against moves that are not carried out yet. */
static int check_moves(const struct tm_files *f, const char *name, const char *to,
                       struct tm_err *err)
{
  uint64_t number;
  switch (tm_claims_find(&f->claims, to, &number)) {
  case TM_CLAIM_FILE:
    return refuse_twice(name, number < f->added ? "another mini-batch" : "this one already", err);
  case TM_CLAIM_FOLDER: return refuse_twice(name, "a folder", err);
  case TM_CLAIM_BELOW: return refuse_below(name, err);
  case TM_CLAIM_NONE: break;
  }
  return 0;
}

static int check_name(struct tm_files *f, const char *name, const char *to, struct tm_err *err)
{
  char whose[64];
  uint64_t index;
  size_t n = f->output_name ? strlen(f->output_name) : 0;
  if (n > 0 && strncmp(name, f->output_name, n) == 0 &&
      (name[n] == 0 || strcmp(name + n, ".partial") == 0))
    return refuse_twice(name, "the file of append_row", err);
  int rc = check_moves(f, name, to, err);
  if (rc < 0)
    return rc;
  struct tm_stat st;
  rc = f->log.fs->stat(f->log.fs->self, to, false, &st);
  if (rc == -ENOTDIR)
    return refuse_below(name, err);
  if (rc < 0) /* usually it does not exist; the rename reports other errors */
    return 0;
  if ((st.mode & S_IFMT) == S_IFDIR)
    return refuse_twice(name, "a folder", err);
  if ((rc = find_owner(f, name, &index, err)) <= 0)
    return rc;
  snprintf(whose, sizeof(whose), "mini-batch %" PRIu64, index);
  return refuse_twice(name, whose, err);
}

/* The worker may be hostile: an output must be an existing folder. */
static int check_output(const struct tm_files *f, const char *to, struct tm_err *err)
{
  size_t n = strlen(f->output_dir);
  struct tm_stat st;
  if (to[n] == '/')
    return 0;
  char *folder = tm_xstrndup(to, n + strcspn(to + n, "/"));
  int rc = f->log.fs->stat(f->log.fs->self, folder, true, &st);
  if (rc < 0)
    tm_err_set(err, TM_EDAMAGE, "a worker named an output that does not exist: '%s'", folder);
  free(folder);
  return rc < 0 ? TM_EDAMAGE : 0;
}

static int refuse_gone(const char *name, struct tm_err *err)
{
  char *call = tm_output_file_call(name);
  tm_err_set(err, TM_EDAMAGE, "%s: the file does not exist any more", call);
  free(call);
  return TM_EDAMAGE;
}

static int note_one(struct tm_files *f, const char *staging, const char *bytes, size_t len,
                    struct tm_err *err)
{
  struct tm_stat st;
  if (!bytes || !tm_output_file_is_good(bytes, len))
    return tm_err_set(err, TM_EDAMAGE, "a worker named an output file that cannot be one");
  struct tm_move m = { .name = tm_xstrndup(bytes, len) };
  m.from = tm_output_file_staged(f->log.fs, f->output_dir, staging, m.name);
  m.to = tm_output_file_place(f->output_dir, m.name);
  int rc = check_output(f, m.to, err);
  if (rc == 0)
    rc = check_name(f, m.name, m.to, err);
  if (rc == 0 &&
      (f->log.fs->stat(f->log.fs->self, m.from, false, &st) < 0 || (st.mode & S_IFMT) != S_IFREG))
    rc = refuse_gone(m.name, err);
  if (rc < 0) {
    release_move(&m);
    return rc;
  }
  tm_array_reserve((void **)&f->moves, f->moves_len + 1, &f->moves_cap, sizeof(*f->moves));
  tm_claims_add(&f->claims, m.to, f->moves_len);
  f->moves[f->moves_len++] = m;
  return 0;
}

static void drop_to(struct tm_files *f, size_t len)
{
  tm_require(f->added <= len); /* the lines of the added ones are in the log */
  while (f->moves_len > len) {
    struct tm_move *m = &f->moves[--f->moves_len];
    tm_claims_remove(&f->claims, m->to);
    release_move(m);
  }
}

int tm_files_note(struct tm_files *f, const char *staging, const char *names, size_t len,
                  struct tm_err *err)
{
  struct tm_reader r;
  size_t before = f->moves_len;
  int rc = 0;
  tm_reader_init(&r, names, len);
  while (rc == 0 && r.at < r.end && !r.bad) {
    size_t name_len = 0;
    const char *name = tm_read_bytes32(&r, &name_len);
    rc = note_one(f, staging, name, name_len, err);
  }
  tm_require(f->claims.len == f->moves_len);
  if (rc < 0)
    drop_to(f, before);
  else if (f->moves_len > before)
    f->moves[f->moves_len - 1].root = tm_xstrdup(staging);
  return rc;
}

void tm_files_drop(struct tm_files *f)
{
  drop_to(f, f->added);
}

bool tm_files_add(struct tm_files *f, uint64_t index, struct tm_record *r)
{
  struct tm_buf lines = TM_BUF_NONE;
  if (f->moves_len == f->added)
    return false;
  for (size_t i = f->added; i < f->moves_len; i++)
    add_line(f, index, f->moves[i].name, &lines);
  f->added = f->moves_len;
  tm_output_add(&f->log, lines.data, lines.len);
  *r = (struct tm_record) { .kind = TM_RECORD_FILES };
  r->files_index = index;
  r->files_end = f->log.end;
  r->files_hash = tm_hash64(lines.data, lines.len);
  tm_buf_release(&lines);
  return true;
}

size_t tm_files_pending(const struct tm_files *f)
{
  return f->log.pending.len + f->added * MOVE_BYTES;
}

/* ---- moving ---- */

static void add_dirty(struct tm_files *f, const char *dir)
{
  bool is_new;
  tm_map_add(&f->dirty.known, dir, strlen(dir), &is_new);
  if (!is_new)
    return;
  tm_array_reserve((void **)&f->dirty.at, f->dirty.len + 1, &f->dirty.cap, sizeof(char *));
  f->dirty.at[f->dirty.len++] = tm_xstrdup(dir);
}

static void add_dirty_parent(struct tm_files *f, const char *path)
{
  char *dir = tm_path_dir(path);
  add_dirty(f, dir);
  free(dir);
}

/* Makes the folders between its output's folder and the file. The group commit fsyncs them. */
static int make_parents(struct tm_files *f, const char *to, struct tm_err *err)
{
  const struct tm_fs *fs = f->log.fs;
  char *path = tm_xstrdup(to);
  int rc = 0;
  char *from = path + strlen(f->output_dir);
  for (char *slash = strchr(from, '/') + 1; rc == 0 && (slash = strchr(slash, '/'));
       *slash++ = '/') {
    *slash = 0;
    int made = fs->mkdir(fs->self, path, 0777);
    if (made == 0)
      add_dirty_parent(f, path);
    else if (made != -EEXIST)
      rc = tm_err_system(err, made, "cannot make the folder '%s'", path);
  }
  free(path);
  return rc;
}

static int carry_out(struct tm_files *f, struct tm_move *m, struct tm_err *err)
{
  const struct tm_fs *fs = f->log.fs;
  int rc = make_parents(f, m->to, err);
  if (rc < 0)
    return rc;
  if ((rc = fs->rename(fs->self, m->from, m->to)) < 0)
    return tm_err_system(err, rc, "cannot rename '%s' to '%s'", m->from, m->to);
  add_dirty_parent(f, m->to);
  if (m->root)
    tm_staging_remove(fs, f->output_dir,
                      m->root); /* empty folders; leftovers are removed when the step ends */
  return 0;
}

/* The first `done` moves are carried out. */
static void take_away(struct tm_files *f, size_t done)
{
  tm_require(done <= f->added && f->added <= f->moves_len);
  f->moves_len -= done;
  f->added -= done;
  memmove(f->moves, f->moves + done, f->moves_len * sizeof(*f->moves));
  tm_claims_release(&f->claims);
  for (size_t i = 0; i < f->moves_len; i++)
    tm_claims_add(&f->claims, f->moves[i].to, i);
}

int tm_files_carry_out(struct tm_files *f, struct tm_err *err)
{
  tm_require(f->log.pending.len == 0); /* keeps (1) */
  size_t done = 0;
  int rc = 0;
  while (done < f->added && (rc = carry_out(f, &f->moves[done], err)) == 0)
    release_move(&f->moves[done++]);
  if (done > 0)
    take_away(f, done);
  return rc;
}

void tm_files_begin_sync(struct tm_files *f)
{
  release_dirs(&f->syncing);
  f->syncing = f->dirty;
  f->dirty = (struct tm_dirs) { 0 };
}

int tm_files_sync_dirs(const struct tm_files *f, struct tm_err *err)
{
  int rc = 0;
  for (size_t i = 0; i < f->syncing.len && rc == 0; i++)
    rc = tm_fs_sync_dir(f->log.fs, f->syncing.at[i], err);
  return rc;
}

void tm_files_end_sync(struct tm_files *f)
{
  release_dirs(&f->syncing);
}

/* ---- recovery ---- */

/* Adds the existing folders of a name, from output_dir down: the last session may have made any of
 * them, and the next one would not fsync existing ones. */
static void add_dirty_path(struct tm_files *f, const char *path)
{
  char *dir = tm_path_dir(path);
  size_t n = strlen(f->output_dir);
  while (strlen(dir) >= n) {
    char *above = tm_path_dir(dir);
    if (tm_fs_exists(f->log.fs, dir))
      add_dirty(f, dir);
    free(dir);
    dir = above;
  }
  free(dir);
}

int tm_files_are_there(struct tm_files *f, int64_t from, int64_t to, struct tm_err *err)
{
  tm_require(from >= 0 && from <= to);
  struct lines l = { .log = &f->log, .at = from, .end = to };
  int rc;
  while ((rc = next_line(&l, err)) > 0) {
    struct tm_stat st;
    char *path = tm_output_file_place(f->output_dir, l.name);
    bool is_there = f->log.fs->stat(f->log.fs->self, path, false, &st) == 0;
    if (is_there)
      add_dirty_path(f, path);
    free(path);
    if (!is_there)
      return 0;
  }
  return rc < 0 ? rc : l.at == to;
}

int tm_files_cut(struct tm_files *f, int64_t end, struct tm_err *err)
{
  tm_require(end >= 0 && end <= f->log.end);
  const struct tm_fs *fs = f->log.fs;
  struct lines l = { .log = &f->log, .at = end, .end = f->log.end };
  int rc;
  while ((rc = next_line(&l, err)) > 0) {
    char *path = tm_output_file_place(f->output_dir, l.name);
    int gone = fs->unlink(fs->self, path);
    if (gone == 0 || gone == -ENOENT)
      add_dirty_path(f, path);
    else if (gone != -ENOTDIR)
      rc = tm_err_system(err, gone, "cannot remove '%s', whose mini-batch is not committed", path);
    free(path);
    if (rc < 0)
      break;
  }
  if (rc == 0) { /* keeps (3) */
    tm_files_begin_sync(f);
    rc = tm_files_sync_dirs(f, err);
    tm_files_end_sync(f);
  }
  return rc < 0 ? rc : tm_output_cut(&f->log, end, err);
}
