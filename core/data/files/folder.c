/* folder.c - names in one arena, sorted through four-byte positions.
 *
 * A folder may hold a million names: at 15 bytes each that is 17 MB of names and 4 MB of positions,
 * and while it is sorted as many positions again. Pointers, or an allocation per name, would need
 * several times that.
 */
#include "data/files/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

bool tm_folder_add(struct tm_folder *f, const char *name, int type)
{
  size_t n = strlen(name) + 1;
  if (f->names.len + n + 1 > UINT32_MAX)
    return false;
  tm_array_reserve((void **)&f->order, f->len + 1, &f->cap, sizeof(*f->order));
  f->order[f->len++] = (uint32_t)f->names.len;
  char *to = tm_buf_extend(&f->names, n + 1);
  to[0] = (char)type;
  memcpy(to + 1, name, n);
  return true;
}

static int compare_places(const void *a, const void *b, void *names)
{
  const char *at = (const char *)names + 1;
  return strcmp(at + *(const uint32_t *)a, at + *(const uint32_t *)b);
}

void tm_folder_sort(struct tm_folder *f)
{
  size_t kept = 0;
  if (f->len < 2)
    return;
  qsort_r(f->order, f->len, sizeof(*f->order), compare_places, f->names.data);
  for (size_t i = 1; i < f->len; i++)
    if (compare_places(&f->order[kept], &f->order[i], f->names.data) != 0)
      f->order[++kept] = f->order[i];
  f->len = kept + 1;
}

struct reading {
  struct tm_folder *folder;
  tm_folder_wants wants;
  void *data;
};

static int on_name(void *data, const char *name, int type)
{
  struct reading *r = data;
  if (!r->wants(r->data, name))
    return 0;
  return tm_folder_add(r->folder, name, type) ? 0 : -EFBIG;
}

int tm_folder_read(struct tm_folder *f, const struct tm_fs *fs, const char *path,
                   tm_folder_wants wants, void *data)
{
  struct reading r = { f, wants, data };
  int rc = fs->dir_read(fs->self, path, on_name, &r);
  if (rc == 0)
    tm_folder_sort(f);
  return rc;
}

bool tm_folder_next(struct tm_folder *f, const char **name, int *type)
{
  if (f->at == f->len)
    return false;
  const char *entry = f->names.data + f->order[f->at++];
  *type = (unsigned char)entry[0];
  *name = entry + 1;
  return true;
}

void tm_folder_release(struct tm_folder *f)
{
  tm_buf_release(&f->names);
  free(f->order);
  memset(f, 0, sizeof(*f));
}
