/* words.c - words that name the program's options, for a host, which has members of a struct: "--accept-changes" is
 * `accept_changes`. What core says is for whoever runs the program; here is the one place where a host hears it.
 */
#include <ctype.h>
#include <string.h>

#include "api/own.h"

/* Those of a submission, and what each is to a host. The longer one of two that begin alike comes first. */
static const struct {
  const char *option, *member;
} names[] = {
  { "--job-dir DIR", "`dir`" },
  { "--job-dir", "`dir`" },
  { "--keep-failed", "`keep_failed`" },
  { "--keep-script", "`keep_script`" },
  { "--accept-changes", "`accept_changes`" },
  { "--verify-input", "`verify_input`" },
  { "--no-reuse", "`no_reuse`" },
  { "--max-workers", "`max_workers`" },
  { "--resume", "`resume`" },
};

static bool is_word(char c)
{
  return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Which of the names stands there as a whole; -1: none. */
static int name_at(const char *text, const char *at)
{
  for (size_t i = 0; i < TM_COUNT_OF(names); i++) {
    size_t n = strlen(names[i].option);
    if (strncmp(at, names[i].option, n) == 0 && !is_word(at[n]) && (at == text || !is_word(at[-1])))
      return (int)i;
  }
  return -1;
}

int tm_words_for_host(struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  const char *at = err->text;
  if (!strstr(at, "--"))
    return err->code;
  while (*at) {
    int i = name_at(err->text, at);
    if (i >= 0)
      tm_buf_add_str(&text, names[i].member);
    else
      tm_buf_add_char(&text, *at);
    at += i >= 0 ? strlen(names[i].option) : 1;
  }
  tm_err_set(err, err->code, "%s", tm_buf_str(&text));
  tm_buf_release(&text);
  return err->code;
}
