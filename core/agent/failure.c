/* failure.c - reports a failed try, init() or shutdown().
 *
 * It reports twice: to the supervisor, which decides what follows, and in full to the worker's own
 * error file, for the user. The file is made when there is something to write. A failure to write
 * it is ignored: the supervisor has the message too.
 *
 * Messages come from the user's script and may be of any length and hold any byte. In the frame
 * they are cut (a frame has a limit, and nobody reads a message of a megabyte), in the file they
 * are complete, with control characters as \xNN.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent_own.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"
#include "sys/clock.h"
#include "sys/fs.h"

#define MESSAGE_MAX (64u << 10) /* bytes in the frame */
#define STACK_MAX   (256u << 10)

/* For C strings: shows NUL bytes, so that nothing is lost. */
static void show_nul(struct tm_buf *b)
{
  char *at;
  if (b->len > 0)
    while ((at = memchr(b->data, 0, b->len)) != NULL)
      *at = '?';
}

static void cut(struct tm_buf *b, size_t max)
{
  static const char mark[] = " ... (cut)";
  if (b->len <= max)
    return;
  b->len = max - sizeof mark;
  /* not within a UTF-8 character */
  while (b->len > 0 && ((unsigned char)b->data[b->len] & 0xC0) == 0x80)
    b->len--;
  tm_buf_add_str(b, mark);
}

/* Whether a line begins like "2026-01-31 23:59:58,123|": readers take it for a line of the log. */
static bool is_like_head(const char *line, size_t len)
{
  return len >= 10 && line[0] >= '0' && line[0] <= '9' && line[4] == '-' && line[7] == '-';
}

/* Adds lines that may have names of files and of entries in them, which are hostile: control
 * characters, except line breaks and tabs, become \xNN, and none of the lines can be mistaken for a
 * line of the log. */
static void add_lines(struct tm_buf *out, const char *s, size_t n)
{
  for (size_t i = 0, len; i < n; i += len + 1) {
    for (len = 0; i + len < n && s[i + len] != '\n' && s[i + len] != '\t';)
      len++;
    if (i > 0 && s[i - 1] == '\n' && is_like_head(s + i, len))
      tm_buf_add_char(out, ' ');
    tm_text_one_line(out, s + i, len, 0);
    if (i + len < n)
      tm_buf_add_char(out, s[i + len]);
  }
}

/* The message of a failed load is our own: a line break in it is part of a name. */
static void add_message(struct tm_buf *out, const struct tm_script_error *e)
{
  const char *text = tm_buf_str(&e->message);
  if (e->status == TM_LOAD_EXCEPTION)
    tm_text_one_line(out, text, e->message.len, 0);
  else
    add_lines(out, text, e->message.len);
}

void tm_failure_log(struct tm_agent *a, const char *what)
{
  const struct tm_fs *fs = tm_fs_real();
  const struct tm_script_error *e = &a->trial.error;
  struct tm_buf text = TM_BUF_NONE;
  int fd = tm_fs_open(fs, a->trial.setup.error_file, O_WRONLY | O_APPEND | O_CREAT, 0600, NULL);
  if (fd < 0)
    return;
  tm_time_log(&text, tm_clock_wall_ns());
  tm_buf_printf(&text, "|ERROR|%ld|%s|%s: ", (long)getpid(), a->trial.setup.worker_name, what);
  if (e->where.len > 0)
    tm_buf_printf(&text, "%s: ", e->where.data);
  add_message(&text, e);
  tm_buf_add_char(&text, '\n');
  if (e->stack.len > 0) {
    add_lines(&text, e->stack.data, e->stack.len);
    if (e->stack.data[e->stack.len - 1] != '\n')
      tm_buf_add_char(&text, '\n');
  }
  tm_fd_append(fd, text.data, text.len);
  tm_fs_close(fs, fd);
  tm_buf_release(&text);
}

static void log_try(struct tm_agent *a, enum tm_agent_msg type, const struct tm_msg *in,
                    uint32_t flags)
{
  if (type != TM_MSG_FAILED)
    tm_failure_log(a, type == TM_MSG_BYE           ? "shutdown() failed"
                      : flags & TM_FAILURE_LOADING ? "loading the script failed"
                                                   : "init() failed");
  else {
    struct tm_buf what = TM_BUF_NONE;
    tm_buf_printf(&what, "mini-batch %" PRIu64 ", try %" PRIu32 "%s%s: %s", in->index, in->try,
                  a->row.len > 0 ? ", " : "", tm_buf_str(&a->row),
                  tm_status_name(a->trial.error.status));
    tm_failure_log(a, what.data);
    tm_buf_release(&what);
  }
}

void tm_failure_send(struct tm_agent *a, enum tm_agent_msg type, const struct tm_msg *in,
                     const struct tm_result_head *head)
{
  struct tm_script_error *e = &a->trial.error;
  struct tm_msg out = { .type = type,
                        .index = in->index,
                        .worker = in->worker,
                        .try = in->try,
                        .part = in->part,
                        .fd = -1 };
  if (e->message.len == 0)
    tm_buf_add_str(&e->message, "failed without a message");
  /* an error of the script's binding: it did fail */
  if (e->status == TM_RUN_DONE || e->status > TM_CANCELED)
    e->status = TM_RUN_EXCEPTION;
  show_nul(&e->message);
  show_nul(&e->stack);
  show_nul(&e->where);
  log_try(a, type, in, head->flags);
  cut(&e->message, MESSAGE_MAX);
  cut(&e->stack, STACK_MAX);
  cut(&e->where, MESSAGE_MAX);
  struct tm_failure f = { .head = *head,
                          .status = e->status,
                          .message = (char *)tm_buf_str(&e->message),
                          .stack = (char *)tm_buf_str(&e->stack),
                          .where = (char *)tm_buf_str(&e->where) };
  tm_buf_clear(&a->payload);
  tm_failure_encode(&a->payload, &f);
  out.payload = a->payload.data;
  out.length = (uint32_t)a->payload.len;
  tm_link_send(&a->link, &out);
}
