/* words.c - translates error messages that name the program's options, for a host, which has
 * members of a struct: "--accept-changes" becomes `accept_changes`. Messages of core are written
 * for users of the program; only here they are changed for hosts.
 *
 * Names and values that the user gave are in quotes in a message, and are not changed.
 */
#include <ctype.h>
#include <string.h>

#include "api/own.h"

struct name {
  const char *option, *member;
};

/* Those of a submission, and what each is to a host. The longer one of two that begin alike comes
 * first. */
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
/* And what is another word in Lua. */
static const struct name lua_names[] = { { "`dir`", "`job_dir`" } };

static bool is_word(char c)
{
  return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* The name that is there as a whole word, or NULL. */
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

/* `quote`: of the text that `at` is in, or 0. A quote begins before a word or another, and ends
 * behind one: "it's" has none. */
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
      found = NULL; /* its own marks stand in the place of those */
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
