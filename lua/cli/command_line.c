/* command_line.c - see command_line.h. */
#include "cli/command_line.h"

#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "cli/parameter_options.h"

struct words TM_ARRAY(char *);

/* Whether `word` is an option whose values are environment variables. */
static bool is_secret(const char *word)
{
  struct tidemill_parameter p;
  char *name = tm_xstrndup(word, strcspn(word, "="));
  bool is_option = strncmp(name, "--", 2) == 0, yes = false;
  for (char *at = name; *at; at++)
    *at = *at == '-' ? '_' : *at;
  for (size_t i = 0; is_option && !yes && tm_parameter_of_group(TM_PARAMETERS_CONFIG, i, &p); i++)
    yes = p.type == TIDEMILL_PARAMETER_VARIABLES && strcmp(name + 2, p.name) == 0;
  free(name);
  return yes;
}

/* NAME=VALUE without the value, to free(). */
static char *without_value(const char *word)
{
  const char *equal = strchr(word, '=');
  return equal ? tm_xprintf("%.*s...", (int)(equal + 1 - word), word) : tm_xstrdup("...");
}

static void add_words(struct words *out, int argc, char **argv)
{
  bool has_ended = false, is_value = false;
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i], *given = strchr(word, '=');
    bool is_option = !has_ended && !is_value && is_secret(word);
    char *shown = NULL;
    if (is_value)
      shown = without_value(word);
    else if (is_option && given) {
      char *pair = without_value(given + 1);
      shown = tm_xprintf("%.*s%s", (int)(given + 1 - word), word, pair);
      free(pair);
    }
    has_ended = has_ended || (!is_value && strcmp(word, "--") == 0);
    is_value = is_option && !given;
    *TM_ARRAY_ADD(out) = shown ? shown : tm_xstrdup(word);
  }
}

int tm_command_line_record(struct tidemill_pipeline *p, int argc, char **argv, struct tm_err *err)
{
  struct words words = { 0 };
  *TM_ARRAY_ADD(&words) = tm_xstrdup("tidemill");
  add_words(&words, argc, argv);
  *TM_ARRAY_ADD(&words) = NULL;
  int rc = tidemill_pipeline_set_command(p, (const char *const *)words.at, err);
  TM_ARRAY_RELEASE_EACH(&words);
  return rc;
}

void tm_command_line_add(struct tm_buf *out, struct tidemill_record *job)
{
  const char *directory, *command = tidemill_record_command(job, &directory);
  if (!command)
    return;
  tm_buf_printf(out, "command: %s\n         in ", command);
  tm_text_shell(out, directory);
  tm_buf_add_char(out, '\n');
}

bool tm_command_line_defines(struct tidemill_record *job)
{
  static const char map[] = "tidemill map ";
  const char *command = tidemill_record_command(job, NULL);
  return command && !*tidemill_record_info(job)->file && strncmp(command, map, strlen(map)) == 0;
}
