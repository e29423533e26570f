/* calls.c - one row for each system call; aarch64 lacks some of those that x86-64 has. */
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum about {
  NOTHING,
  DESCRIPTOR,  /* args[0] */
  PATH,        /* args[0] */
  AT,          /* a folder in args[0], a path in args[1] */
  SECOND_PATH, /* args[1] */
  SECOND_AT,   /* a folder in args[1], a path in args[2] */
};

struct call {
  const char *name;
  uint64_t number;
  enum about about;
};

static const struct call calls[] = {
  { "openat", SYS_openat, AT },
#ifdef SYS_open
  { "openat", SYS_open, PATH },
#endif
  { "read", SYS_read, DESCRIPTOR },
  { "read", SYS_pread64, DESCRIPTOR },
  { "read", SYS_readv, DESCRIPTOR },
  { "write", SYS_write, DESCRIPTOR },
  { "pwrite64", SYS_pwrite64, DESCRIPTOR },
  { "writev", SYS_writev, DESCRIPTOR },
  { "writev", SYS_pwritev, DESCRIPTOR },
  { "copy", SYS_copy_file_range, DESCRIPTOR },
  { "copy", SYS_sendfile, DESCRIPTOR },
  { "fsync", SYS_fsync, DESCRIPTOR },
  { "fdatasync", SYS_fdatasync, DESCRIPTOR },
  { "ftruncate", SYS_ftruncate, DESCRIPTOR },
  { "fallocate", SYS_fallocate, DESCRIPTOR },
  { "close", SYS_close, DESCRIPTOR },
  { "flock", SYS_flock, DESCRIPTOR },
  { "fcntl", SYS_fcntl, DESCRIPTOR },
  { "getdents64", SYS_getdents64, DESCRIPTOR },
  { "stat", SYS_fstat, DESCRIPTOR },
  { "stat", SYS_newfstatat, AT },
  { "stat", SYS_statx, AT },
#ifdef SYS_stat
  { "stat", SYS_stat, PATH },
  { "stat", SYS_lstat, PATH },
#endif
  { "chmod", SYS_fchmod, DESCRIPTOR },
  { "chmod", SYS_fchmodat, AT },
#ifdef SYS_chmod
  { "chmod", SYS_chmod, PATH },
#endif
#ifdef SYS_rename
  { "rename", SYS_rename, PATH },
#endif
#ifdef SYS_renameat
  { "rename", SYS_renameat, AT },
#endif
  { "rename", SYS_renameat2, AT },
#ifdef SYS_unlink
  { "unlink", SYS_unlink, PATH },
  { "unlink", SYS_rmdir, PATH },
#endif
  { "unlink", SYS_unlinkat, AT },
#ifdef SYS_mkdir
  { "mkdir", SYS_mkdir, PATH },
#endif
  { "mkdir", SYS_mkdirat, AT },
#ifdef SYS_link
  { "link", SYS_link, PATH },
  { "link", SYS_symlink, SECOND_PATH },
#endif
  { "link", SYS_linkat, AT },
  { "link", SYS_symlinkat, SECOND_AT },
  { "sendmsg", SYS_sendmsg, NOTHING },
};

enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

_Static_assert(2 * CALLS + 2 <= CALL_FILTER_MAX, "the filter is longer than its buffer");

static const struct call *find(uint64_t number)
{
  for (size_t i = 0; i < CALLS; i++) {
    if (calls[i].number == number)
      return &calls[i];
  }
  return NULL;
}

/* Rows of one class are neighbours. */
static bool is_first(size_t row)
{
  return row == 0 || strcmp(calls[row].name, calls[row - 1].name) != 0;
}

int call_class_find(const char *name)
{
  for (size_t i = 0; i < call_class_count(); i++) {
    if (strcmp(call_class_name(i), name) == 0)
      return (int)i;
  }
  return -1;
}

size_t call_class_count(void)
{
  size_t n = 0;
  for (size_t i = 0; i < CALLS; i++)
    n += is_first(i);
  return n;
}

const char *call_class_name(size_t index)
{
  size_t n = 0;
  for (size_t i = 0; i < CALLS; i++) {
    if (is_first(i) && n++ == index)
      return calls[i].name;
  }
  return "";
}

int call_class_of(uint64_t number)
{
  const struct call *c = find(number);
  return c ? call_class_find(c->name) : -1;
}

static bool read_link(pid_t tid, const char *what, char *out, size_t size)
{
  char link[64];
  snprintf(link, sizeof(link), "/proc/%d/%s", (int)tid, what);
  ssize_t n = readlink(link, out, size - 1);
  if (n < 0)
    return false;
  out[n] = '\0';
  return true;
}

static bool descriptor_path(pid_t tid, int fd, char *out, size_t size)
{
  char name[32];
  snprintf(name, sizeof(name), fd == AT_FDCWD ? "cwd" : "fd/%d", fd);
  return read_link(tid, name, out, size);
}

/* Reads a string of the process, one page at most at a time: the next page may be unmapped. */
static bool read_string(pid_t tid, uint64_t address, char *out, size_t size)
{
  enum { PAGE = 4096 };
  size_t have = 0;
  while (have < size) {
    size_t n = PAGE - (address + have) % PAGE;
    struct iovec here = { out + have, n < size - have ? n : size - have };
    struct iovec there = { (void *)(uintptr_t)(address + have), here.iov_len };
    if (process_vm_readv(tid, &here, 1, &there, 1, 0) != (ssize_t)here.iov_len)
      return false;
    if (memchr(out + have, '\0', here.iov_len))
      return true;
    have += here.iov_len;
  }
  return false;
}

static bool named_path(pid_t tid, int folder, uint64_t address, char *out, size_t size)
{
  char name[4096];
  if (!read_string(tid, address, name, sizeof(name)))
    return false;
  if (name[0] == '/') {
    snprintf(out, size, "%s", name);
    return true;
  }
  if (!descriptor_path(tid, folder, out, size))
    return false;
  if (name[0])
    snprintf(out + strlen(out), size - strlen(out), "/%s", name);
  return true;
}

bool call_path(pid_t tid, uint64_t number, const uint64_t args[6], char *out, size_t size)
{
  const struct call *c = find(number);
  switch (c ? c->about : NOTHING) {
  case NOTHING: return false;
  case DESCRIPTOR: return args[0] > 2 && descriptor_path(tid, (int)args[0], out, size);
  case PATH: return named_path(tid, AT_FDCWD, args[0], out, size);
  case AT: return named_path(tid, (int)args[0], args[1], out, size);
  case SECOND_PATH: return named_path(tid, AT_FDCWD, args[1], out, size);
  case SECOND_AT: return named_path(tid, (int)args[1], args[2], out, size);
  }
  return false;
}

unsigned short call_filter(int only, struct sock_filter *out)
{
  unsigned short n = 0;
  out[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                          (unsigned)offsetof(struct seccomp_data, nr));
  for (size_t i = 0; i < CALLS; i++) {
    if (only >= 0 && call_class_find(calls[i].name) != only)
      continue;
    out[n++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i].number, 0, 1);
    out[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
  }
  out[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  return n;
}

int call_error_find(const char *name)
{
  static const struct {
    const char *name;
    int number;
  } errors[] = {
    { "EACCES", EACCES }, { "EBUSY", EBUSY },   { "EDQUOT", EDQUOT }, { "EFBIG", EFBIG },
    { "EINTR", EINTR },   { "EIO", EIO },       { "EMFILE", EMFILE }, { "ENFILE", ENFILE },
    { "ENOLCK", ENOLCK }, { "ENOMEM", ENOMEM }, { "ENOSPC", ENOSPC }, { "EPERM", EPERM },
    { "EROFS", EROFS },   { "ESTALE", ESTALE },
  };
  for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
    if (strcmp(errors[i].name, name) == 0)
      return errors[i].number;
  }
  return 0;
}
