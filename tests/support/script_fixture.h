/* script_fixture.h - for tests: a folder with an entry script, which the fixture loads.
 *
 *   struct fixture f;
 *   fixture_init(&f);                       a fresh folder; f.setup as for process000 of node 0
 *   fixture_load(&f, "function run() ...")  0, or negative with f.error
 *   fixture_run(&f, 3)                      mini-batch 7, items /in/1 ... /in/3; sets f.rows,
 *                                           f.returned, f.error
 *   fixture_release(&f);                    closes the script, removes the folder
 */
#ifndef TM_TESTS_SCRIPT_FIXTURE_H
#define TM_TESTS_SCRIPT_FIXTURE_H

/* cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "lua/entry/lua_script.h"
#include "lua/modules.h"
#include "sys/fs.h"

struct fixture {
  char dir[64];
  struct tm_setup setup;
  struct tm_script script;
  struct tm_run_call call; /* fixture_run() sets `items` and `bytes`; they stay valid */
  struct tm_buf items;     /* the bytes */
  struct tm_script_error error;
  struct tm_buf rows;
  uint32_t returned;
  bool has_no_run;
};

static inline void fixture_write(struct fixture *f, const char *name, const char *text)
{
  char *path = tm_xprintf("%s/%s", f->dir, name), *slash = strrchr(path, '/');
  struct tm_err err = TM_ERR_NONE;
  *slash = '\0';
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), path, 0777, &err), 0);
  *slash = '/';
  assert_int_equal(tm_fs_write_file(tm_fs_real(), path, text, strlen(text), 0666, &err), 0);
  free(path);
}

/* The contents of a file in the folder, for the caller to free; "" if it is missing. */
static inline char *fixture_read(struct fixture *f, const char *name)
{
  char *path = tm_xprintf("%s/%s", f->dir, name);
  struct tm_buf text = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  tm_fs_read_file(tm_fs_real(), path, 1 << 20, &text, &err);
  free(path);
  char *copy = tm_xstrdup(tm_buf_str(&text));
  tm_buf_release(&text);
  return copy;
}

static inline void fixture_init(struct fixture *f)
{
  memset(f, 0, sizeof *f);
  strcpy(f->dir, "/tmp/tidemill-test-XXXXXX");
  assert_non_null(mkdtemp(f->dir));
  char *logs = tm_xprintf("%s/logs", f->dir); /* as a job has before it starts workers */
  assert_int_equal(mkdir(logs, 0700), 0);
  free(logs);
  struct tm_setup *s = &f->setup;
  s->worker_name = tm_xstrdup("process000");
  s->node_id = tm_xstrdup("0");
  s->script = tm_xprintf("%s/score.lua", f->dir);
  s->script_name = tm_xstrdup("my/score.lua");
  s->script_dir = tm_xstrdup(f->dir);
  s->output_dir = tm_xprintf("%s/output", f->dir);
  s->log_dir = tm_xprintf("%s/logs/0", f->dir);
  s->temp_dir = tm_xprintf("%s/temp", f->dir);
  s->logger_file = tm_xprintf("%s/logs/0/process000.log.txt", f->dir);
  s->logging_level = TM_INFO;
  s->append_row = true;
  s->max_result_size = INT64_C(1) << 31;
  f->call.index = 7;
  f->call.try = 1;
  f->call.dataset = "";
}

/* Closes the script, forgets what was loaded and keeps the folder. */
static inline void fixture_close(struct fixture *f)
{
  tm_lua_script_close(&f->script);
  tm_buf_clear(&f->error.message);
  tm_buf_clear(&f->error.stack);
  tm_buf_clear(&f->error.where);
}

static inline void fixture_release(struct fixture *f)
{
  struct tm_setup *s = &f->setup;
  char *const strings[] = { s->worker_name, s->node_id, s->script,   s->script_name, s->script_dir,
                            s->output_dir,  s->log_dir, s->temp_dir, s->logger_file };
  fixture_close(f);
  for (size_t i = 0; i < TM_COUNT_OF(strings); i++)
    free(strings[i]);
  tm_buf_release(&f->error.message);
  tm_buf_release(&f->error.stack);
  tm_buf_release(&f->error.where);
  tm_buf_release(&f->rows);
  tm_buf_release(&f->items);
  assert_int_equal(tm_tree_remove(f->dir, NULL), 0);
}

static inline int fixture_load(struct fixture *f, const char *source)
{
  fixture_close(f);
  fixture_write(f, "score.lua", source);
  assert_int_equal(tm_lua_script_open(&f->script, tm_lua_modules(), NULL), 0);
  f->has_no_run = false;
  int code = f->script.load(f->script.data, &f->setup, &f->has_no_run, &f->error);
  code = code < 0 ? code : f->script.init(f->script.data, &f->error);
  return code < 0 ? code : 0;
}

static inline int fixture_run(struct fixture *f, uint32_t items)
{
  tm_buf_clear(&f->items);
  for (uint32_t i = 1; i <= items; i++) {
    char path[32];
    snprintf(path, sizeof path, "/in/%u", i);
    struct tm_item item = { .path = path, .path_len = strlen(path), .size = -1 };
    tm_item_add(&f->items, &item);
  }
  f->call.items = items;
  f->call.bytes = tm_buf_str(&f->items);
  f->call.bytes_len = f->items.len;
  tm_buf_clear(&f->rows);
  tm_buf_clear(&f->error.message);
  tm_buf_clear(&f->error.stack);
  tm_buf_clear(&f->error.where);
  return f->script.run(f->script.data, &f->call, &f->rows, &f->returned, &f->error);
}

/* Checks that run() returns these rows. */
static inline void expect_rows(struct fixture *f, uint32_t items, const char *rows)
{
  int code = fixture_run(f, items);
  assert_string_equal(tm_buf_str(&f->error.message), "");
  assert_int_equal(code, 0);
  assert_string_equal(tm_buf_str(&f->rows), rows);
}

/* Checks that run() fails with this status and a message that contains `words`, without rows. */
static inline void expect_failure(struct fixture *f, enum tm_status status, const char *words)
{
  assert_true(fixture_run(f, 1) < 0);
  if (strstr(tm_buf_str(&f->error.message), words) == NULL)
    assert_string_equal(tm_buf_str(&f->error.message), words);
  assert_int_equal(f->error.status, status);
  assert_int_equal(f->rows.len, 0);
}

#endif
