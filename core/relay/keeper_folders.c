/* keeper_folders.c - see keeper_folders.h. A thread removes them: a file system may hang. */
#include "relay/keeper_folders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "node/temp_left.h"
#include "sys/errand.h"

static bool has(const struct tm_keeper_folders *f, const char *path)
{
  for (size_t i = 0; i < f->paths.len; i++)
    if (strcmp(f->paths.at[i], path) == 0)
      return true;
  return false;
}

bool tm_keeper_folders_add_below(struct tm_keeper_folders *f, const char *job_dir,
                                 const char *below)
{
  char *path = tm_path_dir(below), *begin = tm_temp_name_begin(job_dir);
  bool counts = path[0] == '/' && strncmp(tm_path_base(path), begin, strlen(begin)) == 0;

  if (counts && !has(f, path))
    *TM_ARRAY_ADD(&f->paths) = tm_xstrdup(path);
  free(begin);
  free(path);
  return counts;
}

void tm_keeper_folders_add(struct tm_keeper_folders *f, const struct tm_node_step *step)
{
  (void)tm_keeper_folders_add_below(f, step->job_dir, step->temp_base);
  (void)tm_keeper_folders_add_below(f, step->job_dir, step->memory_base);
}

void tm_keeper_folders_release(struct tm_keeper_folders *f)
{
  for (size_t i = 0; i < f->paths.len; i++)
    free(f->paths.at[i]);
  TM_ARRAY_RELEASE(&f->paths);
}

/* ---- removing ---- */

struct removal {
  struct tm_errand errand;
  struct tm_keeper_folders folders;
  struct tm_err err; /* of the first that remains */
};

static void run(void *data)
{
  struct removal *r = data;

  for (size_t i = 0; i < r->folders.paths.len; i++) {
    const char *path = r->folders.paths.at[i];
    struct tm_err err = TM_ERR_NONE;
    unsigned long uid;
    if (tm_temp_is_name(tm_path_base(path), &uid) && tm_temp_remove(path, uid, &err) < 0 &&
        r->err.code == 0)
      r->err = err;
  }
}

static void free_removal(void *data)
{
  struct removal *r = data;

  tm_keeper_folders_release(&r->folders);
  free(r);
}

int tm_keeper_folders_remove(struct tm_keeper_folders *f, int64_t patience_ns, struct tm_err *err)
{
  int rc;

  if (f->paths.len == 0)
    return 0;
  struct removal *r = TM_NEW(struct removal);
  r->folders = *f;
  *f = (struct tm_keeper_folders) { 0 };
  r->errand = (struct tm_errand) { .run = run, .free_data = free_removal, .data = r };
  if ((rc = tm_errand_start(&r->errand, err)) < 0)
    return rc;
  if (!tm_errand_wait(&r->errand, patience_ns))
    tm_err_set(err, -ETIMEDOUT,
               "temporary folders of this node remain: they could not be removed within %g s",
               (double)patience_ns / 1e9);
  else if (r->err.code < 0)
    *err = r->err;
  rc = err->code;
  tm_errand_end(&r->errand, 0);
  return rc;
}
