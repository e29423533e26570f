/* ignore.c - see ignore.h. */
#include "snapshot/ignore.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "data/files/glob.h"

#define FILE_MAX  (1u << 20) /* bytes */
#define PARTS_MAX 64         /* of a pattern; deeper source directories are not expected */

/* Splits the pattern at each '/', in place. */
static void cut_parts(struct tm_ignore_rule *rule)
{
  rule->parts = 1;
  for (char *c = rule->text; *c; c++)
    if (*c == '/') {
      *c = '\0';
      rule->parts++;
    }
}

static int refuse(struct tm_err *err, const char *path, int line, const char *text, const char *why)
{
  struct tm_buf said = TM_BUF_NONE;
  tm_text_one_line(&said, text, strlen(text), 80);
  tm_err_set(err, TM_EUSAGE, "%s:%d: '%s' is not a pattern: %s", path, line, tm_buf_str(&said),
             why);
  tm_buf_release(&said);
  return TM_EUSAGE;
}

static const char *fault_of(const struct tm_ignore_rule *rule)
{
  const char *part = rule->text;
  if (rule->parts > PARTS_MAX)
    return "it names too many folders";
  for (size_t i = 0; i < rule->parts; i++, part += strlen(part) + 1) {
    if (!*part)
      return "a name is missing; accepted: names and patterns, with one '/' between them";
    if (strcmp(part, ".") == 0 || strcmp(part, "..") == 0)
      return "it leads out of the folder; accepted: names below the folder that the file is in";
  }
  return NULL;
}

/* `text`: one line, without its end. */
static int add_rule(struct tm_ignore *ig, const char *path, int line, const char *text, size_t len,
                    struct tm_err *err)
{
  struct tm_ignore_rule rule = { .line = line };
  const char *why;
  char *given;
  int rc = 0;
  while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t' || text[len - 1] == '\r'))
    len--;
  if (len == 0 || *text == '#')
    return 0;
  given = tm_xstrndup(text, len);
  if (strlen(given) != len) {
    rc = refuse(err, path, line, given, "it holds a NUL");
    free(given);
    return rc;
  }
  rule.is_kept = *text == '!';
  rule.is_folder = len > 1 && text[len - 1] == '/';
  text += rule.is_kept;
  len -= (size_t)rule.is_kept + rule.is_folder;
  rule.is_anchored = memchr(text, '/', len);
  if (len > 0 && *text == '/') {
    text++;
    len--;
  }
  rule.text = tm_xstrndup(text, len);
  cut_parts(&rule);
  if ((why = fault_of(&rule))) {
    rc = refuse(err, path, line, given, why);
    free(rule.text);
  } else {
    *TM_ARRAY_ADD(&ig->rules) = rule;
  }
  free(given);
  return rc;
}

static int read_rules(struct tm_ignore *ig, const char *path, const struct tm_buf *text,
                      struct tm_err *err)
{
  const char *at = tm_buf_str(text), *stop = at + text->len;
  int rc = 0;
  for (int line = 1; at < stop && rc == 0; line++) {
    const char *end = memchr(at, '\n', (size_t)(stop - at));
    end = end ? end : stop;
    rc = add_rule(ig, path, line, at, (size_t)(end - at), err);
    at = end + 1;
  }
  return rc;
}

int tm_ignore_read(struct tm_ignore *ig, const struct tm_fs *fs, const char *dir,
                   struct tm_err *err)
{
  char *path = tm_path_join(dir, TM_IGNORE_NAME);
  struct tm_buf text = TM_BUF_NONE;
  struct tm_err why = TM_ERR_NONE;
  int rc = tm_fs_read_file(fs, path, FILE_MAX, &text, &why);
  if (rc == -ENOENT)
    rc = 0;
  else if (rc < 0)
    tm_err_set(err, rc, "%s", why.text);
  else
    rc = read_rules(ig, path, &text, err);
  tm_buf_release(&text);
  free(path);
  return rc;
}

static const char *next_name(const char *path)
{
  path += strcspn(path, "/");
  return *path ? path + 1 : path;
}

static bool fits_name(const char *pattern, const char *path)
{
  size_t len = strcspn(path, "/");
  char *name = tm_xstrndup(path, len);
  bool fits = tm_glob_match_name(pattern, name);
  free(name);
  return fits;
}

/* Matches `parts` names from `pattern` with all of `path`. */
static bool fits(const char *pattern, size_t parts, const char *path)
{
  const char *rest;
  if (parts == 0)
    return *path == '\0';
  rest = pattern + strlen(pattern) + 1;
  if (strcmp(pattern, "**") != 0)
    return *path && fits_name(pattern, path) && fits(rest, parts - 1, next_name(path));
  while (!fits(rest, parts - 1, path)) {
    if (!*path)
      return false;
    path = next_name(path);
  }
  return true;
}

int tm_ignore_line(const struct tm_ignore *ig, const char *relative, bool is_folder)
{
  for (size_t i = ig->rules.len; i > 0; i--) {
    const struct tm_ignore_rule *rule = &ig->rules.at[i - 1];
    const char *path = rule->is_anchored ? relative : tm_path_base(relative);
    if ((!rule->is_folder || is_folder) && fits(rule->text, rule->parts, path))
      return rule->is_kept ? 0 : rule->line;
  }
  return 0;
}

void tm_ignore_release(struct tm_ignore *ig)
{
  for (size_t i = 0; i < ig->rules.len; i++)
    free(ig->rules.at[i].text);
  TM_ARRAY_RELEASE(&ig->rules);
}
