/* snapshot.c - copies what a script needs, and hashes it.
 *
 * One walk does both, in the order of names. Without a target the walk only hashes.
 *
 *  (1) The hash covers the written bytes: contents pass through one buffer to both, so that a
 *      concurrent edit cannot come between them.
 *  (2) `to` exists if and only if it is complete: everything goes to "<to>.tmp", which is renamed
 *      at the end.
 *  (3) Of the file modes only "executable" counts: the rest depends on the umask.
 *  (4) The copy is self-contained: no link in it leads to the source, or to a folder outside.
 *  (5) A copy is of one moment: if something changes meanwhile, up to TRIES copies are made.
 */
#include "snapshot/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/tree_bytes.h"
#include "snapshot/ignore.h"
#include "snapshot/link_roots.h"
#include "snapshot/sightings.h"
#include "snapshot/snapshot_own.h"
#include "store/db.h"

#define PIECE     (256 * 1024) /* bytes copied at a time */
#define DEPTH_MAX 100
#define TRIES     5
#define MODULES   TM_SNAPSHOT_MODULES

struct walk {
  const struct tm_fs *fs;
  const char *source;        /* absolute */
  const char *target;        /* or NULL: only hash */
  const char *prefix;        /* of names in the copy: "", or the current folder of modules */
  const char *left_out[2];   /* the job directory and the copy, if within the source; or NULL */
  struct tm_stat skipped[2]; /* of the same, if they exist */
  bool has_skipped[2];
  struct tm_ignore ignore;
  struct tm_link_roots roots; /* folders that have been copied */
  int linked;                 /* number of links to outside folders above the current one */
  bool is_copy;               /* the source is a copy itself: its links are final */
  struct tm_hash *all, *one;  /* over everything, and over the contents of one file */
  char *piece;                /* PIECE bytes */
  int64_t files, bytes;
  struct tm_sightings seen;      /* of the copied files */
  struct tm_snapshot_list *list; /* gets each file and link; or NULL */
  struct tm_snapshot_pack *pack; /* gets everything, as bytes; or NULL */
  struct tm_err *err;
};

struct names TM_ARRAY(char *);

static int visit_dir(struct walk *w, const char *relative, int depth);

/* The path of the copy; to free(). */
static char *place_of(const struct walk *w, const char *relative)
{
  char *name = tm_path_join(w->prefix, relative), *place = tm_path_join(w->target, name);
  free(name);
  return place;
}

static void hash_entry(struct walk *w, char kind, const char *relative, const void *p, size_t n)
{
  char *name = tm_path_join(w->prefix, relative);
  tm_tree_hash_add(w->all, kind, name, p, n);
  if (w->list && kind != 'D')
    tm_snapshot_list_add(w->list, kind, name, p, n);
  free(name);
}

/* Passes on an entry as bytes, if there is a receiver. */
static int pack(struct walk *w, char kind, const char *relative, bool is_program,
                const char *leads_to)
{
  if (!w->pack)
    return 0;
  char *name = tm_path_join(w->prefix, relative);
  if (kind == 'D')
    tm_tree_add_folder(&w->pack->bytes, name);
  else if (kind == 'F')
    tm_tree_add_file(&w->pack->bytes, name, is_program);
  else
    tm_tree_add_link(&w->pack->bytes, name, leads_to);
  free(name);
  return w->pack->on_bytes(w->pack->data, &w->pack->bytes, w->err);
}

static int pack_piece(struct walk *w, size_t n)
{
  if (!w->pack)
    return 0;
  tm_tree_add_piece(&w->pack->bytes, w->piece, n);
  return w->pack->on_bytes(w->pack->data, &w->pack->bytes, w->err);
}

static int count_entry(struct walk *w)
{
  if (++w->files > TM_SNAPSHOT_FILES_MAX)
    return tm_err_set(w->err, TM_ELIMIT,
                      "'%s' holds more than %d files; a source_directory is copied for each job, "
                      "with the folders that links in it lead to: keep data out of it, or name it "
                      "in " TM_IGNORE_NAME,
                      w->source, (int)TM_SNAPSHOT_FILES_MAX);
  return 0;
}

static int copy_pieces(struct walk *w, int from, const char *path, int to, const char *to_path)
{
  int64_t at = 0, n;
  tm_hash_reset(w->one);
  while ((n = tm_fs_read_at(w->fs, from, path, w->piece, PIECE, at, w->err)) > 0) {
    w->bytes += n;
    if (w->bytes > TM_SNAPSHOT_BYTES_MAX)
      return tm_err_set(
          w->err, TM_ELIMIT,
          "'%s' holds more than %d MB; a source_directory is copied for each job, with the folders "
          "that links in it lead to: keep data out of it, or name it in " TM_IGNORE_NAME,
          w->source, (int)(TM_SNAPSHOT_BYTES_MAX >> 20));
    tm_hash_add(w->one, w->piece, (size_t)n);
    int rc = to < 0 ? 0 : tm_fs_write_at(w->fs, to, to_path, w->piece, (size_t)n, at, w->err);
    if (rc < 0 || (rc = pack_piece(w, (size_t)n)) < 0)
      return rc;
    at += n;
  }
  return n < 0 ? (int)n : pack_piece(w, 0);
}

/* A regular file; `path` may be a link to it. Keeps (1). */
static int visit_file(struct walk *w, const char *path, const char *relative, uint32_t mode)
{
  bool is_program = mode & S_IXUSR;
  char *to_path = w->target ? place_of(w, relative) : NULL;
  int to = -1, rc;
  if (w->target)
    tm_sightings_add(&w->seen, w->fs, path);
  int from = rc = tm_fs_open(w->fs, path, O_RDONLY, 0, w->err);
  if (rc < 0)
    goto done;
  if (to_path) {
    to = rc =
        tm_fs_open(w->fs, to_path, O_WRONLY | O_CREAT | O_EXCL, is_program ? 0700 : 0600, w->err);
    if (rc < 0)
      goto done;
  }
  rc = pack(w, 'F', relative, is_program, NULL);
  rc = rc < 0 ? rc : copy_pieces(w, from, path, to, to_path);
  if (rc == 0) {
    char facts[TM_TREE_FILE_FACTS];
    tm_tree_file_facts(facts, is_program, tm_hash_end(w->one));
    hash_entry(w, 'F', relative, facts, sizeof(facts));
  }
done:
  tm_fs_close(w->fs, to);
  tm_fs_close(w->fs, from);
  free(to_path);
  return rc;
}

static int copy_link(struct walk *w, const char *relative, const char *leads_to)
{
  hash_entry(w, 'L', relative, leads_to, strlen(leads_to));
  if (!w->target)
    return pack(w, 'L', relative, false, leads_to);
  char *to_path = place_of(w, relative);
  int rc = w->fs->symlink(w->fs->self, leads_to, to_path);
  if (rc < 0)
    tm_err_system(w->err, rc, "cannot make link '%s'", to_path);
  free(to_path);
  return rc;
}

static bool has(const struct walk *w, const char *dir, const char *name)
{
  char *path = tm_path_join(dir, name);
  bool yes = tm_fs_exists(w->fs, path);
  free(path);
  return yes;
}

/* Folders of the runner: the job's directory, another job's, a workspace, which grows with each
 * job. */
static bool is_runners(const struct walk *w, const char *path, const struct tm_stat *st)
{
  for (int i = 0; i < 2; i++)
    if (w->has_skipped[i] && st->dev == w->skipped[i].dev && st->ino == w->skipped[i].ino)
      return true;
  return (has(w, path, "job.json") && has(w, path, "lock")) ||
         (has(w, path, TM_DB_NAME) && has(w, path, "jobs"));
}

/* A folder that a link leads to. If it is in the copy already, it is not copied again, so that
 * cycles of links end. Keeps (4). */
static int visit_linked(struct walk *w, const char *place, const char *relative, int depth)
{
  char *target = tm_link_roots_target(&w->roots, place, relative);
  int rc;
  if (target) {
    rc = copy_link(w, relative, target);
  } else {
    tm_link_roots_add(&w->roots, place, relative);
    w->linked++;
    rc = visit_dir(w, relative, depth + 1);
    w->linked--;
  }
  free(target);
  return rc;
}

/* A relative link within the source is copied unchanged, unless the path to it has a link in it. */
static bool stays_within(const struct walk *w, const char *dir, const char *leads_to)
{
  char *place = tm_path_absolute(dir, leads_to);
  bool yes =
      w->linked == 0 && !tm_path_is_absolute(leads_to) && tm_link_is_within(w->source, place);
  free(place);
  return yes;
}

/* A dangling link keeps its target. */
static int copy_dangling(struct walk *w, const char *dir, const char *relative,
                         const char *leads_to)
{
  char *place = tm_path_absolute(dir, leads_to);
  int rc = copy_link(w, relative, place);
  free(place);
  return rc;
}

static int visit_link(struct walk *w, const char *path, const char *relative, int depth)
{
  char leads_to[PATH_MAX];
  ssize_t n = readlink(path, leads_to, sizeof(leads_to) - 1);
  if (n < 0)
    return tm_err_system(w->err, -errno, "cannot read link '%s'", path);
  leads_to[n] = 0;
  char *dir = tm_path_dir(path), *place = realpath(path, NULL);
  struct tm_stat st;
  bool is_there = place && w->fs->stat(w->fs->self, place, true, &st) == 0;
  int rc;
  if (w->is_copy || stays_within(w, dir, leads_to))
    rc = copy_link(w, relative, leads_to);
  else if (is_there && S_ISREG(st.mode))
    rc = visit_file(w, path, relative, st.mode);
  else if (is_there && S_ISDIR(st.mode))
    rc = is_runners(w, place, &st) ? 0 : visit_linked(w, place, relative, depth);
  else
    rc = copy_dangling(w, dir, relative, leads_to);
  free(dir);
  free(place);
  return rc;
}

static int visit_entry(struct walk *w, const char *relative, int depth)
{
  char *path = tm_path_join(w->source, relative);
  struct tm_stat st;
  int rc = w->fs->stat(w->fs->self, path, false, &st);
  if (rc == -ENOENT)
    rc = 0; /* vanished meanwhile */
  else if (rc < 0)
    tm_err_system(w->err, rc, "cannot look at '%s'", path);
  else if (tm_ignore_line(&w->ignore, relative, S_ISDIR(st.mode)) > 0 ||
           (S_ISDIR(st.mode) && is_runners(w, path, &st)))
    rc = 0;
  else if ((rc = count_entry(w)) < 0)
    ;
  else if (S_ISDIR(st.mode))
    rc = visit_dir(w, relative, depth + 1);
  else if (S_ISREG(st.mode))
    rc = visit_file(w, path, relative, st.mode);
  else if (S_ISLNK(st.mode))
    rc = visit_link(w, path, relative, depth);
  else
    rc = tm_err_set(w->err, TM_EUSAGE,
                    "cannot copy '%s': it is a device, a socket or a pipe; take it out of the "
                    "source_directory",
                    path);
  free(path);
  return rc;
}

static int on_name(void *data, const char *name, int type)
{
  if (strcmp(name, ".git") == 0 || strcmp(name, ".tidemill") == 0 || strcmp(name, MODULES) == 0)
    return 0;
  *TM_ARRAY_ADD((struct names *)data) = tm_xstrdup(name);
  return 0;
}

static bool ends_in(const char *name, const char *end)
{
  size_t n = strlen(name), m = strlen(end);
  return n > m && strcmp(name + n - m, end) == 0;
}

/* Files for require(), and libraries beside them. Other files do not belong to a module: the folder
 * may be the pipeline's own. */
static int on_module_name(void *data, const char *name, int type)
{
  bool is_module = ends_in(name, ".lua") || ends_in(name, ".so") || strstr(name, ".so.");
  return *name == '.' || (type == DT_REG && !is_module) ? 0 : on_name(data, name, type);
}

static int compare_names(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static int make_target_dir(struct walk *w, const char *relative)
{
  if (!w->target || !*relative)
    return 0; /* the root exists */
  char *path = place_of(w, relative);
  int rc = w->fs->mkdir(w->fs->self, path, 0700);
  if (rc < 0)
    tm_err_system(w->err, rc, "cannot make folder '%s'", path);
  free(path);
  return rc;
}

static int visit_dir(struct walk *w, const char *relative, int depth)
{
  struct names names = { 0 };
  char *path = tm_path_join(w->source, relative);
  int rc = 0;
  if (w->target)
    tm_sightings_add(&w->seen, w->fs, path);
  if (depth > DEPTH_MAX)
    rc = tm_err_set(w->err, TM_ELIMIT, "cannot copy '%s': it is more than %d folders deep", path,
                    DEPTH_MAX);
  if (rc == 0 && (rc = tm_dir_read(path, *w->prefix ? on_module_name : on_name, &names)) < 0)
    tm_err_system(w->err, rc, "cannot read folder '%s'", path);
  if (rc == 0)
    rc = make_target_dir(w, relative);
  if (rc == 0 && *relative) {
    hash_entry(w, 'D', relative, "", 0);
    rc = pack(w, 'D', relative, false, NULL);
  }
  if (names.len > 0)
    qsort(names.at, names.len, sizeof(*names.at), compare_names);
  for (size_t i = 0; i < names.len && rc == 0; i++) {
    char *inner = *relative ? tm_path_join(relative, names.at[i]) : tm_xstrdup(names.at[i]);
    rc = visit_entry(w, inner, depth);
    free(inner);
  }
  TM_ARRAY_RELEASE_EACH(&names);
  free(path);
  return rc;
}

static int visit_source(struct walk *w)
{
  char *place = realpath(w->source, NULL);
  int rc;
  tm_link_roots_add(&w->roots, place ? place : w->source, "");
  rc = visit_dir(w, "", 0);
  tm_link_roots_release(&w->roots);
  free(place);
  return rc;
}

/* The modules of `config`, or those of a copy, which are in a folder of their own. */
static char *modules_at(const char *source, char *const *module_paths, size_t n)
{
  if (!module_paths)
    return tm_xprintf("%s/" MODULES "/%zu", source, n + 1);
  return tm_xstrdup(module_paths[n]);
}

static int visit_modules(struct walk *w, char *const *module_paths)
{
  const char *source = w->source;
  struct tm_stat st;
  int rc = 0;
  for (size_t n = 0; rc == 0; n++) {
    char *from = modules_at(source, module_paths, n), *prefix = tm_xprintf(MODULES "/%zu", n + 1);
    bool is_there = from && w->fs->stat(w->fs->self, from, true, &st) == 0 && S_ISDIR(st.mode);
    if (is_there) {
      w->source = from;
      w->prefix = prefix;
      hash_entry(w, 'D', "", "", 0);
      rc = pack(w, 'D', "", false, NULL);
      char *to = w->target ? place_of(w, "") : NULL;
      if (rc == 0 && to)
        rc = tm_fs_make_dirs(w->fs, to, 0700, w->err);
      rc = rc < 0 ? rc : visit_source(w);
      free(to);
    }
    free(from);
    free(prefix);
    if (!is_there)
      break;
  }
  w->source = source;
  w->prefix = "";
  return rc;
}

/* A script that is not a file. */
static int visit_text(struct walk *w, const char *text, const char *relative)
{
  char *to_path = w->target ? place_of(w, relative) : NULL, facts[TM_TREE_FILE_FACTS];
  size_t n = strlen(text);
  int rc = to_path ? tm_fs_write_file(w->fs, to_path, text, n, 0600, w->err) : 0;
  free(to_path);
  if (rc < 0)
    return rc;
  tm_hash_reset(w->one);
  tm_hash_add(w->one, text, n);
  tm_tree_file_facts(facts, false, tm_hash_end(w->one));
  hash_entry(w, 'F', relative, facts, sizeof(facts));
  w->bytes += (int64_t)n;
  return count_entry(w);
}

/* Of a script that is a link, the target is copied. */
static int visit_only(struct walk *w, const char *only)
{
  char *path = tm_path_join(w->source, only);
  struct tm_stat st;
  int rc = w->fs->stat(w->fs->self, path, true, &st);
  if (rc < 0)
    tm_err_system(w->err, rc, "cannot look at '%s'", path);
  else if ((rc = count_entry(w)) == 0)
    rc = visit_file(w, path, only, st.mode);
  free(path);
  return rc;
}

/* Walks `source`, or only the file `only` in it, whose contents may be `text`. */
static int walk_all(struct walk *w, const char *only, const char *text, char *const *module_paths,
                    char hash[17])
{
  w->prefix = "";
  w->all = tm_hash_new();
  w->one = tm_hash_new();
  w->piece = tm_xmalloc(PIECE);
  int rc;
  for (int i = 0; i < 2; i++)
    w->has_skipped[i] =
        w->left_out[i] && w->fs->stat(w->fs->self, w->left_out[i], true, &w->skipped[i]) == 0;
  if (!only) {
    rc = tm_ignore_read(&w->ignore, w->fs, w->source, w->err);
    rc = rc < 0 ? rc : visit_source(w);
    tm_ignore_release(&w->ignore);
  } else {
    rc = text ? visit_text(w, text, only) : visit_only(w, only);
  }
  if (rc >= 0)
    rc = visit_modules(w, module_paths);
  tm_tree_hash_text(hash, w->all);
  tm_hash_free(w->all);
  tm_hash_free(w->one);
  free(w->piece);
  return rc;
}

/* The folder in `config`, or that of the entry script. */
static char *walk_start(struct walk *w, const struct tm_config *config, const char *job_dir)
{
  char *source = config->source_directory ? tm_xstrdup(config->source_directory)
                                          : tm_path_dir(config->entry_script);
  w->source = source;
  w->left_out[0] = job_dir;
  w->left_out[1] = w->target;
  return source;
}

static const char *only_file(const struct tm_config *config)
{
  return config->source_directory ? NULL : tm_path_base(config->entry_script);
}

/* Keeps (2). */
int tm_snapshot_place(const struct tm_fs *fs, const char *temporary, const char *to,
                      struct tm_err *err)
{
  int rc = tm_fs_remove_tree(fs, to, err);
  if (rc < 0)
    return rc;
  rc = fs->rename(fs->self, temporary, to);
  if (rc < 0)
    return tm_err_system(err, rc, "cannot rename '%s' to '%s'", temporary, to);
  char *parent = tm_path_dir(to);
  rc = tm_fs_sync_dir(fs, parent, err);
  free(parent);
  return rc;
}

static int take_once(struct walk *w, const struct tm_config *config, char hash[17])
{
  int rc = tm_fs_remove_tree(w->fs, w->target, w->err);
  w->files = w->bytes = 0;
  tm_sightings_release(&w->seen);
  if (rc == 0 && w->err)
    *w->err = (struct tm_err)TM_ERR_NONE; /* of the try before */
  if (rc == 0)
    rc = tm_fs_make_dirs(w->fs, w->target, 0700, w->err);
  return rc < 0 ? rc
                : walk_all(w, only_file(config), config->script_text, config->module_paths, hash);
}

int tm_snapshot_take(const struct tm_fs *fs, const struct tm_config *config, const char *job_dir,
                     const char *to, struct tm_snapshot *out, struct tm_err *err)
{
  char *temporary = tm_xprintf("%s.tmp", to);
  struct walk w = { .fs = fs, .target = temporary, .err = err };
  char *source = walk_start(&w, config, job_dir);
  const char *changed = source; /* initial value: not checked yet */
  char hash[17];
  int rc = 0;
  for (int i = 0; i < TRIES && changed; i++) { /* keeps (5) */
    rc = take_once(&w, config, hash);
    changed = tm_sightings_changed(&w.seen, fs);
  }
  if (rc == 0)
    rc = tm_snapshot_place(fs, temporary, to, err);
  if (rc == 0) {
    *out = (struct tm_snapshot) { .dir = tm_xstrdup(to), .files = w.files, .bytes = w.bytes };
    out->script = tm_snapshot_script(config, to);
    out->changed = tm_xstrdup(changed);
    memcpy(out->hash, hash, sizeof(hash));
  } else {
    tm_fs_remove_tree(fs, temporary, NULL);
  }
  tm_sightings_release(&w.seen);
  free(temporary);
  free(source);
  return rc;
}

void tm_snapshot_release(struct tm_snapshot *s)
{
  free(s->dir);
  free(s->script);
  free(s->changed);
  memset(s, 0, sizeof(*s));
}

int tm_snapshot_hash(const struct tm_fs *fs, const struct tm_config *config, const char *job_dir,
                     char out[17], struct tm_err *err)
{
  struct walk w = { .fs = fs, .err = err };
  char *source = walk_start(&w, config, job_dir);
  int rc = walk_all(&w, only_file(config), config->script_text, config->module_paths, out);
  free(source);
  return rc;
}

int tm_snapshot_hash_dir(const struct tm_fs *fs, const char *dir, char out[17], struct tm_err *err)
{
  struct walk w = { .fs = fs, .source = dir, .is_copy = true, .err = err };
  return walk_all(&w, NULL, NULL, NULL, out);
}

int tm_snapshot_pack(struct tm_snapshot_pack *p, const struct tm_fs *fs, const char *dir,
                     char out[17], struct tm_err *err)
{
  struct walk w = { .fs = fs, .source = dir, .is_copy = true, .pack = p, .err = err };
  int rc = walk_all(&w, NULL, NULL, NULL, out);
  tm_buf_release(&p->bytes);
  return rc;
}

int tm_snapshot_list(struct tm_snapshot_list *out, const struct tm_fs *fs,
                     const struct tm_config *config, const char *job_dir, const char *copy,
                     struct tm_err *err)
{
  struct walk w = { .fs = fs, .source = copy, .is_copy = copy, .list = out, .err = err };
  char *source = copy ? NULL : walk_start(&w, config, job_dir), hash[17];
  int rc = copy ? walk_all(&w, NULL, NULL, NULL, hash)
                : walk_all(&w, only_file(config), config->script_text, config->module_paths, hash);
  free(source);
  return rc;
}
