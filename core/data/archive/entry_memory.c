/* entry_memory.c - see entry_memory.h. */
#include "data/archive/entry_memory.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "data/item.h"

#define BESIDE 2048 /* bytes: an inode, up to two names, an occasional folder */

int64_t tm_entry_memory_need(const char *bytes, size_t len)
{
  struct tm_reader r;
  struct tm_item item;
  int64_t need = 0, page = sysconf(_SC_PAGESIZE);
  tm_reader_init(&r, bytes, len);
  while (tm_item_next(&r, &item) && need <= TM_ENTRY_MEMORY_MAX) {
    if (!item.is_entry || !item.is_extracted || item.fault_len > 0)
      continue;
    if (item.entry.size > TM_ENTRY_MEMORY_MAX)
      return item.entry.size;
    need += (item.entry.size + page - 1) / page * page + BESIDE;
  }
  return need;
}

/* In a folder that others can write to, the sticky bit protects what is not theirs. */
static bool is_safe(const struct tm_stat *st)
{
  return S_ISDIR(st->mode) && (!(st->mode & (S_IWGRP | S_IWOTH)) || (st->mode & S_ISVTX));
}

bool tm_entry_memory_suits(const struct tm_fs *fs, const char *dir, int64_t need)
{
  struct tm_volume v;
  struct tm_stat st;
  if (need <= 0 || need > TM_ENTRY_MEMORY_MAX)
    return false;
  char *parent = tm_path_dir(dir), *above = tm_path_dir(parent);
  bool suits = fs->volume(fs->self, parent, &v) == 0 && v.is_memory && !v.is_read_only &&
               !v.is_no_exec && v.free_bytes / TM_ENTRY_MEMORY_SHARE >= need &&
               v.free_files / TM_ENTRY_MEMORY_SHARE >= need / BESIDE &&
               fs->stat(fs->self, parent, true, &st) == 0 && is_safe(&st) &&
               fs->stat(fs->self, above, true, &st) == 0 && is_safe(&st);
  free(above);
  free(parent);
  return suits;
}
