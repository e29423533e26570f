/* test_archive.c - lists archives of each kind, hostile ones too, and checks the index for the next
 * run. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archives.h"
#include "base/hash.h"
#include "base/mem.h"
#include "data/archive/archive_index.h"

static char warning[1000];

static void on_warning(void *data, const char *text)
{
  (void)data;
  snprintf(warning, sizeof warning, "%s", text);
}

static const struct member plain[] = {
  { .name = "a/", .type = AE_IFDIR },
  { .name = "a/1.txt", .text = "one" },
  { .name = "./b//2.txt", .text = "two, longer" },
  { .name = "empty" },
};
static const char plain_lines[] = "a/1.txt 3\nb/2.txt 11\nempty 0\n";

static void every_kind_is_listed(void **state)
{
  struct folder f;
  static const struct {
    int format, filter;
  } kinds[] = {
    { ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE },
    { ARCHIVE_FORMAT_TAR_GNUTAR, ARCHIVE_FILTER_GZIP },
    { ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE, ARCHIVE_FILTER_ZSTD },
    { ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_XZ },
    { ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_BZIP2 },
    { ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_LZ4 },
    { ARCHIVE_FORMAT_CPIO_SVR4_NOCRC, ARCHIVE_FILTER_GZIP },
    { ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE },
    { ARCHIVE_FORMAT_7ZIP, ARCHIVE_FILTER_NONE },
  };
  folder_init(&f);
  for (size_t i = 0; i < TM_COUNT_OF(kinds); i++) {
    char *path = tm_xstrdup(folder_file(&f, "no name that says what it is"));
    archive_make(path, kinds[i].format, kinds[i].filter, plain, TM_COUNT_OF(plain));
    struct tm_archive_options o = archive_options(path);
    expect_list(&o, kinds[i].format == ARCHIVE_FORMAT_7ZIP /* it lists empty entries last */
                        ? "a/1.txt 3\nb/2.txt 11\nempty 0\n"
                        : plain_lines);
    free(path);
  }
  folder_release(&f);
}

static void names_that_lead_out_have_a_fault(void **state)
{
  struct folder f;
  char *path, *twice;
  static const struct member bad[] = {
    { .name = "/etc/passwd", .text = "x" }, { .name = "../up", .text = "x" },
    { .name = "a/../../up", .text = "x" },  { .name = "good", .text = "x" },
    { .name = "good", .text = "again" },    { .name = "./good", .text = "again" },
  };
  static const char lines[] =
      "/etc/passwd ! its name is absolute; names within the archive's folder are accepted\n"
      "../up ! its name leads out of the archive's folder, by '..'\n"
      "a/../../up ! its name leads out of the archive's folder, by '..'\n"
      "good 1\n"
      "good ! its name occurs twice; this is the later entry\n"
      "good ! its name occurs twice; this is the later entry\n";
  folder_init(&f);
  path = tm_xstrdup(folder_file(&f, "t.tar"));
  archive_make(path, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE, bad, TM_COUNT_OF(bad));
  struct tm_archive_options o = archive_options(path);
  expect_list(&o, lines);
  twice = tm_xstrdup(folder_file(&f, "t.zip"));
  struct zip_member same[TM_COUNT_OF(bad)] = { 0 };
  for (size_t i = 0; i < TM_COUNT_OF(bad); i++)
    same[i] = (struct zip_member) { .name = bad[i].name, .text = bad[i].text, .method = 8 };
  zip_put(&f, "t.zip", same, TM_COUNT_OF(same));
  o = archive_options(twice);
  expect_list(&o, lines);
  free(path);
  free(twice);
  folder_release(&f);
}

static void links_lead_to_entries_before_them(void **state)
{
  struct folder f;
  static const struct member m[] = {
    { .name = "d/file", .text = "text" },
    { .name = "hard", .hardlink = "d/file" },
    { .name = "d/soft", .type = AE_IFLNK, .symlink = "file" },
    { .name = "up", .type = AE_IFLNK, .symlink = "d/../d/soft" },
    { .name = "out", .type = AE_IFLNK, .symlink = "../../etc/passwd" },
    { .name = "root", .type = AE_IFLNK, .symlink = "/etc/passwd" },
    { .name = "later", .type = AE_IFLNK, .symlink = "last" },
    { .name = "hard-out", .hardlink = "/etc/passwd" },
    { .name = "null", .type = AE_IFCHR },
    { .name = "pipe", .type = AE_IFIFO },
    { .name = "last", .text = "x" },
  };
  folder_init(&f);
  char *path = tm_xstrdup(folder_file(&f, "t.tar"));
  archive_make(path, ARCHIVE_FORMAT_TAR_PAX_INTERCHANGE, ARCHIVE_FILTER_NONE, m, TM_COUNT_OF(m));
  struct tm_archive_options o = archive_options(path);
  expect_list(&o, "d/file 4\nhard 4\nd/soft 4\nup 4\n"
                  "out ! it is a link that leads out of the archive, to '../../etc/passwd'\n"
                  "root ! it is a link that leads out of the archive, to '/etc/passwd'\n"
                  "later ! it is a link to 'last', which is not an earlier file in the archive\n"
                  "hard-out ! it is a link that leads out of the archive, to '/etc/passwd'\n"
                  "null ! it is a device, a FIFO or a socket, not a file\n"
                  "pipe ! it is a device, a FIFO or a socket, not a file\n"
                  "last 1\n");
  free(path);
  folder_release(&f);
}

static void names_are_bytes(void **state)
{
  struct folder f;
  static const struct member m[] = { { .name = "h\xc3\xa4\xc3\x9f", .text = "utf8" },
                                     { .name = "lat\xe4", .text = "latin1" },
                                     { .name = "line\nbreak", .text = "x" } };
  struct zip_member z[TM_COUNT_OF(m)] = { 0 };
  static const char lines[] = "h\xc3\xa4\xc3\x9f 4\nlat\xe4 6\nline\nbreak 1\n";
  folder_init(&f);
  char *path = tm_xstrdup(folder_file(&f, "t.tar"));
  archive_make(path, ARCHIVE_FORMAT_TAR_GNUTAR, ARCHIVE_FILTER_NONE, m, TM_COUNT_OF(m));
  struct tm_archive_options o = archive_options(path);
  expect_list(&o, lines);
  for (size_t i = 0; i < TM_COUNT_OF(m); i++)
    z[i] = (struct zip_member) { .name = m[i].name, .text = m[i].text };
  zip_put(&f, "t.tar", z, TM_COUNT_OF(z));
  o = archive_options(path);
  expect_list(&o, lines);
  free(path);
  folder_release(&f);
}

static void entries_of_a_zip_that_cannot_be_read_have_a_fault(void **state)
{
  struct folder f;
  static const struct zip_member m[] = {
    { .name = "d/", .text = "" },
    { .name = "secret", .text = "x", .flags = 1 },
    { .name = "odd", .text = "x", .method = 99 },
    { .name = "link", .text = "/etc/passwd", .mode = S_IFLNK | 0777 },
    { .name = "null", .text = "", .mode = S_IFCHR | 0666 },
    { .name = "streamed", .text = "x", .mode = S_IFIFO | 0600 },
    { .name = "fifo", .text = "", .mode = S_IFIFO | 0600 },
    { .name = "socket", .text = "x", .mode = S_IFSOCK | 0600 },
    { .name = "of no known type", .text = "x", .mode = 0130644 },
    { .name = "sizes", .text = "x", .size = 7 },
    { .name = "bomb", .text = "xxxxxxxxxxxxxxxxxxxxxxxxxx", .method = 8, .size = 100 << 20 },
    { .name = "good", .text = "x", .mode = S_IFREG | 0644 },
  };
  folder_init(&f);
  zip_put(&f, "t.zip", m, TM_COUNT_OF(m));
  char *path = tm_xstrdup(folder_file(&f, "t.zip"));
  struct tm_archive_options o = archive_options(path);
  o.limits.size = 200 << 20;
  expect_list(&o,
              "secret ! it is encrypted\n"
              "odd ! it is packed in a way that is not known; accepted: stored, deflate, bzip2, "
              "LZMA, zstd, xz\n"
              "link ! it is a symbolic link, and links of a zip or 7z archive are not followed\n"
              "null ! it is a device, a FIFO or a socket, not a file\n"
              "streamed 1\n"
              "fifo ! it is a device, a FIFO or a socket, not a file\n"
              "socket 1\n"
              "of no known type 1\n"
              "sizes ! it is stored, and its two sizes differ: the archive is damaged\n"
              "bomb ! its 104857600 bytes of contents are more than max_ratio (200) times the 5 "
              "that it is packed in\n"
              "good 1\n");
  o.limits.size = 50 << 20;
  struct tm_buf out = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(archive_list(&o, &out, &err), 0);
  assert_non_null(strstr(out.data, "bomb ! it has 104857600 bytes of contents, more than "
                                   "max_entry_size (52428800)"));
  tm_buf_release(&out);
  free(path);
  folder_release(&f);
}

static void a_zip_that_is_wrong_as_a_whole_is_refused(void **state)
{
  struct folder f;
  static const struct zip_member
      overlapping[] = { { .name = "a", .text = "aaaaaaaaaaaaaaaaaaaaaa" },
                        { .name = "b", .text = "", .packed = 50, .size = 50 } },
      outside[] = { { .name = "a", .text = "x", .place = 1 << 20 } };
  folder_init(&f);
  char *path = tm_xstrdup(folder_file(&f, "t.zip"));
  zip_put(&f, "t.zip", overlapping, 2);
  struct tm_archive_options o = archive_options(path);
  struct zip_member many[8];
  for (int i = 0; i < 8; i++) { /* one block of data, which all of them share */
    static char names[8][2];
    names[i][0] = (char)('a' + i);
    many[i] = (struct zip_member) { .name = names[i], .text = "" };
    many[i].packed = many[i].size = 100;
  }
  zip_put(&f, "t.zip", many, 8);
  o = archive_options(path);
  expect_refused(&o, "its entries overlap");
  zip_put(&f, "t.zip", outside, 1);
  o = archive_options(path);
  expect_refused(&o, "an entry lies outside it");
  for (int64_t at = 1; at < 120; at++) { /* cuts the archive at every byte */
    zip_put(&f, "t.zip", overlapping, 1);
    struct tm_stat st;
    tm_fs_real()->stat(NULL, path, true, &st);
    if (at >= st.size)
      break;
    folder_cut(&f, "t.zip", at);
    o = archive_options(path);
    expect_refused(&o, at < 4 ? "it is not an archive" : "cut off");
  }
  free(path);
  folder_release(&f);
}

static void a_tar_that_is_cut_off_is_refused(void **state)
{
  struct folder f;
  static const struct member m[] = { { .name = "a", .text = "one" },
                                     { .name = "b", .text = "two" } };
  folder_init(&f);
  char *path = tm_xstrdup(folder_file(&f, "t.tar"));
  archive_make(path, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE, m, 2);
  folder_cut(&f, "t.tar", 512 + 100);
  struct tm_archive_options o = archive_options(path);
  expect_refused(&o, "runcated");
  archive_make(path, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE, m, 2);
  folder_cut(&f, "t.tar", 2048); /* between the last entry and the end mark */
  o = archive_options(path);
  o.on_warning = on_warning;
  *warning = '\0';
  expect_list(&o, "a 3\nb 3\n");
  assert_non_null(strstr(warning, "has no mark at its end; it may have been cut off"));
  archive_make(path, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP, m, 2);
  folder_cut(&f, "t.tar", folder_size(&f, "t.tar") - 3); /* within the last check sum */
  o = archive_options(path);
  expect_refused(&o, "ends too early");
  folder_put(&f, "t.tar", 0, "no archive at all", 17);
  folder_cut(&f, "t.tar", 17);
  o = archive_options(path);
  expect_refused(&o, "it is not an archive; accepted: zip, tar");
  folder_cut(&f, "t.tar", 0);
  o = archive_options(path);
  expect_refused(&o, "it is empty");
  free(path);
  folder_release(&f);
}

static void formats_that_lead_to_other_files_are_refused(void **state)
{
  static const char mtree[] = "#mtree\n./x type=file contents=/etc/passwd\n";
  struct folder f;
  folder_init(&f);
  folder_put(&f, "t.tar", 0, mtree, sizeof mtree - 1);
  char *path = tm_xstrdup(folder_file(&f, "t.tar"));
  struct tm_archive_options o = archive_options(path);
  expect_refused(&o, "it is not an archive");
  free(path);
  folder_release(&f);
}

static void bombs_are_not_unpacked(void **state)
{
  struct folder f;
  size_t n = 64 << 20;
  char *zeros = tm_xmalloc(n + 1);
  memset(zeros, '0', n);
  zeros[n] = '\0';
  struct member m[] = { { .name = "small", .text = "x" }, { .name = "zeros", .text = zeros } };
  folder_init(&f);
  char *path = tm_xstrdup(folder_file(&f, "t.tar"));
  archive_make(path, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_ZSTD, m, 2);
  struct tm_archive_options o = archive_options(path);
  expect_refused(&o, "it holds more than 200 times its own");
  o.limits.ratio = 1000000;
  expect_list(&o, "small 1\nzeros 67108864\n");
  o.limits.entries = 1;
  expect_refused(&o, "it has more than 1 entries; if that is right, raise max_entries");
  free(zeros);
  free(path);
  folder_release(&f);
}

static void add_cpio(struct tm_buf *out, const char *name, unsigned mode, unsigned links,
                     unsigned number, size_t name_len)
{
  size_t at = out->len;
  tm_buf_printf(out, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", number, mode, 0,
                0, links, 0, 0, 0, 0, 0, 0, (unsigned)name_len, 0);
  tm_buf_add(out, name, strlen(name) + 1);
  while ((out->len - at) % 4 != 0)
    tm_buf_add_char(out, 0);
}

/* libarchive reads a bounded amount before it returns an entry, whatever the header claims. */
static void a_header_without_an_end_is_refused(void **state)
{
  struct folder f;
  struct tm_buf b = TM_BUF_NONE;
  char block[512] = "sparse", piece[16];
  folder_init(&f);
  char *path = tm_xstrdup(folder_file(&f, "t"));
  add_cpio(&b, "name", 0100644, 1, 1, 500 << 20);
  memset(tm_buf_extend(&b, 30 << 20), 'x', 30 << 20);
  folder_put(&f, "t", 0, b.data, b.len);
  struct tm_archive_options o = archive_options(path);
  expect_refused(&o, "it has a header of more than 16 MB");
  tm_buf_clear(&b);
  memcpy(block + 100, "0000644", 8);
  memcpy(block + 124, "00000000000", 12);
  memcpy(block + 136, "00000000000", 12);
  memcpy(block + 156, "S", 1);
  memcpy(block + 257, "ustar  ", 8);
  memcpy(block + 386,
         "00000000000\000"
         "00000000000",
         24);
  block[482] = 1; /* more of the map follows */
  memset(block + 148, ' ', 8);
  unsigned sum = 0;
  for (size_t i = 0; i < sizeof block; i++)
    sum += (unsigned char)block[i];
  snprintf(piece, sizeof piece, "%06o", sum);
  memcpy(block + 148, piece, 7);
  tm_buf_add(&b, block, sizeof block);
  memset(block, 0, sizeof block);
  for (int i = 0; i < 21; i++)
    memcpy(block + 24 * i,
           "00000000001\000"
           "00000000001",
           24);
  block[504] = 1;
  for (int i = 0; i < 50000; i++)
    tm_buf_add(&b, block, sizeof block);
  unlink(path);
  folder_put(&f, "t", 0, b.data, b.len);
  o = archive_options(path);
  expect_refused(&o, "it has a header of more than 16 MB");
  tm_buf_release(&b);
  free(path);
  folder_release(&f);
}

static void a_cpio_has_few_files_of_several_names(void **state)
{
  struct folder f;
  struct tm_buf b = TM_BUF_NONE, out = TM_BUF_NONE;
  struct tm_err err = TM_ERR_NONE;
  char name[16];
  folder_init(&f);
  for (unsigned i = 0; i <= 30000; i++) {
    size_t n = (size_t)snprintf(name, sizeof name, "%u", i);
    add_cpio(&b, name, 0100644, 2, i, n + 1);
  }
  folder_put(&f, "t", 0, b.data, b.len);
  char *path = tm_xstrdup(folder_file(&f, "t"));
  struct tm_archive_options o = archive_options(path);
  o.limits.entries = 1000000;
  assert_int_equal(archive_list(&o, &out, &err), TM_EINPUT);
  assert_non_null(strstr(err.text, "more than 30000 files that have several names"));
  assert_non_null(strstr(out.data, "29999 0\n"));
  tm_buf_release(&b);
  tm_buf_release(&out);
  free(path);
  folder_release(&f);
}

/* A folder has a link for each subfolder; two folders with the same number, as in concatenated
 * archives, are different folders. */
static void a_cpio_has_any_number_of_folders(void **state)
{
  struct folder f;
  struct tm_buf b = TM_BUF_NONE;
  char name[16];
  folder_init(&f);
  for (unsigned i = 0; i <= 30500; i++) {
    size_t n = (size_t)snprintf(name, sizeof name, "%u", i);
    add_cpio(&b, name, 0040755, 2, i % 30400, n + 1);
  }
  add_cpio(&b, "file", 0100644, 1, 50000, 5);
  add_cpio(&b, "TRAILER!!!", 0, 1, 0, 11);
  folder_put(&f, "t", 0, b.data, b.len);
  char *path = tm_xstrdup(folder_file(&f, "t"));
  struct tm_archive_options o = archive_options(path);
  o.limits.entries = 1000000;
  expect_list(&o, "file 0\n");
  tm_buf_release(&b);
  free(path);
  folder_release(&f);
}

/* As written by a version with different rules. */
static void make_index_older(struct folder *f, const char *path)
{
  char name[64], head[TM_ARCHIVE_HEAD];
  snprintf(name, sizeof name, "index/%016llx.entries",
           (unsigned long long)tm_hash64(path, strlen(path)));
  FILE *file = fopen(folder_file(f, name), "r+b");
  assert_non_null(file);
  assert_int_equal(fread(head, 1, sizeof head, file), sizeof head);
  tm_put_u32(head + 8, tm_get_u32(head + 8) - 1);
  tm_put_u64(head + 88, tm_hash64(head, 88));
  rewind(file);
  assert_int_equal(fwrite(head, 1, sizeof head, file), sizeof head);
  assert_int_equal(fclose(file), 0);
}

/* Overwrites the archive in place and keeps its size and time: only an index can know the old
 * contents. */
static void the_next_run_lists_from_the_index(void **state)
{
  struct folder f;
  struct stat st;
  folder_init(&f);
  char *dir = tm_xstrdup(folder_file(&f, "index")), *path = tm_xstrdup(folder_file(&f, "t.zip"));
  static const struct zip_member m[] = { { .name = "a", .text = "one" },
                                         { .name = "../b", .text = "two" } };
  static const char lines[] = "a 3\n../b ! its name leads out of the archive's folder, by '..'\n";
  zip_put(&f, "t.zip", m, 2);
  assert_int_equal(stat(path, &st), 0);
  struct tm_archive_options o = archive_options(path);
  o.index_dir = dir;
  expect_list(&o, lines);
  folder_put(&f, "t.zip", st.st_size - 22, "no end record is here.", 22);
  expect_list(&o, lines);
  o.limits.ratio++; /* different limits, a different list */
  expect_refused(&o, "no end of one");
  o.limits.ratio--;
  o.mtime_ns++;
  expect_refused(&o, "no end of one");
  o.mtime_ns--;
  expect_list(&o, lines);
  make_index_older(&f, path);
  expect_refused(&o, "no end of one");
  free(dir);
  free(path);
  folder_release(&f);
}

static void a_damaged_index_is_created_again(void **state)
{
  struct folder f;
  folder_init(&f);
  char *dir = tm_xstrdup(folder_file(&f, "index")), *path = tm_xstrdup(folder_file(&f, "t.tar"));
  archive_make(path, ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP, plain, TM_COUNT_OF(plain));
  struct tm_archive_options o = archive_options(path);
  o.index_dir = dir;
  expect_list(&o, plain_lines);
  char name[64];
  snprintf(name, sizeof name, "index/%016llx.entries",
           (unsigned long long)tm_hash64(path, strlen(path)));
  int64_t size = folder_size(&f, name);
  assert_true(size > TM_ARCHIVE_HEAD);
  for (int64_t at = 0; at<size; at += at> 100 ? 7 : 1) { /* restored each time */
    folder_flip(&f, name, at);
    expect_list(&o, plain_lines);
    assert_int_equal(folder_size(&f, name), size);
    folder_cut(&f, name, at);
    expect_list(&o, plain_lines);
    assert_int_equal(folder_size(&f, name), size);
  }
  free(dir);
  free(path);
  folder_release(&f);
}

UNIT_TESTS({
    cmocka_unit_test(every_kind_is_listed),
    cmocka_unit_test(names_that_lead_out_have_a_fault),
    cmocka_unit_test(links_lead_to_entries_before_them),
    cmocka_unit_test(names_are_bytes),
    cmocka_unit_test(entries_of_a_zip_that_cannot_be_read_have_a_fault),
    cmocka_unit_test(a_zip_that_is_wrong_as_a_whole_is_refused),
    cmocka_unit_test(a_tar_that_is_cut_off_is_refused),
    cmocka_unit_test(formats_that_lead_to_other_files_are_refused),
    cmocka_unit_test(bombs_are_not_unpacked),
    cmocka_unit_test(a_header_without_an_end_is_refused),
    cmocka_unit_test(a_cpio_has_few_files_of_several_names),
    cmocka_unit_test(a_cpio_has_any_number_of_folders),
    cmocka_unit_test(the_next_run_lists_from_the_index),
    cmocka_unit_test(a_damaged_index_is_created_again),
});
