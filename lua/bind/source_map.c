/* source_map.c - translates places in the copy of a script to the user's files.
 *
 * Searches free text for a place: the folder, a path without a blank or a quote, ".lua:" and a
 * digit. The name of the folder may contain any character and must match completely; the rest of
 * the path is the name of a module, which has no blank.
 */
#include "bind/source_map.h"

#include <ctype.h>
#include <string.h>

/* Whether there is a place such as "/sub/model.lua:3" at `at`. */
static bool is_place(const char *at, const char *end)
{
  static const char ending[] = ".lua:";
  size_t n = sizeof ending - 1;
  if (at == end || *at != '/')
    return false;
  for (; at < end && !isspace((unsigned char)*at) && *at != '\'' && *at != '"'; at++)
    if ((size_t)(end - at) > n && memcmp(at, ending, n) == 0)
      return isdigit((unsigned char)at[n]) != 0;
  return false;
}

void tm_lua_place_add(struct tm_buf *out, const char *text, size_t len, const char *script_dir,
                      const char *script_name)
{
  const char *slash = strrchr(script_name, '/'), *at = text, *end = text + len;
  size_t user_len = slash == NULL ? 0 : (size_t)(slash - script_name) + 1;
  size_t dir_len = strlen(script_dir);
  while (dir_len > 0) {
    const char *found = memmem(at, (size_t)(end - at), script_dir, dir_len);
    if (found == NULL)
      break;
    tm_buf_add(out, at, (size_t)(found - at));
    at = found + dir_len;
    if (is_place(at, end)) {
      tm_buf_add(out, script_name, user_len);
      at++; /* the slash */
    } else {
      tm_buf_add(out, script_dir, dir_len);
    }
  }
  tm_buf_add(out, at, (size_t)(end - at));
}
