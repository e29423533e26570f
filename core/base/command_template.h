/* command_template.h - a command line as text, made of words and {placeholders}, without a shell.
 *
 * Words are split as a POSIX shell splits them: at blanks (space, tab, newline) outside quotes;
 * '...' is literal; "..." is literal, except that a backslash quotes one of $ ` " \ in it; outside
 * quotes a backslash quotes any character. A backslash before a newline removes both. Nothing else
 * of a shell: $, *, ~, |, ; and # are ordinary characters.
 *
 * In each word, quoted or not, {name} stands for a value, and {{ and }} for one brace each. A value
 * is not split and not expanded again, so it stays within its word, which may be empty.
 *
 * Steps: check the text where it is defined; split and expand it where the values are known.
 */
#ifndef TM_BASE_COMMAND_TEMPLATE_H
#define TM_BASE_COMMAND_TEMPLATE_H

#include <stddef.h>

#include "base/err.h"

struct tm_template_value {
  const char *name;
  const char *value; /* tm_command_template_check() does not look at it */
};

/* The words of `text`, NULL-ended, to tm_command_words_free(). NULL with TM_EUSAGE and a message
 * that says where a quote has no end, or that there is no word. */
char **tm_command_words_split(const char *text, struct tm_err *err);

/* The words with `len` values put in, NULL-ended, to tm_command_words_free(). NULL with TM_EUSAGE
 * and a message that names a placeholder without a value, or a brace without its other one. */
char **tm_command_words_expand(char *const *words, const struct tm_template_value *values,
                               size_t len, struct tm_err *err);

void tm_command_words_free(char **words); /* NULL is a no-op */

/* Whether the two functions above would accept the text: 0, or TM_EUSAGE with their message. */
int tm_command_template_check(const char *text, const struct tm_template_value *values, size_t len,
                              struct tm_err *err);

#endif
