/* temp_owner.c - see temp_owner.h.
 *
 * The text is one line: "<boot id> <host> <epoch>.<node>.<number>". The last part is as in
 * worker_mark.h; "-" stands for what is not known.
 *
 *  (1) A folder is made with mode 0700. Its name is unpredictable, so an existing one is ours; it
 *      is still checked, and a link or another user's folder is refused.
 *  (2) It has a shared lock while its owner lives. Code that removes folders of killed keepers
 *      (record/temp_dirs.h) skips locked ones, and so do programs that remove old files from /tmp
 *      (tmpfiles.d(5)).
 *  (3) As soon as it is locked, it gets a file that names this incarnation. Only such a folder is
 *      removed while other nodes of the job may live on this machine.
 */
#include "node/temp_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"
#include "sys/process.h"

#define OWNER_MAX 1024 /* bytes */

struct tm_temp_machine tm_temp_this_machine(void)
{
  struct tm_temp_machine m = { .host = "" };
  char *boot_id = tm_process_boot_id();

  if (gethostname(m.host, sizeof m.host - 1) < 0)
    m.host[0] = '\0';
  if (strlen(boot_id) < sizeof m.boot_id)
    strcpy(m.boot_id, boot_id);
  free(boot_id);
  return m;
}

static const char *word(const char *text)
{
  return *text ? text : "-";
}

void tm_temp_own(const char *path, const struct tm_incarnation *i)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_temp_machine m = tm_temp_this_machine();
  char *name = tm_path_join(path, TM_TEMP_KEEPER);
  char *text = tm_xprintf("%s %s %016" PRIx64 ".%" PRIu32 ".%" PRIu32 "\n", word(m.boot_id),
                          word(m.host), i->epoch, i->node, i->number);
  int fd = fs->open(fs->self, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);

  if (fd >= 0)
    (void)tm_fs_write_at(fs, fd, name, text, strlen(text), 0, NULL);
  tm_fs_close(fs, fd);
  free(text);
  free(name);
}

/* Another process may remove the folder while we open it. */
#define TRIES 3

bool tm_temp_is_held(const char *path, int fd)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat held, there;

  return fd >= 0 && fs->fstat(fs->self, fd, &held) == 0 &&
         fs->stat(fs->self, path, false, &there) == 0 && held.ino == there.ino &&
         held.dev == there.dev;
}

/* Keeps (1), (2) and (3). *fd: open also on failure. */
static int make(const char *path, int *fd, const struct tm_incarnation *i)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;
  int rc = fs->mkdir(fs->self, path, 0700);

  if (rc < 0 && rc != -EEXIST)
    return rc;
  if ((rc = *fd = fs->open(fs->self, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0)) < 0)
    return rc;
  if ((rc = fs->fstat(fs->self, *fd, &st)) < 0)
    return rc;
  if (st.uid != geteuid())
    return -EEXIST;
  if ((rc = tm_lock_take(*fd, true)) == 0)
    tm_temp_own(path, i);
  return rc == -EWOULDBLOCK ? rc : 0; /* otherwise the file system may not support locks */
}

static void let_go(int *fd)
{
  tm_fs_close(tm_fs_real(), *fd);
  *fd = -1;
}

int tm_temp_hold(const char *path, int *fd, const struct tm_incarnation *i, struct tm_err *err)
{
  int rc = 0;

  for (int n = 0; n < TRIES && !tm_temp_is_held(path, *fd); n++) {
    let_go(fd);
    if ((rc = make(path, fd, i)) < 0)
      let_go(fd);
  }
  if (rc == 0 && !tm_temp_is_held(path, *fd))
    rc = -ENOENT;
  return rc < 0 ? tm_err_system(err, rc, "cannot make the folder '%s'", path) : 0;
}

bool tm_temp_owner_parse(struct tm_temp_owner *out, const char *text,
                         const struct tm_temp_machine *here)
{
  struct tm_temp_machine m;
  struct tm_incarnation i;
  int end = 0;

  if (sscanf(text, "%63s %255s %16" SCNx64 ".%" SCNu32 ".%" SCNu32 "%n", m.boot_id, m.host,
             &i.epoch, &i.node, &i.number, &end) != 5 ||
      strcmp(text + end, "\n") != 0)
    return false;
  *out = (struct tm_temp_owner) { .incarnation = i };
  out->is_same_boot = *here->boot_id && strcmp(m.boot_id, here->boot_id) == 0;
  out->is_here = out->is_same_boot || (*here->host && strcmp(m.host, here->host) == 0);
  return true;
}

bool tm_temp_owner_read(struct tm_temp_owner *out, const char *path,
                        const struct tm_temp_machine *here)
{
  struct tm_buf text = TM_BUF_NONE;
  char *name = tm_path_join(path, TM_TEMP_KEEPER);
  bool is_good = tm_fs_read_file(tm_fs_real(), name, OWNER_MAX, &text, NULL) == 0 &&
                 tm_temp_owner_parse(out, tm_buf_str(&text), here);

  tm_buf_release(&text);
  free(name);
  return is_good;
}
