/* one_step.h - ENTRY.lua INPUT... [options] [-- ARGS]: a pipeline of one step, built as a host
 * would build it, for `map` and `try`. With --model FILE there is no ENTRY.lua.
 *
 * Caller: zero the struct; tm_one_step_read(), then tm_one_step_build() with its result;
 * tm_one_step_release() in every case.
 */
#ifndef TM_CLI_ONE_STEP_H
#define TM_CLI_ONE_STEP_H

#include <tidemill.h>

#include "cli/cli.h"
#include "cli/parameter_options.h"

/* A member of the caller's struct of options. */
struct tm_one_step_options {
  struct tm_parameter_words parameters;
  const char *limit;   /* --limit N */
  bool has_rows;       /* --rows: the inputs are tables */
  const char *entries; /* --entries: the inputs are archives; a pattern of their entries, or NULL */
  const char *output;  /* --output FILE: its ending decides how data frames are written; or NULL */
  const char *format;  /* --output-format; or NULL */
  const char *input_format; /* --input-format; or NULL */
  bool is_null_separated;   /* -0 */
};

/* What --output-format and --input-format accept, NULL-ended. The second is an option of `head`,
 * too. */
extern const char *const tm_output_formats[];
extern const char *const tm_input_formats[];
#define TM_INPUT_FORMAT_HELP "how tables are read; by default the name of the first file decides"

struct tm_one_step {
  struct tm_words words; /* ENTRY.lua INPUT...; with --model only INPUT... */
  const char *model;     /* --model FILE, or NULL */
  char **arguments;      /* after `--`; the caller's argv */
  size_t arguments_len;
  bool has_stdin; /* the input is `-` */
};

/* Reads argv[1..] with `options`, whose struct is `out` and contains `given`. TM_EUSAGE. */
int tm_one_step_read(struct tm_one_step *s, const struct tm_parameter_options *options, int argc,
                     char **argv, void *out, const struct tm_one_step_options *given,
                     struct tm_err *err);
/* Builds the pipeline, checks it, and compiles its script. TM_EUSAGE, TM_ESCRIPT. */
int tm_one_step_build(struct tidemill_pipeline **out, const struct tm_one_step *s,
                      const struct tm_one_step_options *given, struct tidemill_runtime *rt,
                      struct tm_err *err);
void tm_one_step_release(struct tm_one_step *s);

/* TM_EUSAGE: the names of two tables have endings of different formats. */
int tm_one_step_check_tables(const char *const *paths, size_t n, struct tm_err *err);
/* Whether --help stands behind the '--' of a command with --model. */
bool tm_one_step_asks_for_model_help(int argc, char **argv);
/* Prints the options of the model's script; the exit status. */
int tm_one_step_model_help(const struct tm_cli *cli);
/* Makes a name for a job from the name of a script: small letters, digits and '-', 3 to 32 of them.
 * The caller frees it. */
char *tm_one_step_name(const char *script);

#endif
