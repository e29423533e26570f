/* readme.h - logs/readme.txt: describes the log folder of a step. */
#ifndef TM_REPORT_README_H
#define TM_REPORT_README_H

#include "sys/fs.h"

int tm_readme_write(const struct tm_fs *fs, const char *logs_dir, struct tm_err *err);

#endif
