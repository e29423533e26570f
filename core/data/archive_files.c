/* archive_files.c - see archive_files.h. */
#include "data/archive_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/archives.h"

struct tm_archive_files {
  const struct tm_fs *fs;
  const struct tm_dataset *dataset;
  const struct tm_cut_options *o;
  struct tm_archive *archive; /* NULL: not opened */
  struct tm_item file;        /* of the archive at hand */
  struct tm_buf path;         /* its own, and behind it the entry's name */
  char *own_path;
  bool has_begun;
  int64_t count, entries, given;
};

struct tm_archive_files *tm_archive_files_new(const struct tm_fs *fs, const struct tm_dataset *d,
                                              const struct tm_cut_options *o)
{
  struct tm_archive_files *a = TM_NEW(struct tm_archive_files);
  a->fs = fs;
  a->dataset = d;
  a->o = o;
  return a;
}

static void end(struct tm_archive_files *a)
{
  tm_archive_close(a->archive);
  free(a->own_path);
  a->archive = NULL;
  a->own_path = NULL;
  a->has_begun = false;
}

void tm_archive_files_free(struct tm_archive_files *a)
{
  if (a == NULL)
    return;
  end(a);
  tm_buf_release(&a->path);
  free(a);
}

void tm_archive_files_begin(struct tm_archive_files *a, const struct tm_item *file)
{
  end(a);
  a->own_path = tm_xstrndup(file->path, file->path_len);
  a->file = *file;
  a->has_begun = true;
  a->count++;
}

static int open_archive(struct tm_archive_files *a, struct tm_err *err)
{
  struct tm_archive_options o = { .fs = a->fs,
                                  .path = a->own_path,
                                  .size = a->file.size,
                                  .mtime_ns = a->file.mtime_ns,
                                  .index_dir = a->o->index_dir,
                                  .limits = a->dataset->archives->limits,
                                  .on_warning = a->o->on_warning,
                                  .data = a->o->data };
  a->archive = tm_archive_open(&o, err);
  return a->archive ? 0 : err->code;
}

static bool is_wanted(struct tm_archive_files *a, const struct tm_archive_entry *e)
{
  const struct tm_archives *which = a->dataset->archives;
  a->entries++;
  return tm_archives_want(which, e->name) || (e->fault && tm_archives_want_bad(which, e->name));
}

static int skip(struct tm_archive_files *a, const struct tm_err *why)
{
  if (a->o->on_warning != NULL) {
    char *text = tm_xprintf("%s; it is skipped from there on", why->text);
    a->o->on_warning(a->o->data, text);
    free(text);
  }
  end(a);
  return 0;
}

static int next_wanted(struct tm_archive_files *a, struct tm_archive_entry *e, struct tm_err *err)
{
  int rc = a->archive ? 0 : open_archive(a, err);
  while (rc >= 0 && (rc = tm_archive_next(a->archive, e, err)) > 0)
    if (is_wanted(a, e))
      return 1;
  return rc;
}

int tm_archive_files_next(struct tm_archive_files *a, struct tm_item *out, struct tm_err *err)
{
  struct tm_archive_entry e;
  struct tm_err why = TM_ERR_NONE;
  if (!a->has_begun)
    return 0;
  int rc = next_wanted(a, &e, &why);
  if (rc < 0 && a->dataset->skip_unreadable && (rc == TM_EINPUT || rc == -EACCES || rc == -EPERM))
    return skip(a, &why);
  if (rc < 0)
    *err = why;
  if (rc <= 0) {
    end(a);
    return rc;
  }
  tm_buf_clear(&a->path);
  tm_buf_add(&a->path, a->own_path, a->file.path_len);
  tm_buf_add_char(&a->path, '/');
  tm_buf_add(&a->path, e.name, e.name_len);
  *out = a->file;
  out->path = a->path.data;
  out->path_len = a->path.len;
  out->is_entry = true;
  out->is_extracted = a->dataset->archives->is_extracted;
  out->archive_len = (uint32_t)a->file.path_len;
  out->entry = e.place;
  out->fault = e.fault;
  out->fault_len = e.fault ? strlen(e.fault) : 0;
  a->given++;
  return 1;
}

char *tm_archive_files_empty(const struct tm_archive_files *a)
{
  const struct tm_archives *which = a->dataset->archives;
  if (a->count == 0 || a->given > 0)
    return NULL;
  return tm_xprintf("none of the %" PRId64 " %s in %" PRId64 " %s%s%s%s", a->entries,
                    tm_text_counted(a->entries, "file", "files"), a->count,
                    tm_text_counted(a->count, "archive", "archives"),
                    which->len == 0   ? " is taken: their names begin with a dot"
                    : which->len == 1 ? " matches '"
                                      : " matches a pattern of 'entries', the first is '",
                    which->len > 0 ? which->patterns[0] : "", which->len > 0 ? "'" : "");
}
