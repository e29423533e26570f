/* glob.h - a pattern of paths, matched name by name on the way down a tree. Touches no disk.
 *
 *   *      any run of bytes within a name          ?        one character (one byte, where the name is not UTF-8)
 *   **     as a whole name: any number of folders  [a-z]    one character of a class; [!a-z] or [^a-z]: not of it
 *   {a,b}  either; may be nested and may hold '/'  \*       the character itself
 *
 * A '[' or '{' that is not closed, and braces without a comma, are themselves. A name that begins with a dot is matched
 * only by a part of the pattern that begins with a dot. A pattern that ends in '/' matches folders only. "." and empty
 * parts are left out.
 *
 * The walker holds a set of places: where in the pattern a folder may be. From a set and a name follows the set of the
 * entry. So one walk serves any number of `**` and braces, and meets each file once.
 *
 * Steps: init; begin() gives the set of the folder where the walk starts (tm_glob_start()); step() for each name in a
 * folder; matches() tells whether an entry is named; enter() makes the set of a folder that is gone into.
 */
#ifndef TM_DATA_FILES_GLOB_H
#define TM_DATA_FILES_GLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define TM_GLOB_PLACES 512 /* parts of a pattern and of its alternatives, all in all */

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

/* True when the text has a character that means something here. */
bool tm_glob_is_pattern(const char *text);
/* TM_ELIMIT when its braces make too many alternatives. On failure there is nothing to release. */
int tm_glob_init(struct tm_glob *g, const char *pattern, struct tm_err *err);
void tm_glob_release(struct tm_glob *g);

/* The set of the folder `start` itself. */
void tm_glob_begin(const struct tm_glob *g, struct tm_glob_set *out);
/* The set of the entry `name` of a folder with the set `from`; false when it is empty: not matched, nothing below. */
bool tm_glob_step(const struct tm_glob *g, const struct tm_glob_set *from, const char *name,
                  struct tm_glob_set *out);
/* An entry with this set is named by the pattern: taken, when it is a file; with all that is in it, when it is a folder
 * (the set after enter()). */
bool tm_glob_matches(const struct tm_glob *g, const struct tm_glob_set *set, bool is_folder);
/* The entry is a folder that is gone into: adds the places behind a `**` that stands for no folder. */
void tm_glob_enter(const struct tm_glob *g, struct tm_glob_set *set);
/* The set holds a `**`: there is no end to how deep it goes. */
bool tm_glob_is_recursive(const struct tm_glob *g, const struct tm_glob_set *set);
/* When the set holds plain names only, so that the folder need not be read: they are given one by one, duplicates
 * included, and true is returned. */
bool tm_glob_names(const struct tm_glob *g, const struct tm_glob_set *set,
                   void (*on_name)(void *data, const char *name), void *data);

/* One name against one part of a pattern, without '/' and braces. */
bool tm_glob_match_name(const char *pattern, const char *name);

#endif
