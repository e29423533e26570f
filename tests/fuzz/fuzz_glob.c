/* fuzz_glob.c - "PATTERN NUL PATH": a pattern, and a path that is matched name by name.
 *
 *  (1) A name that matches a pattern also matches '*' and the pattern, unless it begins with a dot.
 *  (2) Every name matches itself when written with escapes.
 *  (3) A path that matches still matches after each name in the pattern is replaced by its escaped
 *      form. If the set of a folder holds only plain names, each name leads to a set that is not
 *      empty.
 */
#include "fuzz.h"

#include "base/buf.h"
#include "data/files/glob.h"

static void escape(struct tm_buf *out, const char *name)
{
  for (; *name != '\0'; name++) {
    if (strchr("*?[]{},\\", *name) != NULL)
      tm_buf_add_char(out, '\\');
    tm_buf_add_char(out, *name);
  }
}

static void check_name(const char *pattern, const char *name)
{
  struct tm_buf b = TM_BUF_NONE;
  tm_buf_printf(&b, "*%s", pattern);
  if (tm_glob_match_name(pattern, name) && name[0] != '.')
    fuzz_require(tm_glob_match_name(tm_buf_str(&b), name)); /* (1) */
  tm_buf_clear(&b);
  escape(&b, name);
  fuzz_require(tm_glob_match_name(tm_buf_str(&b), name)); /* (2) */
  tm_buf_release(&b);
}

struct folder {
  const struct tm_glob *glob;
  const struct tm_glob_set *set;
};

static void on_name(void *data, const char *name)
{
  struct folder *f = data;
  struct tm_glob_set to;
  fuzz_require(tm_glob_step(f->glob, f->set, name, &to)); /* (3) */
}

/* Walks down the path; returns whether the pattern matches it as a file. */
static bool walk(const struct tm_glob *g, const char *path)
{
  struct tm_glob_set set, to;
  tm_glob_begin(g, &set);
  for (const char *at = path;;) {
    size_t n = strcspn(at, "/");
    char *name = strndup(at, n);
    struct folder f = { g, &set };
    bool any = n > 0 && tm_glob_step(g, &set, name, &to);
    tm_glob_names(g, &set, on_name, &f);
    tm_glob_is_recursive(g, &set);
    free(name);
    if (!any || at[n] == '\0')
      return any && tm_glob_matches(g, &to, false);
    tm_glob_enter(g, &to);
    set = to;
    at += n + 1;
  }
}

static void check_escaped(const char *path)
{
  struct tm_buf b = TM_BUF_NONE;
  struct tm_glob g;
  escape(&b, path);
  if (tm_glob_init(&g, tm_buf_str(&b), NULL) == 0) {
    size_t n = strlen(g.start);
    const char *rest = path + n + (n > 0);
    if (path[0] != '\0' && path[0] != '/' && path[strlen(path) - 1] != '/' &&
        strstr(path, "//") == NULL && path[0] != '.' && strstr(path, "/.") == NULL)
      fuzz_require(walk(&g, rest)); /* (3) */
    tm_glob_release(&g);
  }
  tm_buf_release(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = malloc(size + 2);
  if (size > 0)
    memcpy(text, data, size);
  memset(text + size, 0, 2);
  const char *path = text + strlen(text) + 1;
  struct tm_glob g;
  struct tm_err err = TM_ERR_NONE;
  if (tm_glob_init(&g, text, &err) == 0) {
    walk(&g, path);
    tm_glob_release(&g);
  } else {
    fuzz_require(err.code < 0 && err.text[0] != '\0');
  }
  check_name(text, path);
  check_escaped(path);
  free(text);
  return 0;
}
