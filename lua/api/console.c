/* console.c - consoles: a session (lua/prompt/session.h) with the globals of a prompt, and the
 * thread of its jobs (lua/prompt/background.h).
 *
 *  (1) The console owns the text that it returns, until its next call.
 *  (2) It claims SIGPROF as long as it lives: any thread may ask for an interruption, which happens
 *      on the thread that made the console.
 */
#include "api/own.h"

#include <errno.h>

#include "api/lua_host.h"
#include "base/check.h"
#include "modules.h"
#include "prompt/background.h"
#include "prompt/session.h"
#include "sys/alarm.h"

#define WIDTH 80

struct tidemill_console {
  struct tidemill_runtime *rt;
  struct tidemill_console_options o;
  struct tm_lua_session *session;
  struct tm_background *background;
  bool is_claimed;
  struct tm_buf shown, insert, list; /* keeps (1) */
};

/* ---- callbacks for the host ---- */

static void on_ask(void *data) /* keeps (2) */
{
  struct tidemill_console *c = data;
  tm_lua_session_interrupt(c->session);
}

static bool help(void *data, struct tm_buf *out, const char *topic)
{
  const struct tidemill_console *c = data;
  const char *text = c->o.help ? c->o.help(topic, c->o.data) : NULL;
  tm_buf_add_str(out, text ? text : "");
  return text != NULL;
}

static void say(void *data, const char *words)
{
  const struct tidemill_console *c = data;
  if (c->o.on_say)
    c->o.on_say(words, c->o.data);
}

static void set_status(void *data, const char *words)
{
  const struct tidemill_console *c = data;
  if (c->o.on_status)
    c->o.on_status(words, c->o.data);
}

static int width(void *data)
{
  const struct tidemill_console *c = data;
  return c->o.width ? c->o.width(c->o.data) : WIDTH;
}

static struct tm_lua_look look_of(struct tidemill_console *c)
{
  return (struct tm_lua_look) { .width = width(c), .has_color = c->o.has_color };
}

/* ---- life ---- */

static int begin(struct tidemill_console *c, struct tidemill_runtime *rt, struct tm_err *err)
{
  struct tm_lua_prompt p = {
    .help = help, .say = say, .set_status = set_status, .width = width, .data = c, .runtime = rt
  };
  tm_require(!c->is_claimed && !c->background);
  c->is_claimed = tm_tick_claim(on_ask, c);
  if (!c->is_claimed)
    return tm_err_set(err, TM_EINUSE,
                      "another console, or a script, of this process can be interrupted; close it "
                      "first");
  p.background = c->background = tm_background_new(rt, err);
  return c->background ? tm_lua_session_begin_prompt(c->session, &p, err) : err->code;
}

int tm_console_of(struct tidemill_console **out, struct tm_lua_session *session,
                  struct tidemill_runtime *rt, const struct tidemill_console_options *options,
                  struct tm_err *err)
{
  static const char call[] = "tidemill_console_new()";
  struct tidemill_console *c = TM_NEW(struct tidemill_console);
  c->session = session;
  c->rt = rt;
  rt->consoles++;
  c->o = (struct tidemill_console_options)TIDEMILL_CONSOLE_OPTIONS_INIT;
  int rc = tm_take_options(&c->o, sizeof(c->o), options, call, "the options",
                           "TIDEMILL_CONSOLE_OPTIONS_INIT", err);
  if (rc >= 0)
    rc = tm_runtime_may_turn(rt, call, err);
  if (rc >= 0)
    rc = begin(c, rt, err);
  if (rc < 0) {
    tidemill_console_close(c);
    return rc;
  }
  *out = c;
  return 0;
}

int tidemill_console_new(struct tidemill_console **out, struct tidemill_runtime *rt,
                         const struct tidemill_console_options *options, struct tm_err *err)
{
  err = TM_ERR_OWN(err);
  if (out)
    *out = NULL;
  if (tm_need(err, "tidemill_console_new()", "out", out, "rt", rt, NULL) < 0)
    return TM_EUSAGE;
  struct tm_lua_session *session = tm_lua_session_new(tm_lua_modules(), err);
  return session ? tm_console_of(out, session, rt, options, err) : err->code;
}

/* The jobs end with the state, while the host still gets their events. */
void tidemill_console_close(struct tidemill_console *c)
{
  if (!c)
    return;
  tm_lua_session_free(c->session);
  tm_background_free(c->background);
  if (c->is_claimed)
    tm_tick_release();
  tm_require(c->rt->consoles > 0);
  c->rt->consoles--;
  tm_buf_release(&c->shown);
  tm_buf_release(&c->insert);
  tm_buf_release(&c->list);
  free(c);
}

/* ---- pieces ---- */

static int fed_as(enum tm_lua_fed fed)
{
  switch (fed) {
  case TM_LUA_DONE: return TIDEMILL_PIECE_DONE;
  case TM_LUA_MORE: return TIDEMILL_PIECE_INCOMPLETE;
  case TM_LUA_INTERRUPTED: return -EINTR;
  case TM_LUA_FAILED: break;
  }
  return TM_ESCRIPT;
}

static int give(struct tidemill_console *c, enum tm_lua_fed fed, const char **out)
{
  if (out)
    *out = tm_buf_str(&c->shown);
  return fed_as(fed);
}

static int need(const struct tidemill_console *c, const void *text, const char **out)
{
  if (c && text)
    return 0;
  if (out)
    *out = c ? "nothing to be run: it is NULL" : "";
  return TM_EUSAGE;
}

static void begin_piece(struct tidemill_console *c)
{
  tm_require(c->is_claimed && c->background); /* (2) */
  tm_buf_clear(&c->shown);
  tm_background_forget_wake(c->background);
}

int tidemill_console_feed(struct tidemill_console *c, const char *text, size_t len,
                          const char *name, const char **out)
{
  if (need(c, text, out) < 0)
    return TM_EUSAGE;
  struct tm_lua_look look = look_of(c);
  begin_piece(c);
  return give(c,
              tm_lua_session_feed(c->session, text, len, name ? name : "console", &look, &c->shown),
              out);
}

int tidemill_console_feed_file(struct tidemill_console *c, const char *path, char *const *words,
                               size_t words_len, const char **out)
{
  if (need(c, path, out) < 0)
    return TM_EUSAGE;
  struct tm_lua_look look = look_of(c);
  begin_piece(c);
  return give(
      c, tm_lua_session_feed_file(c->session, path, words, words ? words_len : 0, &look, &c->shown),
      out);
}

void tidemill_console_complete(struct tidemill_console *c, const char *text, size_t len,
                               const char **insert, const char **list)
{
  const char *none;
  insert = insert ? insert : &none;
  list = list ? list : &none;
  *insert = *list = "";
  if (!c || !text)
    return;
  tm_buf_clear(&c->insert);
  tm_buf_clear(&c->list);
  tm_lua_session_complete(c->session, text, len, look_of(c).width, &c->insert, &c->list);
  *insert = tm_buf_str(&c->insert);
  *list = tm_buf_str(&c->list);
}

/* ---- jobs ---- */

bool tidemill_console_interrupt(struct tidemill_console *c)
{
  if (!c || !tm_lua_session_is_running(c->session))
    return false;
  tm_tick_ask();
  tm_background_wake(c->background);
  return true;
}

int tidemill_console_fd(const struct tidemill_console *c)
{
  return c ? tm_background_fd(c->background) : -1;
}

void tidemill_console_hear(struct tidemill_console *c)
{
  if (c)
    tm_lua_session_hear(c->session);
}

int tidemill_console_running(struct tidemill_console *c)
{
  return c ? tm_lua_session_running(c->session) : 0;
}

int tidemill_console_cancel(struct tidemill_console *c, bool now)
{
  if (!c)
    return 0;
  int running = tm_background_running(c->background);
  tm_background_cancel(c->background, now);
  return running;
}
