/* trace.c - see trace.h. Lines go to the file at once, so that the trace of a killed program is
 * complete. */
#include "trace.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "sys/fs.h"

/* Keepers and workers run the same program but make no call of the table, so they never begin a
 * session. */
static void add(struct trace *t, struct tm_buf *text)
{
  static const char session[] = "session\n";
  if (!t->has_begun && tm_fd_append(t->fd, session, strlen(session)) < 0)
    abort();
  t->has_begun = true;
  if (tm_fd_append(t->fd, text->data, text->len) < 0)
    abort();
  tm_buf_release(text);
}

int trace_open(struct trace *t, const char *path)
{
  t->fd = tm_fs_real()->open(tm_fs_real()->self, path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (t->fd < 0)
    return t->fd;
  tm_mutex_init(&t->mutex);
  return 0;
}

void trace_begin(struct trace *t)
{
  if (t->fd >= 0)
    tm_mutex_lock(&t->mutex);
}

static void add_line(struct tm_buf *text, const char *line)
{
  if (strchr(line, '\n'))
    abort();
  tm_buf_add_str(text, line);
  tm_buf_add_char(text, '\n');
}

void trace_end_open(struct trace *t, int64_t rc, int flags, int mode, const char *path)
{
  trace_end(t, rc, NULL, "open %d %d %d %s", (int)rc, flags, mode, path);
}

void trace_end_write(struct trace *t, int64_t rc, int fd, const void *p, int64_t at)
{
  struct tm_buf text = TM_BUF_NONE;
  if (t->fd < 0)
    return;
  if (rc >= 0) {
    tm_buf_printf(&text, "pwrite %d %lld %lld\n", fd, (long long)at, (long long)rc);
    tm_buf_add(&text, p, (size_t)rc);
    tm_buf_add_char(&text, '\n');
    add(t, &text);
  }
  tm_mutex_unlock(&t->mutex);
}

void trace_end(struct trace *t, int64_t rc, const char *second, const char *fmt, ...)
{
  struct tm_buf text = TM_BUF_NONE, line = TM_BUF_NONE;
  va_list ap;
  if (t->fd < 0)
    return;
  if (rc >= 0) {
    va_start(ap, fmt);
    tm_buf_vprintf(&line, fmt, ap);
    va_end(ap);
    add_line(&text, tm_buf_str(&line));
    if (second)
      add_line(&text, second);
    tm_buf_release(&line);
    add(t, &text);
  }
  tm_mutex_unlock(&t->mutex);
}
