/* test_seven_zip.c - the header of a 7z archive: what it holds, and claims that are refused. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archives.h"
#include "base/mem.h"
#include "data/archive/seven_zip_header.h"

#define BODY                                                                                       \
  "onefour"                                                                                        \
  "target"
#define BYTES(x) (x), sizeof(x) - 1

static void add_column(struct tm_buf *b, char id, const char *p, size_t n)
{
  tm_buf_add_char(b, id);
  tm_buf_add_char(b, (char)n);
  tm_buf_add(b, p, n);
}

/* Three files and a link, with contents of 3, 4, 0 and 6 bytes of BODY; then an empty file and a
 * folder. */
static struct tm_buf make_good(void)
{
  struct tm_buf b = TM_BUF_NONE;
  tm_buf_add(&b, BYTES("\1\4\6\0\1\11\15\0"      /* one stream of 13 bytes */
                       "\7\13\1\0\1\1\0\14\15\0" /* one folder, stored */
                       "\10\15\4\11\3\4\0\0\0"   /* with four files */
                       "\5\6"));
  add_column(&b, 14, BYTES("\14"));
  add_column(&b, 15, BYTES("\200"));
  add_column(&b, 17,
             BYTES("\0"
                   "h\0\344\0\0\0"
                   "\42\157\0\0"
                   "=\330\0\336\0\0"
                   "l\0i\0n\0k\0\0\0"
                   "e\0/\0f\0\0\0"
                   "d\0i\0r\0\0\0"));
  add_column(&b, 21,
             BYTES("\1\0"
                   "\0\200\200\21" /* a named pipe */
                   "\0\0\0\0"
                   "\0\200\244\201"
                   "\0\200\377\241"
                   "\0\200\244\201"
                   "\20\200\355\101"));
  tm_buf_add(&b, "\0\0", 2);
  return b;
}

static void put(struct folder *f, const char *header, size_t n, const char *body, size_t body_len)
{
  struct tm_buf b = TM_BUF_NONE;
  char start[20];
  tm_put_u64(start, body_len);
  tm_put_u64(start + 8, n);
  tm_put_u32(start + 16, (uint32_t)crc32(0, (const Bytef *)header, (uInt)n));
  tm_buf_add(&b, "7z\xbc\xaf\x27\x1c\0\4", 8);
  tm_buf_add_u32(&b, (uint32_t)crc32(0, (const Bytef *)start, sizeof start));
  tm_buf_add(&b, start, sizeof start);
  tm_buf_add(&b, body, body_len);
  tm_buf_add(&b, header, n);
  unlink(folder_file(f, "t.7z"));
  folder_put(f, "t.7z", 0, b.data, b.len);
  tm_buf_release(&b);
}

static void expect_entries(struct folder *f, const char *entries)
{
  char *path = tm_xstrdup(folder_file(f, "t.7z"));
  struct tm_archive_options o = archive_options(path);
  expect_list(&o, entries);
  free(path);
}

static void expect_fault(struct folder *f, const char *words)
{
  char *path = tm_xstrdup(folder_file(f, "t.7z"));
  struct tm_archive_options o = archive_options(path);
  expect_refused(&o, words);
  free(path);
}

static const char lines[] =
    "h\xc3\xa4 3\n\xe6\xbc\xa2 4\n\xf0\x9f\x98\x80 0\n"
    "link ! it is a symbolic link, and links of a zip or 7z archive are not followed\ne/f 0\n";

static void entries_match_the_header(void **state)
{
  struct folder f;
  struct tm_buf good = make_good();
  folder_init(&f);
  put(&f, good.data, good.len, BYTES(BODY));
  expect_entries(&f, lines);
  put(&f, "", 0, "", 0);
  expect_entries(&f, "");
  tm_buf_release(&good);
  folder_release(&f);
}

/* Stored: the packed bytes are the header. */
static void a_packed_header_is_unpacked(void **state)
{
  struct folder f;
  struct tm_buf good = make_good(), packed = TM_BUF_NONE, body = TM_BUF_NONE;
  folder_init(&f);
  tm_buf_add_str(&body, BODY);
  tm_buf_add(&body, good.data, good.len);
  char size = (char)good.len;
  assert_true(good.len < 128);
  tm_buf_add(&packed, BYTES("\27\6\15\1\11"));
  tm_buf_add_char(&packed, size);
  tm_buf_add(&packed, BYTES("\0\7\13\1\0\1\1\0\14"));
  tm_buf_add_char(&packed, size);
  tm_buf_add(&packed, BYTES("\12\1"));
  tm_buf_add_u32(&packed, (uint32_t)crc32(0, (const Bytef *)good.data, (uInt)good.len));
  tm_buf_add(&packed, BYTES("\0\0"));
  put(&f, packed.data, packed.len, body.data, body.len);
  expect_entries(&f, lines);
  body.data[body.len - 5] ^= 1; /* in the attributes */
  put(&f, packed.data, packed.len, body.data, body.len);
  expect_fault(&f, "its header is damaged");
  tm_buf_release(&good);
  tm_buf_release(&packed);
  tm_buf_release(&body);
  folder_release(&f);
}

static void excessive_claims_of_a_header_are_refused(void **state)
{
  struct folder f;
  static const struct {
    const char *header;
    size_t n;
    const char *words;
  } cases[] = {
    /* 100,000,000 files, in eight bytes */
    { BYTES("\1\5\360\0\341\365\5\0\0"), "its header is damaged" },
    /* eight files with their bits but without names */
    { BYTES("\1\5\10\16\1\377\0\0"), "its header is damaged" },
    { BYTES("\1\5\10\16\1\377\21\3\0\0\0\0\0"), "its header is damaged" },
    /* a packed header of 2^40 bytes */
    { BYTES("\27\6\0\1\11\7\0\7\13\1\0\1\1\0\14\374\0\0\0\0\0\1\0\0"), "more than 128 MB" },
    /* a coder with 100,000,000 streams */
    { BYTES("\1\4\6\0\1\11\7\0\7\13\1\0\1\21\0\360\0\341\365\5\1\14\7\0\0\0"), "damaged" },
    /* 80 folders with 100,000,000 files each would do the same */
    { BYTES("\1\4\6\0\1\11\7\0\7\13\1\0\1\1\0\14\7\0\10\15\360\0\341\365\5\12\1\0\0\0"),
      "damaged" },
    /* contents after the header */
    { BYTES("\1\4\6\0\1\11\10\0\7\13\1\0\1\1\0\14\10\0\10\0\0\0"), "damaged" },
    /* names twice */
    { BYTES("\1\5\1\16\1\200\21\5\0a\0\0\0\21\5\0a\0\0\0\0\0"), "damaged" },
    /* a link target of 2 MB */
    { BYTES("\1\4\6\0\1\11\7\0\7\13\1\0\1\1\0\14\340\0\0\40\0\10\0\0\5\1\21\5\0a\0\0\0"
            "\25\6\1\0\0\200\377\241\0\0"),
      "a symbolic link of more than 1 MB" },
    /* attributes of some files */
    { BYTES("\1\5\1\16\1\200\21\5\0a\0\0\0\25\3\0\0\0\0\0"), "have attributes" },
  };
  folder_init(&f);
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    put(&f, cases[i].header, cases[i].n, BYTES("onefour"));
    expect_fault(&f, cases[i].words);
  }
  folder_release(&f);
}

/* 200,000 folders of one byte each in the header's columns: they take 100 MB in libarchive, which
 * is allowed; seven times as many are refused. */
static void the_memory_for_libarchive_is_limited(void **state)
{
  struct tm_seven_zip_header h;
  static const uint32_t counts[] = { 200000, 1400000 };
  for (size_t i = 0; i < TM_COUNT_OF(counts); i++) {
    struct tm_buf b = TM_BUF_NONE;
    char number[] = { (char)0xe0, 0, 0, 0 };
    uint32_t n = counts[i];
    number[1] = (char)(n & 0xff);
    number[2] = (char)(n >> 8 & 0xff);
    number[3] = (char)(n >> 16);
    tm_buf_add(&b, BYTES("\1\4\6\0"));
    tm_buf_add(&b, number, 4);
    tm_buf_add_char(&b, 9);
    memset(tm_buf_extend(&b, n), 0, n);
    tm_buf_add(&b, BYTES("\0\7\13"));
    tm_buf_add(&b, number, 4);
    tm_buf_add_char(&b, 0);
    for (uint32_t k = 0; k < n; k++)
      tm_buf_add(&b, "\1\1\0", 3);
    tm_buf_add_char(&b, 12);
    memset(tm_buf_extend(&b, n), 0, n);
    tm_buf_add(&b, BYTES("\0\0\0"));
    const char *bad = tm_seven_zip_parse(&h, b.data, b.len, 0);
    if (i == 0)
      assert_null(bad);
    else
      assert_non_null(strstr(bad, "takes more than 512 MB"));
    tm_buf_release(&b);
  }
}

/* Whatever a byte changes to, the reader accepts or refuses the header. */
static void any_byte_may_be_anything(void **state)
{
  struct tm_seven_zip_header h;
  struct tm_seven_zip_entry e;
  struct tm_buf good = make_good();
  size_t n = good.len, refused = 0;
  for (size_t at = 0; at < n; at++) {
    for (int c = 0; c < 256; c++) {
      char *p = tm_xmalloc(n); /* of exact size, so that a sanitizer sees a read beyond it */
      memcpy(p, good.data, n);
      p[at] = (char)c;
      uint64_t entries = 0;
      const char *bad = tm_seven_zip_parse(&h, p, n, strlen(BODY));
      while (!bad && tm_seven_zip_next(&h, &e))
        entries++;
      assert_true(bad || entries == h.files);
      refused += bad != NULL;
      free(p);
    }
    char *cut = tm_xmalloc(at + 1);
    memcpy(cut, good.data, at);
    assert_non_null(tm_seven_zip_parse(&h, cut, at, strlen(BODY)));
    free(cut);
  }
  assert_true(refused > n * 64);
  tm_buf_release(&good);
}

UNIT_TESTS({
    cmocka_unit_test(entries_match_the_header),
    cmocka_unit_test(a_packed_header_is_unpacked),
    cmocka_unit_test(excessive_claims_of_a_header_are_refused),
    cmocka_unit_test(the_memory_for_libarchive_is_limited),
    cmocka_unit_test(any_byte_may_be_anything),
});
