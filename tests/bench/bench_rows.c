/* bench_rows.c - how fast row boundaries are found and rows are parsed, on one core, in memory.
 *
 *   bench_rows [MEGABYTES [TIMES]]
 *
 * The table has ten columns: three of integers, two of decimals, a date, a moment, a short text, a
 * quoted one, a truth value. Each figure is the best of several runs, in processor time of this
 * process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"
#include "data/rows/row_boundaries.h"
#include "data/rows/delimited.h"
#include "data/rows/header.h"
#include "data/rows/infer.h"
#include "data/rows/json_infer.h"
#include "data/rows/open.h"
#include "random.h"

static double seconds_used(void)
{
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)u.ru_utime.tv_sec + (double)u.ru_utime.tv_usec * 1e-6;
}

static void add_row(struct tm_buf *out, struct random *r, long id)
{
  static const char *const cities[] = {
    "Oslo", "Paris", "Sao Paulo", "Kyoto", "Lima", "Ulan Bator"
  };
  unsigned long x = (unsigned long)random_next(r);
  tm_buf_printf(
      out, "%ld,%lu,%d,%lu.%02lu,%.6f,2026-%02lu-%02lu,2026-%02lu-%02lu %02lu:%02lu:%02lu,%s,", id,
      x % 100000, (int)(x >> 8 & 0xffff) - 30000, x % 5000, x % 100, (double)(x % 1000003) / 997.0,
      x % 12 + 1, x % 28 + 1, x % 12 + 1, x % 28 + 1, x % 24, x % 60, x % 59, cities[x % 6]);
  tm_buf_printf(out, "\"item no. %lu, %s\",%s\n", x % 977,
                x % 16 == 0 ? "the \"\"large\"\" one" : "red", x & 1 ? "true" : "false");
}

static void make_table(struct tm_buf *out, size_t size)
{
  struct random r = { 5 };
  tm_buf_add_str(out, "id,count,offset,price,ratio,day,moment,city,text,flag\n");
  for (long id = 1; out->len < size; id++)
    add_row(out, &r, id);
}

static void print(const char *what, const char *kernel, size_t bytes, double best, long long rows)
{
  printf("%-32s %-6s %8.3f GB/s   %lld rows\n", what, kernel, (double)bytes / best * 1e-9, rows);
}

static void bench_borders(const struct tm_buf *text, bool multi_line, enum tm_scan_kind kind,
                          int times)
{
  struct tm_dialect d;
  struct tm_scan s;
  double best = 1e9;
  tm_dialect_init(&d);
  d.multi_line = multi_line;
  if (!tm_scan_init(&s, &d, kind))
    return;
  for (int i = 0; i < times; i++) {
    double from = seconds_used();
    tm_scan_init(&s, &d, kind);
    tm_require(tm_scan_rows(&s, text->data, text->len, UINT64_MAX) == text->len);
    double t = seconds_used() - from;
    best = t < best ? t : best;
  }
  print(multi_line ? "row boundaries, quotes" : "row boundaries, lines", tm_scan_name(&s),
        text->len, best, (long long)s.rows);
}

static void bench_parse(const struct tm_buf *text, enum tm_scan_kind kind, bool is_typed, int times)
{
  struct tm_dialect d;
  struct tm_schema schema = { 0 };
  struct tm_arena arena = { 0 };
  struct tm_scan s;
  struct tm_data_frame frame = { 0 };
  struct tm_err err;
  double best = 1e9;
  tm_dialect_init(&d);
  if (!tm_scan_init(&s, &d, kind))
    return;
  size_t head = (size_t)tm_header_read(&d, text->data, text->len, true, true, &schema, &err);
  if (is_typed)
    tm_infer_types(&d, text->data + head, text->len - head, true, &schema);
  struct tm_delimited *reader = tm_delimited_new(&d, &schema, kind);
  size_t piece = (size_t)1 << 20;
  for (int i = 0; i < times; i++) {
    long long rows = 0;
    double from = seconds_used();
    for (size_t at = head; at < text->len;) {
      size_t n = text->len - at < piece ? text->len - at : piece;
      tm_arena_clear(&arena);
      tm_delimited_begin(reader, &arena, &(struct tm_delimited_source) { .at = (int64_t)at });
      int64_t got = tm_delimited_add(reader, text->data + at, n, n < piece, &err);
      tm_require(got > 0);
      tm_delimited_end(reader, &frame);
      at += (size_t)got;
      rows += frame.len;
    }
    double t = seconds_used() - from;
    best = t < best ? t : best;
    if (i == times - 1)
      print(is_typed ? "typed frames of 1 MB, 10 columns" : "frames of strings", tm_scan_name(&s),
            text->len, best, rows);
  }
  tm_require(tm_delimited_counts(reader)->first.kind == TM_FAULT_NONE);
  tm_delimited_free(reader);
  tm_schema_release(&schema);
  tm_arena_release(&arena);
}

static void make_lines(struct tm_buf *out, size_t size)
{
  struct random r = { 6 };
  for (long id = 1; out->len < size; id++) {
    unsigned long x = (unsigned long)random_next(&r);
    tm_buf_printf(out,
                  "{\"id\":%ld,\"count\":%lu,\"price\":%lu.%02lu,\"city\":\"Oslo\",\"text\":\"item "
                  "\\\"%lu\\\"\","
                  "\"flag\":%s}\n",
                  id, x % 100000, x % 5000, x % 100, x % 977, x & 1 ? "true" : "false");
  }
}

static void bench_json(size_t size, int times)
{
  struct tm_json_lines_options o = { .drop_invalid = false };
  struct tm_schema schema = { 0 };
  struct tm_arena arena = { 0 };
  struct tm_data_frame frame = { 0 };
  struct tm_buf text = TM_BUF_NONE;
  struct tm_err err;
  double best = 1e9;
  make_lines(&text, size);
  struct tm_json_infer *infer = tm_json_infer_new(&o, 200, &schema);
  tm_json_infer_add(infer, text.data, text.len, true, &err);
  tm_json_infer_end(infer);
  struct tm_json_lines *j = tm_json_lines_new(&o, &schema);
  for (int i = 0; i < times; i++) {
    double from = seconds_used();
    tm_arena_clear(&arena);
    tm_json_lines_begin(j, &arena, 0, NULL);
    tm_require(tm_json_lines_add(j, text.data, text.len, true, &err) == (int64_t)text.len);
    tm_json_lines_end(j, &frame);
    double t = seconds_used() - from;
    best = t < best ? t : best;
  }
  print("JSON lines, 6 columns", "", text.len, best, (long long)frame.len);
  tm_json_lines_free(j);
  tm_schema_release(&schema);
  tm_arena_release(&arena);
  tm_buf_release(&text);
}

/* The lister's pass over a gzip file (made by gzip(1)): decoding, check sums, check points, row
 * boundaries. */
static void bench_gzip(const struct tm_buf *text, int times)
{
  char folder[] = "/tmp/tidemill-bench-XXXXXX";
  struct tm_err err = TM_ERR_NONE;
  struct tm_dialect d;
  double best = 1e9;
  tm_dialect_init(&d);
  tm_require(mkdtemp(folder) != NULL);
  char *path = tm_xprintf("%s/t.csv", folder), *packed = tm_xprintf("%s.gz", path);
  char *command = tm_xprintf("gzip -6 '%s'", path);
  tm_require(tm_fs_write_file(tm_fs_real(), path, text->data, text->len, 0600, &err) == 0);
  bool is_there = system(command) == 0;
  for (int i = 0; i < times && is_there; i++) {
    char *index = tm_xprintf("%s/index%d", folder, i);
    struct tm_rows_pack pack = { .index_dir = index };
    struct tm_range range;
    double from = seconds_used();
    struct tm_stream *s = tm_rows_open(tm_fs_real(), packed, &pack, true, &err);
    struct tm_row_boundaries_options o = { .dialect = &d,
                                           .read = tm_stream_read,
                                           .data = s,
                                           .size = s->size,
                                           .range_bytes = 1 << 20,
                                           .has_header = true };
    struct tm_row_boundaries *b = tm_row_boundaries_new(&o);
    int rc;
    while ((rc = tm_row_boundaries_next(b, &range, &err)) > 0)
      ;
    tm_require(rc == 0);
    tm_row_boundaries_free(b);
    tm_stream_close(s);
    double t = seconds_used() - from;
    best = t < best ? t : best;
    free(index);
  }
  if (is_there)
    print("gzip: index and row boundaries", "", text->len, best, 0);
  tm_tree_remove(folder, NULL);
  free(path);
  free(packed);
  free(command);
}

int main(int argc, char **argv)
{
  static const enum tm_scan_kind kinds[] = { TM_SCAN_AVX2, TM_SCAN_SSE2, TM_SCAN_BYTES };
  size_t size = (size_t)(argc > 1 ? atol(argv[1]) : 128) << 20;
  int times = argc > 2 ? atoi(argv[2]) : 7;
  struct tm_buf text = TM_BUF_NONE;
  make_table(&text, size);
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    bench_borders(&text, false, kinds[i], times);
    bench_borders(&text, true, kinds[i], times);
  }
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    bench_parse(&text, kinds[i], true, times);
  bench_parse(&text, TM_SCAN_BEST, false, times);
  bench_json(size, times);
  bench_gzip(&text, times < 3 ? times : 3);
  tm_buf_release(&text);
  return 0;
}
