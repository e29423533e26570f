/* cancel_request.c - see cancel_request.h.
 *
 *  (1) Nothing here waits: files are opened without following links and without waiting for a
 *      FIFO's writer, and at most TEXT_MAX bytes are read.
 *  (2) A request is taken by one rename, and read afterwards: a request that replaces it meanwhile
 *      is taken by the next look.
 *      A request for the session that `owner` names is left to that session: this one may have been
 *      stopped, and the job taken over.
 *  (3) A request is written under a fresh name that did not exist, so that no link is followed and
 *      two writers do not mix.
 *
 * It uses the real file calls, not the job's table, because no resume relies on these files.
 */
#include "record/cancel_request.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/time.h"
#include "record/owner.h"
#include "store/trust.h"
#include "sys/fs.h"
#include "sys/process.h"

#define REQUEST   "cancel"
#define TAKEN     "cancel.taken"
#define TEXT_MAX  4096 /* bytes */
#define LOOK_NS   (500 * TM_MS)
#define EPOCH_LEN 16

/* The text. */

static bool is_printable(char c)
{
  return c > ' ' && c < 0x7f;
}

void tm_cancel_name_set(char out[TM_CANCEL_NAME_MAX], const char *name)
{
  tm_require(name);
  size_t n = 0;
  for (; name[n] && n + 1 < TM_CANCEL_NAME_MAX; n++)
    out[n] = name[n];
  out[n] = '\0';
  for (size_t i = 0; i < n; i++)
    if (!is_printable(out[i]))
      out[i] = '?';
}

struct tm_json *tm_cancel_request_to_json(const struct tm_cancel_request *r)
{
  tm_require(r->pid > 0 && r->user[0] && r->host[0]); /* its reader refuses another one */
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(v, "now", tm_json_new_bool(r->now));
  tm_json_set(v, "user", tm_json_new_string(r->user));
  tm_json_set(v, "host", tm_json_new_string(r->host));
  tm_json_set(v, "pid", tm_json_new_int(r->pid));
  return v;
}

void tm_cancel_request_write(struct tm_buf *out, const struct tm_cancel_request *r)
{
  struct tm_json *v = tm_cancel_request_to_json(r);
  char epoch[EPOCH_LEN + 1];
  snprintf(epoch, sizeof(epoch), "%016" PRIx64, r->epoch);
  tm_json_set(v, "epoch", tm_json_new_string(epoch));
  tm_json_write(out, v, (struct tm_json_style) { 0 });
  tm_buf_add_char(out, '\n');
  tm_json_free(v);
}

static bool read_epoch(uint64_t *out, const struct tm_json *v)
{
  const char *text = tm_json_str(v, "epoch", "");
  if (strlen(text) != EPOCH_LEN || strspn(text, "0123456789abcdef") != EPOCH_LEN)
    return false;
  *out = strtoull(text, NULL, 16);
  return true;
}

static bool read_name(char out[TM_CANCEL_NAME_MAX], const struct tm_json *v, const char *key)
{
  const char *text = tm_json_str(v, key, "");
  size_t n = strlen(text);
  if (n == 0 || n >= TM_CANCEL_NAME_MAX)
    return false;
  for (size_t i = 0; i < n; i++)
    if (!is_printable(text[i]))
      return false;
  memcpy(out, text, n + 1);
  return true;
}

bool tm_cancel_request_from_json(struct tm_cancel_request *out, const struct tm_json *v)
{
  const struct tm_json *now = tm_json_get(v, "now");
  struct tm_cancel_request r = { .now = tm_json_bool(v, "now", false),
                                 .pid = tm_json_int(v, "pid", 0) };
  if (!now || now->type != TM_JSON_BOOL || r.pid <= 0 || r.pid > INT32_MAX ||
      !read_name(r.user, v, "user") || !read_name(r.host, v, "host"))
    return false;
  *out = r;
  return true;
}

static bool read_members(struct tm_cancel_request *r, const struct tm_json *v)
{
  return tm_cancel_request_from_json(r, v) && read_epoch(&r->epoch, v);
}

int tm_cancel_request_parse(struct tm_cancel_request *out, const char *text, size_t len,
                            struct tm_err *err)
{
  struct tm_json *v = tm_json_parse(text, len, NULL);
  bool is_good;
  *out = (struct tm_cancel_request) { 0 };
  is_good = read_members(out, v);
  tm_json_free(v);
  return is_good ? 0 : tm_err_set(err, TM_EDAMAGE, "its text is not a request");
}

/* The files. */

/* Keeps (1). Adds the file to `text`; -ENOENT comes without a message. */
static int read_small(const char *path, struct tm_buf *text, struct tm_stat *st, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  int64_t got;
  int fd = tm_fs_open(fs, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0, err), rc;
  if (fd < 0)
    return fd;
  rc = fs->fstat(fs->self, fd, st);
  if (rc < 0) {
    tm_err_system(err, rc, "cannot look at '%s'", path);
  } else if (!S_ISREG(st->mode) || st->size > TEXT_MAX) {
    rc = tm_err_set(err, TM_EDAMAGE, "it is %s",
                    S_ISREG(st->mode) ? "longer than a request" : "not a regular file");
  } else {
    tm_buf_reserve(text, TEXT_MAX);
    got = tm_fs_read_at(fs, fd, path, tm_buf_extend(text, TEXT_MAX), TEXT_MAX, 0, err);
    text->len = got > 0 ? (size_t)got : 0;
    text->data[text->len] = '\0';
    rc = got < 0 ? (int)got : 0;
  }
  tm_fs_close(fs, fd);
  return rc;
}

static int read_request(struct tm_cancel_request *out, const char *path, struct tm_stat *st,
                        struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  int rc = read_small(path, &text, st, err);
  if (rc == 0)
    rc = tm_cancel_request_parse(out, tm_buf_str(&text), text.len, err);
  tm_buf_release(&text);
  return rc;
}

/* Only for the user who runs the job. If root asks for another user's job, that user
 * must be able to read the file. */
static int mode_in(const char *dir)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_caller caller = tm_caller_get();
  struct tm_stat st;
  bool is_own = fs->stat(fs->self, dir, true, &st) == 0 && st.uid == caller.uid;
  return is_own ? 0600 : 0644;
}

int tm_cancel_request_put(const char *dir, const struct tm_cancel_request *r, struct tm_err *err)
{
  tm_require(dir);
  const struct tm_fs *fs = tm_fs_real();
  struct tm_buf text = TM_BUF_NONE;
  char *path = tm_path_join(dir, REQUEST);
  char *fresh = tm_xprintf("%s.%016" PRIx64, path, tm_process_random()); /* keeps (3) */
  int fd = tm_fs_open(fs, fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode_in(dir), err);
  int rc = fd < 0 ? fd : 0;
  if (rc == 0) {
    tm_cancel_request_write(&text, r);
    rc = tm_fs_write_at(fs, fd, fresh, text.data, text.len, 0, err);
    tm_fs_close(fs, fd);
    if (rc == 0 && (rc = fs->rename(fs->self, fresh, path)) < 0)
      tm_err_system(err, rc, "cannot rename '%s' to '%s'", fresh, path);
    if (rc < 0)
      fs->unlink(fs->self, fresh);
  }
  tm_buf_release(&text);
  free(fresh);
  free(path);
  return rc;
}

bool tm_cancel_request_find(struct tm_cancel_request *out, const char *dir, uint64_t epoch,
                            bool *is_taken)
{
  static const char *const names[] = { REQUEST, TAKEN };
  bool is_there = false;
  for (size_t i = 0; i < TM_COUNT_OF(names) && !is_there; i++) {
    char *path = tm_path_join(dir, names[i]);
    struct tm_stat st;
    is_there = read_request(out, path, &st, NULL) == 0 && out->epoch == epoch;
    if (is_taken)
      *is_taken = is_there && i > 0;
    free(path);
  }
  return is_there;
}

void tm_cancel_request_forget(const char *dir)
{
  static const char *const names[] = { REQUEST, TAKEN };
  for (size_t i = 0; i < TM_COUNT_OF(names); i++) {
    char *path = tm_path_join(dir, names[i]);
    tm_fs_real()->unlink(tm_fs_real()->self, path);
    free(path);
  }
}

static int read_owner(struct tm_session *s, const char *dir, int64_t *mtime_ns, struct tm_err *err)
{
  char *path = tm_path_join(dir, "owner");
  struct tm_buf text = TM_BUF_NONE;
  struct tm_stat st;
  int rc = read_small(path, &text, &st, err);
  if (rc == 0) {
    struct tm_json *v = tm_json_parse(tm_buf_str(&text), text.len, NULL);
    int64_t pid = tm_json_int(v, "pid", 0);
    if (pid > 0 && pid <= INT32_MAX && read_epoch(&s->epoch, v))
      s->pid = pid;
    tm_cancel_name_set(s->host, tm_json_str(v, "host", ""));
    *mtime_ns = st.mtime_ns;
    tm_json_free(v);
  }
  if (rc == TM_EDAMAGE && err)
    tm_err_wrap(err, "cannot read '%s'", path);
  tm_buf_release(&text);
  free(path);
  return rc;
}

/* What the supervisor does. */

/* An NFS client may remember for a minute that a name does not exist. Opening the folder makes it
 * ask the server. */
static void refresh(const char *dir)
{
  tm_fs_close(tm_fs_real(), tm_fs_open(tm_fs_real(), dir, O_RDONLY | O_DIRECTORY, 0, NULL));
}

/* Reads a request that has been taken. 0: it is for another session. */
static int read_taken(const char *path, uint64_t epoch, struct tm_cancel_request *out,
                      struct tm_err *err)
{
  struct tm_caller caller = tm_caller_get();
  struct tm_stat st;
  int rc = read_request(out, path, &st, err);
  if (rc == 0 && tm_trust_judge(&caller, st.uid, st.mode) != TM_TRUSTED)
    rc = tm_err_set(err, TM_EUSAGE,
                    "it belongs to uid %" PRIu32 " and has mode %04" PRIo32
                    "; only the user who runs the job, or root, cancels it",
                    st.uid, st.mode & 07777);
  if (rc < 0)
    return tm_err_wrap(err, "a request to cancel the job is ignored ('%s')", path);
  return out->epoch == epoch;
}

/* Keeps (2): the request is for the session that has taken the job over. */
static bool is_of_successor(const char *path, const char *dir, uint64_t epoch)
{
  struct tm_cancel_request request;
  struct tm_session owner = { 0 };
  struct tm_stat st;
  int64_t mtime_ns;
  return read_request(&request, path, &st, NULL) == 0 && request.epoch != epoch &&
         read_owner(&owner, dir, &mtime_ns, NULL) == 0 && owner.epoch == request.epoch;
}

/* 0: there is none; 1: it has its new name. */
static int take_request(struct tm_cancel_watch *w, const char *from, const char *to,
                        struct tm_err *err)
{
  int rc = tm_fs_real()->rename(tm_fs_real()->self, from, to);
  if (rc == 0)
    return 1;
  if (rc == -ENOENT || w->has_failed)
    return 0;
  w->has_failed = true;
  return tm_err_system(err, rc, "cannot take the request to cancel '%s'", from);
}

int tm_cancel_watch_look(struct tm_cancel_watch *w, const char *dir, uint64_t epoch,
                         int64_t mono_ns, struct tm_cancel_request *out, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  char *from, *to;
  int rc;
  if (mono_ns < w->due_ns)
    return 0;
  w->due_ns = mono_ns + LOOK_NS;
  refresh(dir);
  from = tm_path_join(dir, REQUEST);
  to = tm_path_join(dir, TAKEN);
  rc = is_of_successor(from, dir, epoch) ? 0 : take_request(w, from, to, err);
  if (rc > 0) {
    rc = read_taken(to, epoch, out, err);
    if (rc <= 0) /* the process that asked sees that nothing happens */
      fs->unlink(fs->self, to);
  }
  free(from);
  free(to);
  return rc;
}

/* The asking side. */

int tm_session_look(struct tm_session *out, const char *dir, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  char *path = tm_path_join(dir, "job_result.json");
  int64_t began_ns = 0;
  struct tm_stat st;
  int rc;
  *out = (struct tm_session) { 0 };
  refresh(dir);
  rc = read_owner(out, dir, &began_ns, err);
  if (rc == -ENOENT && tm_fs_exists(fs, dir))
    rc = 0; /* a job whose owner is not known */
  if (rc == 0) {
    out->is_held = tm_owner_is_running(dir, NULL, NULL);
    out->has_result = fs->stat(fs->self, path, false, &st) == 0;
    /* A result that is older belongs to the session before, which this one continues. */
    out->has_ended = out->has_result && st.mtime_ns >= began_ns;
  }
  free(path);
  return rc;
}

enum tm_cancel_way tm_cancel_judge(const struct tm_session *s, const char *host)
{
  if (s->is_held && !s->has_ended)
    return TM_CANCEL_BY_REQUEST;
  if (s->has_result)
    return TM_CANCEL_OVER;
  return *s->host && strcmp(s->host, host) != 0 ? TM_CANCEL_ELSEWHERE : TM_CANCEL_INTERRUPTED;
}
