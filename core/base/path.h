/* path.h - names of files, as bytes; nothing here touches a disk.
 *
 * tm_path_absolute() of a relative `dir` stays relative, and keeps the ".." it begins with; ".."
 * above the root is the root. "a/" has the base "". A name that begins with its only dot has no
 * extension.
 */
#ifndef TM_BASE_PATH_H
#define TM_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

bool tm_path_is_absolute(const char *path);
/* To free(). The name alone when it is absolute or `dir` is NULL or ""; `dir` alone when the name
 * is "". */
char *tm_path_join(const char *dir, const char *name);
/* Joined, and ".", ".." and "//" taken out; to free(). */
char *tm_path_absolute(const char *dir, const char *path);
/* After the last '/', within `path`. */
const char *tm_path_base(const char *path);
/* Before it: "." when there is none, "/" for what stands in the root; to free(). */
char *tm_path_dir(const char *path);
/* The base without its last extension; to free(). */
char *tm_path_stem(const char *path);
/* Whether it ends in `ending` (".csv"), in upper or lower case. */
bool tm_path_has_ending(const char *path, const char *ending);
/* Whether its last ending says how the file is compressed: .gz, .zst, .xz, .bz2, .lz4. */
bool tm_path_is_packed(const char *path);
/* Whether it ends in `ending` once such an ending is taken off: ".csv" of "a.CSV.gz". */
bool tm_path_has_inner_ending(const char *path, const char *ending);

#endif
