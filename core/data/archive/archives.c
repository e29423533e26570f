/* archives.c - see archives.h.
 *
 * A list of patterns may name as many entries as the archives have: the failed ones of another job,
 * for example. So patterns without special characters are looked up, and cost one look for each
 * folder of an entry; only the others are tried one by one.
 */
#include "data/archive/archives.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/archive/entry_name.h"

/* How a name of `names` is wanted. */
enum { LITERALLY = 1, AS_FILE = 2, AS_FOLDER = 4 };

void tm_archives_free(struct tm_archives *a)
{
  if (a == NULL)
    return;
  for (size_t i = 0; i < a->len; i++) {
    free(a->patterns[i]);
    tm_glob_release(&a->globs[i]);
  }
  free(a->patterns);
  free(a->globs);
  free(a->others);
  tm_map_release(&a->names);
  tm_map_release(&a->bases);
  free(a);
}

static void add_base(struct tm_archives *a, const char *pattern)
{
  struct tm_buf name = TM_BUF_NONE;
  for (const char *at = tm_path_base(pattern); *at; at++) {
    at += at[0] == '\\' && at[1] != '\0';
    tm_buf_add_char(&name, *at);
  }
  tm_map_add(&a->bases, tm_buf_str(&name), name.len, NULL);
  tm_buf_release(&name);
}

static void index_pattern(struct tm_archives *a, size_t i)
{
  bool takes_file;
  char *plain = tm_glob_plain(&a->globs[i], &takes_file);
  *tm_map_add(&a->names, a->patterns[i], strlen(a->patterns[i]), NULL) |= LITERALLY;
  if (plain) {
    *tm_map_add(&a->names, plain, strlen(plain), NULL) |=
        takes_file ? AS_FILE | AS_FOLDER : AS_FOLDER;
    add_base(a, a->patterns[i]);
  } else {
    a->others[a->others_len++] = i;
  }
  free(plain);
}

static int add_pattern(struct tm_archives *a, const struct tm_json *v, struct tm_err *err)
{
  if (v->string.at[0] == '/')
    return tm_err_set(err, TM_EUSAGE,
                      "'entries': '%s' begins with '/'; accepted: a pattern of names within the "
                      "archive",
                      v->string.at);
  int rc = tm_glob_init(&a->globs[a->len], v->string.at, err);
  if (rc < 0)
    return tm_err_wrap(err, "'entries'");
  a->patterns[a->len] = tm_xstrdup(v->string.at);
  index_pattern(a, a->len++);
  return 0;
}

static int read_patterns(struct tm_archives *a, const struct tm_json *entries, struct tm_err *err)
{
  size_t n = tm_json_items(entries);
  int rc = 0;
  a->patterns = tm_xcalloc(n + 1, sizeof(*a->patterns));
  a->globs = tm_xcalloc(n + 1, sizeof(*a->globs));
  a->others = tm_xcalloc(n + 1, sizeof(*a->others));
  for (size_t i = 0; i < n && rc == 0; i++)
    rc = add_pattern(a, entries->list.at[i], err);
  return rc;
}

struct tm_archives *tm_archives_from_json(const struct tm_json *options, struct tm_err *err)
{
  struct tm_archives *a = TM_NEW(struct tm_archives);
  a->is_extracted = tm_json_bool(options, "extract", true);
  a->limits.entries = tm_json_int(options, "max_entries", 0);
  a->limits.size = tm_json_int(options, "max_entry_size", 0);
  a->limits.ratio = tm_json_int(options, "max_ratio", 0);
  tm_require(a->limits.entries > 0 && a->limits.size > 0 && a->limits.ratio > 0);
  if (read_patterns(a, tm_json_get(options, "entries"), err) == 0)
    return a;
  tm_archives_free(a);
  return NULL;
}

static bool has_dot_name(const char *name)
{
  return name[0] == '.' || strstr(name, "/.") != NULL;
}

static bool is_named(const struct tm_archives *a, const char *name, size_t len, unsigned how)
{
  const uint64_t *found = tm_map_find(&a->names, name, len);
  return found && (*found & how) != 0;
}

/* Whether a folder above is named: it is taken with what it holds, but for names with a dot. */
static bool is_in_named_folder(const struct tm_archives *a, const char *name)
{
  for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/'))
    if (is_named(a, name, (size_t)(slash - name), AS_FOLDER) && !has_dot_name(slash + 1))
      return true;
  return false;
}

bool tm_archives_want(const struct tm_archives *a, const char *name)
{
  if (a->len == 0)
    return !has_dot_name(name);
  if (is_named(a, name, strlen(name), LITERALLY | AS_FILE) || is_in_named_folder(a, name))
    return true;
  for (size_t i = 0; i < a->others_len; i++)
    if (tm_entry_name_matches(&a->globs[a->others[i]], name))
      return true;
  return false;
}

bool tm_archives_want_bad(const struct tm_archives *a, const char *name)
{
  const char *base = tm_path_base(name);
  if (a->len == 0 || is_named(a, name, strlen(name), LITERALLY) ||
      tm_map_find(&a->bases, base, strlen(base)))
    return true;
  for (size_t i = 0; i < a->others_len; i++) {
    const char *last = tm_path_base(a->patterns[a->others[i]]);
    if (strcmp(last, "**") == 0 || tm_glob_match_name(last, base))
      return true;
  }
  return false;
}
