/* entry_name.c - see entry_name.h. */
#include "data/archive/entry_name.h"

#include <string.h>

/* Adds a form of a refused name that can be shown. */
static void add_shown(struct tm_buf *out, const char *name, size_t len)
{
  size_t shown = len < TM_ENTRY_NAME_MAX ? len : TM_ENTRY_NAME_MAX;
  if (len == 0)
    tm_buf_add_str(out, "(no name)");
  for (size_t i = 0; i < shown; i++)
    tm_buf_add_char(out, name[i] == '\0' ? '?' : name[i]);
}

static const char *fault_of(const char *name, size_t len)
{
  if (len == 0)
    return "it has no name";
  if (memchr(name, '\0', len) != NULL)
    return "its name holds a NUL byte";
  if (len > TM_ENTRY_NAME_MAX)
    return "its name is longer than 4096 bytes";
  if (name[0] == '/')
    return "its name is absolute; names within the archive's folder are accepted";
  for (size_t at = 0; at < len;) {
    const char *slash = memchr(name + at, '/', len - at);
    size_t n = slash ? (size_t)(slash - name) - at : len - at;
    if (n == 2 && memcmp(name + at, "..", 2) == 0)
      return "its name leads out of the archive's folder, by '..'";
    at += n + 1;
  }
  return NULL;
}

const char *tm_entry_name_clean(struct tm_buf *out, const char *name, size_t len)
{
  size_t before = out->len;
  const char *fault = fault_of(name, len);
  if (fault) {
    add_shown(out, name, len);
    return fault;
  }
  for (size_t at = 0; at < len;) {
    const char *slash = memchr(name + at, '/', len - at);
    size_t n = slash ? (size_t)(slash - name) - at : len - at;
    if (n > 0 && !(n == 1 && name[at] == '.')) {
      if (out->len > before)
        tm_buf_add_char(out, '/');
      tm_buf_add(out, name + at, n);
    }
    at += n + 1;
  }
  if (out->len > before)
    return NULL;
  add_shown(out, name, len);
  return "it has no name";
}

/* Whether a part of the path begins with a dot; such names below a named folder do not match. */
static bool has_dot_name(const char *rest)
{
  for (; rest != NULL; rest = strchr(rest, '/'), rest = rest ? rest + 1 : NULL)
    if (*rest == '.')
      return true;
  return false;
}

/* Skips the names that all alternatives begin with, which are not in the set; NULL: the name begins
 * differently. */
static const char *pass_start(const char *start, const char *name)
{
  size_t n = strlen(start);
  if (n == 0)
    return name;
  if (strncmp(name, start, n) != 0 || (name[n] != '/' && name[n] != '\0'))
    return NULL;
  return name[n] == '/' ? name + n + 1 : name + n;
}

bool tm_entry_name_matches(const struct tm_glob *pattern, const char *name)
{
  struct tm_glob_set set, next;
  char part[256];
  name = pass_start(pattern->start, name);
  if (name == NULL || *name == '\0')
    return false;
  tm_glob_begin(pattern, &set);
  for (;;) {
    if (tm_glob_matches(pattern, &set, true) && !has_dot_name(name))
      return true;
    const char *slash = strchr(name, '/');
    size_t n = slash ? (size_t)(slash - name) : strlen(name);
    if (n >= sizeof part) /* no file can have it */
      return false;
    memcpy(part, name, n);
    part[n] = '\0';
    if (!tm_glob_step(pattern, &set, part, &next))
      return false;
    if (slash == NULL)
      return tm_glob_matches(pattern, &next, false);
    tm_glob_enter(pattern, &next);
    set = next;
    name = slash + 1;
  }
}
