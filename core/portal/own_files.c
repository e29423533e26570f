/* own_files.c - see own_files.h. */
#include "portal/own_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "portal/request/secret.h"

#define RUNNING   "portal.json"
#define ADDRESS   "portal_address.json"
#define FILE_MAX  4096
#define OPEN_MODE (O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)

bool tm_portal_address_read(struct tm_portal_address *out, const char *text)
{
  struct tm_json *v = tm_json_of(text);
  const char *prefix = tm_json_str(v, "prefix", "");
  int64_t port = tm_json_int(v, "port", 0);
  bool is_ours = tm_secret_is_digits(prefix, TM_PORTAL_PREFIX_LEN) && port >= 0 && port < 65536;
  if (is_ours) {
    memcpy(out->prefix, prefix, TM_PORTAL_PREFIX_LEN + 1);
    out->port = (int)port;
  }
  tm_json_free(v);
  return is_ours;
}

void tm_portal_address_write(struct tm_buf *out, const struct tm_portal_address *a)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(v, "prefix", tm_json_new_string(a->prefix));
  tm_json_set(v, "port", tm_json_new_int(a->port));
  tm_json_write(out, v, (struct tm_json_style) { .indent = 0 });
  tm_buf_add_char(out, '\n');
  tm_json_free(v);
}

static void read_small(int fd, struct tm_buf *out)
{
  char *at = tm_buf_extend(out, FILE_MAX);
  ssize_t n = pread(fd, at, FILE_MAX, 0);
  out->len -= FILE_MAX - (size_t)(n > 0 ? n : 0);
  out->data[out->len] = '\0';
}

static int write_small(int fd, const char *name, const struct tm_buf *text, struct tm_err *err)
{
  if (fchmod(fd, 0600) < 0 || ftruncate(fd, 0) < 0 ||
      pwrite(fd, text->data, text->len, 0) != (ssize_t)text->len)
    return tm_err_system(err, errno ? -errno : -ENOSPC, "cannot write '%s' in the workspace", name);
  return 0;
}

static void add_url(int fd, struct tm_buf *out)
{
  struct tm_buf text = TM_BUF_NONE;
  read_small(fd, &text);
  struct tm_json *v = tm_json_of(tm_buf_str(&text));
  tm_buf_add_str(out, tm_json_str(v, "url", ""));
  tm_json_free(v);
  tm_buf_release(&text);
}

/* Whether the name still leads to the open file: a portal that ends removes it. */
static bool is_there(int folder, int fd)
{
  struct stat open, named;
  return fstat(fd, &open) == 0 && fstatat(folder, RUNNING, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev && S_ISREG(open.st_mode);
}

static int take_lock(struct tm_own_files *f, const char *workspace, struct tm_buf *url,
                     struct tm_err *err)
{
  for (int tries = 0; tries < 100; tries++) {
    int fd = openat(f->folder, RUNNING, OPEN_MODE, 0600);
    if (fd < 0)
      return tm_err_system(err, -errno, "cannot open '%s' in '%s'", RUNNING, workspace);
    bool is_held = flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    if (!is_held && is_there(f->folder, fd)) {
      f->lock = fd;
      return 0;
    }
    if (is_held)
      add_url(fd, url);
    close(fd);
    if (is_held)
      return tm_err_set(err, TM_EINUSE, "a portal of the workspace '%s' is running", workspace);
  }
  return tm_err_set(err, TM_EINUSE, "'%s' in '%s' is not a regular file, or comes and goes",
                    RUNNING, workspace);
}

int tm_own_files_open(struct tm_own_files *f, const char *workspace, struct tm_buf *url,
                      struct tm_err *err)
{
  *f = (struct tm_own_files) { -1, -1 };
  f->folder = open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (f->folder < 0)
    return tm_err_system(err, -errno, "cannot open the workspace '%s'", workspace);
  return take_lock(f, workspace, url, err);
}

int tm_own_files_address(struct tm_own_files *f, struct tm_portal_address *a, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  int fd = openat(f->folder, ADDRESS, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd >= 0) {
    read_small(fd, &text);
    close(fd);
  }
  *a = (struct tm_portal_address) { .port = 0 };
  bool is_known = tm_portal_address_read(a, tm_buf_str(&text));
  tm_buf_release(&text);
  return is_known ? 0 : tm_secret_make(a->prefix, TM_PORTAL_PREFIX_LEN, err);
}

int tm_own_files_write(struct tm_own_files *f, const struct tm_portal_address *a, const char *url,
                       struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  int fd = openat(f->folder, ADDRESS, OPEN_MODE, 0600);
  tm_portal_address_write(&text, a);
  int rc = fd < 0 ? tm_err_system(err, -errno, "cannot write '%s' in the workspace", ADDRESS)
                  : write_small(fd, ADDRESS, &text, err);
  if (fd >= 0)
    close(fd);
  if (rc < 0) {
    tm_buf_release(&text);
    return rc;
  }
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(v, "url", tm_json_new_string(url));
  tm_json_set(v, "pid", tm_json_new_int(getpid()));
  tm_buf_clear(&text);
  tm_json_write(&text, v, (struct tm_json_style) { .indent = 0 });
  tm_buf_add_char(&text, '\n');
  rc = write_small(f->lock, RUNNING, &text, err);
  tm_json_free(v);
  tm_buf_release(&text);
  return rc;
}

void tm_own_files_close(struct tm_own_files *f)
{
  if (f->lock >= 0) {
    if (is_there(f->folder, f->lock))
      (void)unlinkat(f->folder, RUNNING, 0);
    close(f->lock);
  }
  if (f->folder >= 0)
    close(f->folder);
  *f = (struct tm_own_files) { -1, -1 };
}
