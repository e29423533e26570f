/* entry_load.c - see entry_load.h.
 *
 *   <scratch or memory>/<number of the archive in the mini-batch>/<archive's name>/<entry's name>
 *
 *  (1) A file is made with O_EXCL, and a folder by mkdir: nothing existing is overwritten or
 *      followed. `memory` itself must be new: if somebody else has taken the name, it is left alone
 *      and not used.
 *  (2) A fault of an entry becomes its mark. A fault of the machine (a full disk, too many
 *      descriptors) fails the mini-batch, which is retried; in memory it makes the loader load the
 *      mini-batch again, below `scratch`.
 */
#include "data/archive/entry_load.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/path.h"
#include "data/archive/entry_memory.h"
#include "data/archive/entry_name.h"
#include "data/key.h"

#define PIECE ((size_t)256 << 10)

struct tm_entry_loader {
  const struct tm_fs *fs;
  char *scratch, *memory;
  const char *place; /* `scratch` or `memory`, for this mini-batch */
  struct tm_entries *entries;
  struct tm_buf bytes, path, archive; /* archive: path of the current one */
  struct TM_ARRAY(uint32_t) numbers;
  uint32_t archives;               /* seen in the mini-batch: the number of the folder */
  struct TM_ARRAY(char *) folders; /* by that number, from 1: the archive's path */
  struct tm_buf folder;            /* of the last entry */
  bool has_files;
  char *piece;
};

bool tm_entry_load_is_for(const char *bytes, size_t len)
{
  struct tm_reader r;
  struct tm_item item;
  tm_reader_init(&r, bytes, len);
  return tm_item_next(&r, &item) && item.is_entry;
}

struct tm_entry_loader *tm_entry_loader_new(const struct tm_fs *fs, const char *scratch,
                                            const char *memory, const char *index_dir)
{
  struct tm_entry_loader *l = TM_NEW(struct tm_entry_loader);
  l->fs = fs;
  l->scratch = tm_xstrdup(scratch);
  l->memory = tm_xstrdup(memory);
  l->place = l->scratch;
  l->entries = tm_entries_new(fs, index_dir);
  l->piece = tm_xmalloc(PIECE);
  return l;
}

void tm_entry_loader_compare_sizes(struct tm_entry_loader *l)
{
  tm_entries_compare_sizes(l->entries);
}

void tm_entry_loader_clear(struct tm_entry_loader *l)
{
  if (l->has_files)
    tm_tree_remove(l->place, NULL);
  l->has_files = false;
}

bool tm_entry_loader_has_lost(struct tm_entry_loader *l)
{
  struct tm_stat st;
  if (!l->has_files || l->place != l->memory ||
      l->fs->stat(l->fs->self, l->memory, false, &st) != -ENOENT)
    return false;
  free(l->memory);
  l->memory = NULL;
  l->place = l->scratch;
  l->has_files = false;
  return true;
}

static void forget_folders(struct tm_entry_loader *l)
{
  for (size_t i = 0; i < l->folders.len; i++)
    free(l->folders.at[i]);
  l->folders.len = 0;
}

void tm_entry_loader_free(struct tm_entry_loader *l)
{
  if (l == NULL)
    return;
  tm_entry_loader_clear(l);
  forget_folders(l);
  TM_ARRAY_RELEASE(&l->folders);
  tm_entries_free(l->entries);
  tm_buf_release(&l->bytes);
  tm_buf_release(&l->path);
  tm_buf_release(&l->archive);
  tm_buf_release(&l->folder);
  TM_ARRAY_RELEASE(&l->numbers);
  free(l->scratch);
  free(l->memory);
  free(l->piece);
  free(l);
}

struct tm_entries *tm_entry_loader_entries(struct tm_entry_loader *l)
{
  return l->entries;
}

/* ---- places ---- */

/* Makes the folders of l->path below the place. Those of the entry before already exist. */
static int make_folders(struct tm_entry_loader *l, struct tm_err *err)
{
  char *path = l->path.data, *last = strrchr(path, '/');
  size_t folder = (size_t)(last - path);
  if (l->folder.len == folder && memcmp(l->folder.data, path, folder) == 0)
    return 0;
  for (char *slash = path + strlen(l->place); slash != NULL && slash <= last;
       slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    int rc = l->fs->mkdir(l->fs->self, path, 0700);
    if (rc < 0 && rc != -EEXIST)
      tm_err_system(err, rc, "cannot make the folder '%s'", path);
    *slash = '/';
    if (rc < 0 && rc != -EEXIST)
      return rc;
  }
  tm_buf_clear(&l->folder);
  tm_buf_add(&l->folder, path, folder);
  return 0;
}

static int set_path(struct tm_entry_loader *l, const struct tm_item *item)
{
  struct tm_buf clean = TM_BUF_NONE;
  size_t name_len = item->path_len - item->archive_len - 1;
  const char *name = item->path + item->archive_len + 1;
  bool is_good = tm_entry_name_clean(&clean, name, name_len) == NULL;
  if (l->archives == 0 || l->archive.len != item->archive_len ||
      memcmp(l->archive.data, item->path, item->archive_len) != 0) {
    tm_buf_clear(&l->archive);
    tm_buf_add(&l->archive, item->path, item->archive_len);
    l->archives++;
  }
  while (l->folders.len < l->archives)
    *TM_ARRAY_ADD(&l->folders) = tm_xstrdup(tm_buf_str(&l->archive));
  tm_buf_clear(&l->path);
  tm_buf_printf(&l->path, "%s/%" PRIu32 "/%s/", l->place, l->archives,
                tm_path_base(tm_buf_str(&l->archive)));
  tm_buf_add(&l->path, tm_buf_str(&clean), clean.len);
  tm_buf_release(&clean);
  return is_good ? 0 : TM_EINPUT;
}

/* ---- names that users see ---- */

/* The archive whose folder `at` names, behind the place: "/2/scans.zip", up to *end. NULL: `at` is
 * not in an archive. */
static const char *archive_at(const struct tm_entry_loader *l, const char *at, const char **end)
{
  uint64_t number = 0;
  const char *digits = at + 1;
  if (*at != '/')
    return NULL;
  for (; *digits >= '0' && *digits <= '9' && number <= l->folders.len; digits++)
    number = number * 10 + (uint64_t)(*digits - '0');
  if (*digits != '/' || number == 0 || number > l->folders.len)
    return NULL;
  const char *archive = l->folders.at[number - 1], *base = tm_path_base(archive);
  size_t len = strlen(base);
  *end = digits + 1 + len;
  return strncmp(digits + 1, base, len) == 0 ? archive : NULL;
}

void tm_entry_loader_name(const struct tm_entry_loader *l, struct tm_buf *text)
{
  struct tm_buf out = TM_BUF_NONE;
  const char *at = tm_buf_str(text), *found;
  size_t place_len = strlen(l->place);
  if (l->folders.len == 0 || memchr(at, '\0', text->len) != NULL)
    return;
  while ((found = strstr(at, l->place)) != NULL) {
    const char *end = found + place_len, *archive = archive_at(l, end, &end);
    tm_buf_add(&out, at, (size_t)(found - at));
    if (archive)
      tm_buf_add_str(&out, archive);
    else
      tm_buf_add_str(&out, l->place);
    at = archive ? end : found + place_len;
  }
  if (at != text->data) {
    tm_buf_add_str(&out, at);
    tm_buf_clear(text);
    tm_buf_add(text, tm_buf_str(&out), out.len);
  }
  tm_buf_release(&out);
}

/* ---- one entry ---- */

static int copy(struct tm_entry_loader *l, struct tm_entry *e, int fd, struct tm_err *err)
{
  int64_t got, at = 0;
  while ((got = tm_entry_read(e, l->piece, PIECE, err)) > 0) {
    int rc = tm_fs_write_at(l->fs, fd, l->path.data, l->piece, (size_t)got, at, err);
    if (rc < 0)
      return rc;
    at += got;
  }
  return (int)got;
}

/* Makes the empty file of an entry. Keeps (1). */
static int open_new(struct tm_entry_loader *l, const struct tm_item *item, struct tm_err *err)
{
  if (set_path(l, item) < 0)
    return tm_err_set(err, TM_EINPUT, "the name of an entry is not a name below a folder");
  l->has_files = true;
  int rc = make_folders(l, err);
  return rc < 0
             ? rc
             : tm_fs_open(l->fs, l->path.data, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600, err);
}

/* An archive that is named twice, or a name that is both a file and a folder: the later one gets a
 * folder of its own. */
static bool is_taken(int code)
{
  return code == -EEXIST || code == -ENOTDIR || code == -EISDIR;
}

static int extract(struct tm_entry_loader *l, const struct tm_item *item, struct tm_entry *e,
                   struct tm_err *err)
{
  int fd = open_new(l, item, err);
  if (is_taken(fd)) {
    l->archives++;
    fd = open_new(l, item, err);
  }
  if (fd == -ENAMETOOLONG)
    return tm_err_set(err, fd,
                      "its name is too long for a file of this machine (%zu bytes, below the "
                      "worker's folder); with extract = false it is read without one",
                      item->path_len - item->archive_len - 1);
  if (fd < 0)
    return fd;
  int rc = copy(l, e, fd, err);
  tm_fs_close(l->fs, fd);
  if (rc < 0)
    l->fs->unlink(l->fs->self, l->path.data);
  return rc;
}

static bool is_to_blame(int code) /* whether the entry is at fault; keeps (2) */
{
  return code == TM_EDAMAGE || code == TM_EINPUT || code == -ENAMETOOLONG || code == -ENOTDIR ||
         code == -EEXIST || code == -EISDIR || code == -EILSEQ || code == -EINVAL;
}

static void give(struct tm_entry_loader *l, const struct tm_item *item, uint32_t number)
{
  struct tm_item file = *item;
  if (item->is_extracted)
    file = (struct tm_item) { .path = l->path.data, .path_len = l->path.len, .size = -1 };
  tm_item_add(&l->bytes, &file);
  *TM_ARRAY_ADD(&l->numbers) = number;
}

/* An entry that stays a name is only checked this far; its reader reports other faults. */
static int load_one(struct tm_entry_loader *l, const struct tm_item *item, struct tm_err *err)
{
  if (item->fault_len > 0)
    return tm_entry_refuse(l->entries, item, err);
  if (!item->is_extracted)
    return 0;
  struct tm_entry *e = tm_entry_open(l->entries, item, err);
  int rc = e ? extract(l, item, e, err) : err->code;
  tm_entry_close(e);
  return rc;
}

/* Partition keys come first, and stay there. */
static void copy_keys(struct tm_entry_loader *l, const char *bytes, size_t len)
{
  uint32_t head = len >= 4 ? tm_get_u32(bytes) : 0;
  if (head >> 24 == TM_KEYS_RECORD && (head & 0xffffff) <= len - 4)
    tm_buf_add(&l->bytes, bytes, 4 + (head & 0xffffff));
}

/* Whether we have made `memory`. Keeps (1). */
static bool begin_memory(struct tm_entry_loader *l, const char *bytes, size_t len)
{
  if (!l->memory || !tm_entry_memory_suits(l->fs, l->memory, tm_entry_memory_need(bytes, len)) ||
      l->fs->mkdir(l->fs->self, l->memory, 0700) < 0)
    return false;
  l->place = l->memory;
  l->has_files = true;
  return true;
}

/* Loads all items to the place. */
static int load_all(struct tm_entry_loader *l, const char *bytes, size_t len, struct tm_buf *marks,
                    struct tm_err *err)
{
  struct tm_reader r;
  struct tm_item item;
  uint32_t number = 0;
  tm_buf_clear(&l->bytes);
  tm_buf_clear(&l->folder);
  l->numbers.len = 0;
  l->archives = 0;
  forget_folders(l);
  copy_keys(l, bytes, len);
  tm_reader_init(&r, bytes, len);
  while (tm_item_next(&r, &item)) {
    struct tm_err why = TM_ERR_NONE;
    int rc = item.is_entry ? load_one(l, &item, &why) : 0;
    number++;
    if (rc >= 0) {
      give(l, &item, number);
    } else if (is_to_blame(rc)) {
      tm_buf_add_u32(marks, number);
      tm_buf_add_bytes32(marks, why.text, strlen(why.text));
    } else {
      *err = why;
      return rc;
    }
  }
  return 0;
}

int tm_entry_load(struct tm_entry_loader *l, const char *bytes, size_t len,
                  struct tm_entry_items *out, struct tm_buf *marks, struct tm_err *err)
{
  size_t marks_len = marks->len;
  tm_entry_loader_clear(l);
  l->place = l->scratch;
  int rc = begin_memory(l, bytes, len) ? load_all(l, bytes, len, marks, err) : 0;
  if (rc < 0) { /* keeps (2) */
    tm_entry_loader_clear(l);
    l->place = l->scratch;
    marks->len = marks_len;
  }
  if (l->place == l->scratch && (rc = load_all(l, bytes, len, marks, err)) < 0)
    return rc;
  *out = (struct tm_entry_items) { .bytes = tm_buf_str(&l->bytes),
                                   .bytes_len = l->bytes.len,
                                   .items = (uint32_t)l->numbers.len,
                                   .numbers = l->numbers.at };
  return 0;
}
