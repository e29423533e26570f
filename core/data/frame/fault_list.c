/* fault_list.c - see fault_list.h. A warning is its kind in one byte, a u64, and its two texts as
 * bytes32. */
#include "data/frame/fault_list.h"

#include <string.h>

#include "base/check.h"

void tm_fault_list_add(struct tm_buf *list, int kind, int64_t count, const char *what,
                       const struct tm_buf *words)
{
  tm_require(kind > 0 && kind < TM_FAULT_LIST_KINDS && count >= 0);
  tm_buf_add_char(list, (char)kind);
  tm_buf_add_u64(list, (uint64_t)count);
  tm_buf_add_bytes32(list, what, strlen(what));
  tm_buf_add_bytes32(list, tm_buf_str(words), words->len);
}

bool tm_fault_list_next(struct tm_reader *r, struct tm_fault_entry *out)
{
  const char *mark = r->at < r->end ? tm_read_raw(r, 1) : NULL;
  uint64_t count = mark != NULL ? tm_read_u64(r) : 0;
  out->what = mark != NULL ? tm_read_bytes32(r, &out->what_len) : NULL;
  out->words = out->what != NULL ? tm_read_bytes32(r, &out->words_len) : NULL;
  if (out->words == NULL || r->bad || mark[0] <= 0 || mark[0] >= TM_FAULT_LIST_KINDS ||
      count > INT64_MAX)
    return false;
  out->kind = mark[0];
  out->count = (int64_t)count;
  return true;
}

void tm_fault_list_words(struct tm_buf *out, const struct tm_buf *list)
{
  struct tm_reader r;
  struct tm_fault_entry e;
  size_t begin = out->len;
  tm_reader_init(&r, tm_buf_str(list), list->len);
  while (tm_fault_list_next(&r, &e)) {
    tm_buf_add_str(out, out->len > begin ? "; " : "");
    tm_buf_add(out, e.words, e.words_len);
  }
}
