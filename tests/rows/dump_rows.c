/* dump_rows.c - cuts a file of rows into ranges, reads them as a worker does, and prints lines that
 * a script can compare.
 *
 *   dump_rows FILE [OPTION=VALUE]...
 *
 *   format=delimited|json  separator=,  header=all_files_same|...  encoding=utf8  multi_line=0|1
 *   quotes=0|1  empty_as_string=0|1  on_ragged=null|drop|error  on_misfit=null|error
 *   drop_invalid=0|1  bytes=N  rows=N  infer=0|1  types=NAME:TYPE[:FORMAT],...
 *   index=FOLDER  spacing=N
 *
 * Each row is a line of fields, separated by tabs: "-" is null; other fields are the type's letter
 * (b, l, d, s, t) and the value, with the bytes of a text in hexadecimal digits. The line "#
 * NAME:TYPE ..." comes before the first row, with names in hexadecimal digits too. A range begins
 * with "@ BEGIN END ROWS FAULTS". The message about faults follows "! ".
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/frame/fault_list.h"
#include "data/rows/row_boundaries.h"
#include "data/rows/header.h"
#include "data/rows/infer.h"
#include "data/rows/open.h"
#include "data/rows/reader.h"
#include "data/rows/sample.h"
#include "params/params.h"

struct setup {
  struct tm_rows_options rows;
  struct tm_rows_pack pack;
  int64_t bytes, count;
  bool infer;
  struct tm_column_setting settings[16];
  const char *formats[16];
  size_t settings_len;
};

static void stop(const struct tm_err *err)
{
  printf("error %s\n", err->text);
  exit(1);
}

static void add_settings(struct setup *s, char *list)
{
  for (char *one = strtok(list, ","); one != NULL && s->settings_len < 16;
       one = strtok(NULL, ",")) {
    struct tm_column_setting *c = &s->settings[s->settings_len];
    char *type = strchr(one, ':'), *format = strchr(type + 1, ':');
    *type++ = '\0';
    if (format != NULL)
      *format++ = '\0';
    c->name = one;
    c->type = (enum tm_column_type)tm_column_type_of(type);
    s->formats[s->settings_len] = format;
    c->formats = &s->formats[s->settings_len];
    c->formats_len = format != NULL;
    s->settings_len++;
  }
}

static int set_more(struct setup *s, const char *key, char *value)
{
  bool on = strcmp(value, "1") == 0;
  struct tm_dialect *d = &s->rows.dialect;
  if (strcmp(key, "multi_line") == 0)
    d->multi_line = on;
  else if (strcmp(key, "quotes") == 0)
    d->no_quotes = !on;
  else if (strcmp(key, "empty_as_string") == 0)
    d->empty_as_string = on;
  else if (strcmp(key, "drop_invalid") == 0)
    s->rows.drop_invalid = on;
  else if (strcmp(key, "infer") == 0)
    s->infer = on;
  else if (strcmp(key, "bytes") == 0)
    s->bytes = atoll(value);
  else if (strcmp(key, "rows") == 0)
    s->count = atoll(value);
  else if (strcmp(key, "types") == 0)
    add_settings(s, value);
  else if (strcmp(key, "index") == 0)
    s->pack.index_dir = value;
  else if (strcmp(key, "spacing") == 0)
    s->pack.spacing = atoll(value);
  else
    return -1;
  return 0;
}

/* The other options are those of the constructor. */
static int set_dialect(struct tm_dialect *d, const char *key, const char *value, struct tm_err *err)
{
  struct tm_json *given = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(given, key, tm_json_new_string(value));
  struct tm_json *settled =
      tm_params_settle("Dataset.Tabular.from_delimited_files", given, false, err);
  if (settled)
    tm_dialect_read(d, settled);
  tm_json_free(given);
  tm_json_free(settled);
  return settled ? 0 : TM_EUSAGE;
}

static void set(struct setup *s, char *option)
{
  struct tm_err err = TM_ERR_NONE;
  char *value = strchr(option, '=');
  *value++ = '\0';
  if (strcmp(option, "format") == 0)
    s->rows.format = strcmp(value, "json") == 0 ? TM_ROWS_JSON_LINES : TM_ROWS_DELIMITED;
  else if (set_more(s, option, value) < 0 && set_dialect(&s->rows.dialect, option, value, &err) < 0)
    stop(&err);
}

static void print_bytes(const char *p, size_t n)
{
  for (size_t i = 0; i < n; i++)
    printf("%02x", (unsigned char)p[i]);
}

static void print_value(const struct tm_column *c, int64_t row)
{
  size_t n;
  if (tm_column_is_null(c, row)) {
    printf("-");
    return;
  }
  switch (c->type) {
  case TM_COLUMN_BOOL: printf("b%d", c->b8[row]); break;
  case TM_COLUMN_LONG: printf("l%" PRId64, c->i64[row]); break;
  case TM_COLUMN_DATETIME: printf("t%" PRId64, c->i64[row]); break;
  case TM_COLUMN_DOUBLE: printf("d%.17g", c->f64[row]); break;
  default: {
    const char *p = tm_column_string(c, row, &n);
    printf("s");
    print_bytes(p, n);
  }
  }
}

static void print_frame(const struct tm_data_frame *frame)
{
  for (int64_t row = 0; row < frame->len; row++)
    for (size_t i = 0; i < frame->n; i++) {
      print_value(&frame->columns[i], row);
      printf("%s", i + 1 < frame->n ? "\t" : "\n");
    }
}

/* The warnings, joined. */
static void add_words(struct tm_rows_reader *r, const struct tm_rows_file *file, struct tm_buf *out)
{
  struct tm_buf list = TM_BUF_NONE;
  tm_rows_reader_faults(r, file, &list);
  tm_fault_list_words(out, &list);
  tm_buf_release(&list);
}

static void print_range(struct tm_rows_reader *reader, const struct tm_rows_file *file,
                        const struct tm_range *range, struct tm_arena *arena)
{
  struct tm_data_frame frame;
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf words = TM_BUF_NONE;
  tm_arena_clear(arena);
  if (tm_rows_reader_read(reader, file, range, arena, &frame, &err) < 0)
    stop(&err);
  printf("@ %" PRId64 " %" PRId64 " %" PRId64 " %d\n", range->begin, range->end, range->rows,
         tm_rows_reader_counts(reader)->first.kind);
  print_frame(&frame);
  add_words(reader, file, &words);
  if (words.len > 0)
    printf("! %s\n", words.data);
  tm_buf_release(&words);
}

/* Finds boundaries in one stream and reads rows from another, as the lister and a worker do. */
static void dump(struct setup *s, const char *path)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_schema schema = { 0 };
  struct tm_arena arena = { 0 };
  struct tm_range range;
  struct tm_stream *listed = tm_rows_open(tm_fs_real(), path, &s->pack, true, &err);
  if (listed == NULL)
    stop(&err);
  struct tm_rows_file file = { .path = path, .stream = listed, .is_first = true };
  if (tm_rows_find_schema(&s->rows, &file, s->infer, s->settings, s->settings_len, &schema, &err) <
      0)
    stop(&err);
  printf("#");
  for (size_t i = 0; i < schema.len; i++) {
    printf(" ");
    print_bytes(schema.columns[i].name, strlen(schema.columns[i].name));
    printf(":%s", tm_column_type_name(schema.columns[i].type));
  }
  printf("\n");
  fflush(stdout);
  struct tm_dialect lines = s->rows.dialect;
  lines.no_quotes |= s->rows.format == TM_ROWS_JSON_LINES;
  struct tm_row_boundaries_options options = {
    .dialect = &lines,
    .read = tm_stream_read,
    .data = listed,
    .size = listed->size,
    .range_bytes = s->bytes,
    .range_rows = s->count,
    .has_header = s->rows.format == TM_ROWS_DELIMITED && tm_header_is_there(&lines, true),
  };
  struct tm_row_boundaries *b = tm_row_boundaries_new(&options);
  struct tm_rows_reader *reader = tm_rows_reader_new(&s->rows, &schema);
  int rc;
  while ((rc = tm_row_boundaries_next(b, &range, &err)) > 0) {
    file.stream = tm_rows_open(tm_fs_real(), path, &s->pack, false, &err);
    if (file.stream == NULL)
      stop(&err);
    print_range(reader, &file, &range, &arena);
    tm_stream_close(file.stream);
  }
  if (rc < 0)
    stop(&err);
  tm_rows_reader_free(reader);
  tm_row_boundaries_free(b);
  tm_stream_close(listed);
  tm_schema_release(&schema);
  tm_arena_release(&arena);
}

int main(int argc, char **argv)
{
  struct setup s = { .bytes = 1 << 20 };
  if (argc < 2)
    return 2;
  tm_dialect_init(&s.rows.dialect);
  for (int i = 2; i < argc; i++)
    set(&s, argv[i]);
  dump(&s, argv[1]);
  return 0;
}
