/* options.h - options of a command, as a table: it makes the reading, the did-you-mean and the help.
 *
 * `--name VALUE`, `--name=VALUE`, with dashes or underscores; `-n VALUE`, `-nVALUE` where the name is one letter; `--` ends
 * them; what is no option is left over. A value goes to its place in a struct of the caller's, by offset: two names may have
 * one place.
 */
#ifndef TM_CLI_OPTIONS_H
#define TM_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

struct tm_words TM_ARRAY(const char *); /* of argv */

enum tm_option_kind {
  TM_OPTION_FLAG,  /* bool */
  TM_OPTION_VALUE, /* const char *; the last one counts */
  TM_OPTION_LIST,  /* struct tm_words; may be given several times */
};

struct tm_option {
  const char *name; /* without the dashes before it; of one letter: a short option */
  enum tm_option_kind kind;
  size_t place; /* offsetof in the caller's struct */
  const char
      *value; /* what the help calls the value, "TEXT" one that may be empty; NULL for a flag */
  const char *const *values; /* the only ones accepted, NULL-ended; or NULL */
  const char *help;
};

/* Reads argv[1..]. `rest` gets what is no option. TM_EUSAGE says what was given and what is accepted. */
int tm_options_read(const struct tm_option *options, size_t options_len, int argc, char **argv,
                    void *out, struct tm_words *rest, struct tm_err *err);
/* The value of NAME=VALUE, of --param; NULL: it is of another form, TM_EUSAGE. */
const char *tm_option_pair(const char *given, struct tm_err *err);
/* What stands before its name: "--", or "-" where that is one letter. */
const char *tm_option_dashes(const struct tm_option *o);
/* A line for each. */
void tm_options_add_help(struct tm_buf *out, const struct tm_option *options, size_t options_len);

#endif
