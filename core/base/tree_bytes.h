/* tree_bytes.h - a folder with its contents as a sequence of bytes, for another machine. Pure.
 *
 *   'D' bytes32 name                        a folder
 *   'F' bytes32 name, 'x' or '-'            a file, and whether it can be executed
 *       'P' bytes32 ... 'P' bytes32 ""      its contents, in pieces of at most TM_TREE_PIECE_MAX
 *   'L' bytes32 name, bytes32 target        a link
 *   'E'                                     the end
 *
 * Names are relative to the folder: "lib/a.lua". A folder comes before its entries.
 *
 * The hash of a tree covers names, contents and executability, in the order of the entries.
 *
 * All names from tm_tree_read() are within the folder: they have no part "", "." or "..", and no
 * NUL. Entries and bytes are limited. The reader must make links last, so that nothing is written
 * through one.
 */
#ifndef TM_BASE_TREE_BYTES_H
#define TM_BASE_TREE_BYTES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"

#define TM_TREE_PIECE_MAX   ((size_t)256 << 10)
#define TM_TREE_ENTRIES_MAX 20000
#define TM_TREE_BYTES_MAX   ((uint64_t)1 << 30) /* of contents */
#define TM_TREE_NAME_MAX    4095                /* bytes; also of a link's target */

void tm_tree_add_folder(struct tm_buf *out, const char *name);
/* Add its pieces next. */
void tm_tree_add_file(struct tm_buf *out, const char *name, bool is_program);
void tm_tree_add_piece(struct tm_buf *out, const void *p, size_t n); /* n 0: the file's end */
void tm_tree_add_link(struct tm_buf *out, const char *name, const char *target);
void tm_tree_add_end(struct tm_buf *out);

/* Adds an entry to the hash of a tree: 'D', 'L' with its target, or 'F' with these facts. */
#define TM_TREE_FILE_FACTS 9
void tm_tree_file_facts(char out[TM_TREE_FILE_FACTS], bool is_program, uint64_t contents);
void tm_tree_hash_add(struct tm_hash *all, char kind, const char *name, const void *p, size_t n);
void tm_tree_hash_text(char out[17], const struct tm_hash *all); /* 16 hexadecimal digits */

/* The reader of a tree. Calls that return a negative code, with a message, end the reading. */
struct tm_tree_reader {
  void *data;
  bool (*read)(void *data, char *p, size_t n); /* exactly n bytes; false: they have ended */
  int (*on_folder)(void *data, const char *name, struct tm_err *err);
  int (*on_file)(void *data, const char *name, bool is_program, struct tm_err *err);
  int (*on_piece)(void *data, const char *p, size_t n, struct tm_err *err); /* n 0: its end */
  int (*on_link)(void *data, const char *name, const char *target, struct tm_err *err);
};
/* Reads to the end of the tree. TM_EPROTOCOL: the bytes are not a tree, or end too early. */
int tm_tree_read(const struct tm_tree_reader *r, char hash[17], struct tm_err *err);

/* Whether a link of this name leads to a place in the folder, judged by the text alone. */
bool tm_tree_link_is_within(const char *name, const char *target);

#endif
