/* json_tree.h - what json.c and json_parse.c share; no one else includes it. */
#ifndef TM_BASE_JSON_TREE_H
#define TM_BASE_JSON_TREE_H

#include "base/json.h"

/* Puts `value` at the end of an array (key NULL) or an object; takes the value and the key, which
 * came from malloc(). That the key is not there yet is the caller's to know. */
void tm_json_append(struct tm_json *list, char *key, struct tm_json *value);

#endif
