/* program.c - our interpreter alone, for the specs: tests/lua does not wait for the command line to
 * work. */
#include <stdio.h>

#include "lua/modules.h"
#include "lua/prompt/session.h"

int main(int argc, char **argv)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf failure = TM_BUF_NONE;
  struct tm_lua_session *s = argc < 2 ? NULL : tm_lua_session_new(tm_lua_modules(), &err);
  int rc = s ? tm_lua_session_run_file(s, argv[1], argv + 1, (size_t)argc - 1, &failure) : -1;
  if (rc < 0)
    fprintf(stderr, "%s\n", failure.len > 0 ? failure.data : err.text);
  tm_buf_release(&failure);
  tm_lua_session_free(s);
  return rc < 0;
}
