/* session.h - a Lua state that is used piece by piece: a script of the command line, or the prompt (repl.lua).
 *
 *   tm_lua_session_new()
 *   tm_lua_session_run() for -e, a file, standard input    or, for the prompt:
 *   tm_lua_session_begin_prompt(); then _feed() a piece at a time, _complete() whenever Tab is pressed
 *   tm_lua_session_free()
 *
 * What user code prints goes to stdout; nothing else is written by what is here.
 */
#ifndef TM_LUA_SESSION_H
#define TM_LUA_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct tm_lua_session;
struct tidemill_runtime;
struct tm_beside;

struct tm_lua_session *tm_lua_session_new(struct tm_err *err); /* NULL and words */
void tm_lua_session_free(struct tm_lua_session *s);            /* NULL: a no-op */

/* Compiles text and runs it with arguments: words[0] is arg[0], the rest are `...` too; the global `arg` stays what it is
 * where words_len is 0. 0; or TM_ESCRIPT with the words, "file:line: message" and below it the stack, in `failure`. */
int tm_lua_session_run(struct tm_lua_session *s, const char *text, size_t len, const char *shown_as,
                       char *const *words, size_t words_len, struct tm_buf *failure);
/* The same of a file. TM_EUSAGE: it returns a pipeline, which `tidemill run` runs. 0 with words in `failure`: it is an entry
 * script, which `tidemill map` runs. */
int tm_lua_session_run_file(struct tm_lua_session *s, const char *path, char *const *words,
                            size_t words_len, struct tm_buf *failure);
/* Async-signal-safe, on the session's thread: the script that runs raises "interrupted!" at its next instruction, once, as beneath
 * luajit. False: it was asked to before, and has not yet: it is compiled, or within a C function. */
bool tm_lua_session_stop(struct tm_lua_session *s);
/* It was asked to, and has not yet. Async-signal-safe, as above. */
bool tm_lua_session_is_stopping(const struct tm_lua_session *s);
/* The global NAME becomes what `require NAME` returns. */
int tm_lua_session_require(struct tm_lua_session *s, const char *name, struct tm_buf *failure);

/* How values are shown. */
struct tm_lua_look {
  int width; /* of the terminal */
  bool has_color;
};

/* What a prompt is beside its Lua. Called on the session's thread, while Lua runs or the runtime turns. */
struct tm_lua_prompt {
  /* What help(topic) says of a topic that is no value and no function: commands and parameters. False: nothing is known. */
  bool (*help)(void *data, struct tm_buf *out, const char *topic);
  void (*say)(void *data, const char *words); /* of jobs: whole lines, the last without its break */
  void (*set_status)(void *data,
                     const char *words); /* a line that is renewed; NULL: none any more */
  int (*width)(void *data);              /* columns that help() may take */
  void *data;
  struct tidemill_runtime *runtime; /* of jobs, */
  struct tm_beside
      *beside; /* and what turns it; both outlive the session. Or NULL: who waits turns it */
};

/* Gives it the globals of a prompt; from here on user code can be interrupted. Once; `p` is copied. */
int tm_lua_session_begin_prompt(struct tm_lua_session *s, const struct tm_lua_prompt *p,
                                struct tm_err *err);

/* Lua is told of what its jobs have done meanwhile; a listener of the user's can be interrupted. */
void tm_lua_session_hear(struct tm_lua_session *s);

/* Of the jobs that were submitted at the prompt: how many run. */
int tm_lua_session_running(struct tm_lua_session *s);

enum tm_lua_fed {
  TM_LUA_DONE,        /* `out` has what is to be shown of its values, or nothing */
  TM_LUA_MORE,        /* it is not complete: once more, with the next line behind it */
  TM_LUA_FAILED,      /* `out` has the words */
  TM_LUA_INTERRUPTED, /* the same, and where it was */
};
/* Runs a piece as it was typed, an expression too. `name`: what messages call it. */
enum tm_lua_fed tm_lua_session_feed(struct tm_lua_session *s, const char *text, size_t len,
                                    const char *name, const struct tm_lua_look *look,
                                    struct tm_buf *out);
/* Runs a file as a piece; what it returns is shown. */
enum tm_lua_fed tm_lua_session_feed_file(struct tm_lua_session *s, const char *path,
                                         char *const *words, size_t words_len,
                                         const struct tm_lua_look *look, struct tm_buf *out);

/* What stands before the cursor, goes on how? `insert`: what all that fits has in common; `list`: lines for people, where
 * several fit. Both may stay empty. */
void tm_lua_session_complete(struct tm_lua_session *s, const char *text, size_t len, int width,
                             struct tm_buf *insert, struct tm_buf *list);

/* Async-signal-safe, on the session's thread: user code that runs is taken out of what it does. May come again. False: none
 * runs. */
bool tm_lua_session_interrupt(struct tm_lua_session *s);
/* Async-signal-safe, of any thread: user code runs. */
bool tm_lua_session_is_running(const struct tm_lua_session *s);

#endif
