/* walk.c - see walk.h. */
#include "data/archive/walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/archive/archive_source.h"
#include "data/archive/header_names.h"
#include "data/stream/libarchive.h"

#define INPUT       ((size_t)256 << 10)
#define HEADER_MOST (INT64_C(16) << 20)
#define LINKS_MOST  30000
#define HEAD_MAX                                                                                   \
  ((size_t)4 << 20) /* bytes of an entry's headers; libarchive refuses records of more than 1 MB */

struct tm_walk {
  struct tm_stream *stream;
  char *path;
  const struct tm_libarchive *la;
  struct archive *archive;
  int64_t from, at;  /* in the stream: where it begins, and the next read */
  struct tm_err err; /* of a read, unknown to libarchive */
  char *input;       /* the last piece, */
  int64_t input_at;  /* its offset in the stream, */
  size_t input_len;  /* and its length */
  bool is_seven_zip;
  bool has_entry;      /* a current entry, whose data must be skipped */
  int64_t header_left; /* bytes that may be read for the current header; -1: any number */
  int64_t links;       /* files of a cpio with several names */
  bool is_in_head;     /* libarchive reads the headers of the next entry */
  int64_t head_at;     /* their offset in the stream */
  struct tm_buf head;  /* earlier pieces of them; `input` has only the last piece */
};

/* The part of `input` that follows the stored pieces of the current headers. */
static const char *head_in_input(const struct tm_walk *w, size_t *n)
{
  int64_t from = w->head_at + (int64_t)w->head.len, end = w->input_at + (int64_t)w->input_len;
  *n = from >= w->input_at && from < end ? (size_t)(end - from) : 0;
  return *n > 0 ? w->input + (from - w->input_at) : NULL;
}

static void keep_head(struct tm_walk *w)
{
  size_t n;
  const char *p = head_in_input(w, &n);
  if (w->is_in_head && w->head.len < HEAD_MAX)
    tm_buf_add(&w->head, p, n);
}

static bool is_cpio(const struct tm_walk *w)
{
  return (w->la->format(w->archive) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_CPIO;
}

/* Eases the current header. The first of an archive, whose format is unknown yet, and one that
 * spans two pieces stay as they are, and count as links. */
static void ease_folder(struct tm_walk *w)
{
  int64_t at = w->head_at - w->input_at;
  if (w->is_in_head && is_cpio(w) && at >= 0 && at < (int64_t)w->input_len)
    tm_cpio_ease_folder(w->input + at, w->input_len - (size_t)at);
}

static la_ssize_t on_read(struct archive *a, void *data, const void **p)
{
  struct tm_walk *w = data;
  struct tm_err err = TM_ERR_NONE;
  keep_head(w);
  w->input_at = w->at;
  w->input_len = 0;
  int64_t got = w->stream->read(w->stream, w->input, INPUT, w->at, &err);
  if (got < 0) {
    w->err = err;
    w->la->set_error(a, EIO, "cannot be read");
    return ARCHIVE_FATAL;
  }
  w->at += got;
  w->input_len = (size_t)got;
  ease_folder(w);
  *p = w->input;
  if (w->header_left < 0 || (w->header_left -= got) >= 0)
    return (la_ssize_t)got;
  tm_archive_refuse(w->path, &w->err, "it has a header of more than %" PRId64 " MB",
                    HEADER_MOST >> 20);
  w->header_left = 0;
  w->la->set_error(a, EIO, "cannot be read");
  return ARCHIVE_FATAL;
}

/* Only plain files can be skipped; never past the end, so that a cut archive is noticed. */
static la_int64_t on_skip(struct archive *a, void *data, la_int64_t n)
{
  struct tm_walk *w = data;
  (void)a;
  int64_t left = w->stream->size - w->at;
  if (w->stream->size < 0 || left <= 0)
    return 0;
  n = n < left ? n : left;
  w->at += n;
  return n;
}

static la_int64_t on_seek(struct archive *a, void *data, la_int64_t to, int whence)
{
  struct tm_walk *w = data;
  int64_t base = whence == SEEK_SET ? w->from : whence == SEEK_CUR ? w->at : w->stream->size;
  if (to > 0 ? base > w->stream->size - to : base + to < w->from) {
    w->la->set_error(a, EINVAL, "a place outside the file");
    return ARCHIVE_FATAL;
  }
  w->at = base + to;
  return w->at - w->from;
}

static void support(struct tm_walk *w, enum tm_walk_kind kind)
{
  if (kind == TM_WALK_ZIP) {
    w->la->read_support_format_zip_streamable(w->archive);
    return;
  }
  if (w->is_seven_zip) {
    w->la->read_support_format_7zip(w->archive);
    w->la->read_set_seek_callback(w->archive, on_seek);
    return;
  }
  w->la->read_support_format_tar(w->archive);
  w->la->read_support_format_cpio(w->archive);
}

struct tm_walk *tm_walk_open(struct tm_stream *s, const char *path, enum tm_walk_kind kind,
                             int64_t from, struct tm_err *err)
{
  struct tm_walk *w = TM_NEW(struct tm_walk);
  w->stream = s;
  s->gives_before_damage = true; /* so that the entries before the damage are found */
  w->path = tm_xstrdup(path);
  w->from = w->at = w->head_at = from;
  w->is_in_head = true;
  w->input = tm_xmalloc(INPUT);
  w->header_left = -1;
  w->is_seven_zip = kind == TM_WALK_SEVEN_ZIP;
  w->la = tm_libarchive(err);
  w->archive = w->la ? w->la->read_new() : NULL;
  if (w->archive == NULL) {
    if (w->la)
      tm_err_system(err, -ENOMEM, "cannot read '%s'", path);
    tm_walk_close(w);
    return NULL;
  }
  support(w, kind);
  w->la->read_set_read_callback(w->archive, on_read);
  w->la->read_set_skip_callback(w->archive, on_skip);
  w->la->read_set_callback_data(w->archive, w);
  return w;
}

void tm_walk_close(struct tm_walk *w)
{
  if (w == NULL)
    return;
  if (w->archive != NULL)
    w->la->read_free(w->archive);
  tm_buf_release(&w->head);
  free(w->input);
  free(w->path);
  free(w);
}

/* The error of a read of the stream; 0: none. */
static int refuse_stream(const struct tm_walk *w, struct tm_err *err)
{
  int code = w->err.code == TM_EDAMAGE ? TM_EINPUT : w->err.code;
  return code < 0 ? tm_err_set(err, code, "%s", w->err.text) : 0;
}

static int refuse_data(const struct tm_walk *w, struct tm_err *err)
{
  const char *words = w->la->error_string(w->archive);
  int rc = refuse_stream(w, err);
  return rc < 0 ? rc
                : tm_err_set(err, TM_EINPUT, "its data cannot be decoded: %s",
                             words ? words : "they are damaged");
}

static int refuse(struct tm_walk *w, struct tm_err *err)
{
  const char *words = w->la->error_string(w->archive);
  int rc = refuse_stream(w, err);
  if (rc < 0)
    return rc;
  if (words == NULL)
    words = "it is damaged, or cut off";
  if (strstr(words, "Unrecognized archive format") != NULL)
    words =
        "it is not an archive; accepted: zip, tar (also packed with gzip, zstd, xz, bzip2 or lz4), "
        "7z and cpio";
  return tm_archive_refuse(w->path, err, "%s", words);
}

static int begin(struct tm_walk *w, struct tm_err *err)
{
  return w->la->read_open1(w->archive) == ARCHIVE_OK ? 0 : refuse(w, err);
}

static int check_links(struct tm_walk *w, struct archive_entry *e, struct tm_err *err)
{
  if (!is_cpio(w) || w->la->entry_nlink(e) < 2 || ++w->links <= LINKS_MOST)
    return 1;
  return tm_archive_refuse(w->path, err,
                           "it is a cpio with more than %d files that have several names; "
                           "pack them as tar",
                           LINKS_MOST);
}

/* Skips the data of the current entry, as libarchive would: the headers of the next one follow. */
static int pass_data(struct tm_walk *w, struct tm_err *err)
{
  if (!w->has_entry)
    return 0;
  w->has_entry = false;
  int rc = w->la->read_data_skip(w->archive);
  if (rc == ARCHIVE_EOF || rc < ARCHIVE_WARN)
    return refuse(w, err);
  w->is_in_head = true;
  w->head_at = tm_walk_at(w);
  tm_buf_clear(&w->head);
  return 0;
}

int tm_walk_next(struct tm_walk *w, struct archive_entry **out, struct tm_err *err)
{
  int rc = w->la->filter_count(w->archive) == 0 ? begin(w, err) : 0;
  if (rc < 0)
    return rc;
  if (pass_data(w, err) < 0)
    return err->code;
  ease_folder(w);
  w->header_left = w->is_seven_zip ? -1 : HEADER_MOST;
  rc = w->la->read_next_header(w->archive, out);
  w->header_left = -1;
  w->is_in_head = false;
  if (w->err.code < 0) /* the read error made it look like an end */
    return refuse(w, err);
  if (rc == ARCHIVE_EOF)
    return 0;
  w->has_entry = rc == ARCHIVE_OK || rc == ARCHIVE_WARN;
  return w->has_entry ? check_links(w, *out, err) : refuse(w, err);
}

const char *tm_walk_header_fault(struct tm_walk *w)
{
  int format = w->la->format(w->archive) & ARCHIVE_FORMAT_BASE_MASK;
  bool is_tar = format == ARCHIVE_FORMAT_TAR;
  int64_t size = tm_walk_at(w) - w->head_at;
  size_t n;
  if (!is_tar && format != ARCHIVE_FORMAT_CPIO)
    return NULL;
  const char *p = head_in_input(w, &n);
  if (w->head.len > 0) {
    tm_buf_add(&w->head, p, n);
    p = w->head.data;
    n = w->head.len;
  }
  if (w->head_at != tm_walk_header_at(w) || size < 0 || (uint64_t)size > n)
    return "its headers are too long";
  bool is_hidden =
      is_tar ? tm_tar_hides_name(p, (size_t)size) : tm_cpio_hides_name(p, (size_t)size);
  return is_hidden ? "its name holds a NUL byte" : NULL;
}

int64_t tm_walk_read(struct tm_walk *w, void *p, size_t n, struct tm_err *err)
{
  size_t done = 0;
  while (done < n) {
    la_ssize_t got = w->la->read_data(w->archive, (char *)p + done, n - done);
    if (got < 0) /* also ARCHIVE_WARN: a wrong check sum */
      return refuse_data(w, err);
    if (got == 0)
      break;
    done += (size_t)got;
  }
  return (int64_t)done;
}

bool tm_walk_is_tar(const struct tm_walk *w)
{
  return (w->la->format(w->archive) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_TAR;
}

int64_t tm_walk_header_at(const struct tm_walk *w)
{
  return w->from + w->la->read_header_position(w->archive);
}

int64_t tm_walk_at(const struct tm_walk *w)
{
  return w->from + w->la->filter_bytes(w->archive, 0);
}

int tm_walk_drain(struct tm_walk *w, struct tm_err *err)
{
  const void *p;
  la_ssize_t got = on_read(w->archive, w, &p);
  return got < 0 ? refuse(w, err) : got > 0;
}

int64_t tm_walk_drained(const struct tm_walk *w)
{
  return w->at;
}
