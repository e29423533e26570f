/* msg_strings.h - strings and lists of strings in messages: the part that node/node_msg.c and
 * agent/agent_msg.c share.
 *
 * A string is bytes32 (base/buf.h) without a NUL in it, whatever its encoding: paths and variables
 * of a machine need not be UTF-8. A list is a u32 count and as many strings.
 */
#ifndef TM_NODE_MSG_STRINGS_H
#define TM_NODE_MSG_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

void tm_msg_add_str(struct tm_buf *out, const char *s); /* NULL is written as "" */
void tm_msg_add_list(struct tm_buf *out, char *const *at, size_t len);

/* To free(). "" with r->bad on bytes that end too early or hold a NUL. */
char *tm_msg_read_str(struct tm_reader *r);
/* *at is NULL-ended, to tm_msg_release_list(). On bad bytes an empty list and r->bad. */
void tm_msg_read_list(struct tm_reader *r, char ***at, size_t *len);
void tm_msg_release_list(char **at, size_t len); /* NULL is a no-op */

#endif
