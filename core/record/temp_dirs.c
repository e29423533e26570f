/* temp_dirs.c - see temp_dirs.h. */
#include "record/temp_dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/time.h"
#include "node/node_msg.h"
#include "sys/process.h"

#define RECORDS    "temp_dirs"
#define RECORD_MAX (64u << 10)

/* Names. */

static struct tm_temp_places our_places(void)
{
  return tm_temp_places(getenv("TMPDIR"), getenv(TM_ENV_MEMORY_DIR));
}

static struct tm_temp_places places_of(const struct tm_temp_node *node)
{
  return (struct tm_temp_places) { .temp = node->temp,
                                   .memory = *node->memory ? node->memory : NULL };
}

static char *new_name(const char *job_dir, uint32_t uid)
{
  char *begin = tm_temp_name_begin_of(job_dir, uid);
  char *name = tm_xprintf("%s%012" PRIx64, begin, tm_process_random() >> 16);
  free(begin);
  return name;
}

/* Recording. */

/* Whether the kernel with this boot id is the one that runs here. */
static bool is_here(const char *boot_id)
{
  char *ours = tm_process_boot_id();
  bool is = *ours && strcmp(ours, boot_id) == 0;
  free(ours);
  return is;
}

/* boot_id NULL: of this machine. */
static int write_record(const struct tm_fs *fs, const char *records, const char *name,
                        const char *parent, const char *boot_id, struct tm_err *err)
{
  char *path = tm_path_join(records, name);
  int fd = tm_fs_open(fs, path, O_WRONLY | O_CREAT | O_EXCL, 0600, err), rc = fd;
  struct tm_buf text = TM_BUF_NONE;
  tm_buf_add_str(&text, parent);
  if (boot_id) {
    tm_buf_add(&text, "", 1);
    tm_buf_add_str(&text, boot_id);
  }
  if (fd >= 0)
    rc = tm_fs_write_at(fs, fd, path, text.data, text.len, 0, err);
  tm_fs_close(fs, fd);
  tm_buf_release(&text);
  free(path);
  return rc < 0 ? rc : 0;
}

int tm_temp_dirs_check(const struct tm_fs *fs, struct tm_err *err)
{
  const char *tmp = getenv("TMPDIR");
  struct tm_stat st;
  tmp = tmp && *tmp == '/' ? tmp : NULL;
  int rc = tmp ? fs->stat(fs->self, tmp, true, &st) : 0;
  if (rc == 0 && tmp && !S_ISDIR(st.mode))
    rc = -ENOTDIR;
  return rc < 0 ? tm_err_set(err, TM_EUSAGE,
                             "TMPDIR is '%s': %s; workers make their temporary folders there: name "
                             "a folder that is there, or unset TMPDIR",
                             tmp, tm_code_text(rc))
                : 0;
}

int tm_temp_dirs_record(struct tm_temp_dirs *d, const struct tm_fs *fs, const char *job_dir,
                        const struct tm_temp_node *node, bool wants_memory, struct tm_err *err)
{
  tm_require(job_dir);
  struct tm_temp_places places = node ? places_of(node) : our_places();
  const char *memory = wants_memory ? places.memory : NULL;
  const char *boot_id = node && !is_here(node->boot_id) ? node->boot_id : NULL; /* keeps (6) */
  uint32_t uid = node ? node->uid : geteuid();
  char *records = tm_path_join(job_dir, RECORDS), *name = new_name(job_dir, uid);
  int rc = fs->mkdir(fs->self, records, 0700);
  *d = (struct tm_temp_dirs) { .temp = tm_path_join(places.temp, name) };
  if (rc < 0 && rc != -EEXIST)
    tm_err_system(err, rc, "cannot make the folder '%s'", records);
  else
    rc = write_record(fs, records, name, places.temp, boot_id, err); /* keeps (2) */
  free(name);
  name = new_name(job_dir, uid); /* a second name: both may be in one folder */
  d->memory = memory ? tm_path_join(memory, name) : tm_xstrdup("");
  if (rc == 0 && memory)
    rc = write_record(fs, records, name, memory, boot_id, err);
  free(name);
  free(records);
  if (rc < 0)
    tm_temp_dirs_release(d);
  return rc;
}

void tm_temp_dirs_release(struct tm_temp_dirs *d)
{
  free(d->temp);
  free(d->memory);
  *d = (struct tm_temp_dirs) { 0 };
}

static char *below(const char *base, const char *step, const char *worker)
{
  const char *dash = worker ? "-" : "";
  return *base ? tm_xprintf("%s/%s%s%s", base, step, dash, worker ? worker : "") : tm_xstrdup("");
}

struct tm_temp_dirs tm_temp_dirs_of(const struct tm_temp_dirs *d, const char *step,
                                    const char *worker)
{
  tm_require(d->temp && d->memory && step[0]);
  return (struct tm_temp_dirs) { .temp = below(d->temp, step, worker),
                                 .memory = below(d->memory, step, worker) };
}

/* No worker's name is a hash, so no folder of a worker has this name. */
char *tm_temp_dirs_source(const struct tm_temp_dirs *d, const char *hash)
{
  return tm_xprintf("%s/source-%s", d->temp, hash);
}

/* Removing. */

struct removal {
  const struct tm_fs *fs;
  const char *records;
  bool spares_held;   /* (7) */
  struct tm_err *err; /* of the first folder that could not be removed */
  int code;
};

/* Whether the text of a record names a folder that may be removed from here: *parent is complete
 * then. Empty: its writer was killed before it made the folder. Keeps (6). */
static bool names_folder(struct tm_buf *parent)
{
  const char *end = parent->len > 0 ? memchr(parent->data, 0, parent->len) : NULL;
  if (parent->len == 0 || parent->data[0] != '/')
    return false;
  if (!end)
    return true;
  char *boot_id = tm_xstrndup(end + 1, parent->len - (size_t)(end + 1 - parent->data));
  bool is = is_here(boot_id);
  parent->len = (size_t)(end - parent->data);
  free(boot_id);
  return is;
}

static int on_record(void *data, const char *name, int type)
{
  struct removal *r = data;
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf parent = TM_BUF_NONE;
  char *record;
  unsigned long uid = 0;
  int rc;
  if (!tm_temp_is_name(name, &uid)) /* not a record */
    return 0;
  record = tm_path_join(r->records, name);
  rc = tm_fs_read_file(r->fs, record, RECORD_MAX, &parent, &err);
  if (rc >= 0 && names_folder(&parent)) {
    char *path = tm_path_join(tm_buf_str(&parent), name);
    if (!r->spares_held || !tm_temp_is_in_use(path))
      rc = tm_temp_remove(path, uid, &err);
    free(path);
  }
  if (rc >= 0 && (rc = r->fs->unlink(r->fs->self, record)) == -ENOENT)
    rc = 0;
  if (rc < 0 && err.code == 0)
    tm_err_system(&err, rc, "cannot remove '%s'", record);
  if (rc < 0 && r->code == 0) {
    r->code = rc;
    if (r->err)
      *r->err = err;
  }
  tm_buf_release(&parent);
  free(record);
  return 0;
}

int tm_temp_dirs_remove_of(const struct tm_temp_dirs *d, const struct tm_fs *fs,
                           const char *job_dir, struct tm_err *err)
{
  const char *const paths[] = { d->temp, d->memory };
  char *records = tm_path_join(job_dir, RECORDS);
  struct removal r = { .fs = fs, .records = records, .err = err };
  for (size_t i = 0; i < TM_COUNT_OF(paths); i++)
    if (paths[i] && *paths[i])
      on_record(&r, strrchr(paths[i], '/') + 1, 0);
  (void)fs->unlink(fs->self, records); /* unless another keeper has a record */
  free(records);
  return r.code;
}

static int remove_all(const struct tm_fs *fs, const char *job_dir, bool spares_held,
                      struct tm_err *err)
{
  char *records = tm_path_join(job_dir, RECORDS);
  struct removal r = { .fs = fs, .records = records, .spares_held = spares_held, .err = err };
  int rc = fs->dir_read(fs->self, records, on_record, &r);
  if (rc < 0 && rc != -ENOENT)
    r.code = tm_err_system(err, rc, "cannot read the folder '%s'", records);
  else if (rc == 0 && r.code == 0)
    (void)fs->unlink(fs->self, records);
  free(records);
  return r.code;
}

int tm_temp_dirs_remove(const struct tm_fs *fs, const char *job_dir, struct tm_err *err)
{
  return remove_all(fs, job_dir, false, err);
}

/* Folders without a record. */

/* Looks where this session would make its own folders, and in memory, where another session may
 * have made some. Keeps (3) and (4). */
static size_t count_orphans(const char *job_dir)
{
  struct tm_temp_places places = our_places();
  size_t n = tm_temp_count_left(job_dir, places.temp);
  n += tm_temp_count_left(job_dir, TM_TEMP_MEMORY_DIR);
  return n + (places.memory ? tm_temp_count_left(job_dir, places.memory) : 0);
}

static void remove_orphans(const char *job_dir)
{
  struct tm_temp_places places = our_places();
  tm_temp_remove_left(job_dir, places.temp);
  tm_temp_remove_left(job_dir, TM_TEMP_MEMORY_DIR);
  if (places.memory)
    tm_temp_remove_left(job_dir, places.memory);
}

static bool are_recorded(const struct tm_fs *fs, const char *job_dir)
{
  char *records = tm_path_join(job_dir, RECORDS);
  bool are = tm_fs_exists(fs, records);
  free(records);
  return are;
}

int tm_temp_dirs_remove_left(const struct tm_fs *fs, const char *job_dir, struct tm_err *err)
{
  int rc;
  if (!are_recorded(fs, job_dir) && count_orphans(job_dir) == 0)
    return 0;
  (void)tm_job_kill_all(job_dir); /* keeps (5) */
  rc = remove_all(fs, job_dir, true, err);
  remove_orphans(job_dir);
  return rc;
}
