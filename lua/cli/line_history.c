/* line_history.c - see line_history.h. */
#include "cli/line_history.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"

#define FILE_MAX (64u << 20) /* bytes */

char *tm_line_history_path(const char *named, const char *state_home, const char *home)
{
  if (named)
    return *named ? tm_xstrdup(named) : NULL;
  if (state_home && *state_home == '/')
    return tm_xprintf("%s/tidemill/history", state_home);
  return home && *home == '/' ? tm_xprintf("%s/.local/state/tidemill/history", home) : NULL;
}

/* Where the last `most` lines begin; `lines`: how many there are. */
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
  if (tm_fs_read_file(tm_fs_real(), path, FILE_MAX, &text, NULL) < 0) {
    tm_buf_release(&text);
    return;
  }
  tm_buf_reserve(&text, 1);
  text.data[text.len] = '\0';
  size_t begin = find_tail(&text, TM_LINE_HISTORY_LINES, &lines);
  if (lines > 2 * TM_LINE_HISTORY_LINES)
    tm_fs_write_file(tm_fs_real(), path, text.data + begin, text.len - begin, 0600, NULL);
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
  char *dir = tm_path_dir(path), *text = tm_xprintf("%s\n", line);
  int fd = -1;
  if (tm_fs_make_dirs(tm_fs_real(), dir, 0700, NULL) >= 0)
    fd = tm_fs_open(tm_fs_real(), path, O_WRONLY | O_CREAT | O_APPEND, 0600, NULL);
  bool is_good = fd >= 0 && tm_fd_append(fd, text, strlen(text)) == 0;
  tm_fs_close(tm_fs_real(), fd);
  free(dir);
  free(text);
  return is_good;
}
