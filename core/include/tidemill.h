/* tidemill.h - the public header of libtidemill, the only one that is installed.
 *
 * What is here is stable within one minor version: the version, the codes of errors, and the struct that carries their
 * words. Nothing else of the library is public, and its symbols are hidden. There is no interface yet to run a job from a
 * host application; until there is one, start the program: `tidemill run PIPELINE.lua --json` prints the result as one JSON
 * object on the last line of standard output, and job.json, job_result.json and the journal in the job's directory are
 * public, versioned formats.
 *
 * Everything here may be called from any thread, at any time; nothing is allocated, and nothing is printed.
 */
#ifndef TIDEMILL_H
#define TIDEMILL_H

#ifdef __cplusplus
extern "C" {
#endif

#define TM_API __attribute__((visibility("default")))

/* The version of the library that is loaded: "0.1.0". Static memory. */
TM_API const char *tm_version(void);

/* A function that can fail returns 0 or more, or a negative code: one of these, or a negated errno value.
 * XX(name, code, text). */
#define TM_ERR_MAP(XX)                                                                             \
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

enum tm_code {
#define XX(name, code, text) TM_##name = code,
  TM_ERR_MAP(XX)
#undef XX
};

/* An error with its words: lower case, what failed first, no full stop. In memory of the caller's. */
struct tm_err {
  int code;        /* 0: no error */
  char text[2040]; /* cut, never overrun; always ends in NUL */
};

/* "EUSAGE", "ENOENT", or "UNKNOWN". Static memory. */
TM_API const char *tm_code_name(int code);
/* "wrong usage or definition", "no such file or directory". Static memory. */
TM_API const char *tm_code_text(int code);

#ifdef __cplusplus
}
#endif
#endif
