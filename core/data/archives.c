/* archives.c - see archives.h. */
#include "data/archives.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/files/entry_name.h"

#define ENTRIES_MAX INT64_C(10000000)
#define SIZE_MOST   (INT64_C(4) << 30)
#define RATIO_MOST  200

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
  free(a);
}

static int add_pattern(struct tm_archives *a, const struct tm_json *v, struct tm_err *err)
{
  bool is_text =
      v->type == TM_JSON_STRING && v->string.len > 0 && strlen(v->string.at) == v->string.len;
  if (!is_text)
    return tm_err_set(err, TM_EUSAGE,
                      "'entries' is not valid; accepted: a pattern, or a list of them");
  if (v->string.at[0] == '/')
    return tm_err_set(err, TM_EUSAGE,
                      "'entries': '%s' begins with '/'; accepted: a pattern of names within the "
                      "archive",
                      v->string.at);
  int rc = tm_glob_init(&a->globs[a->len], v->string.at, err);
  if (rc < 0)
    return tm_err_wrap(err, "'entries'");
  a->patterns[a->len++] = tm_xstrdup(v->string.at);
  return 0;
}

static int read_patterns(struct tm_archives *a, const struct tm_json *entries, struct tm_err *err)
{
  size_t n = !entries || entries->type == TM_JSON_NULL ? 0
             : entries->type == TM_JSON_ARRAY          ? entries->list.len
                                                       : 1;
  int rc = 0;
  a->patterns = tm_xcalloc(n + 1, sizeof(*a->patterns));
  a->globs = tm_xcalloc(n + 1, sizeof(*a->globs));
  for (size_t i = 0; i < n && rc == 0; i++)
    rc = add_pattern(a, entries->type == TM_JSON_ARRAY ? entries->list.at[i] : entries, err);
  return rc;
}

struct tm_archives *tm_archives_from_json(const struct tm_json *options, struct tm_err *err)
{
  struct tm_archives *a = TM_NEW(struct tm_archives);
  a->is_extracted = tm_json_bool(options, "extract", true);
  a->limits.entries = tm_json_int(options, "max_entries", ENTRIES_MAX);
  a->limits.size = tm_json_int(options, "max_entry_size", SIZE_MOST);
  a->limits.ratio = tm_json_int(options, "max_ratio", RATIO_MOST);
  if (a->limits.entries < 1 || a->limits.size < 1 || a->limits.ratio < 1)
    tm_err_set(err, TM_EUSAGE,
               "'max_entries', 'max_entry_size' and 'max_ratio' are integers from 1 on");
  else if (read_patterns(a, tm_json_get(options, "entries"), err) == 0)
    return a;
  tm_archives_free(a);
  return NULL;
}

static bool has_dot_name(const char *name)
{
  return name[0] == '.' || strstr(name, "/.") != NULL;
}

bool tm_archives_want(const struct tm_archives *a, const char *name)
{
  for (size_t i = 0; i < a->len; i++)
    if (strcmp(a->patterns[i], name) == 0 || tm_entry_name_matches(&a->globs[i], name))
      return true;
  return a->len == 0 && !has_dot_name(name);
}

bool tm_archives_want_bad(const struct tm_archives *a, const char *name)
{
  const char *base = strrchr(name, '/');
  base = base ? base + 1 : name;
  for (size_t i = 0; i < a->len; i++) {
    const char *last = strrchr(a->patterns[i], '/');
    last = last ? last + 1 : a->patterns[i];
    if (strcmp(a->patterns[i], name) == 0 || strcmp(last, "**") == 0 ||
        tm_glob_match_name(last, base))
      return true;
  }
  return a->len == 0;
}
