/* glob.c - patterns: braces are expanded into alternatives, these are split into places, and sets
 * of places descend the tree.
 *
 *   "a/{b*,c/d}"  ->  0 NAME a  1 PATTERN b*  2 END  3 NAME a  4 NAME c  5 NAME d  6 END
 *
 * Names that all alternatives begin with become `start`, where the walk begins: no folder above it
 * is read.
 *
 *  (1) Alternatives are expanded before they are split at '/', so that braces may hold '/'. Their
 *      number and length are limited, because a pattern may be hostile.
 *  (2) Matching a name backtracks to the last '*' only: at most pattern length times name length.
 *  (3) A place never passes the END of its alternative.
 */
#include "data/files/glob.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define ALTERNATIVES_MAX 256
#define PATTERN_MAX      (64u << 10) /* bytes of one alternative */

/* Characters. A byte that does not begin a UTF-8 sequence stands for itself, above all
 * characters. */
static uint32_t read_char(const unsigned char **at)
{
  const unsigned char *p = *at;
  int more = p[0] >= 0xf0 && p[0] < 0xf8 ? 3 : p[0] >= 0xe0 ? 2 : p[0] >= 0xc2 ? 1 : 0;
  uint32_t c = p[0];
  *at = p + 1;
  if (c < 0x80)
    return c;
  if (more == 0 || c >= 0xf8)
    return 0x110000 + c;
  c &= 0x3fu >> more;
  for (int i = 1; i <= more; i++) {
    if ((p[i] & 0xc0) != 0x80) /* also at the final NUL */
      return 0x110000 + p[0];
    c = c << 6 | (p[i] & 0x3f);
  }
  *at = p + 1 + more;
  return c;
}

/* Parses the class at `*pattern` (a '['), moves past it and sets whether `c` is in it. False,
 * without moving, if it is not closed. */
static bool read_class(const unsigned char **pattern, uint32_t c, bool *is_in)
{
  const unsigned char *p = *pattern + 1;
  bool found = false, is_not = *p == '!' || *p == '^';
  if (is_not)
    p++;
  for (bool is_first = true; *p != ']' || is_first; is_first = false) {
    if (*p == '\0')
      return false;
    if (*p == '\\' && p[1] != '\0')
      p++;
    uint32_t low = read_char(&p), high = low;
    if (*p == '-' && p[1] != ']' && p[1] != '\0') {
      p++;
      if (*p == '\\' && p[1] != '\0')
        p++;
      high = read_char(&p);
    }
    found |= low <= c && c <= high;
  }
  *pattern = p + 1;
  *is_in = found != is_not;
  return true;
}

/* Matches one character of the pattern, not a '*', with one of the name; moves both if it fits. */
static bool match_char(const unsigned char **pattern, const unsigned char **name)
{
  const unsigned char *p = *pattern, *n = *name;
  bool is_in;
  uint32_t c = read_char(&n);
  if (*p == '?') {
    p++;
  } else if (*p == '[' && read_class(&p, c, &is_in)) {
    if (!is_in)
      return false;
  } else {
    if (*p == '\\' && p[1] != '\0')
      p++;
    if (*p++ != **name)
      return false;
    n = *name + 1;
  }
  *pattern = p;
  *name = n;
  return true;
}

bool tm_glob_match_name(const char *pattern, const char *name)
{
  const unsigned char *p = (const unsigned char *)pattern, *n = (const unsigned char *)name;
  const unsigned char *star = NULL,
                      *from = NULL; /* after the last '*', and where in the name it is tried */
  if (name[0] == '.' && pattern[0] != '.' && !(pattern[0] == '\\' && pattern[1] == '.'))
    return false;
  while (*n != '\0') {
    if (*p == '*') {
      star = ++p;
      from = n;
    } else if (*p != '\0' && match_char(&p, &n)) {
      continue;
    } else if (star != NULL) { /* keeps (2) */
      read_char(&from);
      p = star;
      n = from;
    } else {
      return false;
    }
  }
  while (*p == '*')
    p++;
  return *p == '\0';
}

bool tm_glob_is_pattern(const char *text)
{
  return strpbrk(text, "*?[{\\") != NULL;
}

/* Braces --------------------------------------------------------------------------------------- */

struct alternatives {
  struct TM_ARRAY(char *) list;
};

/* Finds the first braces with a comma: their '{' and the matching '}'. */
static bool find_braces(const char *s, const char **open, const char **close)
{
  for (; *s != '\0'; s++) {
    if (*s == '\\' && s[1] != '\0') {
      s++;
      continue;
    }
    if (*s != '{')
      continue;
    int depth = 0;
    bool has_comma = false;
    for (const char *p = s; *p != '\0'; p++) {
      if (*p == '\\' && p[1] != '\0') {
        p++;
      } else if (*p == ',' && depth == 1) {
        has_comma = true;
      } else if (*p == '{') {
        depth++;
      } else if (*p == '}' && --depth == 0) {
        *open = s;
        *close = p;
        if (has_comma)
          return true;
        break;
      }
    }
  }
  return false;
}

/* The end of the alternative at `s`: its ',' or the closing '}'. */
static const char *alternative_end(const char *s, const char *close)
{
  int depth = 0;
  for (; s < close; s++) {
    if (*s == '\\')
      s++;
    else if (*s == ',' && depth == 0)
      break;
    else if (*s == '{')
      depth++;
    else if (*s == '}')
      depth--;
  }
  return s < close ? s : close;
}

/* Keeps (1). Each round expands one pair of braces of one text; texts without braces are done. */
static int expand_braces(struct alternatives *done, const char *pattern, struct tm_err *err)
{
  struct TM_ARRAY(char *) open = { 0 };
  const char *from, *to;
  int rc = 0;
  *TM_ARRAY_ADD(&open) = tm_xstrdup(pattern);
  while (open.len > 0 && rc == 0) {
    char *s = open.at[--open.len];
    if (!find_braces(s, &from, &to)) {
      *TM_ARRAY_ADD(&done->list) = s;
      continue;
    }
    for (const char *at = from + 1, *end; at <= to; at = end + 1) {
      end = alternative_end(at, to);
      *TM_ARRAY_ADD(&open) =
          tm_xprintf("%.*s%.*s%s", (int)(from - s), s, (int)(end - at), at, to + 1);
    }
    free(s);
    if (open.len + done->list.len > ALTERNATIVES_MAX)
      rc = tm_err_set(err, TM_ELIMIT,
                      "the braces of '%s' make more than %d patterns; list them one by one",
                      pattern, ALTERNATIVES_MAX);
  }
  while (open.len > 0)
    free(open.at[--open.len]);
  TM_ARRAY_RELEASE(&open);
  return rc;
}

/* Places --------------------------------------------------------------------------------------- */

static char *without_escapes(const char *s, size_t n)
{
  char *out = tm_xmalloc(n + 1), *o = out;
  for (size_t i = 0; i < n; i++) {
    if (s[i] == '\\' && i + 1 < n)
      i++;
    *o++ = s[i];
  }
  *o = '\0';
  return out;
}

static bool has_special(const char *s, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    if (s[i] == '*' || s[i] == '?' || s[i] == '[')
      return true;
    if (s[i] == '\\')
      i++;
  }
  return false;
}

static struct tm_glob_place place_of(const char *s, size_t n)
{
  struct tm_glob_place place = { TM_GLOB_FOLDERS, NULL };
  if (n == 2 && memcmp(s, "**", 2) == 0)
    return place;
  place.kind = has_special(s, n) ? TM_GLOB_PATTERN : TM_GLOB_NAME;
  place.text = place.kind == TM_GLOB_NAME ? without_escapes(s, n) : tm_xstrndup(s, n);
  return place;
}

struct places {
  struct TM_ARRAY(struct tm_glob_place) list;
  struct TM_ARRAY(size_t) firsts;
};

static void add_alternative(struct places *places, const char *s)
{
  struct tm_glob_place end = { TM_GLOB_END, NULL };
  *TM_ARRAY_ADD(&places->firsts) = places->list.len;
  while (*s != '\0') {
    size_t n = strcspn(s, "/");
    if (n > 0 && !(n == 1 && *s == '.'))
      *TM_ARRAY_ADD(&places->list) = place_of(s, n);
    end.kind = s[n] == '/' ? TM_GLOB_END_FOLDER : TM_GLOB_END;
    s += n + (s[n] == '/');
  }
  *TM_ARRAY_ADD(&places->list) = end;
}

static bool is_end(const struct tm_glob_place *place)
{
  return place->kind == TM_GLOB_END || place->kind == TM_GLOB_END_FOLDER;
}

/* The name that all alternatives have at their first place, unless it is the last of one; or
 * NULL. */
static const char *common_name(const struct tm_glob *g)
{
  const char *name = g->places[g->firsts[0]].text;
  for (size_t i = 0; i < g->firsts_len; i++) {
    const struct tm_glob_place *p = &g->places[g->firsts[i]];
    if (p->kind != TM_GLOB_NAME || strcmp(p->text, name) != 0 || is_end(p + 1))
      return NULL;
  }
  return name;
}

static void find_start(struct tm_glob *g)
{
  struct tm_buf start = TM_BUF_NONE;
  for (const char *name; (name = common_name(g)) != NULL;) {
    if (start.len > 0)
      tm_buf_add_char(&start, '/');
    tm_buf_add_str(&start, name);
    for (size_t i = 0; i < g->firsts_len; i++)
      g->firsts[i]++;
  }
  g->start = tm_xstrdup(tm_buf_str(&start));
  tm_buf_release(&start);
}

int tm_glob_init(struct tm_glob *g, const char *pattern, struct tm_err *err)
{
  struct alternatives written = { { 0 } };
  struct places places = { { 0 }, { 0 } };
  int rc = strlen(pattern) > PATTERN_MAX
               ? tm_err_set(err, TM_ELIMIT, "a pattern is longer than %u bytes", PATTERN_MAX)
               : expand_braces(&written, pattern, err);
  memset(g, 0, sizeof(*g));
  g->is_absolute = written.list.len > 0 && written.list.at[0][0] == '/';
  for (size_t i = 0; i < written.list.len; i++) {
    if (rc == 0 && (written.list.at[i][0] == '/') != g->is_absolute)
      rc = tm_err_set(err, TM_EUSAGE,
                      "'%s' is an absolute path and a relative one; give them one by one", pattern);
    add_alternative(&places, written.list.at[i]);
    free(written.list.at[i]);
  }
  TM_ARRAY_RELEASE(&written.list);
  g->places = places.list.at;
  g->len = places.list.len;
  g->firsts = places.firsts.at;
  g->firsts_len = places.firsts.len;
  if (rc == 0 && g->len > TM_GLOB_PLACES)
    rc = tm_err_set(err, TM_ELIMIT,
                    "the pattern '%s' has too many parts; list its alternatives one by one",
                    pattern);
  if (rc == 0)
    find_start(g);
  else
    tm_glob_release(g);
  return rc;
}

void tm_glob_release(struct tm_glob *g)
{
  for (size_t i = 0; i < g->len; i++)
    free(g->places[i].text);
  free(g->places);
  free(g->firsts);
  free(g->start);
  memset(g, 0, sizeof(*g));
}

char *tm_glob_plain(const struct tm_glob *g, bool *takes_file)
{
  const struct tm_glob_place *name = &g->places[g->firsts[0]];
  if (g->firsts_len != 1 || name->kind != TM_GLOB_NAME || !is_end(name + 1))
    return NULL;
  *takes_file = name[1].kind == TM_GLOB_END;
  return tm_xprintf("%s%s%s", g->start, *g->start ? "/" : "", name->text);
}

/* Sets ----------------------------------------------------------------------------------------- */

static void set_add(struct tm_glob_set *set, size_t place)
{
  set->bits[place / 64] |= UINT64_C(1) << place % 64;
}

/* The next place of the set, from `at` on; false if there is none. */
static bool set_next(const struct tm_glob_set *set, size_t *at)
{
  for (size_t i = *at; i < TM_GLOB_PLACES; i = (i / 64 + 1) * 64) {
    uint64_t rest = set->bits[i / 64] >> i % 64;
    if (rest != 0) {
      *at = i + (size_t)__builtin_ctzll(rest);
      return true;
    }
  }
  return false;
}

void tm_glob_enter(const struct tm_glob *g, struct tm_glob_set *set)
{
  for (size_t at = 0; set_next(set, &at); at++)
    if (g->places[at].kind == TM_GLOB_FOLDERS) /* an END follows it: keeps (3) */
      set_add(set, at + 1);
}

void tm_glob_begin(const struct tm_glob *g, struct tm_glob_set *out)
{
  memset(out, 0, sizeof(*out));
  for (size_t i = 0; i < g->firsts_len; i++)
    set_add(out, g->firsts[i]);
  tm_glob_enter(g, out);
}

bool tm_glob_step(const struct tm_glob *g, const struct tm_glob_set *from, const char *name,
                  struct tm_glob_set *out)
{
  bool any = false;
  memset(out, 0, sizeof(*out));
  for (size_t at = 0; set_next(from, &at); at++) {
    const struct tm_glob_place *p = &g->places[at];
    size_t to = at + 1;
    if (is_end(p))
      continue;
    if (p->kind == TM_GLOB_FOLDERS && name[0] != '.')
      to = at;
    else if (p->kind == TM_GLOB_FOLDERS ||
             !(p->kind == TM_GLOB_NAME ? strcmp(p->text, name) == 0
                                       : tm_glob_match_name(p->text, name)))
      continue;
    set_add(out, to);
    any = true;
  }
  return any;
}

bool tm_glob_matches(const struct tm_glob *g, const struct tm_glob_set *set, bool is_folder)
{
  for (size_t at = 0; set_next(set, &at); at++)
    if (g->places[at].kind == TM_GLOB_END ||
        (is_folder && g->places[at].kind == TM_GLOB_END_FOLDER))
      return true;
  return false;
}

bool tm_glob_is_recursive(const struct tm_glob *g, const struct tm_glob_set *set)
{
  for (size_t at = 0; set_next(set, &at); at++)
    if (g->places[at].kind == TM_GLOB_FOLDERS)
      return true;
  return false;
}

bool tm_glob_names(const struct tm_glob *g, const struct tm_glob_set *set,
                   void (*on_name)(void *data, const char *name), void *data)
{
  for (size_t at = 0; set_next(set, &at); at++)
    if (g->places[at].kind != TM_GLOB_NAME && !is_end(&g->places[at]))
      return false;
  for (size_t at = 0; set_next(set, &at); at++)
    if (g->places[at].kind == TM_GLOB_NAME)
      on_name(data, g->places[at].text);
  return true;
}
