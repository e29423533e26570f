/* test_snapshot_pack.c - a copy as bytes, for another machine: whoever reads them gets its hash. */
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tree_bytes.h"
#include "snapshot/snapshot.h"
#include "tree.h"

struct packed {
  struct tm_buf bytes;
  size_t calls, refuses; /* the call with this number */
};

static int on_bytes(void *data, struct tm_buf *bytes, struct tm_err *err)
{
  struct packed *p = data;
  tm_buf_add(&p->bytes, bytes->data, bytes->len);
  bytes->len = 0;
  return ++p->calls == p->refuses ? tm_err_set(err, -ECANCELED, "refused") : 0;
}

static bool read_packed(void *data, char *p, size_t n)
{
  const char *from = tm_read_raw(data, n);
  if (from)
    memcpy(p, from, n);
  return from;
}

static int take_name(void *data, const char *name, struct tm_err *err)
{
  return 0;
}

static int take_file(void *data, const char *name, bool is_program, struct tm_err *err)
{
  return 0;
}

static int take_piece(void *data, const char *p, size_t n, struct tm_err *err)
{
  return 0;
}

static int take_link(void *data, const char *name, const char *target, struct tm_err *err)
{
  return 0;
}

/* A copy of a script with a program, a link and a module. */
static void take(char *dir, struct tm_snapshot *s)
{
  char *to = tm_path_join(dir, "copy"), *mods = tm_path_join(dir, "mods");
  char *link = tm_path_join(dir, "src/link"), *paths[] = { mods, NULL };
  struct tm_config config = { .entry_script = tm_path_join(dir, "src/score.lua"),
                              .source_directory = tm_path_join(dir, "src"),
                              .module_paths = paths };
  file_put(dir, "src/score.lua", "function run() end", 0644);
  file_put(dir, "src/lib/tool", "#!/bin/sh", 0755);
  file_put(dir, "src/lib/empty", "", 0600);
  file_put(dir, "mods/m.lua", "return 1", 0600);
  assert_int_equal(symlink("lib/tool", link), 0);
  assert_int_equal(tm_snapshot_take(tm_fs_real(), &config, NULL, to, s, NULL), 0);
  free(config.entry_script);
  free(config.source_directory);
  free(link);
  free(mods);
  free(to);
}

static void a_packed_copy_has_its_hash(void **state)
{
  struct tm_snapshot s;
  char *dir = folder_make(), hash[17], again[17];
  take(dir, &s);
  struct packed p = { 0 };
  struct tm_snapshot_pack pack = { .on_bytes = on_bytes, .data = &p };
  assert_int_equal(tm_snapshot_pack(&pack, tm_fs_real(), s.dir, hash, NULL), 0);
  assert_string_equal(hash, s.hash);
  tm_tree_add_end(&p.bytes);
  struct tm_reader bytes;
  struct tm_tree_reader reader = {
    &bytes, read_packed, take_name, take_file, take_piece, take_link
  };
  tm_reader_init(&bytes, p.bytes.data, p.bytes.len);
  assert_int_equal(tm_tree_read(&reader, again, NULL), 0);
  assert_string_equal(again, s.hash);
  for (size_t i = 1; i <= p.calls; i++) {
    struct packed refused = { .refuses = i };
    struct tm_err err = TM_ERR_NONE;
    pack = (struct tm_snapshot_pack) { .on_bytes = on_bytes, .data = &refused };
    assert_int_equal(tm_snapshot_pack(&pack, tm_fs_real(), s.dir, hash, &err), -ECANCELED);
    assert_int_equal(refused.calls, i);
    tm_buf_release(&refused.bytes);
  }
  tm_buf_release(&p.bytes);
  tm_snapshot_release(&s);
  folder_remove(dir);
}

UNIT_TESTS({
    cmocka_unit_test(a_packed_copy_has_its_hash),
});
