/* cases.h - reads tables of test cases from text files and splits each line into words at blanks.
 * \xNN is a byte, \s a blank, \e the empty word.
 *
 * TM_TESTS_DIR is the folder of the tests.
 */
#ifndef TM_TESTS_CASES_H
#define TM_TESTS_CASES_H

#include <stdio.h>
#include <string.h>

enum { CASE_WORDS = 32 };

struct case_line {
  char text[4096];
  char *words[CASE_WORDS];
  int words_len;
  int number; /* from 1 */
  int is_indented;
};

static inline void case_unescape(char *s)
{
  char *to = s;
  unsigned byte;
  while (*s != '\0') {
    if (s[0] == '\\' && s[1] == 'x' && sscanf(s + 2, "%2x", &byte) == 1) {
      *to++ = (char)byte;
      s += 4;
    } else if (s[0] == '\\' && s[1] == 's') {
      *to++ = ' ';
      s += 2;
    } else if (s[0] == '\\' && s[1] == 'e' && s[2] == '\0') {
      s += 2;
    } else {
      *to++ = *s++;
    }
  }
  *to = '\0';
}

/* Moves to the next line that is neither empty nor a comment; returns 0 at the end. */
static inline int case_next(FILE *f, struct case_line *line)
{
  while (fgets(line->text, sizeof(line->text), f) != NULL) {
    line->number++;
    line->is_indented = line->text[0] == ' ';
    line->words_len = 0;
    char *rest = NULL;
    for (char *w = strtok_r(line->text, " \n", &rest); w != NULL; w = strtok_r(NULL, " \n", &rest))
      if (line->words_len < CASE_WORDS)
        line->words[line->words_len++] = w;
    if (line->words_len == 0 || line->words[0][0] == '#')
      continue;
    for (int i = 0; i < line->words_len; i++)
      case_unescape(line->words[i]);
    return 1;
  }
  return 0;
}

#endif
