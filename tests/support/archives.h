/* archives.h - builds archives for tests: tar, cpio and 7z with libarchive, zip byte by byte, so
 * that a test can damage it. Include it after cmocka.h and folder.h. */
#ifndef TM_TESTS_ARCHIVES_H
#define TM_TESTS_ARCHIVES_H

#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

#include "data/archive/archive.h"
#include "folder.h"

struct member {
  const char *name;
  const char *text; /* NULL: "" */
  unsigned type;    /* AE_IFREG, ...; 0: a file */
  const char *symlink, *hardlink;
};

/* `filter`: ARCHIVE_FILTER_NONE, ...; `format`: ARCHIVE_FORMAT_TAR_USTAR, ... */
static inline void archive_make(const char *path, int format, int filter, const struct member *m,
                                size_t n)
{
  struct archive *a = archive_write_new();
  assert_int_equal(archive_write_set_format(a, format), ARCHIVE_OK);
  assert_int_equal(archive_write_add_filter(a, filter), ARCHIVE_OK);
  assert_int_equal(archive_write_open_filename(a, path), ARCHIVE_OK);
  for (size_t i = 0; i < n; i++) {
    struct archive_entry *e = archive_entry_new();
    size_t len = m[i].text ? strlen(m[i].text) : 0;
    archive_entry_set_pathname(e, m[i].name);
    archive_entry_set_mode(e, (m[i].type ? m[i].type : AE_IFREG) | 0644);
    archive_entry_set_size(e, (int64_t)len);
    if (m[i].symlink)
      archive_entry_set_symlink(e, m[i].symlink);
    if (m[i].hardlink)
      archive_entry_set_hardlink(e, m[i].hardlink);
    assert_true(archive_write_header(a, e) >= ARCHIVE_WARN);
    if (len > 0 && !m[i].hardlink)
      assert_int_equal(archive_write_data(a, m[i].text, len), len);
    archive_entry_free(e);
  }
  assert_int_equal(archive_write_close(a), ARCHIVE_OK);
  archive_write_free(a);
}

struct zip_member {
  const char *name, *text;
  uint32_t method, flags, mode; /* 0: stored; bits; 0: not made on Unix */
  int64_t size, packed, place;  /* what the directory claims; 0: the true size */
  uint32_t crc_change;          /* bits */
  size_t len;                   /* of `text`; 0: up to its NUL */
  bool empty;                   /* the directory says that there are no contents */
};

struct zip_parts {
  struct tm_buf data, directory;
  size_t n;
};

static inline void zip_u16(struct tm_buf *b, uint32_t v)
{
  tm_buf_add_char(b, (char)(v & 0xff));
  tm_buf_add_char(b, (char)(v >> 8));
}

/* "some text", packed with bzip2. */
static const unsigned char zip_bzip2_text[] = {
  0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0xfb, 0x2c, 0xe7, 0xc2, 0x00, 0x00,
  0x02, 0x91, 0x80, 0x40, 0x00, 0x02, 0x02, 0x8c, 0x40, 0x20, 0x00, 0x31, 0x0c, 0x01, 0x06, 0x4f,
  0x47, 0x23, 0xc4, 0x49, 0x45, 0xdc, 0x91, 0x4e, 0x14, 0x24, 0x3e, 0xcb, 0x39, 0xf0, 0x80
};

static inline void zip_pack(struct tm_buf *out, const char *text, size_t len, uint32_t method)
{
  z_stream z = { .next_in = (Bytef *)(uintptr_t)text, .avail_in = (uInt)len };
  if (method == 12) {
    assert_string_equal(text, "some text");
    tm_buf_add(out, (const char *)zip_bzip2_text, sizeof zip_bzip2_text);
    return;
  }
  if (method != 8) {
    tm_buf_add(out, text, len);
    return;
  }
  assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
  size_t room = len + 100;
  z.next_out = (Bytef *)tm_buf_extend(out, room);
  z.avail_out = (uInt)room;
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  out->len -= z.avail_out;
  deflateEnd(&z);
}

static inline void zip_add(struct zip_parts *p, const struct zip_member *m)
{
  struct tm_buf packed = TM_BUF_NONE;
  size_t len = m->len ? m->len : strlen(m->text), name = strlen(m->name), at = p->data.len;
  uint32_t crc = (uint32_t)crc32(0, (const Bytef *)m->text, (uInt)len) ^ m->crc_change;
  zip_pack(&packed, m->text, len, m->method);
  tm_buf_add(&p->data, "PK\3\4", 4);
  zip_u16(&p->data, 20);
  zip_u16(&p->data, m->flags);
  zip_u16(&p->data, m->method);
  tm_buf_add_u32(&p->data, 0);
  tm_buf_add_u32(&p->data, crc);
  tm_buf_add_u32(&p->data, (uint32_t)packed.len);
  tm_buf_add_u32(&p->data, (uint32_t)len);
  zip_u16(&p->data, (uint32_t)name);
  zip_u16(&p->data, 0);
  tm_buf_add(&p->data, m->name, name);
  tm_buf_add(&p->data, tm_buf_str(&packed), packed.len);
  tm_buf_add(&p->directory, "PK\1\2", 4);
  zip_u16(&p->directory, m->mode ? 3u << 8 | 20 : 20);
  zip_u16(&p->directory, 20);
  zip_u16(&p->directory, m->flags);
  zip_u16(&p->directory, m->method);
  tm_buf_add_u32(&p->directory, 0);
  tm_buf_add_u32(&p->directory, crc);
  tm_buf_add_u32(&p->directory, (uint32_t)(m->packed ? m->packed : (int64_t)packed.len));
  tm_buf_add_u32(&p->directory, m->empty ? 0 : (uint32_t)(m->size ? m->size : (int64_t)len));
  zip_u16(&p->directory, (uint32_t)name);
  tm_buf_add(&p->directory, "\0\0\0\0\0\0\0\0", 8);
  tm_buf_add_u32(&p->directory, m->mode << 16);
  tm_buf_add_u32(&p->directory, (uint32_t)(m->place ? m->place : (int64_t)at));
  tm_buf_add(&p->directory, m->name, name);
  p->n++;
  tm_buf_release(&packed);
}

/* The whole file. The caller releases it with tm_buf_release(). */
static inline struct tm_buf zip_make(const struct zip_member *m, size_t n)
{
  struct zip_parts p = { .n = 0 };
  for (size_t i = 0; i < n; i++)
    zip_add(&p, &m[i]);
  size_t at = p.data.len;
  tm_buf_add(&p.data, tm_buf_str(&p.directory), p.directory.len);
  tm_buf_add(&p.data, "PK\5\6\0\0\0\0", 8);
  zip_u16(&p.data, (uint32_t)p.n);
  zip_u16(&p.data, (uint32_t)p.n);
  tm_buf_add_u32(&p.data, (uint32_t)p.directory.len);
  tm_buf_add_u32(&p.data, (uint32_t)at);
  zip_u16(&p.data, 0);
  tm_buf_release(&p.directory);
  return p.data;
}

static inline void zip_put(struct folder *f, const char *name, const struct zip_member *m, size_t n)
{
  struct tm_buf b = zip_make(m, n);
  unlink(folder_file(f, name));
  folder_put(f, name, 0, b.data, b.len);
  tm_buf_release(&b);
}

/* Lists the archive, one line for each entry: "name size" or "name ! fault". */
static inline struct tm_archive_options archive_options(const char *path)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_archive_options o = { .fs = fs,
                                  .path = path,
                                  .limits = { .entries = 1000, .size = 1 << 30, .ratio = 200 } };
  struct tm_stat st;
  assert_int_equal(fs->stat(fs->self, path, true, &st), 0);
  o.size = st.size;
  o.mtime_ns = st.mtime_ns;
  return o;
}

static inline int archive_list(const struct tm_archive_options *o, struct tm_buf *out,
                               struct tm_err *err)
{
  struct tm_archive *a = tm_archive_open(o, err);
  struct tm_archive_entry e;
  int rc = a ? 0 : err->code;
  while (rc >= 0 && (rc = tm_archive_next(a, &e, err)) > 0) {
    if (e.fault)
      tm_buf_printf(out, "%s ! %s\n", e.name, e.fault);
    else
      tm_buf_printf(out, "%s %lld\n", e.name, (long long)e.place.size);
  }
  tm_archive_close(a);
  return rc;
}

static inline void expect_list(const struct tm_archive_options *o, const char *lines)
{
  struct tm_buf out = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  int rc = archive_list(o, &out, &err);
  if (rc < 0)
    print_error("%s\n", err.text);
  assert_int_equal(rc, 0);
  assert_string_equal(tm_buf_str(&out), lines);
  tm_buf_release(&out);
}

static inline void expect_refused(const struct tm_archive_options *o, const char *words)
{
  struct tm_buf out = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  int rc = archive_list(o, &out, &err);
  if (rc != TM_EINPUT || strstr(err.text, words) == NULL)
    print_error("%d: %s, not: %s\n", rc, err.text, words);
  assert_int_equal(rc, TM_EINPUT);
  assert_non_null(strstr(err.text, words));
  assert_non_null(strstr(err.text, o->path));
  tm_buf_release(&out);
}

#endif
