/* words.c - translates error messages for hosts. Core writes messages for users of the program and
 * names its options. A host uses members of a struct instead: "--accept-changes" becomes
 * `accept_changes`. Only this file changes messages for hosts.
 *
 * It does not change names and values of the user, which are in quotes in a message.
 */
#include <ctype.h>
#include <string.h>

#include "api/own.h"

struct name {
  const char *option, *member;
};

/* The options of a submission, and the host's name for each. Of two names with the same beginning,
 * the longer one comes first. */
static const struct name names[] = {
  { "--job-dir DIR", "`dir`" },
  { "--job-dir", "`dir`" },
  { "--keep-failed", "`keep_failed`" },
  { "--keep-script", "`keep_script`" },
  { "--accept-changes", "`accept_changes`" },
  { "--verify-input", "`verify_input`" },
  { "--verify-output", "`verify_output`" },
  { "--no-reuse", "`no_reuse`" },
  { "--max-workers", "`max_workers`" },
  { "--overwrite", "`overwrite`" },
  { "--only-failed", "`only_failed`" },
  { "--like", "`like`" },
  { "--resume", "`resume`" },
};
/* Names that differ in Lua. */
static const struct name lua_names[] = { { "`dir`", "`job_dir`" } };

static bool is_word(char c)
{
  return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Finds a name that is a whole word at `at`; or NULL. */
static const struct name *name_at(const struct name *all, size_t len, const char *text,
                                  const char *at)
{
  for (size_t i = 0; i < len; i++) {
    size_t n = strlen(all[i].option);
    if (strncmp(at, all[i].option, n) == 0 && !is_word(at[n]) && (at == text || !is_word(at[-1])))
      return &all[i];
  }
  return NULL;
}

/* `quote`: the quote that encloses `at`, or 0. A quote opens before a word or another quote, and
 * closes after one; so "it's" has none. */
static char quote_after(char quote, const char *text, const char *at)
{
  char before = at > text ? at[-1] : ' ';
  if (*at != '\'' && *at != '"')
    return quote;
  if (!quote)
    return isalnum((unsigned char)before) ? 0 : *at;
  return *at == quote && before != '\\' && !isalnum((unsigned char)at[1]) ? 0 : quote;
}

static int rename_all(struct tm_err *err, const struct name *all, size_t len)
{
  struct tm_buf text = TM_BUF_NONE;
  const char *at = err->text;
  char quote = 0;
  while (*at) {
    bool opens = !quote && *at == '\'';
    const struct name *found = quote ? NULL : name_at(all, len, err->text, at + opens);
    size_t n = found ? strlen(found->option) : 0;
    if (opens && (!found || at[1 + n] != '\''))
      found = NULL; /* keeps these quotes; a found name replaces its quotes by its own marks */
    if (!found)
      quote = quote_after(quote, err->text, at);
    if (found)
      tm_buf_add_str(&text, found->member);
    else
      tm_buf_add_char(&text, *at);
    at += found ? n + (opens ? 2 : 0) : 1;
  }
  tm_err_set(err, err->code, "%s", tm_buf_str(&text));
  tm_buf_release(&text);
  return err->code;
}

int tm_words_for_host(const struct tidemill_runtime *rt, struct tm_err *err)
{
  if (rt->o.is_command)
    return err->code;
  return rename_all(err, names, TM_COUNT_OF(names));
}

int tm_words_for_lua(struct tm_err *err)
{
  return rename_all(err, lua_names, TM_COUNT_OF(lua_names));
}
