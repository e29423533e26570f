/* step.h - a step in a real folder, for tests of commit/commit.h, and a table of file calls that
 * logs what was done, in order. Include it after cmocka.h. */
#ifndef TM_TESTS_STEP_H
#define TM_TESTS_STEP_H

#include "base/path.h"
#include "commit/commit.h"
#include "commit/journal.h"
#include "commit/manifest.h"
#include "folder.h"

/* Uses real files. Each pwrite, fsync and rename appends "write:name ", "fsync:name " or
 * "rename:name " to `log`. The call that matches `fail_on` returns `code`. */
struct watched {
  struct tm_fs fs;
  struct tm_buf log;
  char names[1024][32]; /* by descriptor */
  const char *fail_on;  /* "write:journal", or NULL */
  int code;
};

static inline int watched_note(struct watched *w, const char *what, const char *name)
{
  char word[80];
  snprintf(word, sizeof(word), "%s:%s", what, name);
  tm_buf_printf(&w->log, "%s ", word);
  return w->fail_on && strcmp(w->fail_on, word) == 0 ? w->code : 0;
}

static inline int watched_open(void *self, const char *path, int flags, int mode)
{
  struct watched *w = self;
  int fd = tm_fs_real()->open(tm_fs_real()->self, path, flags, mode);
  if (fd >= 0 && fd < 1024)
    snprintf(w->names[fd], sizeof(w->names[fd]), "%s", tm_path_base(path));
  return fd;
}

static inline int64_t watched_pwrite(void *self, int fd, const void *p, size_t n, int64_t at)
{
  struct watched *w = self;
  int rc = watched_note(w, "write", w->names[fd]);
  return rc < 0 ? rc : tm_fs_real()->pwrite(tm_fs_real()->self, fd, p, n, at);
}

static inline int watched_fsync(void *self, int fd)
{
  struct watched *w = self;
  int rc = watched_note(w, "fsync", w->names[fd]);
  return rc < 0 ? rc : tm_fs_real()->fsync(tm_fs_real()->self, fd);
}

static inline int watched_rename(void *self, const char *from, const char *to)
{
  struct watched *w = self;
  int rc = watched_note(w, "rename", tm_path_base(to));
  return rc < 0 ? rc : tm_fs_real()->rename(tm_fs_real()->self, from, to);
}

static inline void watched_init(struct watched *w)
{
  memset(w, 0, sizeof(*w));
  w->fs = *tm_fs_real();
  w->fs.self = w;
  w->fs.open = watched_open;
  w->fs.pwrite = watched_pwrite;
  w->fs.fsync = watched_fsync;
  w->fs.rename = watched_rename;
}

struct step {
  struct folder folder; /* the folder of state/ and the output */
  struct watched files;
  struct tm_commit_options options;
  struct tm_commit_found found;
  struct tm_commit *commit;
  struct tm_err err;
};

static inline void step_init(struct step *s)
{
  memset(s, 0, sizeof(*s));
  folder_init(&s->folder);
  watched_init(&s->files);
  s->options = (struct tm_commit_options) { .fs = &s->files.fs,
                                            .step_dir = s->folder.path,
                                            .output_dir = s->folder.path,
                                            .output_name = "rows" };
}

static inline int step_open(struct step *s)
{
  s->err = (struct tm_err)TM_ERR_NONE;
  int rc = tm_commit_open(&s->commit, &s->options, &s->found, &s->err);
  if (rc == 0 && (rc = tm_commit_begin(s->commit, &s->err)) < 0) {
    tm_commit_close(s->commit);
    s->commit = NULL;
  }
  return rc;
}

static inline void step_close(struct step *s)
{
  tm_commit_close(s->commit);
  s->commit = NULL;
}

static inline void step_must_open(struct step *s)
{
  if (step_open(s) < 0)
    fail_msg("%s", s->err.text);
  tm_buf_clear(&s->files.log);
}

static inline void step_release(struct step *s)
{
  step_close(s);
  tm_buf_release(&s->files.log);
  folder_release(&s->folder);
}

static inline void step_list(struct step *s, uint64_t count)
{
  struct tm_manifest *m = tm_commit_manifest(s->commit);
  for (uint64_t i = 0; i < count; i++)
    assert_int_equal(tm_manifest_add(m, 0, 2, &i, sizeof(i), NULL), 0);
  assert_int_equal(tm_manifest_end(m, NULL), 0);
}

static inline void step_done(struct step *s, uint64_t index, const char *rows)
{
  struct tm_outcome o = { .index = index, .try = 1, .items = 2, .succeeded = 2, .returned = 2 };
  tm_commit_add_done(s->commit, &o, rows, strlen(rows));
}

static inline void step_failed(struct step *s, uint64_t index, const char *lines)
{
  struct tm_outcome o = { .index = index, .try = 3, .items = 2 };
  tm_commit_add_failed(s->commit, &o, lines, strlen(lines));
}

static inline int step_flush(struct step *s)
{
  return tm_commit_flush(s->commit, &s->err);
}

static inline int step_sync(struct step *s)
{
  struct tm_sync sync;
  if (!tm_commit_sync_begin(s->commit, &sync))
    return 1;
  tm_sync_run(&sync);
  return tm_commit_sync_end(s->commit, &sync, &s->err);
}

static inline void step_is_text(struct step *s, const char *name, const char *want)
{
  char *text = folder_text(&s->folder, name);
  assert_string_equal(text, want);
  free(text);
}

/* Position of the n-th record (from 0) of a kind in the journal; -1: not found. */
static inline int64_t step_record_at(struct step *s, enum tm_record_kind kind, int n)
{
  struct tm_record r;
  char b[TM_RECORD_SIZE];
  int fd = tm_fs_open(tm_fs_real(), folder_file(&s->folder, "state/journal"), O_RDONLY, 0, NULL);
  int64_t at = 0;
  while (tm_fs_read_at(tm_fs_real(), fd, "journal", b, sizeof(b), at, NULL) == (int64_t)sizeof(b)) {
    if (tm_record_decode(&r, b) == 0 && r.kind == kind && n-- == 0) {
      tm_fs_close(tm_fs_real(), fd);
      return at;
    }
    at += TM_RECORD_SIZE;
  }
  tm_fs_close(tm_fs_real(), fd);
  return -1;
}

#endif
