/* access.c - see access.h. */
#include "portal/request/access.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/time.h"

/* The length of the name in a Host header, without its port; -1: it is not a host. */
static int name_len(const char *host)
{
  size_t n = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
  if (n == 0 || n > strlen(host))
    return -1;
  const char *port = host + n;
  if (*port == '\0')
    return (int)n;
  size_t digits = *port == ':' ? strspn(port + 1, "0123456789") : 0;
  return digits > 0 && digits <= 5 && port[1 + digits] == '\0' ? (int)n : -1;
}

static bool is_allowed(const struct tm_access *a, const char *host)
{
  static const char *const ours[] = { "localhost", "127.0.0.1", "[::1]", NULL };
  int n = name_len(host);
  const char *const *lists[] = { ours, a->names };
  for (size_t l = 0; n > 0 && l < 2; l++)
    for (size_t i = 0; lists[l] && lists[l][i]; i++)
      if (strlen(lists[l][i]) == (size_t)n && strncasecmp(lists[l][i], host, (size_t)n) == 0)
        return true;
  return false;
}

bool tm_access_is_navigation(const struct tm_request_head *r)
{
  return r->mode && strcmp(r->mode, "navigate") == 0 && r->dest &&
         strcmp(r->dest, "document") == 0 && strcmp(r->method, "GET") == 0;
}

static bool is_other_site(const struct tm_request_head *r)
{
  return r->site && strcmp(r->site, "same-origin") != 0 && strcmp(r->site, "none") != 0;
}

/* "http://" and the Host. */
static bool is_own_origin(const struct tm_request_head *r)
{
  static const char scheme[] = "http://";
  return strncmp(r->origin, scheme, sizeof scheme - 1) == 0 &&
         strcasecmp(r->origin + sizeof scheme - 1, r->host) == 0;
}

/* Of a request for an action, whose Origin and site are not those of another site. */
static int check_action(const struct tm_access *a, const struct tm_request_head *r,
                        const char **words)
{
  if (strcmp(r->method, "POST") != 0) {
    *words = "An action is asked for with POST, by the buttons on the page of a job.";
    return 405;
  }
  if (!r->origin || (r->site && strcmp(r->site, "same-origin") != 0)) {
    *words = "An action is accepted only from a page of the portal: the request has no Origin, or "
             "another site.";
    return 403;
  }
  if (!a->allows_control) {
    *words = "This portal can only show jobs. The page of the job has the command to type; a "
             "portal that "
             "was started with `tidemill portal --allow-control` does it itself.";
    return 403;
  }
  if (r->has_body) {
    *words = "An action is asked for without a body.";
    return 413;
  }
  if (!r->page_token || !tm_secret_is(a->page_token, r->page_token, strlen(r->page_token))) {
    *words = "The page is from an earlier start of the portal: reload it.";
    return 403;
  }
  return 0;
}

int tm_access_check(const struct tm_access *a, const struct tm_request_head *r, const char **words)
{
  *words = "";
  if (r->bytes > TM_ACCESS_HEADER_SIZE) {
    *words = "The header of the request is longer than 16 KB.";
    return 431;
  }
  if (r->hosts != 1 || !r->host || !is_allowed(a, r->host)) {
    *words = "The portal answers to localhost, 127.0.0.1 and [::1], at any port. It answers to "
             "another name if it was started with --allow-host NAME.";
    return 421;
  }
  if (is_other_site(r) && !tm_access_is_navigation(r)) {
    *words = "The request came from another site.";
    return 403;
  }
  if (r->origin && !is_own_origin(r)) {
    *words = "The request has the Origin of another site.";
    return 403;
  }
  if (r->is_action)
    return check_action(a, r, words);
  if (strcmp(r->method, "GET") != 0 && strcmp(r->method, "HEAD") != 0) {
    *words = "The portal can only show jobs: it accepts GET and HEAD.";
    return 405;
  }
  return 0;
}

static bool is_too_many(struct tm_access *a, int64_t now_ns)
{
  int64_t second = now_ns / TM_S;
  if (second != a->second) {
    a->second = second;
    a->wrong = 0;
  }
  return a->wrong >= TM_ACCESS_WRONG;
}

static enum tm_access_key compare(struct tm_access *a, const char *secret, const char *given,
                                  size_t n, int64_t now_ns)
{
  if (is_too_many(a, now_ns))
    return TM_ACCESS_TOO_MANY;
  if (tm_secret_is(secret, given, n))
    return TM_ACCESS_RIGHT;
  a->wrong++;
  return TM_ACCESS_WRONG_KEY;
}

enum tm_access_key tm_access_token(struct tm_access *a, const char *given, int64_t now_ns)
{
  return compare(a, a->token, given, strlen(given), now_ns);
}

enum tm_access_key tm_access_bearer(struct tm_access *a, const char *authorization, int64_t now_ns)
{
  static const char scheme[] = "Bearer ";
  if (!authorization || strncasecmp(authorization, scheme, sizeof scheme - 1) != 0)
    return TM_ACCESS_WRONG_KEY;
  return tm_access_token(a, authorization + sizeof scheme - 1, now_ns);
}

const char *tm_access_cookie_value(const char **at, const char *name, size_t *len)
{
  size_t n = strlen(name);
  while (*at && **at) {
    const char *pair = *at + strspn(*at, " ;");
    size_t bytes = strcspn(pair, ";");
    *at = pair + bytes;
    if (bytes > n && strncmp(pair, name, n) == 0 && pair[n] == '=') {
      *len = bytes - n - 1;
      while (*len > 0 && pair[n + *len] == ' ')
        (*len)--;
      return pair + n + 1;
    }
  }
  return NULL;
}

enum tm_access_key tm_access_cookie(struct tm_access *a, const char *cookie, int64_t now_ns)
{
  enum tm_access_key key = TM_ACCESS_WRONG_KEY;
  const char *at = cookie, *value;
  size_t len;
  while (key != TM_ACCESS_RIGHT && (value = tm_access_cookie_value(&at, TM_ACCESS_COOKIE, &len)))
    if ((key = compare(a, a->session, value, len, now_ns)) == TM_ACCESS_TOO_MANY)
      return key;
  return key;
}
