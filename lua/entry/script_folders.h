/* script_folders.h - the folders that a script may write to, and those of a script that runs
 * without a job: for `try`, `replay` and a prompt.
 *
 * Zero the struct; _make(); _give(); _leave() in every case.
 */
#ifndef TM_ENTRY_SCRIPT_FOLDERS_H
#define TM_ENTRY_SCRIPT_FOLDERS_H

#include <stdbool.h>

#include "agent/agent_msg.h"
#include "entry/scratch.h"

struct tm_script_folders {
  struct tm_scratch scratch;
  char *root; /* contains them; NULL: none was made */
  char *output_dir, *log_dir, *temp_dir;
  char *logger_file;
};

/* Makes new folders (scratch.h). The code that loads the script makes output_dir and log_dir. */
int tm_script_folders_make(struct tm_script_folders *f, const char *kind, struct tm_err *err);
/* Gives them to a script, which is worker process000 of node 0, and the only one there. */
void tm_script_folders_give(const struct tm_script_folders *f, struct tm_setup *setup);
/* Makes the folders of any setup, before init(). Logs are private; the umask decides who may read
 * the output. */
int tm_script_folders_make_own(const struct tm_setup *setup, struct tm_err *err);
/* Removes temp_dir, and the other folders if they are empty. True: something is left. */
bool tm_script_folders_leave(struct tm_script_folders *f);
void tm_script_folders_release(struct tm_script_folders *f);

#endif
