/* script_folders.c - see script_folders.h. */
#include "entry/script_folders.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "node/node_msg.h"
#include "sys/fs.h"
#include "sys/process.h"

int tm_script_folders_make(struct tm_script_folders *f, const char *kind, struct tm_err *err)
{
  struct tm_scratch scratch;
  if (tm_scratch_make(&scratch, kind, err) < 0)
    return err->code;
  char *root = tm_xstrdup(scratch.path);
  *f = (struct tm_script_folders) { .scratch = scratch,
                                    .root = root,
                                    .output_dir = tm_path_join(root, "output"),
                                    .log_dir = tm_path_join(root, "log"),
                                    .temp_dir = tm_path_join(root, "temp"),
                                    .logger_file = tm_path_join(root, "log/process000.log.txt") };
  return tm_fs_make_dirs(tm_fs_real(), f->temp_dir, 0700, err);
}

void tm_script_folders_give(const struct tm_script_folders *f, struct tm_setup *setup)
{
  setup->worker_name = (char *)"process000";
  setup->node_id = (char *)TM_LOCAL_NODE_NAME;
  setup->cores = tm_process_cores();
  setup->is_only_worker = true;
  setup->output_dir = f->output_dir;
  setup->log_dir = f->log_dir;
  setup->temp_dir = f->temp_dir;
  setup->logger_file = f->logger_file;
}

static int make_folder(const char *path, int mode, struct tm_err *err)
{
  return path && *path ? tm_fs_make_dir(tm_fs_real(), path, mode, err) : 0;
}

int tm_script_folders_make_own(const struct tm_setup *setup, struct tm_err *err)
{
  (void)make_folder(setup->log_dir, 0700, NULL); /* without it, the logger writes nothing */
  return make_folder(setup->output_dir, 0777, err);
}

bool tm_script_folders_leave(struct tm_script_folders *f)
{
  const char *const dirs[] = { f->output_dir, f->log_dir };
  bool is_left = false;
  if (!f->root)
    return false;
  tm_tree_remove(f->temp_dir, NULL);
  for (size_t i = 0; i < TM_COUNT_OF(dirs); i++)
    is_left = (rmdir(dirs[i]) < 0 && tm_fs_exists(tm_fs_real(), dirs[i])) || is_left;
  return tm_scratch_leave(&f->scratch) || is_left;
}

void tm_script_folders_release(struct tm_script_folders *f)
{
  free(f->output_dir);
  free(f->log_dir);
  free(f->temp_dir);
  free(f->logger_file);
  free(f->root);
  *f = (struct tm_script_folders) { 0 };
}
