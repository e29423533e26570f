/* ignore.h - `.tidemillignore`: what of a source_directory is not copied for a job.
 *
 * One pattern a line, as of data/files/glob.h without braces; blank lines, and those that begin with '#', say nothing.
 *
 *   *.csv          any file or folder of that name, however deep
 *   /data          at the top alone; so does every pattern with a '/' before its end: out/cache
 *   out/           a folder; all that is in it goes with it
 *   a/ ** /b       (without the blanks) any number of folders in between
 *   !keep.csv      is copied after all; the last line that fits decides
 *
 * What is in a folder that is left out cannot be taken back. A name that begins with a dot is only fitted by a pattern that
 * names the dot.
 */
#ifndef TM_PLAN_IGNORE_H
#define TM_PLAN_IGNORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/mem.h"
#include "sys/fs.h"

#define TM_IGNORE_NAME ".tidemillignore"

struct tm_ignore_rule {
  int line;
  char *text;   /* the pattern, cut at each '/': names, NUL-ended, one after the other */
  size_t parts; /* so many */
  bool is_kept; /* '!' */
  bool is_folder, is_anchored;
};

struct tm_ignore {
  struct TM_ARRAY(struct tm_ignore_rule) rules;
};

/* Zero-initialised is empty. Reads the file in `dir`; without one nothing is left out. TM_EUSAGE names file and line. Release it in
 * every case. */
int tm_ignore_read(struct tm_ignore *ig, const struct tm_fs *fs, const char *dir,
                   struct tm_err *err);
/* The line that leaves out `relative` (a path below the folder), which is looked for from its top; 0: none does. */
int tm_ignore_line(const struct tm_ignore *ig, const char *relative, bool is_folder);
void tm_ignore_release(struct tm_ignore *ig);

#endif
