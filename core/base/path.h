/* path.h - names of files, as bytes; it never touches a disk.
 *
 * tm_path_absolute() of a relative `dir` stays relative, and keeps a leading ".."; ".." above the
 * root is the root. "a/" has the base "". A name whose only dot is its first character has no
 * extension.
 */
#ifndef TM_BASE_PATH_H
#define TM_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

bool tm_path_is_absolute(const char *path);
/* To free(). Only the name if it is absolute or `dir` is NULL or ""; only `dir` if the name is
 * "". */
char *tm_path_join(const char *dir, const char *name);
/* Joined, without ".", ".." and "//"; to free(). */
char *tm_path_absolute(const char *dir, const char *path);
/* After the last '/', within `path`. */
const char *tm_path_base(const char *path);
/* The part before it: "." if there is none, "/" for a name in the root; to free(). */
char *tm_path_dir(const char *path);
/* The base without its last extension; to free(). */
char *tm_path_stem(const char *path);
/* Whether it ends in `ending` (".csv"), in upper or lower case. */
bool tm_path_has_ending(const char *path, const char *ending);
/* Whether it ends in a suffix of compression: .gz, .zst, .xz, .bz2, .lz4. */
bool tm_path_is_packed(const char *path);
/* Whether it ends in `ending` without such a suffix: ".csv" of "a.CSV.gz". */
bool tm_path_has_inner_ending(const char *path, const char *ending);
/* "csv", "tsv" or "jsonl", by the inner ending of a table's name; NULL: it has another one. */
const char *tm_path_table_format(const char *path);

enum tm_path_naming {
  TM_PATH_UNNAMED,
  TM_PATH_NAMED_BY_BASE, /* by its base, which is not a mere number */
  TM_PATH_NAMED_IN_FULL,
};
/* Whether a text has `path`, or its base, as a word of its own. */
enum tm_path_naming tm_path_naming(const char *text, const char *path);

#endif
