/* reader.c - feeds the bytes of a range to the parser of its format.
 *
 *    stream -> piece (1 MB, after the rest of the last one) -> [UTF-16 to UTF-8] -> parser -> frame
 *
 *  (1) Bytes that the parser has not taken precede the next piece. If a piece has less than a row,
 *      the next one is twice as large, but not larger than the longest accepted row: the parser
 *      refuses longer ones.
 */
#include "data/rows/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/frame/fault_list.h"
#include "data/rows/delimited.h"
#include "data/rows/encoding.h"
#include "data/rows/header.h"
#include "data/rows/json_lines.h"
#include "data/rows/lines.h"
#include "data/rows/sample.h"

#define PIECE      ((size_t)1 << 20)
#define HEAD_LINES ((size_t)64 << 10) /* bytes in which empty lines before a header are counted */

struct tm_rows_reader {
  struct tm_rows_options options;
  const struct tm_schema *schema;
  struct tm_delimited *delimited; /* one of the two is NULL */
  struct tm_json_lines *json;
  char *head_path;    /* the file of the next two fields: */
  bool is_big_endian; /* UTF-16 */
  int32_t *fields;    /* if files have headers of their own, or NULL */
  size_t fields_len;
  struct tm_buf raw, text; /* original UTF-16; UTF-8 */
  struct tm_range range;   /* the last one */
  /* in it: TM_FAULT_TEXT in text that is converted before it is parsed */
  struct tm_row_counts bad_texts;
  struct tm_lines lines;
};

struct tm_rows_reader *tm_rows_reader_new(const struct tm_rows_options *options,
                                          const struct tm_schema *schema)
{
  struct tm_rows_reader *r = TM_NEW(struct tm_rows_reader);
  struct tm_json_lines_options json = tm_rows_json_options(options);
  r->options = *options;
  r->schema = schema;
  if (options->format == TM_ROWS_JSON_LINES)
    r->json = tm_json_lines_new(&json, schema);
  else
    r->delimited = tm_delimited_new(&r->options.dialect, schema, TM_SCAN_BEST);
  return r;
}

void tm_rows_reader_free(struct tm_rows_reader *r)
{
  if (r == NULL)
    return;
  tm_delimited_free(r->delimited);
  tm_json_lines_free(r->json);
  free(r->head_path);
  free(r->fields);
  tm_buf_release(&r->raw);
  tm_buf_release(&r->text);
  tm_lines_release(&r->lines);
  free(r);
}

const struct tm_row_counts *tm_rows_reader_counts(const struct tm_rows_reader *r)
{
  return r->json != NULL ? tm_json_lines_counts(r->json) : tm_delimited_counts(r->delimited);
}

/* Facts about a file are kept until another one is read. */
static int look_at_head(struct tm_rows_reader *r, const struct tm_rows_file *file,
                        struct tm_err *err)
{
  struct tm_sample head = { .is_whole = false };
  struct tm_schema names = { 0 };
  bool has_own = r->json == NULL && r->options.dialect.header == TM_HEADER_DIFFERENT;
  bool is_utf16 = r->options.dialect.encoding == TM_ENCODING_UTF16;
  if ((!has_own && !is_utf16) || (r->head_path != NULL && strcmp(r->head_path, file->path) == 0))
    return 0;
  int64_t rc = has_own ? tm_sample_read_header(&head, &r->options, file, &names, err)
                       : tm_sample_read(&head, &r->options, file, 4, err);
  if (rc >= 0) {
    free(r->head_path);
    free(r->fields);
    r->head_path = tm_xstrdup(file->path);
    r->is_big_endian = head.big_endian;
    r->fields = has_own ? tm_xcalloc(names.len + 1, sizeof *r->fields) : NULL;
    r->fields_len = names.len;
    if (has_own)
      tm_header_map(&names, r->schema, r->fields);
  }
  tm_schema_release(&names);
  tm_sample_release(&head);
  return rc < 0 ? (int)rc : 0;
}

/* Messages ------------------------------------------------------------------------------------- */

/* Line breaks before the first row of values, or -1: in the header and empty lines before it. */
static int64_t breaks_of_head(struct tm_rows_reader *r, const struct tm_rows_file *file)
{
  struct tm_sample head = { .is_whole = false };
  int64_t breaks = -1;
  if (!tm_header_is_there(&r->options.dialect, file->is_first))
    return 0;
  if (tm_sample_read(&head, &r->options, file, HEAD_LINES, NULL) == 0) {
    size_t empty = tm_header_empty(tm_buf_str(&head.text), head.text.len);
    for (size_t i = 0; i < empty; i++)
      breaks += head.text.data[i] == '\n';
    breaks = empty < head.text.len ? breaks + 2 : -1;
  }
  tm_sample_release(&head);
  return breaks;
}

/* If every line break ends a row and rows were counted, the lines before a range are known. */
static void note_range(struct tm_rows_reader *r, const struct tm_rows_file *file)
{
  const struct tm_dialect *d = &r->options.dialect;
  bool is_plain = r->json != NULL || d->no_quotes || !d->multi_line;
  int64_t breaks = is_plain && r->range.first_row > 0 ? breaks_of_head(r, file) : -1;
  tm_lines_begin(&r->lines, file->path, file->stream->size);
  if (breaks >= 0)
    tm_lines_note(&r->lines, r->range.begin, breaks + r->range.first_row);
}

/* The line number of the byte at `at`, or 0: unknown. */
static int64_t line_of(struct tm_rows_reader *r, const struct tm_rows_file *file, int64_t at)
{
  note_range(r, file);
  return tm_lines_find(&r->lines, file->stream, r->options.dialect.encoding, r->is_big_endian, at);
}

static void add_place(struct tm_rows_reader *r, const struct tm_rows_file *file,
                      const struct tm_fault *fault, struct tm_buf *out)
{
  int64_t line = line_of(r, file, fault->at);
  tm_buf_printf(out, "'%s', ", file->path);
  if (line > 0)
    tm_buf_printf(out, "line %" PRId64 " (byte %" PRId64 "), ", line, fault->at);
  else
    tm_buf_printf(out, "byte %" PRId64 ", ", fault->at);
}

static void add_fault(struct tm_rows_reader *r, const struct tm_rows_file *file,
                      const struct tm_row_counts *counts, enum tm_fault_kind kind,
                      struct tm_buf *out)
{
  struct tm_buf words = TM_BUF_NONE;
  if (counts->faults[kind] > 0) {
    tm_row_counts_words(&words, counts, kind);
    tm_buf_add_str(&words, "; the first: ");
    add_place(r, file, &counts->first_of[kind], &words);
    tm_fault_words(&words, &counts->first_of[kind], r->schema);
    tm_fault_list_add(out, kind, counts->faults[kind], tm_row_counts_what(counts, kind), &words);
  }
  tm_buf_release(&words);
}

void tm_rows_reader_faults(struct tm_rows_reader *r, const struct tm_rows_file *file,
                           struct tm_buf *out)
{
  for (enum tm_fault_kind kind = TM_FAULT_NONE + 1; kind < TM_FAULT_KINDS; kind++)
    add_fault(r, file, tm_rows_reader_counts(r), kind, out);
  add_fault(r, file, &r->bad_texts, TM_FAULT_TEXT, out);
}

static int wrap(struct tm_rows_reader *r, const struct tm_rows_file *file, struct tm_err *err)
{
  struct tm_buf place = TM_BUF_NONE;
  const struct tm_fault *fault =
      r->json != NULL ? tm_json_lines_fault(r->json) : tm_delimited_fault(r->delimited);
  add_place(r, file, fault, &place);
  place.data[place.len - 2] = '\0'; /* without the ", " at its end */
  tm_err_wrap(err, "%s", place.data);
  tm_buf_release(&place);
  return err->code;
}

/* Ranges --------------------------------------------------------------------------------------- */

static void begin(struct tm_rows_reader *r, const struct tm_rows_file *file,
                  const struct tm_range *range, struct tm_arena *arena)
{
  struct tm_delimited_source source = {
    .at = range->begin, .fields = r->fields, .fields_len = r->fields_len, .values = file->values
  };
  if (r->json != NULL)
    tm_json_lines_begin(r->json, arena, range->begin, file->values);
  else
    tm_delimited_begin(r->delimited, arena, &source);
}

static int parse(struct tm_rows_reader *r, const struct tm_rows_file *file, bool is_last,
                 struct tm_err *err)
{
  const char *p = tm_buf_str(&r->text);
  int64_t got = r->json != NULL ? tm_json_lines_add(r->json, p, r->text.len, is_last, err)
                                : tm_delimited_add(r->delimited, p, r->text.len, is_last, err);
  if (got < 0)
    return wrap(r, file, err);
  tm_buf_remove_front(&r->text, (size_t)got);
  return 0;
}

/* The position of the first byte of r->raw that is invalid in the encoding, or near it; `u`: the
 * state before. */
static size_t find_bad(const struct tm_rows_reader *r, struct tm_utf16 u)
{
  enum tm_encoding encoding = r->options.dialect.encoding;
  size_t step = encoding == TM_ENCODING_UTF16 ? 2 : 1, at = 0, bad = 0;
  struct tm_buf ignored = TM_BUF_NONE;
  for (; at + step <= r->raw.len; at += step) {
    tm_buf_clear(&ignored);
    if (encoding == TM_ENCODING_UTF16)
      tm_utf16_add(&u, &ignored, r->raw.data + at, step, &bad);
    else
      bad = tm_rows_add_utf8(&ignored, encoding, r->raw.data + at, step);
    if (bad > 0)
      break;
  }
  tm_buf_release(&ignored);
  return at;
}

/* Reports `bad` invalid characters of r->raw, which is at offset `at` of the file: counted, or an
 * error. */
static int note_bad(struct tm_rows_reader *r, const struct tm_rows_file *file, struct tm_utf16 u,
                    size_t bad, int64_t at, struct tm_err *err)
{
  struct tm_fault fault = { .kind = TM_FAULT_TEXT, .column = -1 };
  bool is_error = r->options.dialect.misfit == TM_MISFIT_ERROR;
  if (bad == 0)
    return 0;
  if (tm_fault_is_first(&r->bad_texts, TM_FAULT_TEXT)) {
    size_t from = find_bad(r, u), n = r->raw.len - from;
    fault.at = at + (int64_t)from;
    tm_fault_set_text(&fault, r->raw.data + from, n < 8 ? n : 8);
  }
  tm_fault_note(&r->bad_texts, &fault);
  r->bad_texts.faults[TM_FAULT_TEXT] += (int64_t)bad - 1;
  if (!is_error)
    return 0;
  struct tm_buf words = TM_BUF_NONE;
  add_place(r, file, &fault, &words);
  tm_fault_words(&words, &fault, r->schema);
  tm_err_set(err, TM_EDAMAGE, "%s", tm_buf_str(&words));
  tm_buf_release(&words);
  return TM_EDAMAGE;
}

/* Appends the next bytes of the range to the rest (as UTF-8). */
static int read_piece(struct tm_rows_reader *r, const struct tm_rows_file *file, struct tm_utf16 *u,
                      size_t n, int64_t at, bool is_last, struct tm_err *err)
{
  struct tm_stream *s = file->stream;
  enum tm_encoding encoding = r->options.dialect.encoding;
  bool is_as_it_is =
      encoding == TM_ENCODING_UTF8 || (r->json == NULL && encoding != TM_ENCODING_UTF16);
  struct tm_buf *to = is_as_it_is ? &r->text : &r->raw;
  size_t bad = 0;
  tm_buf_clear(&r->raw);
  int64_t got = s->read(s, tm_buf_extend(to, n), n, at, err);
  if (got < 0)
    return (int)got;
  if (got < (int64_t)n)
    return tm_err_set(err, TM_EDAMAGE,
                      "'%s' ends at byte %" PRId64 "; it was longer when it was listed", file->path,
                      at + got);
  if (is_as_it_is)
    return 0;
  r->raw.len = n;
  struct tm_utf16 before = *u;
  if (encoding != TM_ENCODING_UTF16)
    bad = tm_rows_add_utf8(&r->text, encoding, r->raw.data, n);
  else
    tm_utf16_add(u, &r->text, r->raw.data, n, &bad);
  if (encoding == TM_ENCODING_UTF16 && is_last)
    tm_utf16_end(u, &r->text, &bad);
  return note_bad(r, file, before, bad, at, err);
}

/* Keeps (1). Even, for UTF-16. */
static size_t next_piece(const struct tm_rows_reader *r)
{
  size_t longest = tm_max_record_size(&r->options.dialect.limits), piece = r->text.len;
  if (longest > r->text.len && longest - r->text.len < piece)
    piece = longest - r->text.len;
  return piece > PIECE ? piece & ~(size_t)1 : PIECE;
}

int tm_rows_reader_read(struct tm_rows_reader *r, const struct tm_rows_file *file,
                        const struct tm_range *range, struct tm_arena *arena,
                        struct tm_data_frame *out, struct tm_err *err)
{
  int rc = look_at_head(r, file, err);
  if (rc < 0)
    return rc;
  struct tm_utf16 u = { .big_endian = r->is_big_endian };
  r->range = *range;
  r->bad_texts = (struct tm_row_counts) { 0 };
  begin(r, file, range, arena);
  tm_buf_clear(&r->text);
  for (int64_t at = range->begin; at < range->end;) {
    size_t piece = next_piece(r);
    bool is_last = range->end - at <= (int64_t)piece;
    size_t n = is_last ? (size_t)(range->end - at) : piece;
    rc = read_piece(r, file, &u, n, at, is_last, err);
    if (rc == 0)
      rc = parse(r, file, is_last, err);
    if (rc < 0)
      return rc;
    at += (int64_t)n;
  }
  if (r->json != NULL)
    tm_json_lines_end(r->json, out);
  else
    tm_delimited_end(r->delimited, out);
  return 0;
}
