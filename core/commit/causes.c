/* causes.c - see causes.h. */
#include "commit/causes.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* To a C string: a NUL byte would hide what follows it. */
static char *keep(const char *bytes, size_t len)
{
  char *text = tm_xstrndup(len > 0 ? bytes : "", len);
  for (char *at = text; (at = memchr(at, 0, len - (size_t)(at - text))) != NULL;)
    *at = '?';
  return text;
}

void tm_causes_add(struct tm_causes *c, const char *message, size_t message_len, const char *item,
                   size_t item_len, int64_t items, const char *detail)
{
  bool is_new;
  uint64_t *place = tm_map_add(&c->known, message, message_len, &is_new);
  if (!is_new) {
    c->list.at[*place - 1].items += items;
    return;
  }
  *place = c->list.len + 1;
  *TM_ARRAY_ADD(&c->list) =
      (struct tm_item_cause) { .message = keep(message, message_len),
                               .detail = tm_xstrdup(detail ? detail : ""),
                               .first_item = item ? tm_xstrndup(item, item_len) : NULL,
                               .first_item_len = item ? item_len : 0,
                               .items = items };
}

/* "'/data/a.csv.gz': the file ends too early" */
static bool names_item(const struct tm_item_cause *c)
{
  const char *message = c->message;
  size_t n = c->first_item_len;
  return strlen(message) > n + 2 && message[0] == '\'' &&
         memcmp(message + 1, c->first_item, n) == 0 && message[n + 1] == '\'';
}

void tm_causes_add_text(struct tm_buf *out, const struct tm_causes *c)
{
  const struct tm_item_cause *first = c->list.at;
  int64_t items = 0, others = (int64_t)c->list.len - 1;
  if (c->list.len == 0)
    return;
  for (size_t i = 0; i < c->list.len; i++)
    items += c->list.at[i].items;
  tm_text_count(out, items, tm_text_counted(items, " item failed", " items failed"));
  if (first->first_item_len > 0 && !names_item(first)) {
    tm_buf_add_str(out, items == 1 ? ", '" : "; the first, '");
    tm_text_one_line(out, first->first_item, first->first_item_len, 0);
    tm_buf_add_char(out, '\'');
  }
  tm_buf_printf(out, ": %s", first->message);
  if (*first->detail)
    tm_buf_printf(out, " (%s)", first->detail);
  if (others > 0) {
    tm_buf_add_str(out, "; and ");
    tm_text_count(out, others, tm_text_counted(others, " other cause", " other causes"));
  }
}

void tm_causes_release(struct tm_causes *c)
{
  for (size_t i = 0; i < c->list.len; i++) {
    free((char *)c->list.at[i].message);
    free((char *)c->list.at[i].detail);
    free((char *)c->list.at[i].first_item);
  }
  TM_ARRAY_RELEASE(&c->list);
  tm_map_release(&c->known);
}
