/* power_trace.c - see power_trace.h. Splits the lines of a trace in place: ops point into its text.
 */
#include "power_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "commit/journal.h"
#include "outputs/upload_mark.h"

const char *const power_steps[POWER_STEPS] = { "alpha", "beta" };

/* Reading. */

struct cursor {
  char *at, *end;
  const char *root;
};

static char *take_line(struct cursor *c)
{
  char *line = c->at, *stop = memchr(line, '\n', (size_t)(c->end - line));
  if (!stop)
    return NULL; /* the program was killed in the middle of it */
  *stop = '\0';
  c->at = stop + 1;
  return line;
}

static const char *beneath(const struct cursor *c, const char *path)
{
  size_t n = strlen(c->root);
  if (strncmp(path, c->root, n) != 0 || (path[n] && path[n] != '/'))
    return NULL;
  return path[n] ? path + n : "/";
}

static bool take_bytes(struct cursor *c, struct power_op *op, size_t len)
{
  if ((size_t)(c->end - c->at) < len + 1)
    return false;
  op->bytes = c->at;
  op->len = len;
  c->at += len + 1;
  return true;
}

/* 1: an op; 0: the end; -1: not a trace. */
static int take_op(struct cursor *c, struct power_op *op)
{
  char word[16] = "";
  int n = 0;
  long long at = 0, len = 0;
  char *line = c->at < c->end ? take_line(c) : NULL;
  if (!line)
    return 0;
  *op = (struct power_op) { .fd = -1 };
  if (strcmp(line, "session") == 0) {
    op->kind = POWER_SESSION;
  } else if (sscanf(line, "open %d %d %d %n", &op->fd, &op->flags, &op->mode, &n) == 3 && n > 0) {
    op->kind = POWER_OPEN;
    op->path = beneath(c, line + n);
  } else if (sscanf(line, "pwrite %d %lld %lld", &op->fd, &at, &len) == 3) {
    op->kind = POWER_WRITE;
    op->at = at;
    return take_bytes(c, op, (size_t)len);
  } else if (sscanf(line, "cut %d %lld", &op->fd, &at) == 2) {
    op->kind = POWER_CUT;
    op->at = at;
  } else if (sscanf(line, "mkdir %d %n", &op->mode, &n) == 1 && n > 0) {
    op->kind = POWER_MKDIR;
    op->path = beneath(c, line + n);
  } else if (sscanf(line, "%15s %d", word, &op->fd) == 2) {
    op->kind = strcmp(word, "close") == 0     ? POWER_CLOSE
               : strcmp(word, "syncing") == 0 ? POWER_SYNCING
                                              : POWER_SYNCED;
  } else if (strncmp(line, "unlink ", 7) == 0) {
    op->kind = POWER_UNLINK;
    op->path = beneath(c, line + 7);
  } else if (strncmp(line, "remove ", 7) == 0) {
    op->kind = POWER_REMOVE;
    op->path = beneath(c, line + 7);
  } else if (strncmp(line, "rename ", 7) == 0 || strncmp(line, "symlink ", 8) == 0 ||
             strncmp(line, "exchange ", 9) == 0) {
    op->kind = line[0] == 'r' ? POWER_RENAME : line[0] == 's' ? POWER_SYMLINK : POWER_EXCHANGE;
    op->path = beneath(c, strchr(line, ' ') + 1);
    op->other = take_line(c);
    if (op->other && op->kind != POWER_SYMLINK)
      op->other = beneath(c, op->other);
    return op->other || !op->path ? 1 : -1;
  } else {
    return -1;
  }
  return 1;
}

/* Classes of fsyncs. */

struct folder {
  char *path, *after; /* after NULL: nothing since the last fsync */
};
struct folders TM_ARRAY(struct folder);

static struct folder *find_folder(struct folders *all, const char *path)
{
  for (size_t i = 0; i < all->len; i++)
    if (strcmp(all->at[i].path, path) == 0)
      return &all->at[i];
  *TM_ARRAY_ADD(all) = (struct folder) { .path = tm_xstrdup(path) };
  return &all->at[all->len - 1];
}

static const char *without_step(const char *name)
{
  for (size_t i = 0; i < POWER_STEPS; i++)
    if (strcmp(name, power_steps[i]) == 0)
      return "STEP";
  return name;
}

static void note_change(struct folders *all, const char *path, const char *what)
{
  char *dir = tm_path_dir(path);
  struct folder *f = find_folder(all, dir);
  free(f->after);
  f->after = tm_xprintf("%s%s", what, without_step(tm_path_base(path)));
  free(dir);
}

static char *class_of_path(const char *path)
{
  if (strcmp(path, "/") == 0)
    return tm_xstrdup("above");
  if (strncmp(path, "/job/", 5) != 0)
    return tm_xstrdup(path + 1);
  path += 5;
  for (size_t i = 0; i < POWER_STEPS; i++) {
    size_t n = strlen(power_steps[i]);
    if (strncmp(path, power_steps[i], n) == 0 && (path[n] == '/' || !path[n]))
      return tm_xprintf("STEP%s", path + n);
  }
  return tm_xstrdup(path);
}

static void set_class(struct power_op *op, const char *path, bool is_dir, struct folders *all)
{
  char *name = class_of_path(path);
  if (!is_dir) {
    op->sync_class = name;
    return;
  }
  struct folder *f = find_folder(all, path);
  op->sync_class =
      f->after ? tm_xprintf("%s after %s", name, f->after) : tm_xprintf("%s again", name);
  free(f->after);
  f->after = NULL;
  free(name);
}

static void set_classes(struct power_trace *t)
{
  const struct power_op *opened[256] = { NULL };
  struct folders folders = { 0 };
  for (size_t i = 0; i < t->ops.len; i++) {
    struct power_op *op = &t->ops.at[i];
    if (op->fd >= 0)
      tm_require(op->fd < 256);
    if (op->kind == POWER_OPEN)
      opened[op->fd] = op;
    else if (op->kind == POWER_SYNCED && opened[op->fd] && opened[op->fd]->path)
      set_class(op, opened[op->fd]->path, opened[op->fd]->flags & O_DIRECTORY, &folders);
    else if (op->kind == POWER_MKDIR && op->path)
      note_change(&folders, op->path, "");
    else if ((op->kind == POWER_RENAME || op->kind == POWER_EXCHANGE) && op->other)
      note_change(&folders, op->other, "");
    else if ((op->kind == POWER_UNLINK || op->kind == POWER_REMOVE) && op->path)
      note_change(&folders, op->path, "removing ");
  }
  for (size_t i = 0; i < folders.len; i++) {
    free(folders.at[i].path);
    free(folders.at[i].after);
  }
  TM_ARRAY_RELEASE(&folders);
}

bool power_trace_read(struct power_trace *t, const char *file, const char *root)
{
  struct power_op op;
  int rc;
  memset(t, 0, sizeof(*t));
  if (tm_fs_read_file(tm_fs_real(), file, 64u << 20, &t->text, NULL) < 0)
    return false;
  struct cursor c = { t->text.data, t->text.data + t->text.len, root };
  while ((rc = take_op(&c, &op)) > 0)
    *TM_ARRAY_ADD(&t->ops) = op;
  set_classes(t);
  return rc == 0 && t->ops.len > 0;
}

void power_trace_release(struct power_trace *t)
{
  for (size_t i = 0; i < t->ops.len; i++)
    free(t->ops.at[i].sync_class);
  TM_ARRAY_RELEASE(&t->ops);
  tm_buf_release(&t->text);
}

/* Replaying. */

static void forget_descriptors(struct power_replay *r)
{
  for (size_t i = 0; i < TM_COUNT_OF(r->fds); i++)
    r->fds[i] = -1;
  for (size_t i = 0; i < POWER_STEPS; i++)
    r->promised[i].is_of_session = false;
}

void power_replay_init(struct power_replay *r, uint64_t seed)
{
  memset(r, 0, sizeof(*r));
  r->disk = tm_disk_new(seed);
  forget_descriptors(r);
}

void power_replay_release(struct power_replay *r)
{
  tm_disk_free(r->disk);
}

bool power_is_left_out(const char *const *patterns, const char *sync_class)
{
  for (; patterns && *patterns; patterns++)
    if (fnmatch(*patterns, sync_class, 0) == 0)
      return true;
  return false;
}

static bool is_there(struct power_replay *r, const char *path)
{
  const struct tm_fs *fs = tm_disk_fs(r->disk);
  struct tm_stat st;
  return fs->stat(fs->self, path, false, &st) == 0;
}

static void need_parent(struct power_replay *r, const char *path)
{
  const struct tm_fs *fs = tm_disk_fs(r->disk);
  char *dir = tm_path_dir(path);
  if (!is_there(r, dir)) {
    need_parent(r, dir);
    tm_require(fs->mkdir(fs->self, dir, 0700) == 0);
  }
  free(dir);
}

/* Names that were removed without the table are noticed when they are used again. */
static void need_none(struct power_replay *r, const char *path)
{
  need_parent(r, path);
  tm_fs_remove_tree(tm_disk_fs(r->disk), path, NULL);
}

static void open_one(struct power_replay *r, const struct power_op *op)
{
  const struct tm_fs *fs = tm_disk_fs(r->disk);
  if (!op->path) {
    r->fds[op->fd] = -1;
    return;
  }
  if (op->flags & O_EXCL)
    need_none(r, op->path);
  need_parent(r, op->path);
  if (op->flags & O_DIRECTORY && !is_there(r, op->path))
    fs->mkdir(fs->self, op->path, 0700);
  r->fds[op->fd] = fs->open(fs->self, op->path,
                            op->flags & O_DIRECTORY ? op->flags : op->flags | O_CREAT, op->mode);
  tm_require(r->fds[op->fd] >= 0);
}

/* Whether it is a sync record that is written to a journal. */
static void note_promise(struct power_replay *r, size_t step, const struct power_op *op)
{
  struct tm_record record;
  for (size_t at = 0; at + TM_RECORD_SIZE <= op->len; at += TM_RECORD_SIZE) {
    if (tm_record_decode(&record, op->bytes + at) < 0 || record.kind != TM_RECORD_SYNC)
      continue;
    r->promised[step] =
        (struct power_promise) { .journal = record.journal_len,
                                 .manifest = record.manifest_len,
                                 .output = record.output_len,
                                 .failures = record.failures_len,
                                 .is_of_session = !is_there(r, "/job/job_result.json") };
  }
}

static void run_change(struct power_replay *r, const struct power_op *op)
{
  const struct tm_fs *fs = tm_disk_fs(r->disk);
  switch (op->kind) {
  case POWER_MKDIR:
    need_none(r, op->path);
    tm_require(fs->mkdir(fs->self, op->path, op->mode) == 0);
    break;
  case POWER_UNLINK: fs->unlink(fs->self, op->path); break;
  case POWER_REMOVE: tm_fs_remove_tree(fs, op->path, NULL); break;
  case POWER_SYMLINK:
    need_none(r, op->path);
    tm_require(fs->symlink(fs->self, op->other, op->path) == 0);
    break;
  case POWER_EXCHANGE: tm_require(fs->exchange(fs->self, op->path, op->other) == 0); break;
  default:
    need_parent(r, op->other);
    tm_require(fs->rename(fs->self, op->path, op->other) == 0);
    break;
  }
}

/* Uploads. */

struct search {
  struct tm_disk *disk;
  const char *start; /* of the name */
  uint64_t number;
  char *found;
};

static int on_upload_name(void *data, const char *name, int type)
{
  struct search *s = data;
  const struct tm_fs *fs = tm_disk_fs(s->disk);
  char *path = tm_xprintf("/%s", name);
  struct tm_stat st;
  bool is_it = strncmp(name, s->start, strlen(s->start)) == 0 &&
               fs->stat(fs->self, path, false, &st) == 0 && (s->number == 0 || st.ino == s->number);
  if (is_it && !s->found)
    s->found = path;
  else
    free(path);
  return 0;
}

static char *find_upload(struct tm_disk *disk, const char *start, uint64_t number)
{
  struct search s = { .disk = disk, .start = start, .number = number };
  tm_disk_fs(disk)->dir_read(disk, "/", on_upload_name, &s);
  return s.found;
}

char *power_upload_find(struct tm_disk *disk, uint64_t number)
{
  return find_upload(disk, POWER_UPLOAD, number);
}

/* Replaces the look in a mark by the look of the folder on the simulated disk. */
static void set_look(struct power_replay *r, struct tm_json *look, const char *folder)
{
  struct tm_upload_look is;
  tm_require(folder && tm_upload_look(&is, tm_disk_fs(r->disk), folder, NULL) == 0);
  tm_upload_mark_set_look(look, &is);
}

/* Returns false if it is not a mark. A mark is written when the copy is made, beside the upload
 * that it replaces.
 */
static bool write_mark(struct power_replay *r, int fd, const struct power_op *op, const char *path)
{
  const struct tm_fs *fs = tm_disk_fs(r->disk);
  char *mark = tm_xprintf("/job/%s/state/upload.0.tmp", power_steps[0]);
  bool is_mark = strcmp(path, mark) == 0;
  if (is_mark) {
    char *copy = find_upload(r->disk, POWER_UPLOAD ".", 0);
    struct tm_json *v = tm_json_parse(op->bytes, op->len, NULL);
    struct tm_buf text = TM_BUF_NONE;
    tm_require(v != NULL);
    set_look(r, v, copy);
    if (tm_json_get(v, "replaces"))
      set_look(r, tm_json_set(v, "replaces", tm_json_new(TM_JSON_OBJECT)), "/" POWER_UPLOAD);
    tm_json_write(&text, v, (struct tm_json_style) { 0 });
    tm_require(fs->pwrite(fs->self, fd, text.data, text.len, op->at) == (int64_t)text.len);
    tm_buf_release(&text);
    tm_json_free(v);
    free(copy);
  }
  free(mark);
  return is_mark;
}

static void run_one(struct power_replay *r, const struct power_op *op, const char *path_of_fd)
{
  const struct tm_fs *fs = tm_disk_fs(r->disk);
  int fd = op->fd >= 0 ? r->fds[op->fd] : -1;
  switch (op->kind) {
  case POWER_SESSION:
    tm_disk_kill(r->disk);
    forget_descriptors(r);
    break;
  case POWER_OPEN: open_one(r, op); break;
  case POWER_CLOSE:
    if (fd >= 0)
      fs->close(fs->self, fd);
    r->fds[op->fd] = -1;
    break;
  case POWER_WRITE:
    if (fd < 0 || write_mark(r, fd, op, path_of_fd))
      break;
    tm_require(fs->pwrite(fs->self, fd, op->bytes, op->len, op->at) == (int64_t)op->len);
    for (size_t i = 0; i < POWER_STEPS; i++) {
      char *journal = tm_xprintf("/job/%s/state/journal", power_steps[i]);
      if (strcmp(path_of_fd, journal) == 0)
        note_promise(r, i, op);
      free(journal);
    }
    break;
  case POWER_CUT:
    if (fd >= 0)
      fs->ftruncate(fs->self, fd, op->at);
    break;
  case POWER_SYNCING: r->marks[op->fd] = tm_disk_mark(r->disk); break;
  case POWER_SYNCED:
    if (fd >= 0 && !power_is_left_out(r->left_out, op->sync_class))
      tm_disk_sync(r->disk, fd, r->marks[op->fd]);
    break;
  default:
    if (op->path)
      run_change(r, op);
    break;
  }
}

void power_replay_run(struct power_replay *r, const struct power_trace *t, size_t from, size_t to)
{
  const char *paths[256] = { NULL };
  for (size_t i = 0; i < to; i++) {
    const struct power_op *op = &t->ops.at[i];
    if (op->kind == POWER_OPEN)
      paths[op->fd] = op->path;
    if (i >= from)
      run_one(r, op, op->fd >= 0 && paths[op->fd] ? paths[op->fd] : "");
  }
}
