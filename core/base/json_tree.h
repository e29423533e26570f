/* json_tree.h - what json.c and json_parse.c share; only they include it. */
#ifndef TM_BASE_JSON_TREE_H
#define TM_BASE_JSON_TREE_H

#include "base/json.h"

/* Appends `value` to an array (key NULL) or an object; takes ownership of the value and the key,
 * which came from malloc(). The caller ensures that the key is new. */
void tm_json_append(struct tm_json *list, char *key, struct tm_json *value);

#endif
