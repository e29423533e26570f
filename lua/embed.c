/* embed.c - a tool of the build: writes a C file with the texts of Lua modules, C headers for
 * ffi.cdef, or pages of the manual.
 *
 *   embed modules OUT MODULE=PATH...   the table of bind/sources.h
 *   embed pages OUT NAME=PATH...       the table of cli/help/cmd_manual.h
 *
 * The rows are sorted by name, so that the same tree gives the same bytes. A Lua module is also
 * compiled here, with its line numbers: a process of a job then starts without compiling them.
 */
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"

#define FILE_MAX (16u << 20) /* bytes */

struct source {
  const char *name; /* "tidemill.json" */
  const char *path;
};

static int by_name(const void *a, const void *b)
{
  return strcmp(((const struct source *)a)->name, ((const struct source *)b)->name);
}

static void add_array(struct tm_buf *out, const char *name, int n, const struct tm_buf *bytes)
{
  tm_buf_printf(out, "static const unsigned char %s_%d[] = {", name, n);
  for (size_t i = 0; i < bytes->len; i++)
    tm_buf_printf(out, "%s%u,", i % 24 == 0 ? "\n" : "", (unsigned char)bytes->data[i]);
  tm_buf_add_str(out, "\n0 };\n"); /* so that a text ends with NUL */
}

/* The chunk name: "=tidemill/frame/base.lua". */
static void add_label(struct tm_buf *out, const char *path)
{
  const char *in_stdlib = strstr(path, "/stdlib/tidemill/");
  tm_buf_printf(out, "=tidemill/%s",
                in_stdlib ? in_stdlib + strlen("/stdlib/tidemill/") : tm_path_base(path));
}

static int add_piece(lua_State *L, const void *p, size_t n, void *data)
{
  (void)L;
  tm_buf_add(data, p, n);
  return 0;
}

static int compile(const struct tm_buf *text, const char *label, struct tm_buf *code,
                   struct tm_err *err)
{
  int rc = 0;
  lua_State *L = luaL_newstate();
  if (!L)
    return tm_err_set(err, TM_ELIMIT, "cannot make a Lua state: not enough memory");
  luaL_openlibs(L); /* the parser needs `ffi` for numbers such as 1LL */
  if (luaL_loadbuffer(L, tm_buf_str(text), text->len, label) != 0)
    rc = tm_err_set(err, TM_ESCRIPT, "%s", lua_tostring(L, -1));
  else
    lua_dump(L, add_piece, code);
  lua_close(L);
  return rc;
}

/* A header becomes a piece of Lua that returns its text. */
static int read_text(const struct source *s, struct tm_buf *text, struct tm_err *err)
{
  size_t len = strlen(s->path);
  bool is_header = len > 2 && strcmp(s->path + len - 2, ".h") == 0;
  if (is_header)
    tm_buf_add_str(text, "return [==[\n");
  int rc = tm_fs_read_file(tm_fs_real(), s->path, FILE_MAX, text, err);
  if (is_header)
    tm_buf_add_str(text, "]==]");
  return rc;
}

struct output {
  struct tm_buf arrays, rows;
  bool has_code;
};

static int add_source(struct output *o, const struct source *s, int n, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE, code = TM_BUF_NONE, label = TM_BUF_NONE;
  int rc = read_text(s, &text, err);
  add_label(&label, s->path);
  if (rc == 0 && o->has_code)
    rc = compile(&text, label.data, &code, err);
  add_array(&o->arrays, "text", n, &text);
  tm_buf_printf(&o->rows, "  { \"%s\", ", s->name);
  if (o->has_code) {
    add_array(&o->arrays, "code", n, &code);
    tm_buf_printf(&o->rows, "\"%s\", (const char *)code_%d, %zu, ", label.data, n, code.len);
    tm_buf_printf(&o->rows, "(const char *)text_%d, %zu },\n", n, text.len);
  } else {
    tm_buf_printf(&o->rows, "(const char *)text_%d },\n", n);
  }
  tm_buf_release(&label);
  tm_buf_release(&code);
  tm_buf_release(&text);
  return rc;
}

static int write_all(const struct output *o, const char *path, struct tm_err *err)
{
  struct tm_buf all = TM_BUF_NONE;
  tm_buf_printf(&all, "/* Written by embed.c. */\n#include \"%s\"\n\n%s\n%s = {\n%s  { 0 },\n};\n",
                o->has_code ? "bind/sources.h" : "cli/help/cmd_manual.h", tm_buf_str(&o->arrays),
                o->has_code ? "const struct tm_lua_source tm_lua_sources[]"
                            : "const struct tm_manual_page tm_manual_pages[]",
                tm_buf_str(&o->rows));
  int rc = tm_fs_write_file(tm_fs_real(), path, all.data, all.len, 0666, err);
  tm_buf_release(&all);
  return rc;
}

/* Splits MODULE=PATH at the first '='. */
static struct source source_of(char *word)
{
  char *equals = strchr(word, '=');
  if (!equals)
    return (struct source) { word, "" };
  *equals = '\0';
  return (struct source) { word, equals + 1 };
}

int main(int argc, char **argv)
{
  struct tm_err err = TM_ERR_NONE;
  struct output o = { TM_BUF_NONE, TM_BUF_NONE, false };
  int n = argc - 3, rc = 0;
  struct source sources[256];
  if (n < 1 || n > (int)TM_COUNT_OF(sources)) {
    fprintf(stderr, "usage: embed modules|pages OUT NAME=PATH...\n");
    return EXIT_FAILURE;
  }
  o.has_code = strcmp(argv[1], "modules") == 0;
  for (int i = 0; i < n; i++)
    sources[i] = source_of(argv[3 + i]);
  qsort(sources, (size_t)n, sizeof(sources[0]), by_name);
  for (int i = 0; i < n && rc == 0; i++)
    rc = add_source(&o, &sources[i], i, &err);
  if (rc == 0)
    rc = write_all(&o, argv[2], &err);
  if (rc < 0)
    fprintf(stderr, "embed: %s\n", err.text);
  tm_buf_release(&o.rows);
  tm_buf_release(&o.arrays);
  return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
