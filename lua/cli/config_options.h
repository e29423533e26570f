/* config_options.h - the parameters of ParallelRunConfig as options of a command: --run-invocation-timeout 5.
 *
 * Names, ranges, defaults and help are those of the one table of parameters (tidemill_parameter()); what is new there is an option
 * here. Caller: _init() with the options of its own and the place of the words; read the arguments with `all`;
 * tm_config_words_set(); release both.
 */
#ifndef TM_CLI_CONFIG_OPTIONS_H
#define TM_CLI_CONFIG_OPTIONS_H

#include <tidemill.h>

#include "cli/options.h"

#define TM_CONFIG_OPTIONS_MAX 64 /* parameters */

/* What was given, by the number of the parameter: a member of the caller's struct of options. */
struct tm_config_words {
  struct tm_words at[TM_CONFIG_OPTIONS_MAX];
};

struct tm_config_options {
  struct TM_ARRAY(struct tm_option) all; /* the caller's, then one for each parameter */
  size_t own_len;
  struct TM_ARRAY(char *) texts;
};

/* `place`: of the struct tm_config_words. A parameter whose name is one of `own` is left to the caller; entry_script always. */
void tm_config_options_init(struct tm_config_options *c, const struct tm_option *own,
                            size_t own_len, size_t place);
void tm_config_options_release(struct tm_config_options *c);
/* A line for each, first the caller's. */
void tm_config_options_add_help(struct tm_buf *out, const struct tm_config_options *c);

/* Sets them in the step that was added last. TM_EUSAGE: "'--run-max-try' is \"0\"; accepted: an integer from 1 on". */
int tm_config_words_set(const struct tm_config_words *given, struct tidemill_pipeline *p,
                        struct tm_err *err);
/* The last word that was given for a parameter; NULL: none. */
const char *tm_config_words_last(const struct tm_config_words *given, const char *name);
void tm_config_words_release(struct tm_config_words *given);

#endif
