/* exclusions.c - see exclusions.h. */
#include "slurm/exclusions.h"

#include <stdlib.h>
#include <string.h>

#include "slurm/slurm_command.h"

static void remove_at(struct tm_exclusions *e, size_t at)
{
  free(e->list.at[at].host);
  e->list.len--;
  memmove(e->list.at + at, e->list.at + at + 1, (e->list.len - at) * sizeof(*e->list.at));
}

void tm_exclusions_release(struct tm_exclusions *e)
{
  while (e->list.len > 0)
    remove_at(e, e->list.len - 1);
  TM_ARRAY_RELEASE(&e->list);
}

/* Keeps (3): the bytes of the name without its domain; 0: it is not a plain name. */
static size_t length_of(const char *host)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  size_t len = strspn(host, plain);

  return (host[len] == '\0' || host[len] == '.') && host[0] != '-' && len < 64 ? len : 0;
}

bool tm_exclusions_add(struct tm_exclusions *e, const char *host, int64_t now_ns)
{
  size_t len = length_of(host);
  char *name;

  if (len == 0)
    return false;
  name = tm_xstrndup(host, len);
  for (size_t i = 0; i < e->list.len; i++)
    if (strcmp(e->list.at[i].host, name) == 0) {
      remove_at(e, i);
      break;
    }
  *TM_ARRAY_ADD(&e->list) =
      (struct tm_exclusion) { .host = name, .until_ns = now_ns + TM_EXCLUDE_NS };
  e->is_untested = true;
  return true;
}

void tm_exclusions_expire(struct tm_exclusions *e, int64_t now_ns)
{
  while (e->list.len > 0 && e->list.at[0].until_ns <= now_ns)
    remove_at(e, 0);
}

bool tm_exclusions_are_untested(const struct tm_exclusions *e)
{
  return e->is_untested && e->list.len > 0;
}

void tm_exclusions_asked(struct tm_exclusions *e)
{
  e->is_untested = false;
}

void tm_exclusions_unanswered(struct tm_exclusions *e)
{
  e->is_untested = true;
}

char *tm_exclusions_tested(struct tm_exclusions *e, bool is_granted)
{
  char *host = NULL;

  e->is_untested = e->is_untested || !is_granted;
  if (!is_granted && e->list.len > 0) {
    host = tm_xstrdup(e->list.at[0].host);
    remove_at(e, 0);
  }
  return host;
}

char *tm_exclusions_text(const struct tm_exclusions *e, const char *users)
{
  const char **hosts = tm_xcalloc(e->list.len + 1, sizeof(*hosts));
  char *text;

  for (size_t i = 0; i < e->list.len; i++)
    hosts[i] = e->list.at[i].host;
  text = tm_slurm_command_exclude(users, hosts, e->list.len);
  free(hosts);
  return text;
}
