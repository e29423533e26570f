/* test_header_names.c - names in headers of tar and cpio that continue after a NUL byte. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archives.h"
#include "base/mem.h"
#include "data/archive/header_names.h"

static void add_tar(struct tm_buf *out, char type, const char *name, const char *body, size_t n)
{
  char head[512] = "";
  unsigned sum = 0;
  memcpy(head, name, strlen(name));
  memcpy(head + 100, "0000644", 7);
  snprintf(head + 124, 12, "%011zo", n);
  memcpy(head + 136, "00000000000", 11);
  memset(head + 148, ' ', 8);
  head[156] = type;
  memcpy(head + 257, "ustar\00000", 8);
  for (size_t i = 0; i < sizeof head; i++)
    sum += (unsigned char)head[i];
  snprintf(head + 148, 8, "%06o", sum);
  tm_buf_add(out, head, sizeof head);
  tm_buf_add(out, body, n);
  memset(tm_buf_extend(out, (512 - n % 512) % 512), 0, (512 - n % 512) % 512);
}

/* "<length> <key>=<value>\n" */
static void add_pax(struct tm_buf *out, const char *key, const char *value, size_t n)
{
  size_t rest = strlen(key) + n + 3, len = rest + 1;
  while (len != rest + (size_t)snprintf(NULL, 0, "%zu", len))
    len++;
  tm_buf_printf(out, "%zu %s=", len, key);
  tm_buf_add(out, value, n);
  tm_buf_add_char(out, '\n');
}

static void add_pax_entry(struct tm_buf *tar, const char *key, const char *value, size_t n,
                          size_t comment, char type)
{
  struct tm_buf pax = TM_BUF_NONE;
  char *words = tm_xmalloc(comment + 1);
  memset(words, 'c', comment);
  add_pax(&pax, "comment", words, comment);
  add_pax(&pax, key, value, n);
  add_tar(tar, 'x', "pax", pax.data, pax.len);
  add_tar(tar, type, "short", "text", type == '0' ? 4 : 0);
  tm_buf_release(&pax);
  free(words);
}

static void put_tar(struct folder *f, struct tm_buf *tar, bool is_packed)
{
  memset(tm_buf_extend(tar, 1024), 0, 1024);
  char *path = tm_xstrdup(folder_file(f, "t"));
  if (is_packed) {
    gzFile z = gzopen(path, "wb");
    assert_int_equal(gzwrite(z, tar->data, (unsigned)tar->len), tar->len);
    gzclose(z);
  } else {
    unlink(path);
    folder_put(f, "t", 0, tar->data, tar->len);
  }
  free(path);
}

static void a_name_that_continues_after_a_nul_is_a_fault(void **state)
{
  static const size_t comments[] = { 0, 3000, 260000, 900000 }; /* longer than one read */
  struct folder f;
  folder_init(&f);
  for (size_t i = 0; i < 2 * TM_COUNT_OF(comments); i++) {
    struct tm_buf tar = TM_BUF_NONE;
    size_t comment = comments[i / 2];
    add_tar(&tar, '0', "first", "1", 1);
    add_pax_entry(&tar, "path", "long", 4, comment, '0');
    add_pax_entry(&tar, "path", "cut\0/../x", 9, comment, '0');
    add_pax_entry(&tar, "linkpath", "first\0x", 7, comment, '2');
    add_pax_entry(&tar, "linkpath", "first", 5, comment, '2');
    add_tar(&tar, 'L', "././@LongLink", "gnu", 4);
    add_tar(&tar, '0', "short", "text", 4);
    add_tar(&tar, 'L', "././@LongLink", "gnu2\0x", 7);
    add_tar(&tar, '0', "short", "text", 4);
    put_tar(&f, &tar, i % 2);
    char *path = tm_xstrdup(folder_file(&f, "t"));
    struct tm_archive_options o = archive_options(path);
    expect_list(&o, "first 1\nlong 4\n"
                    "cut ! its name holds a NUL byte\n"
                    "short ! its name holds a NUL byte\n"
                    "short 1\n"
                    "gnu 4\n"
                    "gnu2 ! its name holds a NUL byte\n");
    free(path);
    tm_buf_release(&tar);
  }
  folder_release(&f);
}

/* The test above shows how libarchive reads such an entry; this one is about the header of each
 * format. */
static void a_cpio_header_states_the_length_of_its_name(void **state)
{
  char newc[110 + 12], odc[76 + 12], binary[26 + 12] = "\xc7\x71";
  memset(newc, '0', sizeof newc);
  memcpy(newc, "070701", 6);
  memcpy(newc + 94, "00000006", 8);
  memset(odc, '0', sizeof odc);
  memcpy(odc, "070707", 6);
  memcpy(odc + 59, "000006", 6);
  binary[20] = 6;
  static const struct {
    char name[13];
    bool is_hidden;
  } cases[] = { { "abcde\0junk", false }, { "ab\0de\0", true }, { "ab\0\0\0\0", false } };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    memcpy(newc + 110, cases[i].name, 12);
    memcpy(odc + 76, cases[i].name, 12);
    memcpy(binary + 26, cases[i].name, 12);
    assert_int_equal(tm_cpio_hides_name(newc, sizeof newc), cases[i].is_hidden);
    assert_int_equal(tm_cpio_hides_name(odc, sizeof odc), cases[i].is_hidden);
    assert_int_equal(tm_cpio_hides_name(binary, sizeof binary), cases[i].is_hidden);
    for (size_t n = 0; n < sizeof newc; n++) /* cuts anywhere */
      tm_cpio_hides_name(newc, n);
  }
}

/* Appends the number of links, of a folder and of a file. */
static const struct {
  const char *before, *after;
  size_t len, n; /* of the entries; of the header */
} links[] = {
  { "07070100000007000041ed0000000000000000000003e9",
    "07070100000007000041ed000000000000000000000001", 46, 110 },
  { "07070200000007000081a4000000000000000000000002",
    "07070200000007000081a4000000000000000000000002", 46, 110 },
  { "070707000001000007040755000000000000000311", "070707000001000007040755000000000000000001", 42,
    76 },
  { "070707000001000007100644000000000000000002", "070707000001000007100644000000000000000002", 42,
    76 },
  { "\xc7\x71____\xed\x41____\x09\x03", "\xc7\x71____\xed\x41____\x01\0", 14, 26 },
  { "\x71\xc7____\x41\xed____\x03\x09", "\x71\xc7____\x41\xed____\0\x01", 14, 26 },
  { "\xc7\x71____\xa4\x81____\x02\x01", "\xc7\x71____\xa4\x81____\x02\x01", 14, 26 },
};

static void a_folder_of_a_cpio_gets_one_link(void **state)
{
  for (size_t i = 0; i < TM_COUNT_OF(links); i++) {
    size_t len = links[i].len;
    char head[110], rest[110];
    memset(head, '0', sizeof head);
    memcpy(head, links[i].before, len);
    memcpy(rest, head, sizeof rest);
    tm_cpio_ease_folder(head, links[i].n - 1); /* the header is cut off */
    assert_memory_equal(head, rest, sizeof head);
    tm_cpio_ease_folder(head, links[i].n);
    assert_memory_equal(head, links[i].after, len);
    assert_memory_equal(head + len, rest + len, sizeof head - len);
  }
}

UNIT_TESTS({
    cmocka_unit_test(a_name_that_continues_after_a_nul_is_a_fault),
    cmocka_unit_test(a_cpio_header_states_the_length_of_its_name),
    cmocka_unit_test(a_folder_of_a_cpio_gets_one_link),
});
