/* tidemill/error.h - errors and their messages. */
#ifndef TIDEMILL_ERROR_H
#define TIDEMILL_ERROR_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TIDEMILL_API __attribute__((visibility("default")))

/* Error codes and their meanings.
 * XX(name, code, text) */
#define TIDEMILL_ERROR_MAP(XX)                                                                     \
  XX(EUSAGE, -10001, "wrong usage or definition")                                                  \
  XX(EDAMAGE, -10002, "damaged file")                                                              \
  XX(EINUSE, -10003, "in use")                                                                     \
  XX(EVERSION, -10004, "another version")                                                          \
  XX(ECHANGED, -10005, "changed since")                                                            \
  XX(ESCRIPT, -10006, "error in the script")                                                       \
  XX(EPROTOCOL, -10007, "unexpected bytes on a channel")                                           \
  XX(ENOINPUT, -10008, "no input")                                                                 \
  XX(ETHRESHOLD, -10009, "a threshold was exceeded")                                               \
  XX(ENODE, -10010, "a node was lost")                                                             \
  XX(ELIMIT, -10011, "a limit was exceeded")                                                       \
  XX(EINPUT, -10012, "the input is not as it is defined")

enum tidemill_error_code {
#define TIDEMILL_XX(name, code, text) TIDEMILL_##name = code,
  TIDEMILL_ERROR_MAP(TIDEMILL_XX)
#undef TIDEMILL_XX
};

/* An error and its message, in the caller's memory. The message is lower case without a full stop,
 * and begins with what failed. */
struct tidemill_error {
  int code;        /* 0: no error */
  char text[2040]; /* truncated if it is too long; always ends in NUL */
};

/* "EUSAGE", "ENOENT", or "UNKNOWN". Static memory. Any thread. */
TIDEMILL_API const char *tidemill_error_name(int code);
/* "wrong usage or definition", "no such file or directory". Static memory. Any thread. */
TIDEMILL_API const char *tidemill_error_text(int code);

/* Sets the function that is called on internal errors: failed assertions, out of memory. If
 * `is_fatal`, the library calls abort() after it. Call this once per process, before any other
 * function. The library calls it on any of its threads, and it must not call the library. Without
 * it, the library reports internal errors nowhere. */
TIDEMILL_API void tidemill_set_on_fault(void (*on_fault)(const char *text, bool is_fatal,
                                                         void *data),
                                        void *data);

#ifdef __cplusplus
}
#endif
#endif
