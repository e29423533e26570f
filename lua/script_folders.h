/* script_folders.h - the folders that a script is given where no job has any: for `try`, `replay` and a prompt.
 *
 * Zero the struct; _make(); _leave() in every case.
 */
#ifndef TM_LUA_SCRIPT_FOLDERS_H
#define TM_LUA_SCRIPT_FOLDERS_H

#include <stdbool.h>

#include "lua/scratch.h"

struct tm_script_folders {
  struct tm_scratch scratch;
  char *root; /* of them; NULL: none was made */
  char *output_dir, *log_dir, *temp_dir;
  char *logger_file;
};

/* Fresh ones (scratch.h). output_dir and log_dir are made by who loads the
 * script. */
int tm_script_folders_make(struct tm_script_folders *f, const char *kind, struct tm_err *err);
/* temp_dir is removed, and what is empty of the others. True: something is left. */
bool tm_script_folders_leave(struct tm_script_folders *f);
void tm_script_folders_release(struct tm_script_folders *f);

#endif
