/* archive.c - judges the entries of a source (names, links, limits), and stores them for the next
 * run.
 *
 *   zip_source | walk_source -> judge -> the caller, and the index
 *   archive_index            ----------> the caller
 *
 *  (1) An index holds the returned entries in the same order: the next run makes the same
 *      mini-batches.
 *  (2) Of two entries of one name the first is returned; the later one has a fault.
 *  (3) A link stands for the contents of an earlier entry; it is never followed anywhere else.
 *  (4) The contents of all returned entries, and everything that a walk must skip to reach them,
 *      stay within the ratio. So a bomb is not unpacked, be it compressed or made of links to one
 *      large entry.
 */
#include "data/archive/archive.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/archive/archive_index.h"
#include "data/archive/archive_own.h"
#include "data/archive/entry_name.h"
#include "data/archive/entry_set.h"
#include "data/archive/seven_zip.h"
#include "data/archive/zip_end.h"
#include "data/stream/gzip_index.h"
#include "data/stream/stream.h"

struct tm_archive {
  struct tm_archive_options o;
  struct tm_source *source;
  /* to read from, if there is no source; else to write to, or NULL */
  struct tm_archive_index *index;
  struct tm_entry_set names; /* that were returned, and where their contents are */
  int64_t count;             /* entries, including folders */
  int64_t held;              /* bytes of contents so far */
  struct tm_buf name, fault;
};

/* ---- opening ---- */

static bool is_gzip(const char *first, size_t n)
{
  return tm_stream_packing(first, n) == TM_PACKED_GZIP;
}

/* Listing a gzip file makes its check points: if they are missing, it is listed again. */
static bool has_points(const struct tm_archive_options *o)
{
  struct tm_gzip_key key = { .path = o->path, .size = o->size, .mtime_ns = o->mtime_ns };
  struct tm_gzip_index *x = tm_gzip_index_open(o->fs, o->index_dir, &key);
  bool yes = x != NULL && tm_gzip_index_size(x) >= 0;
  tm_gzip_index_close(x);
  return yes;
}

static void warn(const struct tm_archive *a, const struct tm_err *why)
{
  if (a->o.on_warning == NULL)
    return;
  char *text = tm_xprintf("what '%s' holds is not kept for the next run: %s", a->o.path, why->text);
  a->o.on_warning(a->o.data, text);
  free(text);
}

static int open_source(struct tm_archive *a, int fd, const char *first, size_t n,
                       struct tm_err *err)
{
  bool is_zip = tm_zip_is(&a->o, fd, first, n);
  struct tm_err why = TM_ERR_NONE;
  if (is_zip) {
    a->source = tm_zip_source(&a->o, fd, err);
  } else if (tm_seven_zip_is(first, n)) {
    a->source = tm_seven_zip_source(&a->o, fd, err);
  } else {
    tm_fs_close(a->o.fs, fd);
    a->source = tm_walk_source(&a->o, err);
  }
  if (a->source == NULL)
    return err->code = err->code == TM_EDAMAGE ? TM_EINPUT : err->code;
  if (a->o.index_dir != NULL && (a->index = tm_archive_index_make(&a->o, &why)) == NULL)
    warn(a, &why);
  return 0;
}

static int open_archive(struct tm_archive *a, struct tm_err *err)
{
  char first[TM_PACKING_BYTES];
  int fd = tm_fs_open(a->o.fs, a->o.path, O_RDONLY, 0, err);
  if (fd < 0)
    return fd;
  int64_t n = tm_fs_read_at(a->o.fs, fd, a->o.path, first, sizeof first, 0, err);
  if (n <= 0) {
    tm_fs_close(a->o.fs, fd);
    return n < 0 ? (int)n : tm_archive_refuse(a->o.path, err, "it is empty");
  }
  if (a->o.index_dir != NULL && (!is_gzip(first, (size_t)n) || has_points(&a->o)))
    a->index = tm_archive_index_open(&a->o);
  if (a->index == NULL)
    return open_source(a, fd, first, (size_t)n, err);
  tm_fs_close(a->o.fs, fd);
  return 0;
}

struct tm_archive *tm_archive_open(const struct tm_archive_options *options, struct tm_err *err)
{
  tm_require(options->path && options->limits.entries > 0 && options->limits.size > 0 &&
             options->limits.ratio > 0);
  struct tm_archive *a = TM_NEW(struct tm_archive);
  a->o = *options;
  if (open_archive(a, err) == 0)
    return a;
  tm_archive_close(a);
  return NULL;
}

void tm_archive_close(struct tm_archive *a)
{
  if (a == NULL)
    return;
  if (a->source != NULL)
    a->source->close(a->source);
  tm_archive_index_close(a->index);
  tm_entry_set_release(&a->names);
  tm_buf_release(&a->name);
  tm_buf_release(&a->fault);
  free(a);
}

/* ---- judging ---- */

/* The target of a link as a name within the archive; NULL: it leads elsewhere. To free(). */
static char *link_target(const struct tm_archive *a, const struct tm_raw_entry *raw)
{
  struct tm_buf clean = TM_BUF_NONE;
  char *joined = NULL;
  if (!raw->is_symbolic) { /* a hard link holds a name within the archive */
    if (tm_entry_name_clean(&clean, raw->link, strlen(raw->link)) == NULL)
      return tm_buf_take(&clean);
    tm_buf_release(&clean);
    return NULL;
  }
  if (tm_path_is_absolute(raw->link))
    return NULL;
  char *dir = tm_path_dir(tm_buf_str(&a->name));
  joined = tm_path_absolute(strcmp(dir, ".") == 0 ? "" : dir, raw->link);
  free(dir);
  bool is_within = joined[0] != '/' && strncmp(joined, "../", 3) != 0 && strcmp(joined, "..") != 0;
  if (is_within)
    return joined;
  free(joined);
  return NULL;
}

static void judge_link(struct tm_archive *a, const struct tm_raw_entry *raw,
                       struct tm_archive_entry *out) /* keeps (3) */
{
  char *target = raw->link ? link_target(a, raw) : NULL;
  bool is_found = target && tm_entry_set_find(&a->names, target, strlen(target), &out->place);
  tm_buf_clear(&a->fault);
  if (raw->link == NULL)
    tm_buf_add_str(&a->fault,
                   "it is a symbolic link, and links of a zip or 7z archive are not followed");
  else if (target == NULL)
    tm_buf_printf(&a->fault, "it is a link that leads out of the archive, to '%.1000s'", raw->link);
  else if (!is_found)
    tm_buf_printf(&a->fault,
                  "it is a link to '%.1000s', which is not an earlier file in the archive",
                  raw->link);
  free(target);
  if (a->fault.len > 0)
    out->fault = tm_buf_str(&a->fault);
}

static const char *judge_size(struct tm_archive *a, const struct tm_entry_place *e)
{
  const struct tm_archive_limits *l = &a->o.limits;
  tm_buf_clear(&a->fault);
  if (e->size > l->size)
    tm_buf_printf(&a->fault,
                  "it has %" PRId64 " bytes of contents, more than max_entry_size (%" PRId64 ")",
                  e->size, l->size);
  else if (e->how == TM_ENTRY_IN_ZIP && e->size > TM_ARCHIVE_SMALL &&
           e->size / l->ratio >= e->packed)
    tm_buf_printf(&a->fault,
                  "its %" PRId64 " bytes of contents are more than max_ratio (%" PRId64
                  ") times the %" PRId64 " that it is packed in",
                  e->size, l->ratio, e->packed);
  return a->fault.len > 0 ? tm_buf_str(&a->fault) : NULL;
}

static void judge_name(struct tm_archive *a, struct tm_archive_entry *out) /* keeps (2) */
{
  if (!tm_entry_set_add(&a->names, out->name, out->name_len, &out->place))
    out->fault = "its name occurs twice; this is the later entry";
}

static void judge(struct tm_archive *a, const struct tm_raw_entry *raw,
                  struct tm_archive_entry *out)
{
  tm_buf_clear(&a->name);
  *out = (struct tm_archive_entry) { .place = raw->place, .fault = raw->fault };
  const char *bad = tm_entry_name_clean(&a->name, raw->name, raw->name_len);
  out->name = tm_buf_str(&a->name);
  out->name_len = a->name.len;
  out->fault = bad ? bad : out->fault;
  if (!out->fault && raw->type == TM_RAW_OTHER)
    out->fault = "it is a device, a FIFO or a socket, not a file";
  if (!out->fault && raw->type == TM_RAW_LINK)
    judge_link(a, raw, out);
  if (!out->fault)
    out->fault = judge_size(a, &out->place);
  if (!out->fault)
    judge_name(a, out);
  if (out->fault) /* nobody reads it */
    out->place = (struct tm_entry_place) { .how = raw->place.how };
}

/* ---- returning ---- */

static void keep(struct tm_archive *a, const struct tm_archive_entry *entry) /* keeps (1) */
{
  tm_require(entry->fault || entry->place.size <= a->o.limits.size);
  struct tm_err why = TM_ERR_NONE;
  if (a->index == NULL || tm_archive_index_add(a->index, entry, &why) == 0)
    return;
  warn(a, &why);
  tm_archive_index_close(a->index);
  a->index = NULL;
}

static void finish(struct tm_archive *a)
{
  struct tm_err why = TM_ERR_NONE;
  if (a->index != NULL && tm_archive_index_finish(a->index, &why) < 0)
    warn(a, &why);
  tm_archive_index_close(a->index);
  a->index = NULL;
}

static int add_held(struct tm_archive *a, const struct tm_raw_entry *raw, int64_t given,
                    struct tm_err *err) /* keeps (4) */
{
  int64_t passed = raw->place.how == TM_ENTRY_IN_ZIP ? 0 : raw->place.size;
  int64_t size = given > passed ? given : passed;
  tm_require(a->held >= 0);
  a->held = a->held > INT64_MAX - size ? INT64_MAX : a->held + size;
  return tm_archive_check_held(&a->o, a->held, err);
}

int tm_archive_next(struct tm_archive *a, struct tm_archive_entry *out, struct tm_err *err)
{
  struct tm_raw_entry raw;
  int rc;
  tm_require(a->source || a->index);
  if (a->source == NULL)
    return tm_archive_index_next(a->index, out, err);
  while ((rc = a->source->next(a->source, &raw, err)) > 0) {
    bool is_folder = raw.type == TM_RAW_FOLDER;
    if (++a->count > a->o.limits.entries || a->count > TM_ENTRY_SET_MOST)
      return tm_archive_refuse(a->o.path, err,
                               "it has more than %" PRId64
                               " entries; if that is right, raise max_entries of the dataset",
                               a->o.limits.entries);
    if (!is_folder)
      judge(a, &raw, out);
    if ((rc = add_held(a, &raw, is_folder ? 0 : out->place.size, err)) < 0)
      return rc;
    if (is_folder)
      continue;
    keep(a, out);
    return 1;
  }
  if (rc == 0)
    finish(a);
  return rc;
}
