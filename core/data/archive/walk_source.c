/* walk_source.c - the entries of archives that are read from the beginning: tar and cpio.
 *
 *  (1) The contents of a tar's entry follow its header; libarchive has read up to there when it
 *      returns the entry.
 *  (2) A packed archive is read to its very end, so that the last check sum is verified; but no
 *      further than its size allows.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/archive/archive_own.h"
#include "data/archive/walk.h"
#include "data/rows/open.h"
#include "data/stream/libarchive.h"

struct walk_source {
  struct tm_source source;
  struct tm_archive_options o;
  struct tm_stream *stream;
  struct tm_walk *walk;
  const struct tm_libarchive *la;
  bool is_packed;
  int64_t number; /* of the next entry */
};

static int end(struct walk_source *w, struct tm_err *err)
{
  int64_t at = tm_walk_at(w->walk);
  if (tm_walk_is_tar(w->walk) && at == tm_walk_header_at(w->walk) && w->o.on_warning != NULL) {
    char *text = tm_xprintf("'%s' has no mark at its end; it may have been cut off", w->o.path);
    w->o.on_warning(w->o.data, text);
    free(text);
  }
  int rc = w->is_packed ? 1 : 0;
  while (rc > 0 && (rc = tm_walk_drain(w->walk, err)) > 0) /* keeps (2) */
    rc = tm_archive_check_held(&w->o, tm_walk_drained(w->walk), err) < 0 ? err->code : 1;
  return rc;
}

static enum tm_raw_type type_of(const struct tm_libarchive *la, struct archive_entry *e)
{
  if (la->entry_hardlink(e) != NULL || la->entry_filetype(e) == AE_IFLNK)
    return TM_RAW_LINK;
  switch (la->entry_filetype(e)) {
  case AE_IFREG: return TM_RAW_FILE;
  case AE_IFDIR: return TM_RAW_FOLDER;
  default: return TM_RAW_OTHER;
  }
}

static void describe(struct walk_source *w, struct archive_entry *e, struct tm_raw_entry *out)
{
  const struct tm_libarchive *la = w->la;
  bool is_tar = tm_walk_is_tar(w->walk);
  const char *name = la->entry_pathname(e), *hard = la->entry_hardlink(e);
  *out = (struct tm_raw_entry) { .type = type_of(la, e),
                                 .name = name ? name : "",
                                 .name_len = name ? strlen(name) : 0,
                                 .is_symbolic = hard == NULL,
                                 .place = { .how = is_tar ? TM_ENTRY_IN_TAR : TM_ENTRY_WALKED,
                                            .place = is_tar ? tm_walk_at(w->walk) : w->number,
                                            .size = la->entry_size(e) } };
  if (out->type == TM_RAW_LINK)
    out->link = hard ? hard : la->entry_symlink(e);
  if (la->entry_sparse_count(e) > 0)
    out->fault = "it is a sparse file, and its holes are not stored";
  else if (la->entry_is_encrypted(e))
    out->fault = "it is encrypted";
  else if (out->place.size < 0 || (out->type == TM_RAW_FILE && !la->entry_size_is_set(e)))
    out->fault = "the archive does not say how long it is";
  else
    out->fault = tm_walk_header_fault(w->walk);
  if (out->fault != NULL && out->place.size < 0)
    out->place.size = 0;
}

static int walk_next(struct tm_source *s, struct tm_raw_entry *out, struct tm_err *err)
{
  struct walk_source *w = (struct walk_source *)s;
  struct archive_entry *e;
  int rc = tm_walk_next(w->walk, &e, err);
  if (rc <= 0)
    return rc < 0 ? rc : end(w, err);
  describe(w, e, out); /* keeps (1) */
  w->number++;
  return 1;
}

static void walk_close(struct tm_source *s)
{
  struct walk_source *w = (struct walk_source *)s;
  tm_walk_close(w->walk);
  tm_stream_close(w->stream);
  free(w);
}

struct tm_source *tm_walk_source(const struct tm_archive_options *o, struct tm_err *err)
{
  struct walk_source *w = TM_NEW(struct walk_source);
  struct tm_rows_pack pack = { .index_dir = o->index_dir,
                               .on_warning = o->on_warning,
                               .data = o->data };
  w->source = (struct tm_source) { walk_next, walk_close };
  w->o = *o;
  w->la = tm_libarchive(err);
  if (w->la != NULL)
    w->stream = tm_rows_open(o->fs, o->path, &pack, true, err);
  w->is_packed = w->stream != NULL && w->stream->size < 0;
  if (w->stream != NULL)
    w->walk = tm_walk_open(w->stream, o->path, TM_WALK_IN_ORDER, 0, err);
  if (w->walk != NULL)
    return &w->source;
  walk_close(&w->source);
  return NULL;
}
