/* profile.c - see profile.h.
 *
 * The count of a stack is overwritten in place, with a fixed number of digits: the file grows with
 * the number of different stacks, not with time. Beyond STACKS_MAX stacks, the others are counted
 * together.
 */
#include "agent/profile.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"

#define DIGITS     10
#define STACKS_MAX 200000
#define REST       "(more stacks than are told apart)"

int tm_profile_open(struct tm_profile *p, const char *path, struct tm_err *err)
{
  tm_require(path[0] == '/');
  const struct tm_fs *fs = tm_fs_real();
  char *dir = tm_path_dir(path);
  struct tm_stat st;
  *p = (struct tm_profile) { .fd = -1 };
  int rc = tm_fs_make_dir(fs, dir, 0700, err);
  free(dir);
  if (rc < 0)
    return rc;
  p->fd = tm_fs_open(fs, path, O_WRONLY | O_CREAT, 0600, err);
  if (p->fd < 0)
    return err->code;
  p->path = tm_xstrdup(path);
  p->size = fs->stat(fs->self, path, true, &st) == 0 ? st.size : 0;
  return 0;
}

static int write_at(struct tm_profile *p, const char *bytes, size_t len, int64_t at,
                    struct tm_err *err)
{
  int rc = tm_fs_write_at(tm_fs_real(), p->fd, p->path, bytes, len, at, err);
  if (rc >= 0)
    return 0;
  tm_fs_close(tm_fs_real(), p->fd);
  p->fd = -1;
  return rc;
}

static int add_line(struct tm_profile *p, const char *stack, size_t len, uint64_t count,
                    uint64_t *place, struct tm_err *err)
{
  tm_buf_clear(&p->line);
  tm_buf_add(&p->line, stack, len);
  tm_buf_printf(&p->line, " %0*" PRIu64 "\n", DIGITS, count);
  int64_t at = p->size;
  p->size += (int64_t)p->line.len;
  *place = (uint64_t)p->size - 1 - DIGITS;
  return write_at(p, p->line.data, p->line.len, at, err);
}

int tm_profile_add(struct tm_profile *p, const char *stack, size_t len, uint64_t samples,
                   struct tm_err *err)
{
  bool is_new;
  if (p->fd < 0)
    return 0;
  if (p->counts.len >= STACKS_MAX && !tm_map_find(&p->counts, stack, len)) {
    stack = REST;
    len = sizeof(REST) - 1;
  }
  uint64_t *count = tm_map_add(&p->counts, stack, len, &is_new);
  uint64_t *place = tm_map_add(&p->places, stack, len, NULL);
  *count += samples;
  if (is_new)
    return add_line(p, stack, len, *count, place, err);
  tm_buf_clear(&p->line);
  tm_buf_printf(&p->line, "%0*" PRIu64, DIGITS, *count);
  return write_at(p, p->line.data, p->line.len, (int64_t)*place, err);
}

void tm_profile_close(struct tm_profile *p)
{
  tm_fs_close(tm_fs_real(), p->fd);
  p->fd = -1;
  free(p->path);
  p->path = NULL;
  tm_map_release(&p->places);
  tm_map_release(&p->counts);
  tm_buf_release(&p->line);
}
