/* repeats.c - see repeats.h. */
#include "base/repeats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define KINDS_MAX 64

/* The end of the name that begins at `at`: the next quote that no letter follows. */
static const char *end_of_name(const char *at)
{
  while ((at = strchr(at, '\'')) != NULL && at[1] && !strchr(" ,:;)", at[1]))
    at++;
  return at;
}

/* Leaves the name and all digits out. */
static char *key_of(const char *message, const char *name, const char *name_end)
{
  struct tm_buf key = TM_BUF_NONE;
  for (const char *at = message; *at; at++) {
    if (at == name)
      at = name_end;
    if (*at < '0' || *at > '9')
      tm_buf_add_char(&key, *at);
  }
  return tm_buf_take(&key);
}

/* A path with its folder only: "in/a.zip". */
static char *shorten(const char *name, const char *end)
{
  int slashes = 0;
  const char *at = end;
  while (at > name && (at[-1] != '/' || ++slashes < 2))
    at--;
  return tm_xstrndup(at, (size_t)(end - at));
}

bool tm_repeats_add(struct tm_repeats *r, const char *message)
{
  const char *quote = strchr(message, '\''), *name = quote ? quote + 1 : NULL;
  const char *end = name ? end_of_name(name) : NULL;
  if (!end)
    return true;
  char *key = key_of(message, name, end);
  size_t i = 0;
  while (i < r->kinds.len && strcmp(r->kinds.at[i].key, key) != 0)
    i++;
  bool is_first = i == r->kinds.len;
  if (is_first && i < KINDS_MAX) {
    *TM_ARRAY_ADD(&r->kinds) = (struct tm_repeat) { .key = key, .first = shorten(name, end) };
    return true;
  }
  free(key);
  if (is_first)
    return true;
  struct tm_repeat *kind = &r->kinds.at[i];
  if (kind->more < TM_REPEATS_NAMED)
    kind->names[kind->more] = shorten(name, end);
  kind->more++;
  return false;
}

static char *text_of(const struct tm_repeat *kind)
{
  struct tm_buf text = TM_BUF_NONE;
  int64_t named = 0;
  tm_buf_printf(&text, "%" PRId64 " more %s", kind->more, kind->more == 1 ? "warning" : "warnings");
  tm_buf_printf(&text, " like the one about '%s'", kind->first);
  for (; named < TM_REPEATS_NAMED && kind->names[named]; named++)
    tm_buf_printf(&text, "%s '%s'", named > 0 ? "," : ":", kind->names[named]);
  if (kind->more > named)
    tm_buf_printf(&text, " and %" PRId64 " %s", kind->more - named,
                  kind->more - named == 1 ? "other" : "others");
  return tm_buf_take(&text);
}

char *tm_repeats_take(struct tm_repeats *r)
{
  for (; r->taken < r->kinds.len; r->taken++)
    if (r->kinds.at[r->taken].more > 0)
      return text_of(&r->kinds.at[r->taken++]);
  return NULL;
}

void tm_repeats_release(struct tm_repeats *r)
{
  for (size_t i = 0; i < r->kinds.len; i++) {
    free(r->kinds.at[i].key);
    free(r->kinds.at[i].first);
    for (size_t k = 0; k < TM_REPEATS_NAMED; k++)
      free(r->kinds.at[i].names[k]);
  }
  TM_ARRAY_RELEASE(&r->kinds);
  *r = (struct tm_repeats) { .taken = 0 };
}
