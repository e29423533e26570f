/* access.h - who may ask for what: Host, Origin, site, method, token, cookie. Pure.
 *
 * A local server is reached by every page that its user looks at, and by every user of the machine.
 *  - A page of another site cannot make a browser name the portal's host: a name that somebody else
 *    pointed to this machine (DNS rebinding) is refused.
 *  - A request that another site makes is refused, but for following a link, which changes nothing
 *    and whose answer that site cannot read.
 *  - An action is a POST that one of our own pages makes: it has our Origin and the token of the
 *    pages, in a header that no form and no other site can send. Without --allow-control there are
 *    none.
 *  - Everything but the portal's own style sheet and script needs the cookie, and that needs the
 *    token. Wrong ones are counted: ten a second at most are looked at.
 */
#ifndef TM_PORTAL_REQUEST_ACCESS_H
#define TM_PORTAL_REQUEST_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "portal/request/secret.h"

#define TM_ACCESS_COOKIE      "tidemill"
#define TM_ACCESS_NEXT        "tidemill-next" /* a cookie: the page that was asked for first */
#define TM_ACCESS_WRONG       10              /* tokens a second */
#define TM_ACCESS_HEADER_SIZE (16 << 10)      /* bytes */

/* The headers that matter. NULL: it was not sent. */
struct tm_request_head {
  const char *method;
  const char *host, *origin, *site, *mode, *dest; /* site...: Sec-Fetch-... */
  const char *cookie, *authorization;
  const char *page_token; /* X-Tidemill-Token */
  int hosts;              /* how many Host headers there were */
  size_t bytes;           /* of all */
  bool has_body;
  bool is_action; /* its path is that of an action */
};

struct tm_access {
  char token[TM_SECRET_LEN + 1], session[TM_SECRET_LEN + 1]; /* what is in the URL; in the cookie */
  char page_token[TM_SECRET_LEN + 1]; /* what our pages send with an action */
  bool allows_control;
  const char *const *names; /* other hosts that are allowed; NULL-ended, or NULL */
  int64_t second;           /* of which `wrong` counts the wrong tokens */
  int wrong;
};

/* Judges everything but token and cookie. 0: it may go on. Otherwise the status, and *words says
 * why: a sentence for the user. */
int tm_access_check(const struct tm_access *a, const struct tm_request_head *r, const char **words);

enum tm_access_key { TM_ACCESS_RIGHT, TM_ACCESS_WRONG_KEY, TM_ACCESS_TOO_MANY };
/* A token from a URL. `now_ns`: of a clock that never jumps. */
enum tm_access_key tm_access_token(struct tm_access *a, const char *given, int64_t now_ns);
/* "Bearer TOKEN", the header Authorization. */
enum tm_access_key tm_access_bearer(struct tm_access *a, const char *authorization, int64_t now_ns);
/* The header Cookie, or NULL. A browser may send several of one name: one right one is enough. */
enum tm_access_key tm_access_cookie(struct tm_access *a, const char *cookie, int64_t now_ns);

/* The value of cookie `name`, and its length; goes on behind *at, which begins as the header. NULL:
 * there is no further one. */
const char *tm_access_cookie_value(const char **at, const char *name, size_t *len);
/* A link was followed, from whatever site. */
bool tm_access_is_navigation(const struct tm_request_head *r);

#endif
