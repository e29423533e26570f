/* plugin.c - see plugin.h.
 *
 *  (1) No code of a file runs before its owner, its mode and its header were checked; in the
 *      loader's own folders, root decides what lies there.
 *  (2) Each step returns 1 if the library was loaded, 0 if it is not there, or an error, which ends
 *      the search.
 */
#include "sys/plugin.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "sys/fs.h"
#include "sys/library.h"

#if defined(__x86_64__)
#define NPM_MACHINE "x64"
#define ELF_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define NPM_MACHINE "arm64"
#define ELF_MACHINE EM_AARCH64
#else
#define NPM_MACHINE "none"
#define ELF_MACHINE EM_NONE
#endif

struct search {
  struct tm_plugin *found;
  bool only_looks; /* it loads nothing: the path is all that is found */
  const struct tm_plugin_variables *variables;
  const struct tm_plugin_kind *kind;
  struct tm_buf places; /* for the message */
  struct tm_err *err;
};

/* ---- one file ---- */

static int refuse(struct search *s, const char *path, const char *why)
{
  return tm_err_set(s->err, TM_EUSAGE, "cannot load %s: '%s' %s", s->kind->name, path, why);
}

/* A group of the owner's number holds only the owner, as Debian's adduser makes it. */
static bool others_may_write(const struct stat *st)
{
  bool is_own_group = st->st_gid == 0 || st->st_gid == st->st_uid;

  return (st->st_mode & S_IWOTH) || ((st->st_mode & S_IWGRP) && !is_own_group);
}

static bool is_of_others(const struct stat *st)
{
  return st->st_uid != geteuid() && st->st_uid != 0;
}

/* Whoever may write the folder may put another file in place of this one, unless it is sticky; its
 * owner may in any case. `path` has no links. */
static int check_owner(struct search *s, const char *path)
{
  struct stat file, folder;
  char *dir = tm_path_dir(path);
  int rc = 0;

  if (stat(path, &file) < 0 || stat(dir, &folder) < 0)
    rc = tm_err_system(s->err, -errno, "cannot load %s: '%s'", s->kind->name, path);
  else if (!S_ISREG(file.st_mode))
    rc = refuse(s, path, "is not a file");
  else if (is_of_others(&file))
    rc = refuse(s, path,
                "belongs to neither this user nor root, and would run as this user; copy "
                "it to a folder of your own");
  else if (others_may_write(&file))
    rc = refuse(s, path, "may be written by other users; run chmod go-w on it");
  else if (is_of_others(&folder))
    rc = refuse(s, path,
                "is in a folder of another user, who could replace it; copy it to a folder of "
                "your own");
  else if (others_may_write(&folder) && !(folder.st_mode & S_ISVTX))
    rc =
        refuse(s, path, "is in a folder that other users may write; run chmod go-w on that folder");
  free(dir);
  return rc;
}

static const char *machine_of(int machine)
{
  switch (machine) {
  case EM_X86_64: return "x86_64";
  case EM_AARCH64: return "aarch64";
  case EM_386: return "x86, 32 bits";
  case EM_ARM: return "arm, 32 bits";
  case EM_RISCV: return "riscv";
  case EM_PPC64: return "ppc64";
  case EM_S390: return "s390";
  default: return "an unknown one";
  }
}

/* Whether the file has all that the loader maps. */
static bool has_parts(int fd, const char *path, const Elf64_Ehdr *head, uint64_t size)
{
  const struct tm_fs *fs = tm_fs_real();

  for (int i = 0; i < head->e_phnum; i++) {
    Elf64_Phdr part;
    uint64_t at = head->e_phoff + (uint64_t)i * sizeof part;
    if (at > INT64_MAX ||
        tm_fs_read_at(fs, fd, path, &part, sizeof part, (int64_t)at, NULL) < (int64_t)sizeof part)
      return false;
    if (part.p_type == PT_LOAD && (part.p_filesz > size || part.p_offset > size - part.p_filesz))
      return false;
  }
  return true;
}

/* The loader maps a file that is cut, and reading it then ends the process. */
static int check_parts(struct search *s, int fd, const char *path, const Elf64_Ehdr *head)
{
  struct stat st;
  if (fstat(fd, &st) == 0 && has_parts(fd, path, head, (uint64_t)st.st_size))
    return 0;
  return refuse(s, path, "is cut; install or copy it again");
}

static int check_header(struct search *s, const char *path)
{
  static const char other[] = "is for another architecture (%s) than this program (%s)";
  const struct tm_fs *fs = tm_fs_real();
  Elf64_Ehdr head = { 0 };
  int fd = tm_fs_open(fs, path, 0, 0, s->err);

  if (fd < 0)
    return tm_err_wrap(s->err, "cannot load %s", s->kind->name);
  int64_t got = tm_fs_read_at(fs, fd, path, &head, sizeof head, 0, NULL);
  char *why = NULL;
  int rc;
  if (got < (int64_t)sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_type != ET_DYN)
    rc = refuse(s, path, "is not a shared library");
  else if (head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_machine == ELF_MACHINE)
    rc = check_parts(s, fd, path, &head);
  else
    rc = refuse(s, path,
                why = tm_xprintf(other, machine_of(head.e_machine), machine_of(ELF_MACHINE)));
  free(why);
  tm_fs_close(fs, fd);
  return rc;
}

/* Loads the file or, by the loader's search, the name. */
static int load(struct search *s, const char *file)
{
  struct tm_plugin *p = s->found;
  const char *entry = s->kind->entry;
  int rc = tm_library_open(&p->handle, file, s->err);

  if (rc < 0) {
    char *why = tm_xprintf("cannot be loaded: %s", s->err->text);
    rc = refuse(s, file, why);
    free(why);
    return rc;
  }
  const char *path = tm_library_path(p->handle);
  p->path = tm_xstrdup(*path ? path : file);
  if (tm_library_find(p->handle, &entry, 1, &p->entry, NULL) == 0)
    return 1;
  char *why = tm_xprintf("is another library: it has no function '%s'", entry);
  rc = refuse(s, p->path, why);
  free(why);
  return rc;
}

/* What is checked is loaded, because a link could lead elsewhere in between; messages and records
 * name it as it was found. */
static int load_file(struct search *s, const char *path)
{
  if (s->only_looks) {
    s->found->path = tm_xstrdup(path);
    return 1;
  }
  char *real = realpath(path, NULL);
  int rc = real ? check_owner(s, real)
                : tm_err_system(s->err, -errno, "cannot load %s: '%s'", s->kind->name, path);

  rc = rc < 0 ? rc : check_header(s, real); /* keeps (1) */
  rc = rc < 0 ? rc : load(s, real);
  free(real);
  if (rc < 0)
    return rc;
  free(s->found->path);
  s->found->path = tm_xstrdup(path);
  return rc;
}

/* ---- a folder ---- */

static bool is_there(const char *path)
{
  return tm_fs_exists(tm_fs_real(), path);
}

struct newest {
  const char *begin; /* of the names that count; digits and dots follow */
  char *name;
};

/* Keeps the highest version. */
static int on_versioned(void *data, const char *name, int type)
{
  struct newest *n = data;
  size_t len = strlen(n->begin);

  if (strncmp(name, n->begin, len) != 0 || !name[len] ||
      name[len + strspn(name + len, "0123456789.")] != '\0')
    return 0;
  if (!n->name || strverscmp(name, n->name) > 0) {
    free(n->name);
    n->name = tm_xstrdup(name);
  }
  return 0;
}

/* The library in a folder, by its names, else by its first name with more digits
 * ("libonnxruntime.so.1.17.0"); to free(). */
static char *file_in(const struct tm_plugin_kind *kind, const char *dir)
{
  for (size_t i = 0; kind->files[i]; i++) {
    char *path = tm_path_join(dir, kind->files[i]);
    if (is_there(path))
      return path;
    free(path);
  }
  char *begin = tm_xprintf("%s.", kind->files[0]);
  struct newest n = { .begin = begin };
  (void)tm_dir_read(dir, on_versioned, &n);
  char *path = n.name ? tm_path_join(dir, n.name) : NULL;
  free(begin);
  free(n.name);
  return path;
}

static int try_folder(struct search *s, const char *dir)
{
  char *path = file_in(s->kind, dir);
  int rc = path ? load_file(s, path) : 0;

  free(path);
  return rc;
}

/* node_modules/<package>/bin/napi-v<N>/linux/<machine> in `dir`. */
static int try_npm(struct search *s, const char *dir)
{
  char *bin =
      tm_xprintf("%s/node_modules/%s/bin", strcmp(dir, "/") == 0 ? "" : dir, s->kind->package);
  struct newest n = { .begin = "napi-v" };
  int rc = 0;

  if (tm_dir_read(bin, on_versioned, &n) == 0 && n.name) {
    char *inner = tm_xprintf("%s/%s/linux/" NPM_MACHINE, bin, n.name);
    rc = try_folder(s, inner);
    free(inner);
  }
  free(n.name);
  free(bin);
  return rc;
}

static int try_npm_above(struct search *s, const char *dir)
{
  char *at = tm_xstrdup(dir);
  int rc = try_npm(s, at);

  while (rc == 0 && strcmp(at, "/") != 0) {
    char *above = tm_path_dir(at);
    free(at);
    at = above;
    rc = try_npm(s, at);
  }
  free(at);
  return rc;
}

/* ---- the places ---- */

static void add_place(struct search *s, const char *before, const char *dir, const char *after)
{
  tm_buf_printf(&s->places, "%s%s'%s'%s", s->places.len ? ", " : "", before, dir, after);
}

static const char *variable(const struct search *s, const char *name)
{
  return s->variables->value(s->variables->data, name);
}

static int by_variable(struct search *s)
{
  const struct tm_plugin_kind *k = s->kind;
  const char *value = variable(s, k->variable);
  struct stat st;
  int rc;

  if (!value || !*value)
    return 0;
  if (!tm_path_is_absolute(value))
    rc = tm_err_set(s->err, TM_EUSAGE, "it is not an absolute path");
  else if (stat(value, &st) < 0)
    rc = tm_err_set(s->err, TM_EUSAGE, "%s", tm_code_text(-errno));
  else
    rc = S_ISDIR(st.st_mode) ? try_folder(s, value) : load_file(s, value);
  if (rc == 0)
    rc = tm_err_set(s->err, TM_EUSAGE, "the folder contains no %s", k->files[0]);
  if (rc < 0) {
    tm_err_wrap(s->err, "the variable %s is '%s'", k->variable, value);
    tm_err_append(s->err,
                  "; set it to the library's file or the folder that contains it, or unset it");
  }
  return rc;
}

static int by_folders(struct search *s, const char *const *folders)
{
  int rc = 0;

  for (size_t i = 0; folders[i] && rc == 0; i++) {
    add_place(s, "", folders[i], "");
    rc = try_folder(s, folders[i]);
  }
  for (size_t i = 0; folders[i] && rc == 0 && s->kind->package; i++) {
    char *before = tm_xprintf("node_modules/%s in ", s->kind->package);
    add_place(s, before, folders[i], " and the folders above it");
    free(before);
    rc = try_npm_above(s, folders[i]);
  }
  return rc;
}

char *tm_plugin_prefix(const char *file)
{
  char *at = tm_path_dir(file), *prefix = NULL;

  while (!prefix && strcmp(at, "/") != 0 && strcmp(at, ".") != 0) {
    const char *base = tm_path_base(at);
    char *above = tm_path_dir(at);
    if (strcmp(base, "bin") == 0 || strcmp(base, "lib") == 0 || strcmp(base, "lib64") == 0)
      prefix = tm_xstrdup(above);
    free(at);
    at = above;
  }
  free(at);
  return prefix;
}

/* The file with this code: a library that a host has loaded, or the program. To free(). */
static char *own_file(void)
{
  char path[PATH_MAX] = { 0 };
  Dl_info info;

  if (dladdr((void *)(uintptr_t)tm_plugin_open, &info) && info.dli_fname &&
      strstr(tm_path_base(info.dli_fname), ".so") && tm_path_is_absolute(info.dli_fname))
    return tm_xstrdup(info.dli_fname);
  return readlink("/proc/self/exe", path, sizeof path - 1) > 0 ? tm_xstrdup(path) : NULL;
}

static int by_prefix(struct search *s)
{
  char *own = own_file(), *prefix = own ? tm_plugin_prefix(own) : NULL;
  char *dir = prefix ? tm_path_join(prefix, "lib/tidemill") : NULL;
  int rc = 0;

  if (dir) {
    add_place(s, "", dir, "");
    rc = try_folder(s, dir);
  }
  free(dir);
  free(prefix);
  free(own);
  return rc;
}

/* To free(); NULL: the user has no home. */
static char *data_home(const struct search *s)
{
  const char *data = variable(s, "XDG_DATA_HOME"), *home = variable(s, "HOME");

  if (data && tm_path_is_absolute(data))
    return tm_path_join(data, "tidemill");
  return home && tm_path_is_absolute(home) ? tm_path_join(home, ".local/share/tidemill") : NULL;
}

static int by_data_home(struct search *s)
{
  char *dir = data_home(s);
  int rc = 0;

  if (dir) {
    add_place(s, "", dir, s->kind->package ? " and a node_modules there" : "");
    rc = try_folder(s, dir);
    rc = rc == 0 && s->kind->package ? try_npm(s, dir) : rc;
  }
  free(dir);
  return rc;
}

/* The absolute folders of the loader's variable, whose files are checked first; *has_relative: the
 * loader itself would take the library from the current folder, or from one relative to it. */
static int by_loader_variable(struct search *s, bool *has_relative)
{
  const char *at = variable(s, "LD_LIBRARY_PATH");
  int rc = 0;

  while (at && rc == 0) {
    size_t len = strcspn(at, ":;");
    char *dir = tm_xstrndup(at, len);
    if (tm_path_is_absolute(dir)) {
      rc = try_folder(s, dir);
    } else {
      char *path = file_in(s->kind, len > 0 ? dir : ".");
      *has_relative = *has_relative || path;
      free(path);
    }
    free(dir);
    at = at[len] ? at + len + 1 : NULL;
  }
  return rc;
}

static int by_loader(struct search *s)
{
  bool has_relative = false;
  int rc = by_loader_variable(s, &has_relative);
  void *handle;

  for (size_t i = 0; s->kind->files[i] && rc == 0 && !has_relative; i++)
    if (tm_library_open(&handle, s->kind->files[i], NULL) == 0) {
      char *path = tm_xstrdup(tm_library_path(handle));
      rc = load_file(s, path);
      s->found->is_of_loader = true;
      free(path);
      tm_library_close(handle);
    }
  return rc;
}

/* Where files are; the loader is asked after them. */
static int by_places(struct search *s, const char *const *folders)
{
  int rc = by_variable(s);

  rc = rc == 0 ? by_folders(s, folders) : rc;
  rc = rc == 0 ? by_prefix(s) : rc;
  return rc == 0 ? by_data_home(s) : rc;
}

static const char *own_variable(void *data, const char *name)
{
  return getenv(name);
}

char *tm_plugin_locate(const struct tm_plugin_kind *kind, const char *const *folders,
                       const struct tm_plugin_variables *variables)
{
  struct tm_plugin p = { 0 };
  struct search s = { .found = &p,
                      .only_looks = true,
                      .variables = variables,
                      .kind = kind,
                      .err = &(struct tm_err)TM_ERR_NONE };
  bool has_relative = false;

  if (by_places(&s, folders) == 0)
    (void)by_loader_variable(&s, &has_relative);
  tm_buf_release(&s.places);
  return p.path;
}

/* "npm install --ignore-scripts --prefix ~/.local/share/tidemill answer-node"; to free(). */
static char *install_command(const struct search *s)
{
  char *dir = data_home(s), *word = tm_text_shell_word(dir ? dir : "");
  char *command = s->kind->package && dir
                      ? tm_xprintf("%s --prefix %s %s", s->kind->get, word, s->kind->package)
                      : tm_xprintf("%s %s", s->kind->get, s->kind->package ? s->kind->package : "");
  free(word);
  free(dir);
  return command;
}

static int refuse_missing(struct search *s)
{
  const struct tm_plugin_kind *kind = s->kind;
  char *command = install_command(s);

  tm_err_set(s->err, -ENOENT,
             "cannot find %s: no %s; install it: %s; or set %s to its file; searched: %s%sthe "
             "system's libraries",
             kind->name, kind->files[0], command, kind->variable, tm_buf_str(&s->places),
             s->places.len ? ", and " : "");
  free(command);
  return -ENOENT;
}

int tm_plugin_open(struct tm_plugin *p, const struct tm_plugin_kind *kind,
                   const char *const *folders, struct tm_err *err)
{
  static const struct tm_plugin_variables own = { .value = own_variable };
  struct search s = { .found = p, .variables = &own, .kind = kind, .err = TM_ERR_OWN(err) };

  *p = (struct tm_plugin) { 0 };
  int rc = by_places(&s, folders);
  rc = rc == 0 ? by_loader(&s) : rc;
  rc = rc == 0 ? refuse_missing(&s) : rc;
  tm_buf_release(&s.places);
  return rc < 0 ? rc : 0;
}

void tm_plugin_leave(struct tm_plugin *p)
{
  free(p->path);
  *p = (struct tm_plugin) { 0 };
}

void tm_plugin_close(struct tm_plugin *p)
{
  tm_library_close(p->handle);
  tm_plugin_leave(p);
}
