/* session.h - a Lua state that runs pieces of Lua: a script of the command line, or the prompt
 * (repl.lua).
 *
 *   tm_lua_session_new()
 *   tm_lua_session_run() for -e, a file, standard input; or, for the prompt:
 *   tm_lua_session_begin_prompt(); then _feed() a piece at a time, _complete() at each Tab
 *   tm_lua_session_free()
 *
 * User code prints to stdout; the functions here write nothing themselves.
 */
#ifndef TM_PROMPT_SESSION_H
#define TM_PROMPT_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

struct tm_lua_module;
struct tm_lua_session;
struct tidemill_job;
struct tidemill_runtime;
struct tidemill_screen;
struct tm_background;

/* `modules`: the C modules of its state (bind/state.h). NULL and an error. */
struct tm_lua_session *tm_lua_session_new(const struct tm_lua_module *modules, struct tm_err *err);
void tm_lua_session_free(struct tm_lua_session *s); /* NULL: a no-op */
/* Notes of the libraries go to stderr at once, such as that a registered dataset has no files. */
void tm_lua_session_show_notes(struct tm_lua_session *s);

/* Compiles text and runs it with arguments: words[0] is arg[0], the rest are also `...`. With
 * words_len 0, the global `arg` is not changed. 0; or TM_ESCRIPT, with "file:line: message" and the
 * stack in `failure`. */
int tm_lua_session_run(struct tm_lua_session *s, const char *text, size_t len, const char *shown_as,
                       char *const *words, size_t words_len, struct tm_buf *failure);
/* The same for a file. TM_EUSAGE: it returns a pipeline, which `tidemill run` runs. 0 with a
 * message in `failure`: it is an entry script, which `tidemill map` runs. */
int tm_lua_session_run_file(struct tm_lua_session *s, const char *path, char *const *words,
                            size_t words_len, struct tm_buf *failure);
/* Async-signal-safe, on the session's thread: makes the running script raise "interrupted!" at its
 * next instruction, once, as luajit does. False: the last request is still pending, because the
 * script is compiled or in a C function. */
bool tm_lua_session_stop(struct tm_lua_session *s);
/* Whether a request is pending. Async-signal-safe, as above. */
bool tm_lua_session_is_stopping(const struct tm_lua_session *s);
/* Jobs of the scripts show their progress and results there; it must outlive the session. */
void tm_lua_session_set_screen(struct tm_lua_session *s, const struct tidemill_screen *screen);
/* The runtime of the jobs that the scripts have submitted and that are still running, and their
 * number; NULL: there are none. Call it once, after the last script. */
struct tidemill_runtime *tm_lua_session_unfinished(struct tm_lua_session *s, size_t *len);
/* Job `i` of these, from 0; NULL: a listener in Lua has closed it. */
struct tidemill_job *tm_lua_session_unfinished_job(struct tm_lua_session *s, size_t i);
/* Sets the global NAME to the result of `require NAME`. */
int tm_lua_session_require(struct tm_lua_session *s, const char *name, struct tm_buf *failure);

/* How to show values. */
struct tm_lua_look {
  int width; /* of the terminal */
  bool has_color;
};

/* The owner of a prompt. The session calls it on its thread, while Lua runs or the runtime
 * turns. */
struct tm_lua_prompt {
  /* Help on a topic that is not a value: a command or a parameter. False: unknown topic. */
  bool (*help)(void *data, struct tm_buf *out, const char *topic);
  /* messages of jobs: whole lines, the last without its line break */
  void (*say)(void *data, const char *words);
  void (*set_status)(void *data,
                     const char *words); /* a line that is replaced each time; NULL: removes it */
  int (*width)(void *data);              /* available columns for help() */
  void *data;
  struct tidemill_runtime *runtime; /* of jobs, */
  /* and the thread that turns it; both outlive the session. NULL: waiting turns it */
  struct tm_background *background;
};

/* Adds the globals of a prompt; from now on user code can be interrupted. Call it once; `p` is
 * copied. */
int tm_lua_session_begin_prompt(struct tm_lua_session *s, const struct tm_lua_prompt *p,
                                struct tm_err *err);

/* Passes on to Lua the events of its jobs. A listener of the user can be interrupted. */
void tm_lua_session_hear(struct tm_lua_session *s);

/* How many jobs that were submitted at the prompt are running. */
int tm_lua_session_running(struct tm_lua_session *s);

enum tm_lua_fed {
  TM_LUA_DONE,        /* `out` has its values as text, or nothing */
  TM_LUA_MORE,        /* incomplete: call again with the next line appended */
  TM_LUA_FAILED,      /* `out` has the error */
  TM_LUA_INTERRUPTED, /* `out` has the error, and where the code was */
};
/* Runs a piece, or evaluates an expression. `name`: for messages. */
enum tm_lua_fed tm_lua_session_feed(struct tm_lua_session *s, const char *text, size_t len,
                                    const char *name, const struct tm_lua_look *look,
                                    struct tm_buf *out);
/* Runs a file as a piece, and shows its results. */
enum tm_lua_fed tm_lua_session_feed_file(struct tm_lua_session *s, const char *path,
                                         char *const *words, size_t words_len,
                                         const struct tm_lua_look *look, struct tm_buf *out);

/* Completes the text before the cursor. `insert`: what all candidates have in common; `list`: lines
 * that list several candidates. Both may stay empty. */
void tm_lua_session_complete(struct tm_lua_session *s, const char *text, size_t len, int width,
                             struct tm_buf *insert, struct tm_buf *list);

/* Async-signal-safe, on the session's thread: interrupts the running user code. May be repeated.
 * False: none is running. */
bool tm_lua_session_interrupt(struct tm_lua_session *s);
/* Async-signal-safe, from any thread: whether user code is running. */
bool tm_lua_session_is_running(const struct tm_lua_session *s);

#endif
