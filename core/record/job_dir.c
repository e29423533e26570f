/* job_dir.c - see job_dir.h. Keeps invariant 6: one supervisor per job directory.
 *
 * On one machine the lock is enough. `owner` with its epoch is for file systems where machines may
 * not see each other's locks, or that have none: a supervisor that finds another epoch there stops
 * without writing (commit.c reads it). node.lock is only tried: once it is free and `lock` is ours,
 * only our own keepers can come.
 */
#include "record/job_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "record/cancel_request.h"
#include "record/owner.h"
#include "sys/clock.h"
#include "sys/process.h"

#define WAIT_NS  (10 * TM_S) /* for a keeper that ends what its supervisor left: launches, too */
#define OWNER_NS TM_S        /* for a supervisor that is ending; a running one is not waited for */
#define AGAIN_NS (5 * TM_MS)
/* Without locks: twice the time after which a session reads `owner` again before it writes rows
 * (commit.c). */
#define STOPS_NS  (2 * TM_S)
#define OWNER_MAX (64u << 10) /* bytes */

struct look {
  bool has_job, has_ours, has_other;
};

/* The names of files that a job makes before job.json. */
static bool is_early(const char *name)
{
  static const char *const ours[] = { "lock",   "owner",       "owner.tmp",   "node.lock",
                                      "script", "resume_from", "job.json.tmp" };

  for (size_t i = 0; i < TM_COUNT_OF(ours); i++)
    if (strcmp(name, ours[i]) == 0)
      return true;
  return false;
}

/* What `tidemill report` and the portal leave there; a report that was killed, under another name
 * (sys/whole_file.c). */
static bool is_about_job(const char *name)
{
  size_t n = strlen(name), end = strlen(".tmp");
  return strcmp(name, "report.html") == 0 || strcmp(name, "portal_resume.txt") == 0 ||
         strcmp(name, "portal_only_failed.txt") == 0 ||
         (strncmp(name, ".tidemill-", 10) == 0 && strcmp(name + n - end, ".tmp") == 0);
}

bool tm_job_dir_is_own_name(const char *name)
{
  return is_early(name) || is_about_job(name) || strcmp(name, "job.json") == 0 ||
         strcmp(name, "job_result.json") == 0 || strcmp(name, "job_result.json.tmp") == 0 ||
         strcmp(name, "temp_dirs") == 0 || strcmp(name, "nodes") == 0 ||
         strcmp(name, "cancel") == 0 || strncmp(name, "cancel.", 7) == 0 ||
         strncmp(name, ".nfs", 4) == 0;
}

static int on_name(void *data, const char *name, int type)
{
  struct look *l = data;

  if (strcmp(name, "job.json") == 0)
    l->has_job = true;
  if (is_early(name))
    l->has_ours = true;
  else
    l->has_other = true;
  return 0;
}

enum tm_job_dir_state tm_job_dir_look(const char *path, struct tm_err *err)
{
  struct look l = { 0 };
  int rc = tm_dir_read(path, on_name, &l);

  if (rc == -ENOENT)
    return TM_JOB_DIR_NEW;
  if (rc == -ENOTDIR) {
    tm_err_set(err, TM_EUSAGE,
               "'%s' is not a directory, nor can it become one; name an empty or a new directory",
               path);
    return TM_JOB_DIR_UNKNOWN;
  }
  if (rc < 0) {
    tm_err_system(err, rc, "cannot look into '%s'", path);
    return TM_JOB_DIR_UNKNOWN;
  }
  if (l.has_job)
    return TM_JOB_DIR_JOB;
  if (l.has_other)
    return TM_JOB_DIR_FOREIGN;
  return l.has_ours ? TM_JOB_DIR_INCOMPLETE : TM_JOB_DIR_NEW;
}

int tm_job_dir_refuse_job(const char *path, struct tm_err *err)
{
  int64_t pid = 0;

  if (tm_owner_is_running(path, &pid, NULL))
    return tm_err_set(err, TM_EINUSE,
                      "'%s' holds a job that pid %" PRId64
                      " is running; name another directory: `dir`",
                      path, pid);
  return tm_err_set(err, TM_EUSAGE,
                    "'%s' contains a job already; resume it with `resume`, or start a new one in "
                    "another directory: `dir`",
                    path);
}

static int say_in_use(const struct tm_job_dir *d, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE, name = TM_BUF_NONE;
  struct tm_json *owner = NULL;

  tm_text_shell(&name, d->path);
  if (tm_fs_read_file(tm_fs_real(), d->owner_file, 4096, &text, NULL) >= 0)
    owner = tm_json_parse(tm_buf_str(&text), text.len, NULL);
  tm_err_set(err, TM_EINUSE,
             "job directory '%s' is in use by pid %" PRId64
             " on host %s; wait for it to end, or cancel it: tidemill cancel %s",
             d->path, tm_json_int(owner, "pid", 0), tm_json_str(owner, "host", "(unknown)"),
             tm_buf_str(&name));
  tm_json_free(owner);
  tm_buf_release(&text);
  tm_buf_release(&name);
  return TM_EINUSE;
}

/* Returns 0 after a moment, or -ECANCELED. */
static int pause_again(const struct tm_job_wait *wait)
{
  if (wait->is_stopped && wait->is_stopped(wait->data))
    return -ECANCELED;
  tm_clock_pause(AGAIN_NS);
  return 0;
}

/* Tries until `until_ns`. -ECANCELED: `wait` ended it. */
static int lock_until(int fd, bool shared, int64_t until_ns, const struct tm_job_wait *wait)
{
  int rc;

  while ((rc = tm_lock_take(fd, shared)) == -EWOULDBLOCK && tm_clock_mono_ns() < until_ns)
    if (pause_again(wait) < 0)
      return -ECANCELED;
  return rc;
}

/* The same for `lock` in a file system without locks: while its owner lives on this machine. */
static int wait_for_owner(const struct tm_job_dir *d, int64_t until_ns,
                          const struct tm_job_wait *wait)
{
  while (tm_owner_is_here(d->path, d->lock)) {
    if (tm_clock_mono_ns() >= until_ns)
      return -EWOULDBLOCK;
    if (pause_again(wait) < 0)
      return -ECANCELED;
  }
  return 0;
}

static int open_lock(struct tm_job_dir *d, const char *name, int flags, struct tm_err *err)
{
  char *path = tm_path_join(d->path, name);
  int fd = tm_fs_open(d->fs, path, flags, 0600, err);

  free(path);
  return fd;
}

/* How to open the two files, and whether several processes may share `lock`. */
struct hold {
  int lock_flags, node_flags;
  bool is_shared;
  bool is_removal; /* needs a lock that all machines see */
  struct tm_job_wait wait;
};

static int explain_lock(const struct tm_job_dir *d, int rc, struct tm_err *err)
{
  if (rc == -EWOULDBLOCK)
    return say_in_use(d, err);
  if (rc == -ECANCELED)
    return tm_err_set(err, rc, "canceled while another process had the job in '%s'", d->path);
  return tm_err_system(err, rc, "cannot lock job directory '%s'", d->path);
}

static int take_lock(struct tm_job_dir *d, const struct hold *how, struct tm_err *err)
{
  int64_t until_ns = tm_clock_mono_ns() + OWNER_NS;
  int rc;

  if ((d->lock = open_lock(d, "lock", how->lock_flags, err)) < 0)
    return d->lock;
  rc = lock_until(d->lock, how->is_shared, until_ns, &how->wait);
  if (tm_lock_is_unsupported(rc) && !how->is_removal) {
    d->has_no_locks = true;
    rc = wait_for_owner(d, until_ns, &how->wait);
  }
  return rc < 0 ? explain_lock(d, rc, err) : 0;
}

/* Whether `owner` named a session on another machine, which may live. The lock did not tell. */
static bool may_run_elsewhere(const struct tm_job_dir *d)
{
  struct tm_json *owner =
      d->owner_before ? tm_json_parse(d->owner_before, strlen(d->owner_before), NULL) : NULL;
  char host[256] = "";
  bool may;

  (void)gethostname(host, sizeof(host) - 1);
  may = owner && strcmp(tm_json_str(owner, "host", ""), host) != 0 &&
        !tm_fs_exists(d->fs, d->result_file);
  tm_json_free(owner);
  return may;
}

/* A session on another machine stops when it finds that it does not own the job any more. */
static int wait_for_elsewhere(const struct tm_job_dir *d, const struct hold *how,
                              struct tm_err *err)
{
  int64_t until_ns = tm_clock_mono_ns() + STOPS_NS;

  if (!d->has_no_locks || !may_run_elsewhere(d))
    return 0;
  while (tm_clock_mono_ns() < until_ns)
    if (pause_again(&how->wait) < 0) {
      tm_job_dir_give_back(d);
      return explain_lock(d, -ECANCELED, err);
    }
  return 0;
}

/* Waits for the keeper of a supervisor that has died. If it does not end, `owner` names that
 * supervisor again, and so does the message. */
static int wait_for_node(struct tm_job_dir *d, const struct hold *how, struct tm_err *err)
{
  int node = open_lock(d, "node.lock", how->node_flags, err), rc;

  if (node < 0)
    return node;
  rc = lock_until(node, false, tm_clock_mono_ns() + WAIT_NS, &how->wait);
  tm_lock_release(node);
  tm_fs_close(d->fs, node);
  if (rc == 0 || (d->has_no_locks && tm_lock_is_unsupported(rc)))
    return 0;
  tm_job_dir_give_back(d);
  return explain_lock(d, rc, err);
}

static int take_locks(struct tm_job_dir *d, const struct hold *how, struct tm_err *err)
{
  int rc = take_lock(d, how, err);

  return rc < 0 ? rc : wait_for_node(d, how, err);
}

static int write_owner(struct tm_job_dir *d, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_json *owner = tm_json_new(TM_JSON_OBJECT);
  char host[256] = "", epoch[32];
  int rc;

  tm_require(d->lock >= 0); /* the owner is who has the lock */
  (void)gethostname(host, sizeof(host) - 1);
  snprintf(epoch, sizeof(epoch), "%016" PRIx64, d->epoch);
  tm_json_set(owner, "pid", tm_json_new_int(getpid()));
  tm_json_set(owner, "host", tm_json_new_string(host));
  tm_json_set(owner, "epoch", tm_json_new_string(epoch));
  tm_json_write(&text, owner, (struct tm_json_style) { 0 });
  rc = tm_fs_write_file(d->fs, d->owner_file, text.data, text.len, 0600, err);
  tm_json_free(owner);
  tm_buf_release(&text);
  return rc;
}

/* To free. NULL: there is no earlier owner, or its text is not a record. */
static char *read_owner(const struct tm_job_dir *d)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_json *owner = NULL;

  if (tm_fs_read_file(d->fs, d->owner_file, OWNER_MAX, &text, NULL) >= 0)
    owner = tm_json_parse(tm_buf_str(&text), text.len, NULL);
  if (!owner)
    tm_buf_clear(&text);
  tm_json_free(owner);
  return text.len > 0 ? tm_buf_take(&text) : (tm_buf_release(&text), NULL);
}

static void set_paths(struct tm_job_dir *d, const struct tm_fs *fs, const char *path)
{
  *d = (struct tm_job_dir) {
    .fs = fs, .path = tm_xstrdup(path), .lock = -1, .epoch = tm_process_random()
  };
  d->owner_file = tm_path_join(path, "owner");
  d->definition_file = tm_path_join(path, "job.json");
  d->result_file = tm_path_join(path, "job_result.json");
  d->script_dir = tm_path_join(path, "script");
}

static int open_with(struct tm_job_dir *d, const struct tm_fs *fs, const char *path,
                     const struct hold *how, struct tm_err *err)
{
  int rc;

  set_paths(d, fs, path);
  if ((rc = take_locks(d, how, err)) < 0)
    tm_job_dir_close(d);
  return rc;
}

int tm_job_dir_hold(struct tm_job_dir *d, const struct tm_fs *fs, const char *path,
                    struct tm_err *err)
{
  tm_require(path);
  static const struct hold how = { .lock_flags = O_RDONLY,
                                   .node_flags = O_RDONLY,
                                   .is_shared = true };

  return open_with(d, fs, path, &how, err);
}

int tm_job_dir_lock(struct tm_job_dir *d, const struct tm_fs *fs, const char *path,
                    struct tm_err *err)
{
  tm_require(path);
  static const struct hold how = { .lock_flags = O_RDWR,
                                   .node_flags = O_RDWR | O_CREAT,
                                   .is_removal = true };

  return open_with(d, fs, path, &how, err);
}

/* From here on other processes see that this session has the job: a request to cancel it names this
 * session. So it comes before the wait for the keeper of a supervisor that has died. */
static int claim(struct tm_job_dir *d, struct tm_err *err)
{
  tm_cancel_request_forget(d->path); /* before this session can be asked */
  d->owner_before = read_owner(d);
  return write_owner(d, err);
}

int tm_job_dir_open(struct tm_job_dir *d, const struct tm_fs *fs, const char *path,
                    const struct tm_job_wait *wait, struct tm_err *err)
{
  tm_require(path);
  struct hold how = { .lock_flags = O_RDWR | O_CREAT, .node_flags = O_RDWR | O_CREAT };
  int rc;

  if (wait)
    how.wait = *wait;

  set_paths(d, fs, path);
  if ((rc = tm_fs_make_dirs(fs, path, 0700, err)) < 0 ||
      (rc = tm_fs_sync_name(fs, path, err)) < 0 || (rc = take_lock(d, &how, err)) < 0 ||
      (rc = claim(d, err)) < 0 || (rc = wait_for_elsewhere(d, &how, err)) < 0 ||
      (rc = wait_for_node(d, &how, err)) < 0)
    tm_job_dir_close(d);
  return rc;
}

void tm_job_dir_give_back(const struct tm_job_dir *d)
{
  tm_require(d->path && (!d->owner_before || d->lock >= 0));
  struct tm_err err = TM_ERR_NONE;

  if (d->owner_before && tm_job_dir_check_owner(d->fs, d->owner_file, d->epoch, &err) == 0)
    (void)tm_fs_write_file(d->fs, d->owner_file, d->owner_before, strlen(d->owner_before), 0600,
                           &err); /* it names this session, which is as harmless */
}

void tm_job_dir_explain(const struct tm_fs *fs, const char *const *paths, size_t len,
                        struct tm_err *err)
{
  tm_require(err);
  struct tm_stat st;

  for (size_t i = 0; err->code == -ENOENT && i < len; i++)
    if (paths[i] && fs->stat(fs->self, paths[i], false, &st) == -ENOENT) {
      tm_err_set(err, -ENOENT, "'%s' was removed or renamed while the job ran", paths[i]);
      return;
    }
}

/* The message about an owner file that cannot be read. */
static void explain_owner(const struct tm_fs *fs, const char *owner_file, struct tm_err *err)
{
  char *dir = tm_path_dir(owner_file);
  const char *const paths[] = { dir, owner_file };

  if (err)
    tm_job_dir_explain(fs, paths, TM_COUNT_OF(paths), err);
  free(dir);
}

int tm_job_dir_check_owner(const struct tm_fs *fs, const char *owner_file, uint64_t epoch,
                           struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_json *owner;
  char ours[17];
  int rc = tm_fs_read_file(fs, owner_file, OWNER_MAX, &text, err);

  if (rc >= 0) {
    owner = tm_json_parse(tm_buf_str(&text), text.len, NULL);
    snprintf(ours, sizeof(ours), "%016" PRIx64, epoch);
    rc = 0;
    if (strcmp(tm_json_str(owner, "epoch", ""), ours) != 0)
      rc = tm_err_set(err, TM_EINUSE,
                      "'%s' names another owner: the job has been taken over, and this one stops",
                      owner_file);
    tm_json_free(owner);
  } else {
    explain_owner(fs, owner_file, err);
  }
  tm_buf_release(&text);
  return rc;
}

static int remove_name(void *data, const char *name, int type)
{
  char *path = tm_path_join(data, name);

  tm_tree_remove(path, NULL);
  free(path);
  return 0;
}

void tm_job_dir_discard(const struct tm_job_dir *d, bool was_there)
{
  tm_require(d->path && d->path[0] && d->lock >= 0); /* all of it is ours, and goes */
  if (was_there)
    tm_dir_read(d->path, remove_name, d->path);
  else
    tm_tree_remove(d->path, NULL);
}

void tm_job_dir_close(struct tm_job_dir *d)
{
  if (!d->path)
    return;
  if (d->lock >= 0) {
    tm_lock_release(d->lock);
    tm_fs_close(d->fs, d->lock);
  }
  free(d->path);
  free(d->owner_file);
  free(d->definition_file);
  free(d->result_file);
  free(d->script_dir);
  free(d->owner_before);
  memset(d, 0, sizeof(*d));
}
