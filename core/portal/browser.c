/* browser.c - see browser.h. */
#include "portal/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "page/html.h"

extern char **environ;

/* A page that goes to the URL at once. The token is of our own digits, and the rest too. */
static void add_page(struct tm_buf *out, const char *url)
{
  struct tm_html h;
  char *to = tm_xprintf("0; url=%s", url);
  tm_html_init(&h, out);
  tm_html_doctype(&h);
  tm_html_void(&h, "meta charset='utf-8'");
  tm_html_void(&h, "meta name='referrer' content='no-referrer'");
  tm_html_void(&h, "meta http-equiv='refresh'");
  tm_html_attr(&h, "content", to);
  tm_html_put(&h, "title", "tidemill portal");
  tm_html_finish(&h);
  free(to);
}

static int write_file(struct tm_browser_file *f, const char *workspace, const char *url)
{
  struct tm_buf page = TM_BUF_NONE;
  char *path = tm_path_join(workspace, "portal_open.html");
  (void)unlink(path); /* what a portal left that was killed */
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  add_page(&page, url);
  bool is_written = fd >= 0 && write(fd, page.data, page.len) == (ssize_t)page.len;
  int code = is_written ? 0 : errno ? -errno : -ENOSPC;
  if (fd >= 0)
    close(fd);
  tm_buf_release(&page);
  f->path = path;
  return code;
}

/* With the signals of a program that a shell starts. */
static bool run(const char *program, const char *path)
{
  char *argv[] = { (char *)program, (char *)path, NULL };
  posix_spawnattr_t attributes;
  sigset_t none, defaults;
  pid_t pid;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  int rc = posix_spawnp(&pid, program, NULL, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  return rc == 0;
}

void tm_browser_open(struct tm_browser_file *f, const char *workspace, const char *url)
{
  const char *chosen = getenv("BROWSER");
  const char *const programs[] = { chosen && *chosen ? chosen : "xdg-open", "xdg-open",
                                   "sensible-browser", "www-browser" };
  int code = write_file(f, workspace, url);
  if (code < 0) {
    fprintf(stderr, "tidemill: cannot write '%s': %s; open the address below yourself\n", f->path,
            strerror(-code));
    return;
  }
  for (size_t i = 0; i < TM_COUNT_OF(programs); i++)
    if (run(programs[i], f->path))
      return;
  fprintf(stderr, "tidemill: no browser was found (BROWSER, xdg-open, sensible-browser); open the "
                  "address below yourself\n");
}

void tm_browser_file_remove(struct tm_browser_file *f)
{
  if (f->path)
    (void)unlink(f->path);
  free(f->path);
  f->path = NULL;
}
