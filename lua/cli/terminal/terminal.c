/* terminal.c - see terminal.h.
 *
 *  (1) O_NONBLOCK belongs to the open file, which the user's shell shares with us, so it is never
 *      set on the given descriptor. Instead the terminal or pipe is opened again through /proc, and
 *      that descriptor is non-blocking. If this is not possible, poll() asks the descriptor first,
 *      and each write is so small that a pipe takes it whole.
 *  (2) Only a terminal or a pipe is opened again: a file opened twice would have two write
 *      positions.
 *  (3) Order is kept: nothing is written before the text that is held.
 *  (4) Text after the last line break is a bar. It is removed before another descriptor writes rows
 *      to its line, and drawn again after them.
 */
#include "cli/terminal/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define HELD_MAX   (1u << 20) /* bytes; more is dropped */
#define PIPE_WHOLE 512        /* bytes that poll() promises (POSIX's least PIPE_BUF) */
#define ERASE      "\r\x1b[K"

static int open_anew(int fd) /* keeps (1) and (2) */
{
  char path[64];
  struct stat st;
  if (!isatty(fd) && (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode)))
    return -1;
  snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

void tm_terminal_init(struct tm_terminal *t, int fd)
{
  const char *term = getenv("TERM");
  *t = (struct tm_terminal) { .fd = fd, .own_fd = open_anew(fd), .is_tty = isatty(fd) };
  t->has_no_cursor = !term || !*term || strcmp(term, "dumb") == 0;
}

/* Writes once without waiting. Returns bytes, 0 if it would have to wait, or negative if it can
 * never write again. */
static ssize_t write_some(struct tm_terminal *t)
{
  struct pollfd p = { .fd = t->fd, .events = POLLOUT };
  size_t n = t->held.len;
  ssize_t put;
  if (t->own_fd < 0) {
    if (poll(&p, 1, 0) <= 0)
      return 0;
    n = n < PIPE_WHOLE ? n : PIPE_WHOLE;
  }
  do
    put = write(t->own_fd < 0 ? t->fd : t->own_fd, t->held.data, n);
  while (put < 0 && errno == EINTR);
  return put < 0 && errno == EAGAIN ? 0 : put;
}

static void write_held(struct tm_terminal *t)
{
  ssize_t put = 1;
  while (t->held.len > 0 && (put = write_some(t)) > 0)
    tm_buf_remove_front(&t->held, (size_t)put);
  if (put < 0)
    tm_buf_clear(&t->held); /* the reader has gone */
}

static void note_bar(struct tm_terminal *t, const char *p, size_t n)
{
  const char *line = memrchr(p, '\n', n), *begin = line ? line + 1 : p;
  if (line || *begin == '\r')
    tm_buf_clear(&t->bar);
  tm_buf_add(&t->bar, begin, (size_t)(p + n - begin));
}

static void on_write(const char *p, size_t n, void *data)
{
  struct tm_terminal *t = data;
  struct tm_buf *to = t->is_yielded ? &t->later : &t->held;
  if (n == 0 || to->len + n > HELD_MAX)
    return;
  if (t->add_message)
    t->add_message(to, p, n);
  else
    tm_buf_add(to, p, n); /* keeps (3) */
  note_bar(t, p, n);
  write_held(t);
}

static bool is_ready(void *data)
{
  struct tm_terminal *t = data;
  write_held(t);
  return t->held.len == 0 && !t->is_yielded && !t->has_no_bar && !t->is_read;
}

/* Keeps (4). */
bool tm_terminal_yield(struct tm_terminal *t)
{
  if (!t->is_yielded && t->bar.len > 0)
    tm_buf_add_str(&t->held, ERASE);
  t->is_yielded = true;
  write_held(t);
  return t->held.len == 0;
}

void tm_terminal_take_back(struct tm_terminal *t)
{
  const struct tm_buf *next = t->later.len > 0 ? &t->later : &t->bar;
  if (!t->is_yielded)
    return;
  t->is_yielded = false;
  tm_buf_add(&t->held, tm_buf_str(next), next->len);
  tm_buf_clear(&t->later);
  write_held(t);
}

bool tm_terminal_has_later(const struct tm_terminal *t)
{
  return t->later.len > 0;
}

void tm_terminal_drop_bar(struct tm_terminal *t)
{
  t->has_no_bar = true;
  if (t->bar.len > 0)
    on_write(ERASE, sizeof(ERASE) - 1, t);
  tm_buf_clear(&t->bar);
}

bool tm_terminal_is_at(const struct tm_terminal *t, int fd)
{
  struct stat ours, other;
  return t->is_tty && isatty(fd) && fstat(t->fd, &ours) == 0 && fstat(fd, &other) == 0 &&
         ours.st_rdev == other.st_rdev;
}

static int width(void *data)
{
  const struct tm_terminal *t = data;
  struct winsize size = { 0 };
  return ioctl(t->fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* Waits until the reader has taken everything. */
static void write_all(struct tm_terminal *t)
{
  ssize_t put = 1;
  while (t->held.len > 0 && (put > 0 || errno == EINTR)) {
    put = write(t->fd, t->held.data, t->held.len);
    if (put > 0)
      tm_buf_remove_front(&t->held, (size_t)put);
  }
}

void tm_terminal_release(struct tm_terminal *t)
{
  tm_terminal_take_back(t);
  write_all(t);
  if (t->own_fd >= 0)
    close(t->own_fd);
  t->own_fd = -1;
  tm_buf_release(&t->held);
  tm_buf_release(&t->later);
  tm_buf_release(&t->bar);
}

struct tidemill_screen tm_terminal_screen(struct tm_terminal *t)
{
  struct tidemill_screen screen = TIDEMILL_SCREEN_INIT;
  screen.write = on_write;
  screen.is_ready = is_ready;
  screen.width = width;
  screen.data = t;
  return screen;
}

bool tm_terminal_has_bar(const struct tm_terminal *t)
{
  return t->is_tty && !t->has_no_cursor;
}

bool tm_terminal_has_color(const struct tm_terminal *t)
{
  const char *no_color = getenv("NO_COLOR");
  return tm_terminal_has_bar(t) && !(no_color && *no_color);
}
