/* error_key.c - see error_key.h. */
#include "record/error_key.h"

#include <string.h>

#include "agent/agent_msg.h"
#include "base/check.h"
#include "base/message_pattern.h"
#include "base/text.h"

/* The part of a message that distinguishes errors. The message about a worker's end has no place in
 * the script, and ends in its lifetime, which does not distinguish two deaths. */
static size_t distinct_len(const char *message, const char *where)
{
  const char *after = *where ? NULL : strstr(message, " after ");
  bool is_time = after && after[7] >= '0' && after[7] <= '9';
  return is_time ? (size_t)(after - message) : strlen(message);
}

size_t tm_error_key(struct tm_buf *key, const struct tm_error_signature *s)
{
  const char *status = tm_text_or_empty(s->status), *where = tm_text_or_empty(s->where);
  struct tm_buf line = TM_BUF_NONE;
  size_t pattern_at;
  tm_require(s->message);
  tm_text_one_line(&line, s->message, distinct_len(s->message, where), TM_ERROR_MESSAGE_MAX);
  tm_buf_clear(key);
  tm_buf_add_str(key, *status ? status : tm_status_name(TM_RUN_DONE));
  tm_buf_add_char(key, '|');
  tm_buf_add_str(key, where);
  tm_buf_add_char(key, '|');
  pattern_at = key->len;
  /* the numbers of a signal and of an exit status make a difference */
  if (strcmp(status, tm_status_name(TM_PROCESS_DIED)) == 0)
    tm_buf_add(key, line.data, line.len);
  else
    tm_message_pattern(key, tm_buf_str(&line), s->item, s->item_len);
  tm_buf_release(&line);
  return pattern_at;
}
