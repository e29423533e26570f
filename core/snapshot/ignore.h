/* ignore.h - `.tidemillignore`: what is left out when a source_directory is copied for a job.
 *
 * One pattern per line, as in data/files/glob.h without braces; blank lines, and those that begin
 * with '#', are ignored.
 *
 *   *.csv          any file or folder of that name, at any depth
 *   /data          only at the top; also any pattern with a '/' before its end: out/cache
 *   out/           a folder with all of its contents
 *   a/ ** /b       (without the blanks) any number of folders in between
 *   !keep.csv      is copied after all; the last matching line decides
 *
 * Nothing in an ignored folder can be included again. Only a pattern with the dot matches a name
 * that begins with a dot.
 */
#ifndef TM_SNAPSHOT_IGNORE_H
#define TM_SNAPSHOT_IGNORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/mem.h"
#include "sys/fs.h"

#define TM_IGNORE_NAME ".tidemillignore"

struct tm_ignore_rule {
  int line;
  char *text;   /* the pattern, split at each '/': names, NUL-ended, one after the other */
  size_t parts; /* their number */
  bool is_kept; /* '!' */
  bool is_folder, is_anchored;
};

struct tm_ignore {
  struct TM_ARRAY(struct tm_ignore_rule) rules;
};

/* Zero-initialised is empty. Reads the file in `dir`; without one, nothing is left out. TM_EUSAGE
 * names file and line. Release it in every case. */
int tm_ignore_read(struct tm_ignore *ig, const struct tm_fs *fs, const char *dir,
                   struct tm_err *err);
/* The number of the line that leaves out `relative` (a path below the folder); 0: none. Call it
 * from the top of the tree down. */
int tm_ignore_line(const struct tm_ignore *ig, const char *relative, bool is_folder);
void tm_ignore_release(struct tm_ignore *ig);

#endif
