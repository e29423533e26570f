/* portal_link.c - see portal_link.h. */
#include "cli/portal_link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/path.h"

#define FILE_MAX 4096

bool tm_portal_link_of(struct tm_buf *out, const char *url, const char *job)
{
  const char *query = strstr(url, "/?token=");
  if (!query || strncmp(url, "http://", strlen("http://")) != 0)
    return false;
  tm_buf_add(out, url, (size_t)(query - url));
  tm_buf_add_str(out, "/jobs/");
  for (const char *c = job; *c; c++)
    if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
        strchr("-._~", *c))
      tm_buf_add_char(out, *c);
    else
      tm_buf_printf(out, "%%%02X", (unsigned char)*c);
  return true;
}

/* The text of portal.json, if a portal holds its lock. */
static bool read_running(const char *path, char *text)
{
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  bool is_running = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
  ssize_t n = is_running ? read(fd, text, FILE_MAX) : 0;
  text[n > 0 ? n : 0] = '\0';
  if (fd >= 0)
    close(fd);
  return n > 0;
}

bool tm_portal_link_add(struct tm_buf *out, const char *dir)
{
  char text[FILE_MAX + 1];
  char *jobs = tm_path_dir(dir), *workspace = tm_path_dir(jobs);
  char *path = tm_path_join(workspace, "portal.json");
  bool is_added = false;
  if (strcmp(tm_path_base(jobs), "jobs") == 0 && read_running(path, text)) {
    struct tm_json *v = tm_json_of(text);
    is_added = tm_portal_link_of(out, tm_json_str(v, "url", ""), tm_path_base(dir));
    tm_json_free(v);
  }
  free(path);
  free(workspace);
  free(jobs);
  return is_added;
}
