/* line_history.c - see line_history.h. */
#include "cli/terminal/line_history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/path.h"

#define FILE_MAX (64u << 20) /* bytes */

/* ---- files ---- */

/* False: the file is missing, too long, or not a regular file. */
static bool read_all(const char *path, struct tm_buf *text)
{
  char piece[16384];
  struct stat st;
  ssize_t n;
  int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0)
    return false;
  bool is_good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= FILE_MAX;
  while (is_good && ((n = read(fd, piece, sizeof(piece))) > 0 || (n < 0 && errno == EINTR)))
    tm_buf_add(text, piece, n > 0 ? (size_t)n : 0);
  close(fd);
  return is_good;
}

static bool write_all(int fd, const char *text, size_t len)
{
  while (len > 0) {
    ssize_t n = write(fd, text, len);
    if (n < 0 && errno != EINTR)
      return false;
    text += n > 0 ? n : 0;
    len -= n > 0 ? (size_t)n : 0;
  }
  return true;
}

/* Replaces the file by a rename, so that another prompt reads the old file or the new one. */
static void replace(const char *path, const char *text, size_t len)
{
  char *tmp = tm_xprintf("%s.tmp", path);
  int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd >= 0) {
    bool is_good = write_all(fd, text, len);
    close(fd);
    if (!is_good || rename(tmp, path) < 0)
      unlink(tmp);
  }
  free(tmp);
}

/* Makes the folder of the file, and the folders above it. */
static void make_folder(const char *path)
{
  char *dir = tm_path_dir(path);
  for (char *at = dir + 1; (at = strchr(at, '/')) != NULL; *at++ = '/') {
    *at = '\0';
    mkdir(dir, 0700);
  }
  mkdir(dir, 0700);
  free(dir);
}

/* ---- lines ---- */

char *tm_line_history_path(const char *named, const char *state_home, const char *home)
{
  if (named)
    return *named ? tm_xstrdup(named) : NULL;
  if (state_home && *state_home == '/')
    return tm_xprintf("%s/tidemill/history", state_home);
  return home && *home == '/' ? tm_xprintf("%s/.local/state/tidemill/history", home) : NULL;
}

/* Returns where the last `most` lines begin; `lines`: how many lines there are. */
static size_t find_tail(const struct tm_buf *text, size_t most, size_t *lines)
{
  size_t at = text->len, n = 0, begin = 0;
  *lines = 0;
  while (at > 0) {
    bool is_end = text->data[at - 1] == '\n' && at < text->len;
    if (is_end && ++n == most)
      begin = at;
    at--;
  }
  *lines = n + (text->len > 0);
  return begin;
}

void tm_line_history_load(const char *path, void (*on_line)(void *data, const char *line),
                          void *data)
{
  struct tm_buf text = TM_BUF_NONE;
  size_t lines;
  if (!read_all(path, &text)) {
    tm_buf_release(&text);
    return;
  }
  tm_buf_reserve(&text, 1);
  text.data[text.len] = '\0';
  size_t begin = find_tail(&text, TM_LINE_HISTORY_LINES, &lines);
  if (lines > 2 * TM_LINE_HISTORY_LINES)
    replace(path, text.data + begin, text.len - begin);
  for (char *line = text.data + begin, *end; *line; line = end) {
    end = line + strcspn(line, "\n");
    if (*end)
      *end++ = '\0';
    if (*line)
      on_line(data, line);
  }
  tm_buf_release(&text);
}

bool tm_line_history_is_kept(const char *line)
{
  return *line && *line != ' ' && line[strspn(line, " \t")] != '\0';
}

bool tm_line_history_add(const char *path, const char *line)
{
  char *text = tm_xprintf("%s\n", line);
  make_folder(path);
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
  bool is_good = fd >= 0 && write_all(fd, text, strlen(text));
  if (fd >= 0)
    close(fd);
  free(text);
  return is_good;
}
