/* script_folders.c - see script_folders.h. */
#include "lua/script_folders.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"

int tm_script_folders_make(struct tm_script_folders *f, const char *kind, struct tm_err *err)
{
  const char *tmp = getenv("TMPDIR");
  char *root = tm_xprintf("%s/tidemill-%s-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp", kind);
  if (!mkdtemp(root)) {
    tm_err_set(err, TM_EUSAGE, "cannot make a folder '%s'; TMPDIR names another place", root);
    free(root);
    return TM_EUSAGE;
  }
  *f = (struct tm_script_folders) { .root = root,
                                    .output_dir = tm_path_join(root, "output"),
                                    .log_dir = tm_path_join(root, "log"),
                                    .temp_dir = tm_path_join(root, "temp"),
                                    .logger_file = tm_path_join(root, "log/process000.log.txt") };
  return tm_fs_make_dirs(tm_fs_real(), f->temp_dir, 0700, err);
}

bool tm_script_folders_leave(struct tm_script_folders *f)
{
  const char *const dirs[] = { f->output_dir, f->log_dir, f->root };
  bool is_left = false;
  if (!f->root)
    return false;
  tm_tree_remove(f->temp_dir, NULL);
  for (size_t i = 0; i < TM_COUNT_OF(dirs); i++)
    is_left = (rmdir(dirs[i]) < 0 && tm_fs_exists(tm_fs_real(), dirs[i])) || is_left;
  return is_left;
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
