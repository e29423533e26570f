/* upload_mark.c - see upload_mark.h.
 *
 * The hash of names is a sum over the files, so that it does not depend on the order in which a
 * folder lists them.
 */
#include "outputs/upload_mark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"

#define PIECE    (1u << 20)  /* bytes */
#define MARK_MAX (64u << 10) /* bytes; a path may be escaped */

/* A folder on the way. */
struct walk {
  const struct tm_fs *fs;
  struct tm_upload_look *look;
  const char *path;
  size_t top_len; /* of the path of the examined folder */
  struct tm_err *err;
};

static void add_words(struct tm_upload_look *look, const struct tm_buf *words)
{
  look->names += tm_hash64(words->data, words->len);
}

static int look_at_name(struct walk *w, const char *path);

static int on_name(void *data, const char *name, int type)
{
  struct walk *w = data;
  char *path = tm_path_join(w->path, name);
  int rc = look_at_name(w, path);

  free(path);
  return rc;
}

static int look_at_folder(const struct walk *above, const char *path)
{
  struct walk w = *above;
  int rc;

  w.path = path;
  rc = w.fs->dir_read(w.fs->self, path, on_name, &w);
  if (rc < 0 && (!w.err || w.err->code == 0))
    tm_err_system(w.err, rc, "cannot read folder '%s'", path);
  return rc;
}

static int look_at_name(struct walk *w, const char *path)
{
  struct tm_buf words = TM_BUF_NONE;
  struct tm_stat st;
  char *leads_to = NULL;
  int rc = w->fs->stat(w->fs->self, path, false, &st);

  if (rc < 0)
    return tm_err_system(w->err, rc, "cannot look at '%s'", path);
  tm_buf_printf(&words, "%s%c%o %c", path + w->top_len, 0, st.mode & S_IFMT, 0);
  if (S_ISLNK(st.mode) && (rc = tm_fs_link_read(w->fs, path, &leads_to, w->err)) >= 0)
    tm_buf_add_str(&words, leads_to);
  if (S_ISREG(st.mode)) {
    tm_buf_printf(&words, "%" PRId64 " %" PRId64, st.size, st.mtime_ns);
    w->look->files++;
    w->look->bytes += st.size;
  }
  add_words(w->look, &words);
  if (S_ISDIR(st.mode))
    rc = look_at_folder(w, path);
  tm_buf_release(&words);
  free(leads_to);
  return rc < 0 ? rc : 0;
}

int tm_upload_look(struct tm_upload_look *out, const struct tm_fs *fs, const char *path,
                   struct tm_err *err)
{
  struct tm_err why = TM_ERR_NONE;
  struct walk w = { .fs = fs, .look = out, .top_len = strlen(path), .err = &why };
  struct tm_stat st;
  int rc = fs->stat(fs->self, path, false, &st);

  *out = (struct tm_upload_look) { .ino = 0 };
  if (rc < 0)
    return tm_err_system(err, rc, "cannot look at '%s'", path);
  out->ino = st.ino;
  out->mtime_ns = st.mtime_ns;
  if (!S_ISDIR(st.mode)) {
    out->files = 1;
    out->bytes = st.size;
    return 0;
  }
  if ((rc = look_at_folder(&w, path)) < 0 && err)
    *err = why;
  return rc < 0 ? rc : 0;
}

bool tm_upload_look_is_equal(const struct tm_upload_look *a, const struct tm_upload_look *b)
{
  return a->ino == b->ino && a->mtime_ns == b->mtime_ns && a->files == b->files &&
         a->bytes == b->bytes && a->names == b->names;
}

int tm_upload_hash(uint64_t *out, const struct tm_fs *fs, const char *path, struct tm_err *err)
{
  struct tm_hash *hash = tm_hash_new();
  char *piece = tm_xmalloc(PIECE);
  int64_t at = 0, n = 0;
  int fd = tm_fs_open(fs, path, O_RDONLY, 0, err);

  while (fd >= 0 && (n = tm_fs_read_at(fs, fd, path, piece, PIECE, at, err)) > 0) {
    tm_hash_add(hash, piece, (size_t)n);
    at += n;
  }
  *out = tm_hash_end(hash);
  tm_fs_close(fs, fd);
  tm_hash_free(hash);
  free(piece);
  return fd < 0 ? fd : n < 0 ? (int)n : 0;
}

/* The mark. */

char *tm_upload_mark_path(const char *step_dir, size_t i)
{
  return tm_xprintf("%s/state/upload.%zu", step_dir, i);
}

char *tm_upload_mark_copy_path(const char *step_dir)
{
  return tm_path_join(step_dir, "state/upload.copy");
}

char *tm_upload_mark_destination(const struct tm_fs *fs, const char *path)
{
  struct tm_buf text = TM_BUF_NONE;
  int rc = tm_fs_read_file(fs, path, MARK_MAX, &text, NULL);
  struct tm_json *v = rc >= 0 ? tm_json_parse(tm_buf_str(&text), text.len, NULL) : NULL;
  const char *found = tm_json_str(v, "destination", "");
  char *destination = *found == '/' ? tm_xstrdup(found) : NULL;
  tm_json_free(v);
  tm_buf_release(&text);
  return destination;
}

static void set_hash(struct tm_json *v, const char *name, uint64_t hash)
{
  char *text = tm_xprintf("%016" PRIx64, hash);

  tm_json_set(v, name, tm_json_new_string(text));
  free(text);
}

static uint64_t hash_of(const struct tm_json *v, const char *name)
{
  return strtoull(tm_json_str(v, name, ""), NULL, 16);
}

void tm_upload_mark_set_look(struct tm_json *mark, const struct tm_upload_look *look)
{
  tm_json_set(mark, "ino", tm_json_new_int((int64_t)look->ino));
  tm_json_set(mark, "mtime_ns", tm_json_new_int(look->mtime_ns));
  tm_json_set(mark, "files", tm_json_new_int(look->files));
  tm_json_set(mark, "bytes", tm_json_new_int(look->bytes));
  set_hash(mark, "names", look->names);
}

static struct tm_upload_look look_of(const struct tm_json *v)
{
  return (struct tm_upload_look) { .ino = (uint64_t)tm_json_int(v, "ino", 0),
                                   .mtime_ns = tm_json_int(v, "mtime_ns", 0),
                                   .files = tm_json_int(v, "files", -1),
                                   .bytes = tm_json_int(v, "bytes", -1),
                                   .names = hash_of(v, "names") };
}

static bool read_members(struct tm_upload_mark *out, const struct tm_json *v,
                         const char *destination)
{
  *out = (struct tm_upload_mark) {
    .look = look_of(v),
    .replaces = look_of(tm_json_get(v, "replaces")),
    .hash = hash_of(v, "hash"),
    .from = { .outcomes = tm_json_int(v, "outcomes", -1), .hash = hash_of(v, "outcomes_hash") },
  };
  return strcmp(tm_json_str(v, "destination", ""), destination) == 0 && out->look.files >= 0;
}

int tm_upload_mark_read(struct tm_upload_mark *out, const struct tm_fs *fs, const char *path,
                        const char *destination, struct tm_err *err)
{
  tm_require(destination);
  struct tm_buf text = TM_BUF_NONE;
  struct tm_err why = TM_ERR_NONE;
  struct tm_json *v;
  int rc = tm_fs_read_file(fs, path, MARK_MAX, &text, &why);

  if (rc >= 0) {
    v = tm_json_parse(tm_buf_str(&text), text.len, NULL);
    rc = v && read_members(out, v, destination);
    tm_json_free(v);
  }
  tm_buf_release(&text);
  if (rc == -ENOENT || rc == TM_ELIMIT)
    return 0;
  return rc < 0 ? tm_err_set(err, rc, "%s", why.text) : rc;
}

int tm_upload_mark_write(const struct tm_upload_mark *m, const struct tm_fs *fs, const char *path,
                         const char *destination, struct tm_err *err)
{
  tm_require(destination);
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  struct tm_buf text = TM_BUF_NONE;
  int rc;

  tm_json_set(v, "destination", tm_json_new_string(destination));
  tm_upload_mark_set_look(v, &m->look);
  if (m->replaces.files >= 0)
    tm_upload_mark_set_look(tm_json_set(v, "replaces", tm_json_new(TM_JSON_OBJECT)), &m->replaces);
  set_hash(v, "hash", m->hash);
  tm_json_set(v, "outcomes", tm_json_new_int(m->from.outcomes));
  set_hash(v, "outcomes_hash", m->from.hash);
  tm_json_write(&text, v, (struct tm_json_style) { 0 });
  rc = tm_fs_write_file(fs, path, text.data, text.len, 0600, err);
  tm_json_free(v);
  tm_buf_release(&text);
  return rc;
}
