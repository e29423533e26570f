/* archive_files.c - see archive_files.h. */
#include "data/archive/archive_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "data/archive/archives.h"
#include "data/files/glob.h"

struct tm_archive_files {
  const struct tm_fs *fs;
  const struct tm_dataset *dataset;
  struct tm_archive_files_options o;
  struct tm_archive *archive; /* NULL: not open */
  struct tm_item file;        /* of the current archive */
  struct tm_buf path;         /* the archive's path, followed by the entry's name */
  struct tm_err why;          /* why it cannot be listed any further */
  char *own_path;
  bool has_begun;
  int64_t count, entries, given;
  int64_t in_folders;     /* entries left out, whose last names the one pattern would match */
  int64_t entries_before; /* entries before the current archive */
};

struct tm_archive_files *tm_archive_files_new(const struct tm_fs *fs, const struct tm_dataset *d,
                                              const struct tm_archive_files_options *o)
{
  struct tm_archive_files *a = TM_NEW(struct tm_archive_files);
  a->fs = fs;
  a->dataset = d;
  a->o = *o;
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
  a->entries_before = a->entries;
  a->count++;
}

static int open_archive(struct tm_archive_files *a, struct tm_err *err)
{
  struct tm_archive_options o = { .fs = a->fs,
                                  .path = a->own_path,
                                  .size = a->file.size,
                                  .mtime_ns = a->file.mtime_ns,
                                  .index_dir = a->o.index_dir,
                                  .limits = a->dataset->archives->limits,
                                  .on_warning = a->o.on_warning,
                                  .data = a->o.data };
  a->archive = tm_archive_open(&o, err);
  return a->archive ? 0 : err->code;
}

static bool is_wanted(struct tm_archive_files *a, const struct tm_archive_entry *e)
{
  const struct tm_archives *which = a->dataset->archives;
  bool is_wanted =
      tm_archives_want(which, e->name) || (e->fault && tm_archives_want_bad(which, e->name));
  a->entries++;
  if (!is_wanted && which->len == 1 && strchr(which->patterns[0], '/') == NULL)
    a->in_folders += tm_glob_match_name(which->patterns[0], tm_path_base(e->name));
  return is_wanted;
}

static void warn(const struct tm_archive_files *a, const char *what_follows)
{
  if (a->o.on_warning == NULL)
    return;
  char *text = tm_xprintf("%s; %s", a->why.text, what_follows);
  a->o.on_warning(a->o.data, text);
  free(text);
}

static int next_wanted(struct tm_archive_files *a, struct tm_archive_entry *e, struct tm_err *err)
{
  int rc = a->archive ? 0 : open_archive(a, err);
  while (rc >= 0 && (rc = tm_archive_next(a->archive, e, err)) > 0)
    if (is_wanted(a, e))
      return 1;
  return rc;
}

/* An item of the current archive, without a name yet. */
static struct tm_item begin_item(struct tm_archive_files *a, const char *fault)
{
  struct tm_item item = a->file;
  tm_buf_clear(&a->path);
  tm_buf_add(&a->path, a->own_path, a->file.path_len);
  item.is_entry = true;
  item.is_extracted = a->dataset->archives->is_extracted;
  item.archive_len = (uint32_t)a->file.path_len;
  item.fault = fault;
  item.fault_len = fault ? strlen(fault) : 0;
  return item;
}

static struct tm_item entry_item(struct tm_archive_files *a, const struct tm_archive_entry *e)
{
  struct tm_item item = begin_item(a, e->fault);
  tm_buf_add_char(&a->path, '/');
  tm_buf_add(&a->path, e->name, e->name_len);
  item.entry = e->place;
  return item;
}

/* The archive itself, as its last item. */
static struct tm_item archive_item(struct tm_archive_files *a)
{
  int64_t found = a->entries - a->entries_before;
  if (found > 0) {
    size_t len = strlen(a->why.text);
    snprintf(a->why.text + len, sizeof a->why.text - len,
             "; the %s before that %s read all the same", tm_text_counted(found, "file", "files"),
             tm_text_counted(found, "is", "are"));
  }
  return begin_item(a, a->why.text);
}

/* Called at the end of the entries, or when the archive cannot be listed any further. */
static int finish(struct tm_archive_files *a, int rc, struct tm_item *out, struct tm_err *err)
{
  bool is_forbidden = rc == -EACCES || rc == -EPERM;
  if (rc == TM_EINPUT) { /* the archive's own bytes are damaged */
    *out = archive_item(a);
    warn(a, "it is a failed item");
    rc = 1;
  } else if (is_forbidden && a->dataset->skip_unreadable) {
    warn(a, "it is left out");
    rc = 0;
  } else if (is_forbidden) {
    tm_err_set(err, rc, "%s; on_unreadable = \"skip\" leaves it out", a->why.text);
  } else if (rc < 0) {
    *err = a->why;
  }
  end(a);
  return rc;
}

int tm_archive_files_next(struct tm_archive_files *a, struct tm_item *out, struct tm_err *err)
{
  struct tm_archive_entry e;
  if (!a->has_begun)
    return 0;
  int rc = next_wanted(a, &e, &a->why);
  if (rc > 0)
    *out = entry_item(a, &e);
  else
    rc = finish(a, rc, out, err);
  if (rc > 0) {
    out->path = a->path.data;
    out->path_len = a->path.len;
    a->given++;
  }
  return rc;
}

char *tm_archive_files_empty(const struct tm_archive_files *a)
{
  const struct tm_archives *which = a->dataset->archives;
  if (a->count == 0 || a->given > 0)
    return NULL;
  char *more = a->in_folders > 0
                   ? tm_xprintf("; '**/%s' matches %" PRId64 " of them, which are in folders",
                                which->patterns[0], a->in_folders)
                   : tm_xstrdup("");
  char *text =
      tm_xprintf("none of the %" PRId64 " %s in %" PRId64 " %s%s%s%s%s", a->entries,
                 tm_text_counted(a->entries, "file", "files"), a->count,
                 tm_text_counted(a->count, "archive", "archives"),
                 which->len == 0   ? " is taken: their names begin with a dot"
                 : which->len == 1 ? " matches '"
                                   : " matches a pattern of 'entries', the first is '",
                 which->len > 0 ? which->patterns[0] : "", which->len > 0 ? "'" : "", more);
  free(more);
  return text;
}
