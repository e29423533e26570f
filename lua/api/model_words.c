/* model_words.c - see model_words.h. The script's own parser checks them, in a Lua state. */
#include "api/model_words.h"

#include <string.h>

#include "base/mem.h"
#include "modules.h"
#include "prompt/session.h"

#define NAME  "model"
#define PLACE NAME ":1: "

static const char check[] = "require(\"tidemill.model_options\").check(arg)";

static int refuse(const char *failure, struct tm_err *err)
{
  const char *words =
      strncmp(failure, PLACE, strlen(PLACE)) == 0 ? failure + strlen(PLACE) : failure;
  return tm_err_set(err, TM_EUSAGE, "%.*s", (int)strcspn(words, "\n"), words);
}

int tm_model_words_check(const struct tm_step *s, struct tm_err *err)
{
  size_t n = s->arguments_len;
  struct tm_lua_session *session = n > 2 ? tm_lua_session_new(tm_lua_modules(), err) : NULL;
  if (!session)
    return n > 2 ? err->code : 0; /* only --model FILE */
  char **words = tm_xcalloc(n + 1, sizeof *words);
  words[0] = (char *)NAME; /* arg[0] */
  memcpy(words + 1, s->arguments, n * sizeof *words);
  struct tm_buf failure = TM_BUF_NONE;
  int rc = tm_lua_session_run(session, check, strlen(check), NAME, words, n + 1, &failure);
  rc = rc < 0 ? refuse(tm_buf_str(&failure), err) : 0;
  tm_buf_release(&failure);
  free(words);
  tm_lua_session_free(session);
  return rc;
}
