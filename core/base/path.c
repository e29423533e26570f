/* path.c - names of files, split and joined as bytes.
 *
 * It does not look at the disk: a symbolic link before ".." is not followed, so tm_path_absolute()
 * names the file that the text means, not always the one that the kernel would open.
 */
#include "base/path.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

bool tm_path_is_absolute(const char *path)
{
  return path[0] == '/';
}

char *tm_path_join(const char *dir, const char *name)
{
  size_t len = dir ? strlen(dir) : 0;
  if (len == 0 || tm_path_is_absolute(name))
    return tm_xstrdup(name);
  if (name[0] == '\0')
    return tm_xstrdup(dir);
  return tm_xprintf("%s%s%s", dir, dir[len - 1] == '/' ? "" : "/", name);
}

/* Adds one part of a path to `out`; ".." removes the last part, unless that is ".." too or the
 * root. */
static void add_part(struct tm_buf *out, const char *part, size_t len, bool absolute)
{
  if (len == 0 || (len == 1 && part[0] == '.'))
    return;
  if (len == 2 && part[0] == '.' && part[1] == '.') {
    size_t start = out->len; /* of the last part */
    while (start > 0 && out->data[start - 1] != '/')
      start--;
    bool is_up = out->len - start == 2 && memcmp(out->data + start, "..", 2) == 0;
    if (out->len > start && !is_up) {
      size_t keep = start > 1 ? start - 1 : start; /* the root keeps its '/' */
      out->len = keep;
      out->data[keep] = '\0';
      return;
    }
    if (absolute)
      return;
  }
  if (out->len > 0 && out->data[out->len - 1] != '/')
    tm_buf_add_char(out, '/');
  tm_buf_add(out, part, len);
}

char *tm_path_absolute(const char *dir, const char *path)
{
  char *joined = tm_path_join(dir, path);
  bool absolute = tm_path_is_absolute(joined);
  struct tm_buf out = TM_BUF_NONE;
  if (absolute)
    tm_buf_add_char(&out, '/');
  for (const char *at = joined; *at;) {
    size_t len = strcspn(at, "/");
    add_part(&out, at, len, absolute);
    at += len + (at[len] == '/');
  }
  if (out.len == 0)
    tm_buf_add_char(&out, '.');
  free(joined);
  return tm_buf_take(&out);
}

const char *tm_path_base(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

char *tm_path_dir(const char *path)
{
  size_t len = (size_t)(tm_path_base(path) - path);
  if (len == 0)
    return tm_xstrdup(".");
  while (len > 1 && path[len - 1] == '/')
    len--;
  return tm_xstrndup(path, len);
}

char *tm_path_stem(const char *path)
{
  const char *base = tm_path_base(path);
  const char *dot = strrchr(base, '.');
  return dot && dot != base ? tm_xstrndup(base, (size_t)(dot - base)) : tm_xstrdup(base);
}

/* ASCII letters only, whatever the host's locale. */
static char lower(char c)
{
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool ends_in(const char *path, size_t n, const char *ending)
{
  size_t m = strlen(ending);
  for (size_t i = 0; n >= m && i < m; i++)
    if (lower(path[n - m + i]) != ending[i])
      return false;
  return n >= m;
}

bool tm_path_has_ending(const char *path, const char *ending)
{
  return ends_in(path, strlen(path), ending);
}

/* The length without a suffix of compression. */
static size_t unpacked_len(const char *path)
{
  static const char *const packings[] = { ".gz", ".zst", ".xz", ".bz2", ".lz4" };
  size_t n = strlen(path);
  for (size_t i = 0; i < TM_COUNT_OF(packings); i++)
    if (ends_in(path, n, packings[i]))
      return n - strlen(packings[i]);
  return n;
}

bool tm_path_is_packed(const char *path)
{
  return unpacked_len(path) < strlen(path);
}

bool tm_path_has_inner_ending(const char *path, const char *ending)
{
  return ends_in(path, unpacked_len(path), ending);
}

const char *tm_path_table_format(const char *path)
{
  static const char *const endings[][2] = { { ".csv", "csv" },
                                            { ".tsv", "tsv" },
                                            { ".jsonl", "jsonl" },
                                            { ".ndjson", "jsonl" },
                                            { ".json", "jsonl" } };
  for (size_t i = 0; i < TM_COUNT_OF(endings); i++)
    if (tm_path_has_inner_ending(path, endings[i][0]))
      return endings[i][1];
  return NULL;
}

/* ---- paths in a text ---- */

static bool is_of_name(char c)
{
  return c == '_' || c == '-' || c == '/' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

/* Whether the text has it between characters that are not of a name. A base may follow a slash. */
static bool has_word(const char *text, const char *word, bool is_base)
{
  size_t n = strlen(word);
  for (const char *at = text; n > 0 && (at = strstr(at, word)) != NULL; at++) {
    bool begins = at == text || !is_of_name(at[-1]) || (is_base && at[-1] == '/');
    if (begins && !is_of_name(at[n]))
      return true;
  }
  return false;
}

enum tm_path_naming tm_path_naming(const char *text, const char *path)
{
  const char *base = tm_path_base(path);
  if (has_word(text, path, false))
    return TM_PATH_NAMED_IN_FULL;
  return base[strspn(base, "0123456789.")] != '\0' && has_word(text, base, true)
             ? TM_PATH_NAMED_BY_BASE
             : TM_PATH_UNNAMED;
}
