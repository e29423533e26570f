/* options.h - the options of a command as a table, for parsing, suggestions and help.
 *
 * Accepted: `--name VALUE` and `--name=VALUE`, with dashes or underscores; `-n VALUE` and `-nVALUE`
 * for names of one letter. `--` ends the options. Other words are left over. A value is written to
 * a struct of the caller, at the offset in its row; two names may share one place.
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
  TM_OPTION_VALUE, /* const char *; the last one wins */
  TM_OPTION_LIST,  /* struct tm_words; may be given several times */
  TM_OPTION_MAYBE, /* const char *; `--name` alone is "", and a value comes with '=' only */
};

struct tm_option {
  const char *name; /* without the dashes before it; of one letter: a short option */
  enum tm_option_kind kind;
  size_t place;              /* offsetof in the caller's struct */
  const char *value;         /* its name in the help; "TEXT": it may be empty; NULL: a flag */
  const char *const *values; /* the only accepted values, NULL-ended; or NULL */
  const char *help;
};

/* Reads argv[1..]. `rest` gets the words that are not options. TM_EUSAGE: an option is wrong; the
 * message says what was given and what is accepted. */
int tm_options_read(const struct tm_option *options, size_t options_len, int argc, char **argv,
                    void *out, struct tm_words *rest, struct tm_err *err);
/* The value in NAME=VALUE, an argument of --param. NULL and TM_EUSAGE: it has another form. */
const char *tm_option_pair(const char *given, struct tm_err *err);
/* The dashes before its name: "--", or "-" before one letter. */
const char *tm_option_dashes(const struct tm_option *o);
#define TM_HELP_WIDTH 80 /* columns of all help */
/* Adds the name and the help of each option, wrapped. */
void tm_options_add_help(struct tm_buf *out, const struct tm_option *options, size_t options_len);

#endif
