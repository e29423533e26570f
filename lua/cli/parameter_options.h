/* parameter_options.h - parameters of a definition as options of a command: --separator ';',
 * --run-invocation-timeout 5.
 *
 * Names, ranges, defaults and help come from the table of parameters (tidemill_parameter()), so a
 * new parameter there is a new option here. Parameters come in groups, one for each kind of thing
 * that they describe. A name belongs to the command's own options first, then to the first group
 * that has it.
 *
 * Caller: _init() with the command's own options and the offset of its struct tm_parameter_words;
 * read the arguments with `all`; _words_each() for each group; release both.
 */
#ifndef TM_CLI_PARAMETER_OPTIONS_H
#define TM_CLI_PARAMETER_OPTIONS_H

#include <tidemill.h>

#include "cli/options.h"

#define TM_PARAMETERS_MAX 64 /* of a group */

enum tm_parameter_group {
  TM_PARAMETERS_FILES,    /* of any input: Dataset.File.from_files */
  TM_PARAMETERS_TABLES,   /* Dataset.Tabular.from_delimited_files, from_json_lines_files */
  TM_PARAMETERS_ARCHIVES, /* Dataset.File.from_archives */
  TM_PARAMETERS_CONFIG,   /* ParallelRunConfig */
  TM_PARAMETER_GROUPS,
};

/* The set of groups that a command takes, as bits. */
#define TM_TAKES(group)     (1u << (group))
#define TM_TAKES_ALL_GROUPS (TM_TAKES(TM_PARAMETER_GROUPS) - 1)

/* The given values, by group and number of the parameter: a member of the caller's struct of
 * options. */
struct tm_parameter_words {
  struct tm_words at[TM_PARAMETER_GROUPS][TM_PARAMETERS_MAX];
};

struct tm_parameter_options {
  struct TM_ARRAY(struct tm_option) all; /* the command's own, then one for each parameter */
  size_t ends[TM_PARAMETER_GROUPS];      /* in `all`: the end of each group's options */
  size_t own_len;
  struct TM_ARRAY(char *) texts;
};

/* Returns parameter i of a group; one that several of its constructors have is returned once.
 * False: there is none. */
bool tm_parameter_of_group(enum tm_parameter_group group, size_t i, struct tidemill_parameter *out);
/* The parameter that a short option stands for: "mini_batch_size" for 'N'. NULL: none. */
const char *tm_parameter_of_letter(char letter);

/* `taken`: a set of TM_TAKES(). `place`: the offset of the struct tm_parameter_words. entry_script
 * is never an option. */
void tm_parameter_options_init(struct tm_parameter_options *o, const struct tm_option *own,
                               size_t own_len, unsigned taken, size_t place);
void tm_parameter_options_release(struct tm_parameter_options *o);
/* Adds the help of each option: the command's own, then each group below its heading. */
void tm_parameter_options_add_help(struct tm_buf *out, const struct tm_parameter_options *o);

/* Calls `set` for each parameter of the group that was given, with its value as text. Several
 * values for a list become one, separated by commas. Variables are set one by one. For other
 * parameters the last value wins. Stops at the first negative result, and returns it. */
int tm_parameter_words_each(const struct tm_parameter_words *given, enum tm_parameter_group group,
                            int (*set)(void *data, const char *name, const char *value,
                                       struct tm_err *err),
                            void *data, struct tm_err *err);
/* The last value given for a parameter; NULL: none. */
const char *tm_parameter_words_last(const struct tm_parameter_words *given,
                                    enum tm_parameter_group group, const char *name);
/* The first parameter of the group that was given, spelled as an option; the caller frees it. NULL:
 * none. */
char *tm_parameter_words_first(const struct tm_parameter_words *given,
                               enum tm_parameter_group group);
/* Adds a message that speaks of a definition, with the parameters in it as options: `set encoding =
 * "utf16"` becomes `use --encoding utf16`, and `a larger max_record_size` `a larger
 * --max-record-size`. Commands in it (`tidemill map ...`) stay as they are. */
void tm_parameter_words_add_message(struct tm_buf *out, const char *text, size_t len);
/* The same for an error. Returns its code. */
int tm_parameter_words_in_error(struct tm_err *err);
void tm_parameter_words_release(struct tm_parameter_words *given);

#endif
