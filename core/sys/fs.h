/* fs.h - files. The table is a seam: tests replace it (to inject faults, or to simulate a disk).
 *
 * Every call returns 0 or more, or a negated errno. No call in the table retries. The helpers below
 * add what callers want: whole writes, atomic files, error messages. Descriptors are always
 * close-on-exec. Several threads may use a table at once.
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
  int64_t ctime_ns; /* likewise: the last change of contents, name, owner or mode */
  uint64_t dev, ino;
  uint32_t mode; /* as st_mode: file type and permissions */
  uint32_t uid;  /* of the owner */
};

/* The file system that holds a folder. */
struct tm_volume {
  bool is_memory; /* a tmpfs */
  bool is_read_only, is_no_exec;
  int64_t free_bytes, free_files; /* available to this user; INT64_MAX: no limit */
};

/* A name in a folder; `type` is DT_REG, DT_DIR, DT_LNK, DT_UNKNOWN, ... A negative return value
 * stops the reading, which then returns it. */
typedef int (*tm_on_name)(void *data, const char *name, int type);

struct tm_fs {
  void *self;
  int (*open)(void *self, const char *path, int flags, int mode); /* returns a descriptor */
  int (*close)(void *self, int fd);
  int64_t (*pread)(void *self, int fd, void *p, size_t n, int64_t at);
  int64_t (*pwrite)(void *self, int fd, const void *p, size_t n, int64_t at);
  int (*fsync)(void *self, int fd);
  int (*ftruncate)(void *self, int fd, int64_t length);
  int (*fstat)(void *self, int fd, struct tm_stat *out);
  int (*stat)(void *self, const char *path, bool follow, struct tm_stat *out);
  int (*rename)(void *self, const char *from, const char *to);
  /* For a file: -EEXIST if anything has the name `to`, where rename() would replace a file. If a
   * kill interrupts this on some network file systems, the file has both names. */
  int (*rename_new)(void *self, const char *from, const char *to);
  /* Swaps two existing names atomically. -ENOSYS: this file system cannot do it. */
  int (*exchange)(void *self, const char *a, const char *b);
  int (*unlink)(void *self, const char *path); /* a file, a link, or an empty folder */
  int (*mkdir)(void *self, const char *path, int mode);
  int (*symlink)(void *self, const char *target, const char *path);
  int (*volume)(void *self, const char *path, struct tm_volume *out);
  /* returns the length; no NUL */
  int (*readlink)(void *self, const char *path, char *out, size_t size);
  /* Like tm_dir_read() and tm_tree_remove(), which implement them for the machine's files. */
  int (*dir_read)(void *self, const char *path, tm_on_name on_name, void *data);
  int (*tree_remove)(void *self, const char *path, struct tm_err *err);
};

/* The machine's own files. Static memory. */
const struct tm_fs *tm_fs_real(void);

/* Opens a file; `flags` as for open(2). Returns a descriptor, or an error with a message. */
int tm_fs_open(const struct tm_fs *fs, const char *path, int flags, int mode, struct tm_err *err);
/* The same for a file that may be missing: 0, and *fd is -1 then. */
int tm_fs_open_found(int *fd, const struct tm_fs *fs, const char *path, int flags,
                     struct tm_err *err);
void tm_fs_close(const struct tm_fs *fs, int fd); /* -1 is a no-op */
/* Writes all n bytes; retries after EINTR and short writes. `path` is for the message. */
int tm_fs_write_at(const struct tm_fs *fs, int fd, const char *path, const void *p, size_t n,
                   int64_t at, struct tm_err *err);
/* Reads up to n bytes; retries after EINTR and short reads. Fewer only at the end of the file.
 * Returns the number. */
int64_t tm_fs_read_at(const struct tm_fs *fs, int fd, const char *path, void *p, size_t n,
                      int64_t at, struct tm_err *err);
/* Never retried: after a failed fsync, the state of the file is unknown. tm_fs_sync_dir() accepts
 * file systems that cannot sync folders (EINVAL). */
int tm_fs_sync(const struct tm_fs *fs, int fd, const char *path, struct tm_err *err);
int tm_fs_sync_dir(const struct tm_fs *fs, const char *path, struct tm_err *err);
/* Makes the name of an existing file durable: whoever made it may have been killed before its name
 * was on the disk. Returns 0 if the folder that holds it may not be read: we made nothing in it. */
int tm_fs_sync_name(const struct tm_fs *fs, const char *path, struct tm_err *err);
/* Makes a folder in an existing one, unless it exists, and fsyncs its parent. For what belongs to a
 * job that runs: a job whose folder was removed must not get it back. */
int tm_fs_make_dir(const struct tm_fs *fs, const char *path, int mode, struct tm_err *err);
/* Makes the folder and the missing ones above it, and fsyncs the parent of each. */
int tm_fs_make_dirs(const struct tm_fs *fs, const char *path, int mode, struct tm_err *err);
/* Adds the whole file to `out`, at most `max` bytes (else TM_ELIMIT). */
int tm_fs_read_file(const struct tm_fs *fs, const char *path, size_t max, struct tm_buf *out,
                    struct tm_err *err);
/* Replaces the file atomically: writes "<path>.tmp", fsyncs it, renames it, fsyncs the folder. */
int tm_fs_write_file(const struct tm_fs *fs, const char *path, const void *p, size_t n, int mode,
                     struct tm_err *err);
/* The same without fsync: for what nobody needs after a power cut. */
int tm_fs_replace_file(const struct tm_fs *fs, const char *path, const void *p, size_t n, int mode,
                       struct tm_err *err);
bool tm_fs_exists(const struct tm_fs *fs, const char *path);
/* *out: where a link leads, to be freed; NULL on failure. */
int tm_fs_link_read(const struct tm_fs *fs, const char *path, char **out, struct tm_err *err);
/* Like tm_tree_remove(), over the table. */
int tm_fs_remove_tree(const struct tm_fs *fs, const char *path, struct tm_err *err);

/* For real files only; these need no seam. */
/* The names in a folder except "." and "..", unsorted. */
int tm_dir_read(const char *path, tm_on_name on_name, void *data);
/* Removes a tree. Removes links without following them. Returns -EBUSY if something is mounted in
 * the tree; 0 if it does not exist; TM_EUSAGE if the last part of the path is not a name of its own
 * ("", "/", ".", "..", "x/../"). */
int tm_tree_remove(const char *path, struct tm_err *err);
/* Like tm_tree_remove(), but first makes this user's folders readable and writable where their mode
 * forbids it. */
int tm_tree_remove_forced(const char *path, struct tm_err *err);

/* A second name for a file in the same file system. 0 or a negated errno. */
int tm_file_link(const char *from, const char *to);
int tm_file_set_mtime(const char *path, int64_t mtime_ns);
/* tm_file_new_private() makes an empty file of mode 0600, whatever the umask.
 * tm_file_make_private() sets mode 0600 on a regular file of this user that others can read or
 * write. Neither opens the file, since closing it would end the fcntl locks that this process holds
 * on it. 0 or a negated errno. */
int tm_file_new_private(const char *path);
int tm_file_make_private(const char *path);

/* Whether this process may read a file, or read and enter a folder; with `writes`, whether it may
 * write to a file, or make files in a folder. 0 or a negated errno. */
int tm_file_check(const char *path, bool writes);

/* Writes everything pending of the file system that holds this folder to the disk: one call for
 * many files. */
int tm_fs_sync_all(const char *path, struct tm_err *err);

/* A lock on a whole file, which ends with the descriptor or with tm_lock_release(). Returns 0,
 * -EWOULDBLOCK or another error. */
int tm_lock_take(int fd, bool shared);
void tm_lock_release(int fd);
/* Whether this error of tm_lock_take() says that the file system has no locks. */
bool tm_lock_is_unsupported(int code);

/* Appends a line or record to a log with one write; retries after EINTR and short writes. For logs,
 * not for data that must not be lost. 0 or a negated errno. */
int tm_fd_append(int fd, const void *p, size_t n);

#endif
