/* pack.c - see pack.h. libarchive writes and reads the format; all input and output uses our own
 * calls. */
#include "data/archive/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "data/files/folder.h"
#include "data/stream/libarchive.h"
#include "sys/process.h"

#define PIECE ((size_t)256 << 10)

struct pack {
  const struct tm_fs *fs;
  const struct tm_libarchive *la;
  struct archive *a;
  struct archive_entry *entry;
  const char *root;                /* of the packed files, or of the target */
  const char *path;                /* of the packed file, for messages */
  const struct tm_pack_options *o; /* for writing */
  int fd;
  int64_t at; /* in the packed file */
  struct tm_err *err;
  struct tm_err io; /* of a call of ours, unknown to libarchive */
  bool is_given_up; /* further writes are dropped */
  char *piece;
};

static int refuse(struct pack *p, const char *what)
{
  const char *words = p->la->error_string(p->a);
  if (p->io.code < 0)
    return tm_err_set(p->err, p->io.code, "%s", p->io.text);
  return tm_err_set(p->err, TM_EDAMAGE, "'%s' cannot be %s: %s", p->path, what,
                    words ? words : "libarchive does not say why");
}

/* Writing. */

static la_ssize_t on_write(struct archive *a, void *data, const void *bytes, size_t n)
{
  struct pack *p = data;
  if (p->is_given_up)
    return (la_ssize_t)n;
  if (tm_fs_write_at(p->fs, p->fd, p->path, bytes, n, p->at, &p->io) < 0) {
    p->la->set_error(a, EIO, "cannot be written");
    return -1;
  }
  p->at += (int64_t)n;
  return (la_ssize_t)n;
}

static int write_header(struct pack *p)
{
  return p->la->write_header(p->a, p->entry) < ARCHIVE_WARN ? refuse(p, "written") : 0;
}

static int add_contents(struct pack *p, const char *path, int64_t size)
{
  int fd = tm_fs_open(p->fs, path, O_RDONLY, 0, p->err);
  int64_t at = 0, n = 0;
  int rc = fd < 0 ? fd : 0;
  while (rc == 0 && at < size &&
         (n = tm_fs_read_at(p->fs, fd, path, p->piece, PIECE, at, p->err)) > 0) {
    if (p->o->stop && atomic_load(p->o->stop))
      rc = tm_err_system(p->err, -ECANCELED, "packing '%s'", path);
    else if (p->la->write_data(p->a, p->piece, (size_t)n) != (la_ssize_t)n)
      rc = refuse(p, "written");
    at += n;
  }
  tm_fs_close(p->fs, fd);
  if (rc == 0 && n >= 0 && at != size)
    rc = tm_err_set(p->err, -EIO, "'%s' has changed while it was packed", path);
  return n < 0 ? (int)n : rc;
}

static int add_link(struct pack *p, const char *path)
{
  char *leads_to;
  int rc = tm_fs_link_read(p->fs, path, &leads_to, p->err);
  if (rc < 0)
    return rc;
  p->la->entry_set_filetype(p->entry, AE_IFLNK);
  p->la->entry_set_perm(p->entry, 0777);
  p->la->entry_copy_symlink(p->entry, leads_to);
  free(leads_to);
  return write_header(p);
}

static int add_folder(struct pack *p, const char *relative);

static int add_entry(struct pack *p, const char *relative)
{
  char *path = tm_path_join(p->root, relative);
  struct tm_stat st;
  int rc = p->fs->stat(p->fs->self, path, false, &st);
  p->la->entry_clear(p->entry);
  p->la->entry_copy_pathname(p->entry, relative);
  if (rc < 0) {
    tm_err_system(p->err, rc, "cannot look at '%s'", path);
  } else if (S_ISDIR(st.mode)) {
    p->la->entry_set_filetype(p->entry, AE_IFDIR);
    p->la->entry_set_perm(p->entry, 0700);
    rc = p->o->is_for_others ? 0 : write_header(p);
    rc = rc < 0 ? rc : add_folder(p, relative);
  } else if (S_ISREG(st.mode)) {
    p->la->entry_set_filetype(p->entry, AE_IFREG);
    p->la->entry_set_perm(p->entry, p->o->is_for_others ? st.mode & 0777
                                    : st.mode & S_IXUSR ? 0700
                                                        : 0600);
    if (p->o->is_for_others)
      p->la->entry_set_mtime(p->entry, (time_t)(st.mtime_ns / 1000000000), 0);
    p->la->entry_set_size(p->entry, st.size);
    rc = write_header(p);
    rc = rc < 0 ? rc : add_contents(p, path, st.size);
  } else if (S_ISLNK(st.mode)) {
    rc = add_link(p, path);
  } else {
    rc =
        tm_err_set(p->err, TM_EUSAGE, "cannot pack '%s': it is a device, a socket or a pipe", path);
  }
  free(path);
  return rc;
}

static bool wants_all(void *data, const char *name)
{
  return true;
}

static int add_folder(struct pack *p, const char *relative)
{
  struct tm_folder names = { 0 };
  char *path = tm_path_join(p->root, relative);
  const char *name;
  int type, rc = tm_folder_read(&names, p->fs, path, wants_all, NULL);
  if (rc < 0)
    tm_err_system(p->err, rc, "cannot read folder '%s'", path);
  while (rc == 0 && tm_folder_next(&names, &name, &type)) {
    char *inner = *relative ? tm_path_join(relative, name) : tm_xstrdup(name);
    rc = add_entry(p, inner);
    free(inner);
  }
  tm_folder_release(&names);
  free(path);
  return rc;
}

static bool set_format(struct pack *p)
{
  const char *format = p->o->format;
  if (strcmp(format, "zip") == 0)
    return p->la->write_set_format_zip(p->a) == ARCHIVE_OK;
  if (p->la->write_set_format_pax_restricted(p->a) != ARCHIVE_OK ||
      p->la->write_set_options(p->a, "hdrcharset=BINARY") != ARCHIVE_OK)
    return false;
  if (strcmp(format, "tar.gz") == 0)
    return p->la->write_add_filter_gzip(p->a) == ARCHIVE_OK;
  return strcmp(format, "tar") == 0 || p->la->write_add_filter_zstd(p->a) == ARCHIVE_OK;
}

static int write_all(struct pack *p)
{
  int rc;
  p->a = p->la->write_new();
  if (!p->a)
    return tm_err_system(p->err, -ENOMEM, "cannot pack '%s'", p->root);
  if (!set_format(p) || p->la->write_set_bytes_in_last_block(p->a, 1) != ARCHIVE_OK ||
      p->la->write_open(p->a, p, NULL, on_write, NULL) != ARCHIVE_OK)
    rc = refuse(p, "written");
  else
    rc = add_folder(p, "");
  /* libarchive writes an end before it frees; if that failed, it would leak */
  p->is_given_up = rc < 0;
  if (rc == 0 && p->la->write_close(p->a) != ARCHIVE_OK)
    rc = refuse(p, "written");
  p->is_given_up = true;
  p->la->write_free(p->a);
  return rc;
}

int tm_pack_write_as(const struct tm_fs *fs, const char *dir, const char *to,
                     const struct tm_pack_options *o, struct tm_err *err)
{
  struct pack p = { .fs = fs, .root = dir, .path = to, .o = o, .err = TM_ERR_OWN(err) };
  int rc;
  p.la = tm_libarchive(p.err);
  if (!p.la)
    return p.err->code;
  rc = p.fd = tm_fs_open(fs, to, O_WRONLY | O_CREAT | O_EXCL, o->mode, p.err);
  if (p.fd < 0)
    return rc;
  p.entry = p.la->entry_new();
  p.piece = tm_xmalloc(PIECE);
  if ((rc = write_all(&p)) == 0)
    rc = tm_fs_sync(fs, p.fd, to, p.err);
  free(p.piece);
  p.la->entry_free(p.entry);
  tm_fs_close(fs, p.fd);
  if (rc < 0)
    (void)fs->unlink(fs->self, to);
  return rc < 0 ? rc : 0;
}

int tm_pack_write(const struct tm_fs *fs, const char *dir, const char *to, struct tm_err *err)
{
  struct tm_pack_options o = { .format = "tar.zst", .mode = 0600 };
  char *temporary = tm_xprintf("%s.%016llx.tmp", to, (unsigned long long)tm_process_random());
  char *parent = tm_path_dir(to);
  int rc = tm_pack_write_as(fs, dir, temporary, &o, err);
  if (rc == 0 && (rc = fs->rename(fs->self, temporary, to)) < 0) {
    tm_err_system(err, rc, "cannot rename '%s' to '%s'", temporary, to);
    (void)fs->unlink(fs->self, temporary);
  }
  if (rc == 0)
    rc = tm_fs_sync_dir(fs, parent, err);
  free(parent);
  free(temporary);
  return rc < 0 ? rc : 0;
}

/* Reading. */

static la_ssize_t on_read(struct archive *a, void *data, const void **bytes)
{
  struct pack *p = data;
  int64_t n = tm_fs_read_at(p->fs, p->fd, p->path, p->piece, PIECE, p->at, &p->io);
  if (n < 0) {
    p->la->set_error(a, EIO, "cannot be read");
    return -1;
  }
  p->at += n;
  *bytes = p->piece;
  return (la_ssize_t)n;
}

/* Whether it is a normalized name below the root. */
static bool is_below(const char *name)
{
  for (const char *part = name;; part++) {
    size_t n = strcspn(part, "/");
    if (n == 0 || (n == 1 && *part == '.') || (n == 2 && part[0] == '.' && part[1] == '.'))
      return false;
    part += n;
    if (*part == '\0')
      return true;
  }
}

/* Whether the folders above a name were written before it, as folders: none of them is a link. */
static bool is_in_folders(struct pack *p, const char *relative)
{
  char *path = tm_xstrdup(relative);
  bool is_in = true;
  for (char *c = strchr(path, '/'); c && is_in; c = strchr(c + 1, '/')) {
    struct tm_stat st;
    *c = '\0';
    char *folder = tm_path_join(p->root, path);
    is_in = p->fs->stat(p->fs->self, folder, false, &st) == 0 && S_ISDIR(st.mode);
    free(folder);
    *c = '/';
  }
  free(path);
  return is_in;
}

static int put_contents(struct pack *p, const char *path, bool is_program)
{
  const void *bytes;
  size_t n;
  la_int64_t at;
  int got = ARCHIVE_OK, rc = 0;
  int fd = tm_fs_open(p->fs, path, O_WRONLY | O_CREAT | O_EXCL, is_program ? 0700 : 0600, p->err);
  if (fd < 0)
    return fd;
  while (rc == 0 && (got = p->la->read_data_block(p->a, &bytes, &n, &at)) == ARCHIVE_OK)
    if (n > 0)
      rc = tm_fs_write_at(p->fs, fd, path, bytes, n, at, p->err);
  tm_fs_close(p->fs, fd);
  return rc < 0 || got == ARCHIVE_EOF ? rc : refuse(p, "unpacked");
}

static int put_entry(struct pack *p)
{
  const char *given = p->la->entry_pathname(p->entry);
  const char *leads_to = p->la->entry_symlink(p->entry);
  size_t len = given ? strlen(given) : 0;
  char *name = tm_xstrndup(given ? given : "", len > 1 && given[len - 1] == '/' ? len - 1 : len);
  char *path = tm_path_join(p->root, name);
  int rc = 0;
  if (!is_below(name) || !is_in_folders(p, name) || p->la->entry_hardlink(p->entry)) {
    rc = tm_err_set(p->err, TM_EDAMAGE, "'%s' is damaged: it holds '%s', which no folder had",
                    p->path, name);
    goto done;
  }
  switch (p->la->entry_filetype(p->entry)) {
  case AE_IFDIR:
    if ((rc = p->fs->mkdir(p->fs->self, path, 0700)) < 0)
      tm_err_system(p->err, rc, "cannot make folder '%s'", path);
    break;
  case AE_IFLNK:
    if ((rc = p->fs->symlink(p->fs->self, leads_to ? leads_to : "", path)) < 0)
      tm_err_system(p->err, rc, "cannot make link '%s'", path);
    break;
  case AE_IFREG: rc = put_contents(p, path, p->la->entry_perm(p->entry) & S_IXUSR); break;
  default:
    rc = tm_err_set(p->err, TM_EDAMAGE, "'%s' is damaged: '%s' is not a file", p->path, name);
  }
done:
  free(name);
  free(path);
  return rc;
}

static int read_all(struct pack *p)
{
  int rc;
  p->a = p->la->read_new();
  if (!p->a)
    return tm_err_system(p->err, -ENOMEM, "cannot unpack '%s'", p->path);
  p->la->read_support_filter_zstd(p->a);
  p->la->read_support_format_tar(p->a);
  rc = p->la->read_open(p->a, p, NULL, on_read, NULL);
  while (rc >= ARCHIVE_WARN && (rc = p->la->read_next_header(p->a, &p->entry)) >= ARCHIVE_WARN &&
         rc != ARCHIVE_EOF) {
    if ((rc = put_entry(p)) < 0) {
      p->la->read_free(p->a);
      return rc;
    }
  }
  rc = rc == ARCHIVE_EOF ? 0 : refuse(p, "unpacked");
  p->la->read_free(p->a);
  return rc;
}

int tm_pack_read(const struct tm_fs *fs, const char *from, const char *to, struct tm_err *err)
{
  struct pack p = { .fs = fs, .root = to, .path = from, .err = TM_ERR_OWN(err) };
  int rc;
  p.la = tm_libarchive(p.err);
  if (!p.la)
    return p.err->code;
  rc = p.fd = tm_fs_open(fs, from, O_RDONLY, 0, p.err);
  if (p.fd < 0)
    return rc;
  p.piece = tm_xmalloc(PIECE);
  rc = read_all(&p);
  free(p.piece);
  tm_fs_close(fs, p.fd);
  return rc;
}
