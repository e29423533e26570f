/* fuzz_archive.c - an archive of any bytes is listed or refused. Each listed entry has a fault or a
 * name below its folder, and reading it returns at most its size in bytes, or an error. */
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "data/archive/archive.h"
#include "data/archive/entry.h"
#include "data/archive/entry_name.h"

#define ENTRIES_READ 8
#define BYTES_READ   (INT64_C(1) << 20)

static int open_memory(void *self, const char *path, int flags, int mode)
{
  return dup(*(int *)self);
}

static int stat_memory(void *self, const char *path, bool follow, struct tm_stat *out)
{
  return tm_fs_real()->fstat(NULL, *(int *)self, out);
}

static void read_entry(struct tm_entries *all, const struct tm_archive_options *o,
                       const struct tm_archive_entry *e)
{
  static char piece[5000];
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf path = TM_BUF_NONE;
  tm_buf_printf(&path, "%s/%s", o->path, e->name);
  struct tm_item item = { .path = path.data,
                          .path_len = path.len,
                          .size = o->size,
                          .mtime_ns = o->mtime_ns,
                          .is_entry = true,
                          .archive_len = (uint32_t)strlen(o->path),
                          .entry = e->place };
  struct tm_entry *entry = tm_entry_open(all, &item, &err);
  int64_t got = entry ? 1 : -1, done = 0;
  while (got > 0 && done < BYTES_READ) {
    got = tm_entry_read(entry, piece, sizeof piece, &err);
    done += got > 0 ? got : 0;
  }
  fuzz_require(got >= 0 || err.code < 0);
  fuzz_require(got != 0 || done == e->place.size);
  fuzz_require(done <= e->place.size);
  tm_entry_close(entry);
  tm_buf_release(&path);
}

static void list(struct tm_archive *a, struct tm_entries *all, const struct tm_archive_options *o)
{
  struct tm_archive_entry e;
  struct tm_err err = TM_ERR_NONE;
  int rc, n = 0;
  while ((rc = tm_archive_next(a, &e, &err)) > 0) {
    struct tm_buf again = TM_BUF_NONE;
    fuzz_require(e.name_len > 0 && strlen(e.name) == e.name_len);
    fuzz_require(e.fault || (tm_entry_name_clean(&again, e.name, e.name_len) == NULL &&
                             again.len == e.name_len));
    fuzz_require(e.place.size >= 0 && e.place.packed >= 0 && e.place.place >= 0);
    tm_buf_release(&again);
    if (!e.fault && n++ < ENTRIES_READ)
      read_entry(all, o, &e);
  }
  fuzz_require(rc == 0 || err.code < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  int fd = memfd_create("archive", MFD_CLOEXEC);
  struct tm_fs fs = *tm_fs_real();
  struct tm_stat st;
  struct tm_err err = TM_ERR_NONE;
  fuzz_require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
  fs.self = &fd;
  fs.open = open_memory;
  fs.stat = stat_memory;
  fuzz_require(stat_memory(&fd, "", true, &st) == 0);
  struct tm_archive_options o = { .fs = &fs,
                                  .path = "/a",
                                  .size = st.size,
                                  .mtime_ns = st.mtime_ns,
                                  .limits = { .entries = 1000, .size = 1 << 24, .ratio = 20 } };
  struct tm_entries *all = tm_entries_new(&fs, NULL);
  struct tm_archive *a = tm_archive_open(&o, &err);
  if (a != NULL)
    list(a, all, &o);
  tm_archive_close(a);
  tm_entries_free(all);
  close(fd);
  return 0;
}
