/* glob.h - a pattern of paths, matched name by name while descending a tree. It touches no disk.
 *
 *   *      any run of bytes within a name          ?        one character (one byte, if not UTF-8)
 *   **     as a whole name: any number of folders  [a-z]    one character of a class;
 *                                                           [!a-z] or [^a-z]: not of it
 *   {a,b}  either; may be nested and may hold '/'  \*       the character itself
 *
 * A '[' or '{' that is not closed, and braces without a comma, stand for themselves. Only a part of
 * the pattern that begins with a dot matches a name that begins with a dot. A pattern that ends in
 * '/' matches only folders. "." and empty parts are ignored.
 *
 * The walker keeps a set of places: the positions in the pattern that a folder may be at. A set and
 * a name give the set of the entry. So one walk handles any number of `**` and braces, and visits
 * each file once.
 *
 * Steps: init; begin() gives the set of the folder where the walk starts (tm_glob_start()); step()
 * for each name in a folder; matches() tells whether an entry matches; enter() makes the set of a
 * folder to descend into.
 */
#ifndef TM_DATA_FILES_GLOB_H
#define TM_DATA_FILES_GLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define TM_GLOB_PLACES 512 /* parts of a pattern and of its alternatives, in total */

enum tm_glob_kind {
  TM_GLOB_NAME,
  TM_GLOB_PATTERN,
  TM_GLOB_FOLDERS,
  TM_GLOB_END,
  TM_GLOB_END_FOLDER
};

struct tm_glob_place {
  enum tm_glob_kind kind;
  char *text; /* NAME: the name itself; PATTERN: as written; else NULL */
};

struct tm_glob {
  struct tm_glob_place *places;
  size_t len;     /* of places; each alternative ends in an END */
  size_t *firsts; /* the first place of each alternative */
  size_t firsts_len;
  bool is_absolute;
  char *start; /* names that all alternatives begin with, joined with '/'; "" for none */
};

struct tm_glob_set {
  uint64_t bits[TM_GLOB_PLACES / 64];
};

/* Whether the text has a special character. */
bool tm_glob_is_pattern(const char *text);
/* TM_ELIMIT if its braces make too many alternatives. On failure there is nothing to release. */
int tm_glob_init(struct tm_glob *g, const char *pattern, struct tm_err *err);
void tm_glob_release(struct tm_glob *g);

/* The only path that the pattern names, without escapes: it has no special character and no braces
 * that expand. NULL: it may name several. `takes_file`: it may be a file, too (no '/' ends it).
 * Free it. */
char *tm_glob_plain(const struct tm_glob *g, bool *takes_file);

/* The set of the folder `start` itself. */
void tm_glob_begin(const struct tm_glob *g, struct tm_glob_set *out);
/* The set of the entry `name` in a folder with the set `from`; false if it is empty: neither the
 * entry nor anything below can match. */
bool tm_glob_step(const struct tm_glob *g, const struct tm_glob_set *from, const char *name,
                  struct tm_glob_set *out);
/* Whether an entry with this set matches: a file is taken; a folder is taken with its contents (the
 * set after enter()). */
bool tm_glob_matches(const struct tm_glob *g, const struct tm_glob_set *set, bool is_folder);
/* For a folder to descend into: adds the places after a `**`, which may stand for no folder. */
void tm_glob_enter(const struct tm_glob *g, struct tm_glob_set *set);
/* Whether the set holds a `**`, which has no limit of depth. */
bool tm_glob_is_recursive(const struct tm_glob *g, const struct tm_glob_set *set);
/* If the set holds only plain names, so that the folder need not be read: calls on_name for each,
 * including duplicates, and returns true. */
bool tm_glob_names(const struct tm_glob *g, const struct tm_glob_set *set,
                   void (*on_name)(void *data, const char *name), void *data);

/* Matches one name with one part of a pattern, without '/' and braces. */
bool tm_glob_match_name(const char *pattern, const char *name);

#endif
