/* command_template.c - see command_template.h. */
#include "base/command_template.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"

#define BLANKS " \t\n"

struct words {
  struct TM_ARRAY(char *) list;
  struct tm_buf word;
  bool has_word; /* it has begun, and may be empty */
};

static void end_word(struct words *w)
{
  if (w->has_word)
    *TM_ARRAY_ADD(&w->list) = tm_xstrndup(tm_buf_str(&w->word), w->word.len);
  tm_buf_clear(&w->word);
  w->has_word = false;
}

/* The list with its NULL. */
static char **take(struct words *w)
{
  *TM_ARRAY_ADD(&w->list) = NULL;
  tm_buf_release(&w->word);
  return w->list.at;
}

static char **drop(struct words *w)
{
  tm_command_words_free(take(w));
  return NULL;
}

/* Each of these adds what begins at `at`, and returns what follows it; NULL: it has no end. */

static const char *add_single(struct tm_buf *word, const char *at)
{
  const char *end = strchr(at + 1, '\'');

  if (!end)
    return NULL;
  tm_buf_add(word, at + 1, (size_t)(end - at - 1));
  return end + 1;
}

static const char *add_double(struct tm_buf *word, const char *at)
{
  for (at++; *at && *at != '"'; at++)
    if (*at != '\\' || !at[1] || !strchr("$`\"\\\n", at[1]))
      tm_buf_add_char(word, *at);
    else if (*++at != '\n')
      tm_buf_add_char(word, *at);
  return *at ? at + 1 : NULL;
}

static const char *add_quoted_char(struct tm_buf *word, const char *at)
{
  if (!at[1])
    return NULL;
  if (at[1] != '\n')
    tm_buf_add_char(word, at[1]);
  return at + 2;
}

static const char *add_part(struct words *w, const char *at)
{
  w->has_word |= at[0] != '\\' || at[1] != '\n';
  switch (*at) {
  case '\'': return add_single(&w->word, at);
  case '"': return add_double(&w->word, at);
  case '\\': return add_quoted_char(&w->word, at);
  default: tm_buf_add_char(&w->word, *at); return at + 1;
  }
}

static void refuse_open(const char *text, const char *at, struct tm_err *err)
{
  size_t position = (size_t)(at - text) + 1;

  if (*at == '\\')
    tm_err_set(err, TM_EUSAGE,
               "the backslash at the end, character %zu, quotes nothing: write \\\\", position);
  else
    tm_err_set(err, TM_EUSAGE,
               "the quote %c at character %zu has no end: write \\%c if it belongs to the word",
               *at, position, *at);
}

char **tm_command_words_split(const char *text, struct tm_err *err)
{
  struct words w = { 0 };

  for (const char *at = text, *next; *at; at = next) {
    if (strchr(BLANKS, *at)) {
      end_word(&w);
      next = at + 1;
    } else if (!(next = add_part(&w, at))) {
      refuse_open(text, at, err);
      return drop(&w);
    }
  }
  end_word(&w);
  if (w.list.len > 0)
    return take(&w);
  tm_err_set(err, TM_EUSAGE, "the command is empty: write the program and its arguments");
  return drop(&w);
}

void tm_command_words_free(char **words)
{
  for (size_t i = 0; words && words[i]; i++)
    free(words[i]);
  free(words);
}

/* ---- placeholders ---- */

static int refuse_name(const char *name, size_t name_len, const struct tm_template_value *values,
                       size_t len, struct tm_err *err)
{
  struct tm_buf all = TM_BUF_NONE;
  int rc;

  for (size_t i = 0; i < len; i++)
    tm_buf_printf(&all, "%s{%s}", i ? ", " : "", values[i].name);
  rc = tm_err_set(err, TM_EUSAGE, "'{%.*s}' is not known; accepted: %s; write {{ and }} for braces",
                  (int)name_len, name, len > 0 ? all.data : "none");
  tm_buf_release(&all);
  return rc;
}

static const struct tm_template_value *find_value(const struct tm_template_value *values,
                                                  size_t len, const char *name, size_t name_len)
{
  for (size_t i = 0; i < len; i++)
    if (strlen(values[i].name) == name_len && memcmp(values[i].name, name, name_len) == 0)
      return &values[i];
  return NULL;
}

/* Expands one word. `out` NULL: only checks it. */
static int expand(struct tm_buf *out, const char *word, const struct tm_template_value *values,
                  size_t len, struct tm_err *err)
{
  for (const char *at = word; *at;) {
    const struct tm_template_value *value;
    size_t n;
    bool is_brace = *at == '{' || *at == '}';
    if (!is_brace || at[1] == *at) {
      if (out)
        tm_buf_add_char(out, *at);
      at += is_brace ? 2 : 1;
      continue;
    }
    n = strcspn(at + 1, "{}");
    if (*at == '}' || at[1 + n] != '}')
      return tm_err_set(err, TM_EUSAGE,
                        "'%c' in '%s' belongs to no placeholder: write %c%c for a brace", *at, word,
                        *at, *at);
    if (!(value = find_value(values, len, at + 1, n)))
      return refuse_name(at + 1, n, values, len, err);
    if (out)
      tm_buf_add_str(out, value->value);
    at += n + 2;
  }
  return 0;
}

char **tm_command_words_expand(char *const *words, const struct tm_template_value *values,
                               size_t len, struct tm_err *err)
{
  struct words w = { 0 };

  for (size_t i = 0; i < len; i++)
    tm_require(values[i].name && values[i].value);
  for (size_t i = 0; words[i]; i++) {
    w.has_word = true;
    if (expand(&w.word, words[i], values, len, err) < 0)
      return drop(&w);
    end_word(&w);
  }
  return take(&w);
}

int tm_command_template_check(const char *text, const struct tm_template_value *values, size_t len,
                              struct tm_err *err)
{
  struct tm_err own = TM_ERR_NONE;
  char **words = tm_command_words_split(text, &own);
  int rc = words ? 0 : own.code;

  for (size_t i = 0; rc == 0 && words[i]; i++)
    rc = expand(NULL, words[i], values, len, &own);
  tm_command_words_free(words);
  if (rc < 0 && err)
    *err = own;
  return rc;
}
