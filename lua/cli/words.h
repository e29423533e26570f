/* words.h - ENTRY.lua INPUT... [options] [-- ARGS]: a pipeline of one step, built as a host would build it.
 *
 * Caller: zero the struct; tm_words_read(), and of what it has read tm_words_build(); tm_words_release() in every case.
 */
#ifndef TM_CLI_WORDS_H
#define TM_CLI_WORDS_H

#include <tidemill.h>

#include "cli/config_options.h"

/* A member of the caller's struct of options. */
struct tm_map_options {
  struct tm_config_words config;
  const char *limit; /* --limit N */
  const char *partition_format;
  bool has_rows;       /* --rows: the inputs are tables */
  const char *entries; /* --entries: the inputs are archives; a pattern of their entries, or NULL */
  const char *output;  /* --output FILE: its ending says how data frames are written; or NULL */
  bool is_null_separated; /* -0 */
};

struct tm_map_words {
  struct tm_words words; /* ENTRY.lua INPUT... */
  char **arguments;      /* behind `--`; the caller's argv */
  size_t arguments_len;
  int64_t limit;  /* 0: none */
  bool has_stdin; /* the input is `-` */
};

/* Reads argv[1..] with `options`, whose struct is `out` and holds `given`. TM_EUSAGE. */
int tm_words_read(struct tm_map_words *w, const struct tm_config_options *options, int argc,
                  char **argv, void *out, const struct tm_map_options *given, struct tm_err *err);
/* The pipeline, checked, its script compiled. TM_EUSAGE, TM_ESCRIPT. */
int tm_words_build(struct tidemill_pipeline **p, struct tidemill_runtime *rt,
                   const struct tm_map_words *w, const struct tm_map_options *given,
                   struct tm_err *err);
void tm_words_release(struct tm_map_words *w);

#endif
