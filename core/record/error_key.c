/* error_key.c - see error_key.h. */
#include "record/error_key.h"

#include <stdbool.h>
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

static bool is_hex(char c)
{
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F');
}

/* The text as one line. Bytes that are not UTF-8 become U+FFFD: tables have them as \xFF, and the
 * list of failed items, which is JSON, has lost them. */
static void add_line(struct tm_buf *out, const char *text, size_t n, size_t max)
{
  struct tm_buf line = TM_BUF_NONE;
  tm_text_one_line(&line, text, n, max);
  const char *at = tm_buf_str(&line), *end = at + line.len;
  for (const char *found; (found = strstr(at, "\\x")); at = found + 2) {
    bool is_byte = end - found >= 4 && found[2] >= '8' && is_hex(found[2]) && is_hex(found[3]);
    tm_buf_add(out, at, (size_t)(found - at));
    tm_buf_add_str(out, is_byte ? "\xEF\xBF\xBD" : "\\x");
    found += is_byte ? 2 : 0;
  }
  tm_buf_add(out, at, (size_t)(end - at));
  tm_buf_release(&line);
}

size_t tm_error_key(struct tm_buf *key, const struct tm_error_signature *s)
{
  const char *status = tm_text_or_empty(s->status), *where = tm_text_or_empty(s->where);
  struct tm_buf line = TM_BUF_NONE, item = TM_BUF_NONE;
  size_t pattern_at;
  tm_require(s->message);
  add_line(&line, s->message, distinct_len(s->message, where), TM_ERROR_MESSAGE_MAX);
  tm_buf_clear(key);
  tm_buf_add_str(key, *status ? status : tm_status_name(TM_RUN_DONE));
  tm_buf_add_char(key, '|');
  tm_buf_add_str(key, where);
  tm_buf_add_char(key, '|');
  pattern_at = key->len;
  /* the numbers of a signal and of an exit status make a difference */
  if (strcmp(status, tm_status_name(TM_PROCESS_DIED)) == 0)
    tm_buf_add(key, line.data, line.len);
  else {
    add_line(&item, tm_text_or_empty(s->item), s->item ? s->item_len : 0, 0);
    tm_message_pattern(key, tm_buf_str(&line), tm_buf_str(&item), item.len);
  }
  tm_buf_release(&item);
  tm_buf_release(&line);
  return pattern_at;
}
