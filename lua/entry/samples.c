/* samples.c - see samples.h.
 *
 * LuaJIT writes the stack, "file:line;file:line", in its own memory. Names of files in the script's
 * folder are made relative here. Time in the collector or the compiler has a frame of its own.
 */
#include "entry/samples.h"

#include <lauxlib.h>
#include <luajit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"

#define EVERY_MS  10
#define DEPTH_MAX 100

static void say_lost(const struct tm_err *err)
{
  fprintf(stderr, "%s; the profile of this worker ends here\n", err->text);
}

/* Adds a frame without its leading folder, and without characters that end a line. */
static void add_frame(struct tm_lua_samples *s, const char *frame, size_t len)
{
  const char *const dirs[] = { s->script_dir, s->user_dir };
  if (len > 0 && frame[0] == '@') { /* an address */
    frame = "(C)";
    len = s->stack.len > 0 ? 3 : 0; /* the outermost frame is ours */
  }
  if (len == 0)
    return;
  for (size_t i = 0; i < TM_COUNT_OF(dirs); i++) {
    size_t n = strlen(dirs[i]);
    if (len > n && strncmp(frame, dirs[i], n) == 0) {
      frame += n;
      len -= n;
      break;
    }
  }
  if (s->stack.len > 0)
    tm_buf_add_char(&s->stack, ';');
  for (size_t i = 0; i < len; i++)
    tm_buf_add_char(&s->stack, (unsigned char)frame[i] < ' ' ? '?' : frame[i]);
}

static void on_sample(void *data, lua_State *L, int samples, int state)
{
  struct tm_lua_samples *s = data;
  struct tm_err err = TM_ERR_NONE;
  size_t len = 0;
  const char *text = luaJIT_profile_dumpstack(L, "plZ;", -DEPTH_MAX, &len), *end = text + len;
  tm_buf_clear(&s->stack);
  while (text < end) {
    const char *stop = memchr(text, ';', (size_t)(end - text));
    stop = stop ? stop : end;
    add_frame(s, text, (size_t)(stop - text));
    text = stop + 1;
  }
  if (state == 'G' || state == 'J')
    add_frame(s, state == 'G' ? "(collector)" : "(compiler)", state == 'G' ? 11 : 10);
  if (s->stack.len > 0 &&
      tm_profile_add(&s->file, s->stack.data, s->stack.len, (uint64_t)samples, &err) < 0)
    say_lost(&err);
}

void tm_lua_samples_start(struct tm_lua_samples *s, struct tm_lua_profiler *p, const char *path,
                          const char *script_dir, const char *script_name)
{
  struct tm_err err = TM_ERR_NONE;
  tm_require(!s->script_dir);
  if (tm_profile_open(&s->file, path, &err) < 0) {
    say_lost(&err);
    return;
  }
  char *user_dir = tm_path_dir(script_name);
  s->script_dir = tm_xprintf("%s/", script_dir);
  s->user_dir = tm_xprintf("%s/", user_dir);
  free(user_dir);
  tm_lua_profiler_sample(p, EVERY_MS, on_sample, s);
}

void tm_lua_samples_stop(struct tm_lua_samples *s)
{
  if (s->script_dir)
    tm_profile_close(&s->file);
  free(s->script_dir);
  free(s->user_dir);
  tm_buf_release(&s->stack);
  *s = (struct tm_lua_samples) { 0 };
}
