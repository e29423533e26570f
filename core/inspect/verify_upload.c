/* verify_upload.c - see verify_upload.h. */
#include "inspect/verify_upload.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "outputs/upload_mark.h"
#include "store/history.h"

#define PIECE      (1u << 20) /* bytes */
#define FAULTS_MAX 100        /* per upload; then its walk ends */

/* One upload. */
struct check {
  struct tm_verify_uploads *v;
  const struct tm_fs *fs;
  const char *destination;
  char *folder; /* the step's own */
  char *mark_file;
  struct tm_upload_mark mark;
  struct tm_upload_look look; /* of the destination */
  bool has_mark;
  struct tm_faults faults; /* of this upload */
  int64_t files, bytes;
  struct tm_buf how; /* of remedy() */
  struct tm_err *err;
};

void tm_fault(struct tm_faults *f, const char *path, int64_t at, const char *fmt, ...)
{
  struct tm_buf what = TM_BUF_NONE;
  va_list ap;

  va_start(ap, fmt);
  tm_buf_vprintf(&what, fmt, ap);
  va_end(ap);
  f->found++;
  f->on_fault(f->data, path, at, what.data);
  tm_buf_release(&what);
}

/* "; to put it there again: cp -a FROM TO", until the next call. Empty if the step's own files are
 * damaged. */
static const char *remedy(struct check *c, const char *from, const char *to)
{
  tm_buf_clear(&c->how);
  if (c->v->is_output_good) {
    tm_buf_add_str(&c->how, "; to put it there again: cp -a ");
    tm_text_shell(&c->how, from);
    tm_buf_add_char(&c->how, ' ');
    tm_text_shell(&c->how, to);
  }
  return tm_buf_str(&c->how);
}

/* Comparing a folder with the step's own. */

/* The first byte that differs; -1: they are the same as far as both go. Or a code below -1. */
static int64_t find_difference(struct check *c, int a, const char *a_path, int b,
                               const char *b_path)
{
  char *pieces = tm_xmalloc(2 * PIECE);
  int64_t at = 0, found = -1, n = PIECE, m = PIECE;

  while (found == -1 && n == PIECE && m == PIECE) {
    n = tm_fs_read_at(c->fs, a, a_path, pieces, PIECE, at, c->err);
    m = n < 0 ? n : tm_fs_read_at(c->fs, b, b_path, pieces + PIECE, PIECE, at, c->err);
    if (n < 0 || m < 0)
      break;
    for (int64_t i = 0; i < (n < m ? n : m) && found == -1; i++)
      if (pieces[i] != pieces[PIECE + i])
        found = at + i;
    at += PIECE;
  }
  free(pieces);
  return m < 0 ? m - 1 : found;
}

static int compare_bytes(struct check *c, const char *own, const char *there)
{
  int a = tm_fs_open(c->fs, own, O_RDONLY, 0, c->err), b;
  int64_t at;

  if (a < 0)
    return a;
  b = tm_fs_open(c->fs, there, O_RDONLY, 0, c->err);
  at = b < 0 ? (int64_t)b - 1 : find_difference(c, a, own, b, there);
  tm_fs_close(c->fs, a);
  tm_fs_close(c->fs, b);
  if (at < -1)
    return (int)(at + 1);
  if (at >= 0)
    tm_fault(&c->faults, there, at, "this byte is not the one that was uploaded from '%s'%s", own,
             remedy(c, own, there));
  return 0;
}

static int compare_file(struct check *c, const char *own, const struct tm_stat *is,
                        const char *there, const struct tm_stat *now)
{

  c->files++;
  c->bytes += is->size;
  if (is->size == now->size)
    return compare_bytes(c, own, there);
  tm_fault(&c->faults, there, -1,
           "it has %" PRId64 " bytes, and '%s' from which it was uploaded has %" PRId64 "%s",
           now->size, own, is->size, remedy(c, own, there));
  return 0;
}

static int compare_links(struct check *c, const char *own, const char *there)
{
  char *a = NULL, *b = NULL;
  int rc = tm_fs_link_read(c->fs, own, &a, c->err);

  if (rc >= 0)
    rc = tm_fs_link_read(c->fs, there, &b, c->err);
  if (rc >= 0 && strcmp(a, b) != 0)
    tm_fault(&c->faults, there, -1, "it is a link to '%s', and '%s' was uploaded%s", b, a,
             remedy(c, own, there));
  free(a);
  free(b);
  return rc < 0 ? rc : 0;
}

struct pair {
  struct check *c;
  const char *own, *there;
};

static int compare(struct check *c, const char *own, const char *there);

static int on_name(void *data, const char *name, int type)
{
  const struct pair *p = data;
  char *own = tm_path_join(p->own, name), *there = tm_path_join(p->there, name);
  int rc = p->c->faults.found < FAULTS_MAX ? compare(p->c, own, there) : 0;

  free(own);
  free(there);
  return rc;
}

static int compare_folders(struct check *c, const char *own, const char *there)
{
  struct pair p = { c, own, there };
  int rc = c->fs->dir_read(c->fs->self, own, on_name, &p);

  if (rc < 0 && c->err->code == 0)
    tm_err_system(c->err, rc, "cannot read folder '%s'", own);
  return rc;
}

/* Files that the copy leaves out (copy.h) are not missed. */
static int compare(struct check *c, const char *own, const char *there)
{
  struct tm_stat is, now;
  int rc = c->fs->stat(c->fs->self, own, false, &is);

  if (rc < 0)
    return tm_err_system(c->err, rc, "cannot look at '%s'", own);
  if (!S_ISDIR(is.mode) && !S_ISREG(is.mode) && !S_ISLNK(is.mode))
    return 0;
  rc = c->fs->stat(c->fs->self, there, false, &now);
  if (rc < 0 && rc != -ENOENT && rc != -ENOTDIR)
    return tm_err_system(c->err, rc, "cannot look at '%s'", there);
  if (rc == 0 && (is.mode & S_IFMT) == (now.mode & S_IFMT))
    return S_ISDIR(is.mode)   ? compare_folders(c, own, there)
           : S_ISLNK(is.mode) ? compare_links(c, own, there)
                              : compare_file(c, own, &is, there, &now);
  tm_fault(&c->faults, there, -1, "%s%s",
           rc < 0 ? "it was uploaded and is missing" : "it is not what was uploaded",
           remedy(c, own, there));
  return 0;
}

/* Finding the job that has replaced it. */

struct search {
  const struct check *c;
  const char *dir;   /* of a job, a step, a step's state */
  const char *under; /* "/state", or NULL in a step's state */
  bool is_found;
};

static int on_search_name(void *data, const char *name, int type)
{
  struct search *s = data;
  struct tm_upload_mark mark;
  char *path = tm_xprintf("%s/%s%s", s->dir, name, s->under ? s->under : "");

  if (s->under) {
    struct search below = { .c = s->c, .dir = path };
    s->c->fs->dir_read(s->c->fs->self, path, on_search_name, &below);
    s->is_found = s->is_found || below.is_found;
  } else if (strncmp(name, "upload.", 7) == 0 &&
             tm_upload_mark_read(&mark, s->c->fs, path, s->c->destination, NULL) > 0) {
    s->is_found = s->is_found || tm_upload_look_is_equal(&mark.look, &s->c->look);
  }
  free(path);
  return 0;
}

/* The directory of the job that put there what is at the destination; to free(). NULL: nobody
 * knows. */
static char *find_other_job(const struct check *c)
{
  struct tm_history jobs = { 0 };
  char *found = NULL;

  if (c->v->workspace && tm_history_list(&jobs, c->v->workspace, NULL) >= 0)
    for (size_t i = 0; i < jobs.len && !found; i++) {
      struct search s = { .c = c, .dir = jobs.at[i].dir, .under = "/state" };
      if (strcmp(s.dir, c->v->job_dir) != 0)
        c->fs->dir_read(c->fs->self, s.dir, on_search_name, &s);
      found = s.is_found ? tm_xstrdup(s.dir) : NULL;
    }
  tm_history_release(&jobs);
  return found;
}

/* One upload. */

static void check_missing(struct check *c, bool is_archive)
{
  char *from = tm_xprintf("%s/.", c->folder);

  if (is_archive)
    tm_fault(&c->faults, c->destination, -1,
             "it was uploaded and is missing; the files that were packed are in '%s'", c->folder);
  else
    tm_fault(&c->faults, c->destination, -1, "it was uploaded and is missing%s",
             remedy(c, from, c->destination));
  free(from);
}

static int check_archive(struct check *c)
{
  uint64_t hash;
  int rc;

  c->files = 1;
  c->bytes = c->look.bytes;
  if (!c->has_mark) {
    tm_fault(&c->faults, c->mark_file, -1, "it is missing or damaged, and '%s' cannot be compared",
             c->destination);
    return 0;
  }
  if (c->look.bytes != c->mark.look.bytes) {
    tm_fault(&c->faults, c->destination, -1,
             "it has %" PRId64 " bytes, and %" PRId64
             " were uploaded; the files that were packed are in '%s'",
             c->look.bytes, c->mark.look.bytes, c->folder);
    return 0;
  }
  rc = tm_upload_hash(&hash, c->fs, c->destination, c->err);
  if (rc >= 0 && hash != c->mark.hash)
    tm_fault(&c->faults, c->destination, -1,
             "its bytes are not those that were uploaded; the files that were packed are in '%s'",
             c->folder);
  return rc;
}

static int check_upload(struct check *c, bool is_archive)
{
  struct tm_err why = TM_ERR_NONE;
  char *other = NULL;
  int rc = tm_upload_mark_read(&c->mark, c->fs, c->mark_file, c->destination, c->err);

  if (rc < 0)
    return rc;
  c->has_mark = rc > 0;
  rc = tm_upload_look(&c->look, c->fs, c->destination, &why);
  if (rc == -ENOENT || rc == -ENOTDIR) {
    check_missing(c, is_archive);
    return 0;
  }
  if (rc < 0)
    return tm_err_set(c->err, rc, "%s", why.text);
  if (!c->has_mark || !tm_upload_look_is_equal(&c->look, &c->mark.look))
    other = find_other_job(c);
  if (other)
    tm_buf_printf(&c->v->said, "%s, which the job '%s' has replaced since\n", c->destination,
                  other);
  else
    rc = is_archive ? check_archive(c) : compare(c, c->folder, c->destination);
  if (rc >= 0 && !other && c->faults.found == 0) {
    tm_text_grouped(&c->v->said, c->bytes);
    tm_buf_printf(&c->v->said, " bytes in %" PRId64 " %s, %s\n", c->files,
                  tm_text_counted(c->files, "file", "files"), c->destination);
  }
  free(other);
  return rc;
}

/* The copy of the rows. */

/* Whether somebody has written to it since the job. */
static bool is_changed(const struct check *c)
{
  return c->has_mark && !tm_upload_look_is_equal(&c->look, &c->mark.look);
}

/* `what`: how it differs from the rows. Users may change it, so the message says if they did. */
static void fault_of_copy(struct check *c, const char *what)
{
  const char *how = remedy(c, c->folder, c->destination);
  struct tm_buf when = TM_BUF_NONE;

  if (is_changed(c)) {
    tm_time_iso(&when, c->look.mtime_ns);
    tm_fault(&c->faults, c->destination, -1,
             "it was changed or replaced after the job had put it there (it is of %s): %s%s",
             tm_buf_str(&when), what, how);
  } else {
    tm_fault(&c->faults, c->destination, -1, "%s%s", what, how);
  }
  tm_buf_release(&when);
}

static void check_missing_copy(struct check *c)
{
  const char *how = remedy(c, c->folder, c->destination);

  tm_fault(&c->faults, c->destination, -1, "this copy of the output was moved or removed%s%s",
           c->has_mark ? " after the job had put it there" : "", how);
}

static int compare_copy(struct check *c, const struct tm_stat *own)
{
  int a = tm_fs_open(c->fs, c->folder, O_RDONLY, 0, c->err);
  int b = a < 0 ? a : tm_fs_open(c->fs, c->destination, O_RDONLY, 0, c->err);
  int64_t at = b < 0 ? (int64_t)b - 1 : find_difference(c, a, c->folder, b, c->destination);
  char *what = NULL;

  if (at >= 0)
    what = tm_xprintf("its byte %" PRId64 " is not that of '%s'", at, c->folder);
  else if (at == -1 && own->size != c->look.bytes)
    what = tm_xprintf("it has %" PRId64 " bytes, and '%s' has %" PRId64, c->look.bytes, c->folder,
                      own->size);
  if (what)
    fault_of_copy(c, what);
  free(what);
  tm_fs_close(c->fs, a);
  tm_fs_close(c->fs, b);
  return at < -1 ? (int)(at + 1) : 0;
}

static int check_copy(struct check *c, struct tm_buf *said)
{
  struct tm_err why = TM_ERR_NONE;
  struct tm_stat own, st;
  int rc = c->fs->stat(c->fs->self, c->folder, true, &own);
  char *other;

  if (rc < 0)
    return tm_err_system(c->err, rc, "cannot look at '%s'", c->folder);
  rc = tm_upload_look(&c->look, c->fs, c->destination, &why);
  if (rc == -ENOENT || rc == -ENOTDIR) {
    check_missing_copy(c);
    return 0;
  }
  if (rc < 0)
    return tm_err_set(c->err, rc, "%s", why.text);
  if (c->fs->stat(c->fs->self, c->destination, true, &st) < 0 || !S_ISREG(st.mode)) {
    fault_of_copy(c, "it is not a file");
    return 0;
  }
  c->look.bytes = st.size; /* it may be a link to the file by now */
  other = c->has_mark && !is_changed(c) ? NULL : find_other_job(c);
  if (other)
    tm_buf_printf(said, "%s, which the job '%s' has replaced since", c->destination, other);
  else
    rc = compare_copy(c, &own);
  if (rc >= 0 && !other && c->faults.found == 0) {
    tm_text_grouped(said, own.size);
    tm_buf_printf(said, " bytes, %s", c->destination);
  }
  free(other);
  return rc;
}

static int verify_copy(struct tm_verify_uploads *v, const char *step_dir, struct tm_err *err)
{
  char *path = tm_upload_mark_copy_path(step_dir);
  char *marked = tm_upload_mark_destination(tm_fs_real(), path);
  struct check c = { .v = v,
                     .faults = { v->faults.on_fault, v->faults.data, 0 },
                     .fs = tm_fs_real(),
                     .destination = marked ? marked : v->wanted_copy,
                     .folder = tm_xstrdup(v->rows),
                     .err = err };
  int rc = 0;

  if (marked)
    c.has_mark = tm_upload_mark_read(&c.mark, c.fs, path, marked, NULL) > 0;
  if (c.destination)
    rc = check_copy(&c, &v->copy_said);
  v->copy_faults = c.faults.found;
  tm_buf_release(&c.how);
  free(c.folder);
  free(marked);
  free(path);
  return rc;
}

int tm_verify_uploads(struct tm_verify_uploads *v, struct tm_err *err)
{
  const struct tm_json *outputs = tm_json_get(tm_json_get(v->step, "definition"), "outputs");
  char *step_dir = tm_path_join(v->job_dir, tm_json_str(v->step, "name", ""));
  int rc = 0;

  for (size_t i = 0; i < tm_json_items(outputs) && rc >= 0; i++) {
    const struct tm_json *out = outputs->list.at[i];
    const char *mode = tm_json_str(out, "mode", "");
    bool is_archive = strcmp(mode, "archive") == 0;
    struct check c = { .v = v,
                       .faults = { v->faults.on_fault, v->faults.data, 0 },
                       .fs = tm_fs_real(),
                       .destination = tm_json_str(out, "destination", NULL),
                       .err = TM_ERR_OWN(err) };
    if (!c.destination || (!is_archive && strcmp(mode, "upload") != 0))
      continue;
    c.folder = tm_path_join(v->job_dir, tm_json_str(out, "folder", ""));
    c.mark_file = tm_upload_mark_path(step_dir, i);
    rc = check_upload(&c, is_archive);
    v->faults.found += c.faults.found;
    tm_buf_release(&c.how);
    free(c.folder);
    free(c.mark_file);
  }
  if (rc >= 0 && v->rows)
    rc = verify_copy(v, step_dir, TM_ERR_OWN(err));
  free(step_dir);
  return rc < 0 ? rc : 0;
}
