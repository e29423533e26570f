/* folder.h - a real folder for one test, with files that are given as bytes. Include it after
 * cmocka.h. */
#ifndef TM_TESTS_FOLDER_H
#define TM_TESTS_FOLDER_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "sys/fs.h"

struct folder {
  char path[64];
  char name[200]; /* the path of the last file that was named */
};

static inline void folder_init(struct folder *f)
{
  strcpy(f->path, "/tmp/tidemill-test-XXXXXX");
  assert_non_null(mkdtemp(f->path));
}

static inline void folder_release(struct folder *f)
{
  assert_int_equal(tm_tree_remove(f->path, NULL), 0);
}

static inline const char *folder_file(struct folder *f, const char *name)
{
  snprintf(f->name, sizeof(f->name), "%s/%s", f->path, name);
  return f->name;
}

static inline int64_t folder_size(struct folder *f, const char *name) /* -1: missing */
{
  struct tm_stat st;
  const struct tm_fs *fs = tm_fs_real();
  return fs->stat(fs->self, folder_file(f, name), true, &st) < 0 ? -1 : st.size;
}

/* The contents of the file. The caller frees them. */
static inline char *folder_text(struct folder *f, const char *name)
{
  struct tm_buf text = TM_BUF_NONE;
  assert_int_equal(tm_fs_read_file(tm_fs_real(), folder_file(f, name), 64u << 20, &text, NULL), 0);
  tm_buf_add_char(&text, '\0');
  return tm_buf_take(&text);
}

static inline void folder_put(struct folder *f, const char *name, int64_t at, const void *p,
                              size_t n)
{
  int fd = tm_fs_open(tm_fs_real(), folder_file(f, name), O_RDWR | O_CREAT, 0600, NULL);
  assert_true(fd >= 0);
  assert_int_equal(tm_fs_write_at(tm_fs_real(), fd, f->name, p, n, at, NULL), 0);
  tm_fs_close(tm_fs_real(), fd);
}

static inline void folder_flip(struct folder *f, const char *name,
                               int64_t at) /* Flips one bit of one byte. */
{
  char byte;
  int fd = tm_fs_open(tm_fs_real(), folder_file(f, name), O_RDWR, 0600, NULL);
  assert_true(fd >= 0);
  assert_int_equal(tm_fs_read_at(tm_fs_real(), fd, f->name, &byte, 1, at, NULL), 1);
  byte ^= 4;
  assert_int_equal(tm_fs_write_at(tm_fs_real(), fd, f->name, &byte, 1, at, NULL), 0);
  tm_fs_close(tm_fs_real(), fd);
}

static inline void folder_cut(struct folder *f, const char *name, int64_t length)
{
  assert_int_equal(truncate(folder_file(f, name), length), 0);
}

#endif
