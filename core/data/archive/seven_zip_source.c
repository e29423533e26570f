/* seven_zip_source.c - the entries of a 7z archive, by its header (seven_zip.h).
 *
 * A worker reads them through libarchive, by their number, which counts files and folders in the
 * order of the header.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "data/archive/archive_own.h"
#include "data/archive/seven_zip.h"
#include "data/rows/encoding.h"

struct seven_zip_source {
  struct tm_source source;
  struct tm_stream *file;
  struct tm_seven_zip zip;
  int64_t number; /* of the next entry */
  struct tm_buf name;
};

static enum tm_raw_type type_of(const struct tm_seven_zip_entry *e)
{
  bool is_folder = !e->has_stream && !e->is_file;
  return is_folder ? TM_RAW_FOLDER : tm_archive_type_of(e->mode, (int64_t)e->size);
}

static int seven_zip_next(struct tm_source *source, struct tm_raw_entry *out, struct tm_err *err)
{
  struct seven_zip_source *s = (struct seven_zip_source *)source;
  struct tm_seven_zip_entry e;
  struct tm_utf16 text = { 0 };
  size_t bad = 0;
  (void)err;
  if (!tm_seven_zip_next(&s->zip.header, &e))
    return 0;
  tm_buf_clear(&s->name);
  tm_utf16_add(&text, &s->name, e.name, e.name_len, &bad);
  tm_utf16_end(&text, &s->name, &bad);
  *out = (struct tm_raw_entry) {
    .type = type_of(&e),
    .name = tm_buf_str(&s->name),
    .name_len = s->name.len,
    .is_symbolic = true,
    .fault = e.is_encrypted ? "it is encrypted" : NULL,
    .place = { .how = TM_ENTRY_WALKED, .place = s->number++, .size = (int64_t)e.size },
  };
  return 1;
}

static void seven_zip_close(struct tm_source *source)
{
  struct seven_zip_source *s = (struct seven_zip_source *)source;
  tm_seven_zip_release(&s->zip);
  tm_stream_close(s->file);
  tm_buf_release(&s->name);
  free(s);
}

struct tm_source *tm_seven_zip_source(const struct tm_archive_options *o, int fd,
                                      struct tm_err *err)
{
  struct seven_zip_source *s = TM_NEW(struct seven_zip_source);
  s->source = (struct tm_source) { seven_zip_next, seven_zip_close };
  s->file = tm_stream_of_file(o->fs, fd, o->path, o->size);
  if (tm_seven_zip_read(&s->zip, s->file, o->path, err) == 0)
    return &s->source;
  seven_zip_close(&s->source);
  return NULL;
}
