/* err.c - the text of an error, and the names of codes.
 *
 * The text always ends in a NUL and is valid UTF-8 if its parts are: a text that is too long is cut
 * before a character, never within one. It is built elsewhere and then copied, so that the old text
 * may be an argument of the new one.
 *
 * The names and texts of the system's codes are in a table here: strerror() answers in the host's
 * language and not always in static memory, and this layer does not know libuv. tm_err_system()
 * writes a code that is not in the table as its number.
 */
#include "base/err.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/format.h"
#include "base/mem.h"

struct code_words {
  int code;
  const char *name, *text;
};

static const struct code_words codes[] = {
#define XX(name, code, text) { code, #name, text },
  TIDEMILL_ERROR_MAP(XX)
#undef XX
      { -E2BIG, "E2BIG", "argument list too long" },
  { -EACCES, "EACCES", "permission denied" },
  { -EADDRINUSE, "EADDRINUSE", "address already in use" },
  { -EADDRNOTAVAIL, "EADDRNOTAVAIL", "address not available" },
  { -EAFNOSUPPORT, "EAFNOSUPPORT", "address family not supported" },
  { -EAGAIN, "EAGAIN", "resource temporarily unavailable" },
  { -EALREADY, "EALREADY", "connection already in progress" },
  { -EBADF, "EBADF", "bad file descriptor" },
  { -EBADMSG, "EBADMSG", "bad message" },
  { -EBUSY, "EBUSY", "resource busy or locked" },
  { -ECANCELED, "ECANCELED", "operation canceled" },
  { -ECHILD, "ECHILD", "no child processes" },
  { -ECONNABORTED, "ECONNABORTED", "software caused connection abort" },
  { -ECONNREFUSED, "ECONNREFUSED", "connection refused" },
  { -ECONNRESET, "ECONNRESET", "connection reset by peer" },
  { -EDEADLK, "EDEADLK", "resource deadlock avoided" },
  { -EDESTADDRREQ, "EDESTADDRREQ", "destination address required" },
  { -EDOM, "EDOM", "argument out of domain" },
  { -EDQUOT, "EDQUOT", "disk quota exceeded" },
  { -EEXIST, "EEXIST", "file already exists" },
  { -EFAULT, "EFAULT", "bad address in system call argument" },
  { -EFBIG, "EFBIG", "file too large" },
  { -EHOSTUNREACH, "EHOSTUNREACH", "host is unreachable" },
  { -EILSEQ, "EILSEQ", "illegal byte sequence" },
  { -EINTR, "EINTR", "interrupted system call" },
  { -EINVAL, "EINVAL", "invalid argument" },
  { -EIO, "EIO", "i/o error" },
  { -EISCONN, "EISCONN", "socket is already connected" },
  { -EISDIR, "EISDIR", "illegal operation on a directory" },
  { -ELOOP, "ELOOP", "too many symbolic links encountered" },
  { -EMFILE, "EMFILE", "too many open files" },
  { -EMLINK, "EMLINK", "too many links" },
  { -EMSGSIZE, "EMSGSIZE", "message too long" },
  { -ENAMETOOLONG, "ENAMETOOLONG", "name too long" },
  { -ENETDOWN, "ENETDOWN", "network is down" },
  { -ENETUNREACH, "ENETUNREACH", "network is unreachable" },
  { -ENFILE, "ENFILE", "file table overflow" },
  { -ENOBUFS, "ENOBUFS", "no buffer space available" },
  { -ENODATA, "ENODATA", "no data available" },
  { -ENODEV, "ENODEV", "no such device" },
  { -ENOENT, "ENOENT", "no such file or directory" },
  { -ENOEXEC, "ENOEXEC", "exec format error" },
  { -ENOLCK, "ENOLCK", "no locks available" },
  { -ENOMEM, "ENOMEM", "not enough memory" },
  { -ENOSPC, "ENOSPC", "no space left on device" },
  { -ENOSYS, "ENOSYS", "function not implemented" },
  { -ENOTCONN, "ENOTCONN", "socket is not connected" },
  { -ENOTDIR, "ENOTDIR", "not a directory" },
  { -ENOTEMPTY, "ENOTEMPTY", "directory not empty" },
  { -ENOTSOCK, "ENOTSOCK", "socket operation on non-socket" },
  { -ENOTSUP, "ENOTSUP", "operation not supported" },
  { -ENOTTY, "ENOTTY", "inappropriate ioctl for device" },
  { -ENXIO, "ENXIO", "no such device or address" },
  { -EOVERFLOW, "EOVERFLOW", "value too large for defined data type" },
  { -EPERM, "EPERM", "operation not permitted" },
  { -EPIPE, "EPIPE", "broken pipe" },
  { -EPROTO, "EPROTO", "protocol error" },
  { -EPROTONOSUPPORT, "EPROTONOSUPPORT", "protocol not supported" },
  { -EPROTOTYPE, "EPROTOTYPE", "protocol wrong type for socket" },
  { -ERANGE, "ERANGE", "result too large" },
  { -EROFS, "EROFS", "read-only file system" },
  { -ESHUTDOWN, "ESHUTDOWN", "cannot send after transport endpoint shutdown" },
  { -ESPIPE, "ESPIPE", "invalid seek" },
  { -ESRCH, "ESRCH", "no such process" },
  { -ESTALE, "ESTALE", "stale file handle" },
  { -ETIMEDOUT, "ETIMEDOUT", "timed out" },
  { -ETXTBSY, "ETXTBSY", "text file is busy" },
  { -EXDEV, "EXDEV", "cross-device link not permitted" },
  { -3001, "EAI_AGAIN", "temporary failure in looking up a name" }, /* from here on libuv's own */
  { -3008, "EAI_NONAME", "unknown node or service" },
  { -4094, "UNKNOWN", "unknown error" },
  { -4095, "EOF", "end of file" },
};

static const struct code_words *words_of(int code)
{
  for (size_t i = 0; i < TM_COUNT_OF(codes); i++)
    if (codes[i].code == code)
      return &codes[i];
  return NULL;
}

/* Removes an incomplete character at the end of a text that was cut. */
static void trim_cut(char *text, size_t len)
{
  size_t lead = len;
  while (lead > 0 && len - lead < 3 && ((unsigned char)text[lead - 1] & 0xC0) == 0x80)
    lead--;
  if (lead > 0 && (unsigned char)text[lead - 1] >= 0xC0)
    text[lead - 1] = '\0';
}

/* Appends to `text`, which has `size` bytes of which `len` are used; returns the new number of used
 * bytes. */
static size_t add_words(char *text, size_t size, size_t len, const char *fmt, va_list ap)
    __attribute__((format(printf, 4, 0)));
static size_t add_words(char *text, size_t size, size_t len, const char *fmt, va_list ap)
{
  int n = tm_vformat(text + len, size - len, fmt, ap);
  if (n < 0)
    text[len] = '\0';
  else if ((size_t)n >= size - len)
    trim_cut(text, size - 1);
  return len + strlen(text + len);
}

static size_t add_text(char *text, size_t size, size_t len, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static size_t add_text(char *text, size_t size, size_t len, const char *fmt, ...)
{
  va_list ap;
  va_start(ap, fmt);
  len = add_words(text, size, len, fmt, ap);
  va_end(ap);
  return len;
}

static int fill(struct tm_err *err, int code, const char *words)
{
  /* a failure must not look like a success to the caller */
  if (!tm_check(code < 0))
    code = TM_EUSAGE;
  if (err) {
    err->code = code;
    memcpy(err->text, words, strlen(words) + 1);
  }
  return code;
}

int tm_err_set(struct tm_err *err, int code, const char *fmt, ...)
{
  va_list ap;
  va_start(ap, fmt);
  code = tm_err_vset(err, code, fmt, ap);
  va_end(ap);
  return code;
}

int tm_err_vset(struct tm_err *err, int code, const char *fmt, va_list ap)
{
  char words[sizeof err->text];
  add_words(words, sizeof words, 0, fmt, ap);
  return fill(err, code, words);
}

int tm_err_system(struct tm_err *err, int code, const char *fmt, ...)
{
  char words[sizeof err->text];
  va_list ap;
  va_start(ap, fmt);
  size_t len = add_words(words, sizeof words, 0, fmt, ap);
  va_end(ap);

  if (words_of(code))
    add_text(words, sizeof words, len, ": %s", tm_code_text(code));
  else
    add_text(words, sizeof words, len, ": unknown error %d", code);
  return fill(err, code, words);
}

void tm_err_append(struct tm_err *err, const char *words)
{
  if (err)
    add_text(err->text, sizeof(err->text), strlen(err->text), "%s", words);
}

int tm_err_wrap(struct tm_err *err, const char *fmt, ...)
{
  char words[sizeof err->text];
  va_list ap;
  va_start(ap, fmt);
  size_t len = add_words(words, sizeof words, 0, fmt, ap);
  va_end(ap);

  add_text(words, sizeof words, len, ": %s", err->text);
  memcpy(err->text, words, strlen(words) + 1);
  return err->code;
}

const char *tm_code_name(int code)
{
  const struct code_words *w = words_of(code);
  return w ? w->name : "UNKNOWN";
}

const char *tm_code_text(int code)
{
  const struct code_words *w = words_of(code);
  return w ? w->text : "unknown error";
}

const char *tidemill_error_name(int code)
{
  return tm_code_name(code);
}

const char *tidemill_error_text(int code)
{
  return tm_code_text(code);
}

const char *tidemill_version(void)
{
  return TM_VERSION;
}

int tidemill_version_number(void)
{
  return TIDEMILL_VERSION_NUMBER;
}

int tm_exit_status_of(int code)
{
  switch (code) {
  case 0: return 0;
  case TM_EUSAGE:
  case TM_ECHANGED:
  case TM_EVERSION: return 2;
  case TM_ENOINPUT:
  case TM_EINPUT:
  case TM_ETHRESHOLD:
  case TM_ESCRIPT: return 1;
  default: return 3;
  }
}
