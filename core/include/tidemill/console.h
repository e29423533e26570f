/* tidemill/console.h - interactive Lua prompts in a host.
 *
 * An interactive Lua prompt: all of `tidemill repl` except its terminal, for a console in the host.
 * The user's input is run piece by piece, and its values are shown as text. The console completes
 * names and answers help(x) from the manual. Jobs that are submitted there run on a thread of
 * their own; the console reports their events between two pieces, and while a piece waits for them.
 *
 * One thread, the one that made it, uses a console. Its runtime must have its own loop, and must be
 * used for nothing else. The console prints to standard output. It uses SIGPROF, so a process can
 * have only one console or interruptible script at a time.
 */
#ifndef TIDEMILL_CONSOLE_H
#define TIDEMILL_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <tidemill/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tidemill_console;

struct tidemill_console_options {
  size_t size;
  bool has_color;           /* the output may contain escape codes */
  int (*width)(void *data); /* columns; NULL: 80 */
  /* Messages of jobs. on_say gets whole lines, the last one without its line break. on_status gets
   * a line to redraw in place; a NULL text removes it. If a function is NULL, its messages are
   * dropped. They are called during the calls below, as all functions of this struct are. From
   * there, call only tidemill_console_interrupt() and tidemill_console_cancel(). */
  void (*on_say)(const char *text, void *data);
  void (*on_status)(const char *text, void *data);
  /* What help(topic) shows for a topic that is neither a value nor a function; NULL: nothing is
   * known. The text must stay valid until the next call. */
  const char *(*help)(const char *topic, void *data);
  void *data;
};
#define TIDEMILL_CONSOLE_OPTIONS_INIT TIDEMILL_SIZED(struct tidemill_console_options)

/* Makes a console. `options` may be NULL. TIDEMILL_EINUSE: another console or interruptible script
 * exists in this process. TIDEMILL_EUSAGE: the runtime uses a loop of the host. */
TIDEMILL_API int tidemill_console_new(struct tidemill_console **out, struct tidemill_runtime *rt,
                                      const struct tidemill_console_options *options,
                                      struct tidemill_error *err);
enum tidemill_piece {
  TIDEMILL_PIECE_DONE,       /* *out has its values as text, or "" */
  TIDEMILL_PIECE_INCOMPLETE, /* pass it again with the next line appended */
};
/* Runs a piece of Lua, or evaluates an expression. Messages call it `name`. Returns one of the
 * enumerators above, or fails. TIDEMILL_ESCRIPT: *out has the error and the stack. -EINTR: it was
 * interrupted, and *out says where. *out belongs to the console until the next call. */
TIDEMILL_API int tidemill_console_feed(struct tidemill_console *c, const char *text, size_t len,
                                       const char *name, const char **out);
/* Runs a Lua file, with results as for tidemill_console_feed(). The file finds `words` in `arg`,
 * from index 0 on, and all but the first in `...`. `words` may be NULL. */
TIDEMILL_API int tidemill_console_feed_file(struct tidemill_console *c, const char *path,
                                            char *const *words, size_t words_len, const char **out);
/* Completes the text before the cursor, including earlier lines of the same piece. *insert: what
 * all candidates have in common, without the part that is there already. *list: if there are
 * several candidates, lines that list them. Both may be "". */
TIDEMILL_API void tidemill_console_complete(struct tidemill_console *c, const char *text,
                                            size_t len, const char **insert, const char **list);
/* Interrupts the running piece, also in a compiled loop or a wait. A C function is interrupted when
 * it returns. From any thread or signal handler, any number of times, but not while
 * tidemill_console_close() runs. False: nothing was running. */
TIDEMILL_API bool tidemill_console_interrupt(struct tidemill_console *c);
/* A descriptor that becomes readable when jobs have news. Then call tidemill_console_hear(), not
 * during a piece. */
TIDEMILL_API int tidemill_console_fd(const struct tidemill_console *c);
/* Reports the news of jobs, through the functions in the options. */
TIDEMILL_API void tidemill_console_hear(struct tidemill_console *c);
/* The number of jobs whose end has not been reported yet. */
TIDEMILL_API int tidemill_console_running(struct tidemill_console *c);
/* Cancels the console's jobs, as tidemill_job_cancel() does. Returns how many were running after
 * the last turn of their loop. From any thread or signal handler. */
TIDEMILL_API int tidemill_console_cancel(struct tidemill_console *c, bool now);
/* Frees the console. Running jobs end at once, and can be resumed. */
TIDEMILL_API void tidemill_console_close(struct tidemill_console *c);

#ifdef __cplusplus
}
#endif
#endif
