/* words.c - the names of options in messages. Core and this folder name members of the structs of
 * hosts, between backquotes: `accept_changes`. The program shows them as its options, and Lua by
 * its own names.
 */
#include <string.h>

#include "api/lua_host.h"
#include "api/own.h"

/* Members that a message may name, and the words of the program. */
static const char *const members[][2] = {
  { "`accept_changes`", "--accept-changes" },
  { "`joblog`", "--joblog" },
  { "`keep_failed`", "--keep-failed" },
  { "`keep_script`", "--keep-script" },
  { "`like`", "--like" },
  { "`only_failed`", "--only-failed" },
  { "`overwrite`", "--overwrite" },
  { "`resume`", "--resume" },
  { "`verify_input`", "--verify-input" },
  { "`verify_output`", "--verify-output" },
  { "`dir`", "--job-dir DIR" },
};

static void replace(struct tm_err *err, const char *from, const char *to)
{
  struct tm_buf text = TM_BUF_NONE;
  const char *at = err->text, *found;
  for (; (found = strstr(at, from)) != NULL; at = found + strlen(from)) {
    tm_buf_add(&text, at, (size_t)(found - at));
    tm_buf_add_str(&text, to);
  }
  tm_buf_add_str(&text, at);
  tm_err_set(err, err->code, "%s", tm_buf_str(&text));
  tm_buf_release(&text);
}

int tm_words_for_host(const struct tidemill_runtime *rt, struct tm_err *err)
{
  for (size_t i = 0; rt->is_command && i < TM_COUNT_OF(members); i++)
    replace(err, members[i][0], members[i][1]);
  return err->code;
}

void tm_words_for_lua(struct tm_err *err)
{
  replace(err, "`dir`", "`job_dir`");
}
