/* fault_list.c - see fault_list.h. A warning is its kind in one byte, and its text as bytes32. */
#include "data/fault_list.h"

void tm_fault_list_add(struct tm_buf *list, int kind, const struct tm_buf *words)
{
  tm_buf_add_char(list, (char)kind);
  tm_buf_add_bytes32(list, tm_buf_str(words), words->len);
}

bool tm_fault_list_next(struct tm_reader *r, int *kind, const char **words, size_t *len)
{
  const char *mark = r->at < r->end ? tm_read_raw(r, 1) : NULL;
  *words = mark != NULL ? tm_read_bytes32(r, len) : NULL;
  if (*words == NULL || r->bad || mark[0] <= 0 || mark[0] >= TM_FAULT_LIST_KINDS)
    return false;
  *kind = mark[0];
  return true;
}

void tm_fault_list_words(struct tm_buf *out, const struct tm_buf *list)
{
  struct tm_reader r;
  const char *words;
  size_t len, begin = out->len;
  int kind;
  tm_reader_init(&r, tm_buf_str(list), list->len);
  while (tm_fault_list_next(&r, &kind, &words, &len)) {
    tm_buf_add_str(out, out->len > begin ? "; " : "");
    tm_buf_add(out, words, len);
  }
}
