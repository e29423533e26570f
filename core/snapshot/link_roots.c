/* link_roots.c - see link_roots.h. */
#include "snapshot/link_roots.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

bool tm_link_is_within(const char *dir, const char *path)
{
  size_t n = strlen(dir);
  return strcmp(dir, "/") == 0 || (strncmp(dir, path, n) == 0 && (path[n] == '/' || path[n] == 0));
}

void tm_link_roots_add(struct tm_link_roots *r, const char *place, const char *relative)
{
  *TM_ARRAY_ADD(r) = (struct tm_link_root) { tm_xstrdup(place), tm_xstrdup(relative) };
}

/* The relative path from the folder of a link to a name in the copy. */
static char *way(const char *link, const char *to, const char *rest)
{
  struct tm_buf out = TM_BUF_NONE;
  for (const char *c = link; (c = strchr(c, '/')); c++)
    tm_buf_add_str(&out, "../");
  tm_buf_add_str(&out, to);
  if (*rest)
    tm_buf_printf(&out, "%s%s", *to ? "/" : "", rest);
  if (out.len == 0)
    tm_buf_add_char(&out, '.');
  if (out.len > 1 && out.data[out.len - 1] == '/')
    out.data[--out.len] = '\0';
  return tm_buf_take(&out);
}

char *tm_link_roots_target(const struct tm_link_roots *r, const char *place, const char *relative)
{
  for (size_t i = 0; i < r->len; i++) {
    const struct tm_link_root *root = &r->at[i];
    if (!tm_link_is_within(root->place, place))
      continue;
    const char *rest = strcmp(root->place, "/") == 0 ? place : place + strlen(root->place);
    return way(relative, root->relative, rest + strspn(rest, "/"));
  }
  return NULL;
}

void tm_link_roots_release(struct tm_link_roots *r)
{
  for (size_t i = 0; i < r->len; i++) {
    free(r->at[i].place);
    free(r->at[i].relative);
  }
  TM_ARRAY_RELEASE(r);
}
