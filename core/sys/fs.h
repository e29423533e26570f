/* fs.h - files. The table is a seam: tests put another one in its place (faults, a simulated
 * disk).
 *
 * Every call returns 0 or more, or a negated errno. Nothing in the table retries; the helpers
 * below do what callers want: whole writes, atomic files, words for errors. Descriptors are always
 * close-on-exec. May be used by several threads at once.
 */
#ifndef TM_SYS_FS_H
#define TM_SYS_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct tm_stat {
  int64_t size;     /* bytes */
  int64_t mtime_ns; /* since the epoch */
  uint64_t dev, ino;
  uint32_t mode; /* as st_mode: file type and permissions */
  uint32_t uid;  /* of the owner */
};

/* What holds a folder. */
struct tm_volume {
  bool is_memory; /* a tmpfs */
  bool is_read_only, is_no_exec;
  int64_t free_bytes, free_files; /* for this user; INT64_MAX: there is no limit */
};

/* A name in a folder; `type` is DT_REG, DT_DIR, DT_LNK, DT_UNKNOWN, ... A negative return ends the reading with that value. */
typedef int (*tm_on_name)(void *data, const char *name, int type);

struct tm_fs {
  void *self;
  int (*open)(void *self, const char *path, int flags, int mode); /* a descriptor */
  int (*close)(void *self, int fd);
  int64_t (*pread)(void *self, int fd, void *p, size_t n, int64_t at);
  int64_t (*pwrite)(void *self, int fd, const void *p, size_t n, int64_t at);
  int (*fsync)(void *self, int fd);
  int (*ftruncate)(void *self, int fd, int64_t length);
  int (*fstat)(void *self, int fd, struct tm_stat *out);
  int (*stat)(void *self, const char *path, bool follow, struct tm_stat *out);
  int (*rename)(void *self, const char *from, const char *to);
  /* Two names change places at once; both exist. -ENOSYS: this file system cannot do it. */
  int (*exchange)(void *self, const char *a, const char *b);
  int (*unlink)(void *self, const char *path); /* a file, a link, or an empty folder */
  int (*mkdir)(void *self, const char *path, int mode);
  int (*symlink)(void *self, const char *target, const char *path);
  int (*volume)(void *self, const char *path, struct tm_volume *out);
  int (*readlink)(void *self, const char *path, char *out, size_t size); /* the length; no NUL */
  /* As tm_dir_read() and tm_tree_remove(), which these are of the machine's files. */
  int (*dir_read)(void *self, const char *path, tm_on_name on_name, void *data);
  int (*tree_remove)(void *self, const char *path, struct tm_err *err);
};

/* The machine's own files. Static memory. */
const struct tm_fs *tm_fs_real(void);

/* Opens, with words. flags as open(2). Returns a descriptor. */
int tm_fs_open(const struct tm_fs *fs, const char *path, int flags, int mode, struct tm_err *err);
void tm_fs_close(const struct tm_fs *fs, int fd); /* -1 is a no-op */
/* All n bytes, going on after EINTR and short writes. `path` is for the words. */
int tm_fs_write_at(const struct tm_fs *fs, int fd, const char *path, const void *p, size_t n,
                   int64_t at, struct tm_err *err);
/* Up to n bytes, going on after EINTR and short reads; fewer only at the end of the file. Returns
 * the number. */
int64_t tm_fs_read_at(const struct tm_fs *fs, int fd, const char *path, void *p, size_t n,
                      int64_t at, struct tm_err *err);
/* Never retried: after a failed fsync nothing is known of the file. A file system that cannot sync
 * folders (EINVAL) is no error of tm_fs_sync_dir(). */
int tm_fs_sync(const struct tm_fs *fs, int fd, const char *path, struct tm_err *err);
int tm_fs_sync_dir(const struct tm_fs *fs, const char *path, struct tm_err *err);
/* The name of what has been there before: whoever made it may have been killed before its name was on the disk. A folder above
 * that may not be read is no error: we did not make anything in it. */
int tm_fs_sync_name(const struct tm_fs *fs, const char *path, struct tm_err *err);
/* The folder and those above it that are missing, each with its parent fsynced after it was made.
 */
int tm_fs_make_dirs(const struct tm_fs *fs, const char *path, int mode, struct tm_err *err);
/* Adds the whole file to `out`, at most `max` bytes (else TM_ELIMIT). */
int tm_fs_read_file(const struct tm_fs *fs, const char *path, size_t max, struct tm_buf *out,
                    struct tm_err *err);
/* All or nothing: written beside it as "<path>.tmp", fsynced, renamed, folder fsynced. */
int tm_fs_write_file(const struct tm_fs *fs, const char *path, const void *p, size_t n, int mode,
                     struct tm_err *err);
bool tm_fs_exists(const struct tm_fs *fs, const char *path);
/* Where a link leads, to be freed; NULL where it fails. */
int tm_fs_link_read(const struct tm_fs *fs, const char *path, char **out, struct tm_err *err);
/* As tm_tree_remove(), over the table. */
int tm_fs_remove_tree(const struct tm_fs *fs, const char *path, struct tm_err *err);

/* Real files only, for what needs no seam. */
/* The names in a folder but "." and "..", unsorted. */
int tm_dir_read(const char *path, tm_on_name on_name, void *data);
/* Removes a tree; links are removed, not followed. What is mounted in it is not removed: -EBUSY.
 * Missing is no error. A path that ends in no
 * name of its own ("", "/", ".", "..", "x/../") is refused: TM_EUSAGE. */
int tm_tree_remove(const char *path, struct tm_err *err);
/* The same, also of folders of this user that their mode does not let it read or change: they are opened to it first. */
int tm_tree_remove_forced(const char *path, struct tm_err *err);

/* A second name for a file, in the same file system; both are it. 0 or a negated errno. */
int tm_file_link(const char *from, const char *to);
int tm_file_set_mtime(const char *path, int64_t mtime_ns);
/* An empty file of mode 0600, whatever the umask; and mode 0600 for a regular file of this user that others can read or write.
 * Neither opens the file: closing it would end the locks (fcntl) that this process holds on it. 0 or a negated errno. */
int tm_file_new_private(const char *path);
int tm_file_make_private(const char *path);

/* All that was written of the file system that has this folder is on the disk: for many files at once. */
int tm_fs_sync_all(const char *path, struct tm_err *err);

/* A lock on a whole file, which ends with the descriptor or with tm_lock_release. Returns 0,
 * -EWOULDBLOCK or another error. */
int tm_lock_take(int fd, bool shared);
void tm_lock_release(int fd);

/* Appends a whole line or record to a log with one write; EINTR is retried, a short write gone on
 * with. For logs, not for what must not be lost. 0 or a negated errno. */
int tm_fd_append(int fd, const void *p, size_t n);

#endif
