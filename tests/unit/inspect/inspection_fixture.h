/* inspection_fixture.h - a job's directory, made file by file. */
#ifndef TM_TESTS_INSPECTION_FIXTURE_H
#define TM_TESTS_INSPECTION_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/time.h"
#include "commit/journal.h"
#include "inspect/inspection.h"
#include "tree.h"

#define NOW (INT64_C(1769903998) * TM_S)

static inline int open_dir(void **state)
{
  *state = folder_make();
  return 0;
}

static inline int close_dir(void **state)
{
  folder_remove(*state);
  return 0;
}

static inline void put_bytes(const char *dir, const char *name, const void *p, size_t n)
{
  char *path = tm_path_join(dir, name), *folder = tm_path_dir(path);
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), folder, 0700, NULL), 0);
  assert_int_equal(tm_fs_write_file(tm_fs_real(), path, p, n, 0600, NULL), 0);
  free(folder);
  free(path);
}

static inline void put(const char *dir, const char *name, const char *text)
{
  put_bytes(dir, name, text, strlen(text));
}

static inline void put_definition(const char *dir)
{
  put(dir, "job.json",
      "{\"version\":1,\"name\":\"case\",\"pipeline\":\"/p.lua\",\"steps\":[{\"name\":\"score\","
      "\"definition\":{}}]}");
}

static inline void add_record(struct tm_buf *out, struct tm_record r)
{
  tm_record_encode(&r, tm_buf_extend(out, TM_RECORD_SIZE));
}

static inline void add_session(struct tm_buf *out, uint64_t number, int64_t wall_ns)
{
  add_record(
      out, (struct tm_record) { .kind = TM_RECORD_SESSION, .number = number, .wall_ns = wall_ns });
}

static inline void add_outcome(struct tm_buf *out, enum tm_record_kind kind, uint64_t index,
                               uint32_t succeeded)
{
  add_record(out, (struct tm_record) {
                      .kind = kind, .index = index, .try = 1, .items = 3, .succeeded = succeeded });
}

#endif
