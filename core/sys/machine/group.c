/* group.c - see group.h. */
#include "sys/machine/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sys/fs.h"

#define GROUP_FILE_MAX (64u << 10) /* bytes */

bool tm_group_read(const char *dir, const char *name, char *out, size_t out_len)
{
  struct tm_buf text = TM_BUF_NONE;
  char *path = tm_xprintf("%s/%s", dir, name);
  bool ok = tm_fs_read_file(tm_fs_real(), path, GROUP_FILE_MAX, &text, NULL) == 0;
  if (ok)
    snprintf(out, out_len, "%s", tm_buf_str(&text));
  tm_buf_release(&text);
  free(path);
  return ok;
}

struct walk {
  const char *root, *controller;
  tm_on_group on_group;
  void *data;
};

/* Visits a group and those above it, up to the mount. */
static bool walk_up(const struct walk *w, const char *mount, const char *group, bool version2)
{
  char *dir = tm_xprintf("%s%s", mount, group);
  size_t mount_len = strlen(mount);
  bool found = false;
  for (;;) {
    found |= w->on_group(w->data, dir, version2);
    char *slash = strrchr(dir, '/');
    if (strlen(dir) <= mount_len || slash == NULL)
      break;
    *slash = '\0';
  }
  free(dir);
  return found;
}

static bool has_word(const char *words, size_t len, const char *word)
{
  size_t word_len = strlen(word);
  for (size_t at = 0; at < len;) {
    const char *comma = memchr(words + at, ',', len - at);
    size_t n = comma != NULL ? (size_t)(comma - words) - at : len - at;
    if (n == word_len && memcmp(words + at, word, n) == 0)
      return true;
    at += n + 1;
  }
  return false;
}

/* A line of /proc/self/cgroup is "number:controllers:/path"; version 2 has no controllers. */
static void walk_line(const struct walk *w, const char *line, size_t len)
{
  const char *first = memchr(line, ':', len);
  if (first == NULL)
    return;
  const char *controllers = first + 1, *end = line + len;
  const char *second = memchr(controllers, ':', (size_t)(end - controllers));
  if (second == NULL)
    return;
  size_t controllers_len = (size_t)(second - controllers);
  bool version2 = controllers_len == 0, found = false;
  if (!version2 && !has_word(controllers, controllers_len, w->controller))
    return;
  char *group = tm_xstrndup(second + 1, (size_t)(end - second - 1));
  char *const mounts[] = { version2 ? tm_xstrdup(w->root)
                                    : tm_xprintf("%s/%s", w->root, w->controller),
                           version2 ? tm_xprintf("%s/unified", w->root) : NULL,
                           tm_xprintf("%s/%.*s", w->root, (int)controllers_len, controllers) };
  for (size_t i = 0; i < TM_COUNT_OF(mounts); i++) {
    if (mounts[i] != NULL && !found)
      found = walk_up(w, mounts[i], strcmp(group, "/") == 0 ? "" : group, version2);
    free(mounts[i]);
  }
  free(group);
}

void tm_group_walk(const char *groups, const char *root, const char *controller,
                   tm_on_group on_group, void *data)
{
  const struct walk w = {
    .root = root, .controller = controller, .on_group = on_group, .data = data
  };
  while (*groups != '\0') {
    size_t len = strcspn(groups, "\n");
    walk_line(&w, groups, len);
    groups += len + (groups[len] == '\n');
  }
}
