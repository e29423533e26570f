/* dir.c - folders: reading the names in one, removing a whole tree; and appending to a log.
 *
 *  (1) Removing never follows a link and never leaves the tree: each folder is opened by its name
 *      within its parent's descriptor, with O_NOFOLLOW, so that renaming or linking meanwhile leads
 *      nowhere else. A file system mounted in the tree is left alone, and the removal fails there.
 *  (2) One descriptor is open per level. A folder DEPTH_MAX levels down is moved to the top of the
 *      tree, where the next pass finds it: stack and descriptors suffice for any depth.
 *
 * Names come in the order of the file system; callers that need an order sort.
 */
#include "sys/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/standard_fds.h"

#define DEPTH_MAX 200 /* descriptors: a process may have 1,024, and needs some for other things */

static bool is_dots(const char *name)
{
  return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

/* Not opendir(): the descriptor must not be 0, 1 or 2, which are the host's. NULL: see errno. */
static DIR *open_at(int at, const char *name, int flags)
{
  int fd = tm_fd_lift(openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags));
  DIR *dir = fd < 0 ? NULL : fdopendir(fd);
  if (dir == NULL && fd >= 0) {
    int code = errno;
    close(fd);
    errno = code;
  }
  return dir;
}

int tm_dir_read(const char *path, tm_on_name on_name, void *data)
{
  DIR *dir = open_at(AT_FDCWD, path, 0);
  if (dir == NULL)
    return -errno;
  int rc = 0;
  while (rc >= 0) {
    errno = 0; /* only errno tells the end from an error */
    struct dirent *e = readdir(dir);
    if (e == NULL) {
      rc = -errno;
      break;
    }
    if (!is_dots(e->d_name))
      rc = on_name(data, e->d_name, e->d_type);
  }
  closedir(dir);
  return rc < 0 ? rc : 0;
}

struct removal {
  int top;        /* the folder to remove */
  unsigned moved; /* number of folders moved to the top */
  bool is_forced;
};

static int remove_at(struct removal *r, int at, const char *name, int type, int depth,
                     struct tm_err *err);

/* One pass over an open folder: 1 when it found names, 0 when it found none. */
static int remove_names(struct removal *r, DIR *dir, int depth, struct tm_err *err)
{
  struct dirent *e;
  int rc = 0, found = 0;
  errno = 0;
  while (rc == 0 && (e = readdir(dir)) != NULL) {
    if (is_dots(e->d_name))
      continue;
    found = 1;
    rc = remove_at(r, dirfd(dir), e->d_name, e->d_type, depth + 1, err);
    errno = 0;
  }
  if (rc == 0 && errno != 0)
    rc = tm_err_system(err, -errno, "cannot read a folder that is to be removed");
  return rc < 0 ? rc : found;
}

/* Removes the names in an open folder, then the folder. On some file systems removing hides names
 * from the reader: a folder that is still not empty is read again, as long as a pass finds names.
 */
static int empty_and_remove(struct removal *r, int at, const char *name, DIR *dir, int depth,
                            struct tm_err *err)
{
  int found;
  while ((found = remove_names(r, dir, depth, err)) >= 0) {
    if (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
      return 0;
    if (found == 0 || (errno != ENOTEMPTY && errno != EEXIST))
      return tm_err_system(err, -errno, "cannot remove '%s'", name);
    rewinddir(dir);
  }
  return found;
}

/* Keeps (2). */
static int move_up(struct removal *r, int at, const char *name, struct tm_err *err)
{
  char new[32];
  int rc;
  do
    snprintf(new, sizeof(new), "deep-%u", r->moved++);
  while ((rc = renameat(at, name, r->top, new)) < 0 &&
         (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR) && r->moved > 0);
  return rc == 0 || errno == ENOENT ? 0 : tm_err_system(err, -errno, "cannot remove '%s'", name);
}

/* If is_forced, first changes the mode so that the folder can be read and its names removed. */
static DIR *open_to_empty(const struct removal *r, int at, const char *name)
{
  struct stat st;
  if (r->is_forced && fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
      (st.st_mode & 0700) != 0700 && st.st_uid == geteuid())
    (void)fchmodat(at, name, 0700, 0);
  return open_at(at, name, O_NOFOLLOW);
}

/* Whether something is mounted on an open folder. A kernel before 5.8 cannot tell. */
static bool is_mount(int fd)
{
  struct statx st;
  return statx(fd, "", AT_EMPTY_PATH, 0, &st) == 0 &&
         (st.stx_attributes & st.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0;
}

static int remove_folder(struct removal *r, int at, const char *name, int depth, struct tm_err *err)
{
  if (depth > DEPTH_MAX) {
    if (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
      return 0;
    return move_up(r, at, name, err);
  }
  DIR *dir = open_to_empty(r, at, name);
  if (dir == NULL) { /* an empty folder needs no descriptor, and there may be none left */
    int code = -errno;
    if (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
      return 0;
    return tm_err_system(err, code, "cannot remove '%s'", name);
  }
  int rc = 0;
  if (depth == 0)
    r->top = dirfd(dir);
  if (is_mount(dirfd(dir))) /* keeps (1) */
    rc = tm_err_set(err, -EBUSY, "cannot remove '%s', a mount point (unmount it first)", name);
  if (rc == 0)
    rc = empty_and_remove(r, at, name, dir, depth, err);
  closedir(dir);
  return rc;
}

/* `type` is only a hint what to try first: the name may be something else by now. */
static int remove_at(struct removal *r, int at, const char *name, int type, int depth,
                     struct tm_err *err)
{
  if (type != DT_DIR && (unlinkat(at, name, 0) == 0 || errno == ENOENT))
    return 0;
  if (type == DT_DIR || errno == EISDIR) {
    int rc = remove_folder(r, at, name, depth, err); /* keeps (1) */
    if (rc != -ENOTDIR && rc != -ELOOP)
      return rc;
    if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
      return 0;
  }
  return tm_err_system(err, -errno, "cannot remove '%s'", name);
}

/* Whether the last part is a real name: not "", "/", "." or "..", with or without trailing
 * slashes. */
static bool has_own_name(const char *path)
{
  size_t end = strlen(path), start;
  while (end > 0 && path[end - 1] == '/')
    end--;
  for (start = end; start > 0 && path[start - 1] != '/';)
    start--;
  return end - start > 2 || (end > start && strncmp(path + start, "..", end - start) != 0);
}

static int remove_tree(const char *path, bool is_forced, struct tm_err *err)
{
  struct removal r = { .top = -1, .is_forced = is_forced };
  struct tm_err why = TM_ERR_NONE;
  int rc;
  if (!has_own_name(path)) /* it stands for more than the caller can have meant */
    return tm_err_set(err, TM_EUSAGE, "'%s' is not removed with all that is in it", path);
  rc = remove_at(&r, AT_FDCWD, path, DT_UNKNOWN, 0, &why);
  if (rc == 0)
    return 0;
  return tm_err_set(err, rc, "%s, below '%s'", why.text, path);
}

int tm_tree_remove(const char *path, struct tm_err *err)
{
  return remove_tree(path, false, err);
}

int tm_tree_remove_forced(const char *path, struct tm_err *err)
{
  return remove_tree(path, true, err);
}

int tm_fs_sync_all(const char *path, struct tm_err *err)
{
  int fd = tm_fd_lift(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  int rc = fd < 0 || syncfs(fd) < 0 ? -errno : 0;
  if (fd >= 0)
    close(fd);
  return rc < 0 ? tm_err_system(err, rc, "cannot write all of '%s' to the disk", path) : 0;
}

int tm_fd_append(int fd, const void *p, size_t n)
{
  const char *from = p;
  while (n > 0) {
    ssize_t put = write(fd, from, n);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return put < 0 ? -errno : -EIO;
    from += put;
    n -= (size_t)put;
  }
  return 0;
}
