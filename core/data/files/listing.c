/* listing.c - the walk: a stack of folders, one per level, and the path of the current entry.
 *
 *   paths[i] -> exists as written?  yes -> a file: the item; a folder: everything in it
 *                                   no  -> a pattern: walk from glob's start, with a set of places
 *                                          per level
 *
 *  (1) The order depends only on names: not on the order of readdir, nor on types, times or links.
 *  (2) A path yields a file once, thanks to sets of places: there is one walk, however many `**`
 *      and braces.
 *  (3) A folder that is listed without a limit of depth (everything in it, or `**`) is not entered
 *      while it is already being listed that way. Device and inode tell, as a link may lead
 *      anywhere.
 *  (4) Each skipped entry is reported once. Names that were only guessed (a plain name in a
 *      pattern) are not.
 *
 * The listing owns its stack and path; paths, base_dir and fs are the caller's.
 */
#include "data/files/listing.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "data/files/folder.h"
#include "data/files/glob.h"

struct level {
  struct tm_folder folder;
  struct tm_glob_set set;
  bool is_all;   /* takes everything in it, except names that begin with a dot */
  bool is_guess; /* its names come from the pattern: they need not exist */
  bool is_endless;
  uint64_t dev, ino;
  size_t path_len; /* of the folder's own path */
};

struct tm_listing {
  struct tm_listing_options options;
  struct TM_ARRAY(struct level) levels;
  uint64_t *counts; /* of files, one for each path */
  size_t path_at;   /* the current path; paths_len at the end */
  bool has_begun;   /* the current path */
  bool has_failed;
  bool has_glob;
  struct tm_glob glob; /* of the current path, if has_glob */
  struct tm_buf path;  /* absolute */
};

enum { SKIP, FILE_FOUND, FOLDER_FOUND };

struct tm_listing *tm_listing_open(const struct tm_listing_options *options)
{
  struct tm_listing *l = TM_NEW(struct tm_listing);
  l->options = *options;
  l->counts = tm_xcalloc(options->paths_len + 1, sizeof(*l->counts));
  return l;
}

uint64_t tm_listing_count(const struct tm_listing *l, size_t i)
{
  return l->counts[i];
}

static void pop_level(struct tm_listing *l)
{
  tm_folder_release(&l->levels.at[--l->levels.len].folder);
}

static void end_path(struct tm_listing *l)
{
  while (l->levels.len > 0)
    pop_level(l);
  if (l->has_glob)
    tm_glob_release(&l->glob);
  l->has_glob = false;
  l->has_begun = false;
}

void tm_listing_close(struct tm_listing *l)
{
  if (l == NULL)
    return;
  end_path(l);
  TM_ARRAY_RELEASE(&l->levels);
  tm_buf_release(&l->path);
  free(l->counts);
  free(l);
}

__attribute__((format(printf, 2, 3))) static void warn(struct tm_listing *l, const char *fmt, ...)
{
  struct tm_buf text = TM_BUF_NONE;
  va_list ap;
  if (l->options.on_warning == NULL)
    return;
  va_start(ap, fmt);
  tm_buf_vprintf(&text, fmt, ap);
  va_end(ap);
  l->options.on_warning(l->options.data, tm_buf_str(&text));
  tm_buf_release(&text);
}

static int unreadable(struct tm_listing *l, int code, struct tm_err *err)
{
  const char *path = tm_buf_str(&l->path);
  if (l->options.skip_unreadable && (code == -EACCES || code == -EPERM)) {
    warn(l, "cannot read '%s': %s; it is skipped", path, tm_code_text(code));
    return SKIP;
  }
  if (code == -EACCES || code == -EPERM)
    return tm_err_set(err, code, "cannot read '%s': %s; on_unreadable = \"skip\" leaves it out",
                      path, tm_code_text(code));
  return tm_err_system(err, code, "cannot read '%s'", path);
}

/* What is at l->path: SKIP (after a report), FILE_FOUND, FOLDER_FOUND, or an error. */
static int look(struct tm_listing *l, int type, bool is_guess, struct tm_stat *st,
                struct tm_err *err)
{
  const char *path = tm_buf_str(&l->path);
  int rc = l->options.fs->stat(l->options.fs->self, path, true, st);
  if (is_guess && (rc == -ENOENT || rc == -ENOTDIR || rc == -ENAMETOOLONG)) /* keeps (4) */
    return SKIP;
  if (rc == -ENOENT || rc == -ENOTDIR) {
    warn(l,
         type == DT_LNK ? "the link '%s' leads nowhere; it is skipped"
                        : "'%s' has gone since its folder was read; it is skipped",
         path);
    return SKIP;
  }
  if (rc == -ELOOP) {
    warn(l, "the link '%s' leads back to itself; it is skipped", path);
    return SKIP;
  }
  if (rc < 0)
    return unreadable(l, rc, err);
  if (S_ISDIR(st->mode))
    return FOLDER_FOUND;
  if (S_ISREG(st->mode))
    return FILE_FOUND;
  warn(l, "'%s' is not a regular file; it is skipped", path);
  return SKIP;
}

static int give_file(struct tm_listing *l, const struct tm_stat *st, struct tm_item *out)
{
  *out = (struct tm_item) { .path = tm_buf_str(&l->path),
                            .path_len = l->path.len,
                            .size = st->size,
                            .mtime_ns = st->mtime_ns };
  l->counts[l->path_at]++;
  return 1;
}

struct wanting {
  struct tm_listing *l;
  struct level *level;
};

/* Whether the folder is listed completely and takes this name. */
static bool is_taken(const struct tm_listing *l, const struct level *level, const char *name)
{
  return level->is_all && (name[0] != '.' || l->options.takes_hidden);
}

static bool wants_name(void *data, const char *name)
{
  struct wanting *w = data;
  struct tm_glob_set to;
  if (is_taken(w->l, w->level, name))
    return true;
  return w->l->has_glob && tm_glob_step(&w->l->glob, &w->level->set, name, &to);
}

static void add_guess(void *data, const char *name)
{
  tm_folder_add(data, name, DT_UNKNOWN);
}

static bool is_being_listed(const struct tm_listing *l, const struct level *level)
{
  for (size_t i = 0; i < l->levels.len; i++) {
    const struct level *above = &l->levels.at[i];
    if (above->is_endless && above->dev == level->dev && above->ino == level->ino)
      return true;
  }
  return false;
}

/* Enters the folder at l->path, whose stat is `st`. The set is after tm_glob_enter(). Returns SKIP
 * if it does not. */
static int push_level(struct tm_listing *l, const struct tm_stat *st, bool is_all,
                      const struct tm_glob_set *set, struct tm_err *err)
{
  struct level level = {
    .is_all = is_all, .dev = st->dev, .ino = st->ino, .path_len = l->path.len
  };
  struct wanting wanting = { l, &level };
  int rc = 0;
  if (set != NULL)
    level.set = *set;
  level.is_endless = is_all || (set != NULL && tm_glob_is_recursive(&l->glob, set));
  if (level.is_endless && is_being_listed(l, &level)) { /* keeps (3) */
    warn(l, "the link '%s' leads into a folder that it is in; it is skipped", tm_buf_str(&l->path));
    return SKIP;
  }
  if (!is_all && set != NULL && tm_glob_names(&l->glob, set, add_guess, &level.folder)) {
    level.is_guess = true;
    tm_folder_sort(&level.folder);
  } else {
    rc = tm_folder_read(&level.folder, l->options.fs, tm_buf_str(&l->path), wants_name, &wanting);
  }
  if (rc < 0) {
    tm_folder_release(&level.folder);
    if (rc != -ENOENT && rc != -ENOTDIR)
      return unreadable(l, rc, err);
    warn(l, "'%s' has gone since its folder was read; it is skipped", tm_buf_str(&l->path));
    return SKIP;
  }
  *TM_ARRAY_ADD(&l->levels) = level;
  return 0;
}

/* An entry of the topmost folder; its name is already at the end of l->path. 1 if it is an item. */
static int take_entry(struct tm_listing *l, const char *name, int type, struct tm_item *out,
                      struct tm_err *err)
{
  const struct level *level = &l->levels.at[l->levels.len - 1];
  struct tm_glob_set set;
  struct tm_stat st;
  bool is_all = is_taken(l, level, name);
  bool has_set = l->has_glob && tm_glob_step(&l->glob, &level->set, name, &set);
  bool is_file_wanted = is_all || (has_set && tm_glob_matches(&l->glob, &set, false));
  if (type == DT_REG && !is_file_wanted)
    return 0;
  if (type != DT_REG && type != DT_DIR && type != DT_LNK && type != DT_UNKNOWN && !is_file_wanted)
    return 0;
  int rc = look(l, type, level->is_guess, &st, err);
  if (rc == FILE_FOUND)
    return is_file_wanted ? give_file(l, &st, out) : 0;
  if (rc != FOLDER_FOUND)
    return rc;
  if (has_set) {
    tm_glob_enter(&l->glob, &set);
    is_all |= tm_glob_matches(&l->glob, &set, true);
  }
  return push_level(l, &st, is_all, has_set ? &set : NULL, err);
}

/* 1: an item. 0: the current path has no more. */
static int walk(struct tm_listing *l, struct tm_item *out, struct tm_err *err)
{
  const char *name;
  int type;
  while (l->levels.len > 0) {
    struct level *level = &l->levels.at[l->levels.len - 1];
    l->path.len = level->path_len;
    if (!tm_folder_next(&level->folder, &name, &type)) {
      pop_level(l);
      continue;
    }
    if (l->path.data[l->path.len - 1] != '/')
      tm_buf_add_char(&l->path, '/');
    tm_buf_add_str(&l->path, name);
    int rc = take_entry(l, name, type, out, err);
    if (rc != 0)
      return rc;
  }
  return 0;
}

static void set_path(struct tm_listing *l, const char *dir, const char *path)
{
  char *absolute = tm_path_absolute(dir, path);
  tm_buf_clear(&l->path);
  tm_buf_add_str(&l->path, absolute);
  free(absolute);
}

static int begin_pattern(struct tm_listing *l, const char *pattern, struct tm_err *err)
{
  struct tm_glob_set set;
  struct tm_stat st;
  int rc = tm_glob_init(&l->glob, pattern, err);
  if (rc < 0)
    return rc;
  l->has_glob = true;
  set_path(l, l->glob.is_absolute ? "/" : l->options.base_dir, l->glob.start);
  rc = look(l, DT_UNKNOWN, true, &st, err);
  if (rc != FOLDER_FOUND)
    return rc < 0 ? rc : 0;
  tm_glob_begin(&l->glob, &set);
  return push_level(l, &st, tm_glob_matches(&l->glob, &set, true), &set, err);
}

/* 1: an item. 0: nothing yet, or nothing at all. */
static int begin_path(struct tm_listing *l, struct tm_item *out, struct tm_err *err)
{
  const char *path = l->options.paths[l->path_at];
  size_t len = strlen(path);
  bool is_folder = len > 0 && path[len - 1] == '/';
  struct tm_stat st;
  l->has_begun = true;
  set_path(l, l->options.base_dir, path);
  int rc = look(l, DT_UNKNOWN, true, &st, err);
  if (rc == FOLDER_FOUND)
    return push_level(l, &st, true, NULL, err);
  if (rc == FILE_FOUND && !is_folder)
    return give_file(l, &st, out);
  return rc == SKIP && tm_glob_is_pattern(path) ? begin_pattern(l, path, err) : rc < 0 ? rc : 0;
}

int tm_listing_next(struct tm_listing *l, struct tm_item *out, struct tm_err *err)
{
  int rc = 0;
  while (rc == 0 && !l->has_failed && l->path_at < l->options.paths_len) {
    rc = l->has_begun ? 0 : begin_path(l, out, err);
    if (rc == 0)
      rc = walk(l, out, err);
    if (rc == 0) {
      end_path(l);
      l->path_at++;
    }
  }
  if (rc < 0)
    l->has_failed = true;
  return rc;
}
