/* pre_tokenizer.h - cuts a text into words: the "pre_tokenizer" of a tokenizer.json. */
#ifndef TM_DATA_PRE_TOKENIZER_H
#define TM_DATA_PRE_TOKENIZER_H

#include "base/json.h"
#include "base/mem.h"
#include "data/text/unicode.h"

/* Words, one behind the other in `text`. */
struct tm_words {
  struct tm_buf text;
  struct TM_ARRAY(size_t) ends;
};

struct tm_pre_tokenizer {
  struct tm_word_step *steps;
  size_t len, cap;
  /* The last step is ByteLevel: words are bytes, which may cut a character. Elsewhere that step is
   * refused. */
  bool is_byte_level;
  struct tm_words words[2]; /* scratch */
};

/* `part` may be NULL or null: a text is one word. After an error release it as well. */
int tm_pre_tokenizer_parse(struct tm_pre_tokenizer *p, const struct tm_json *part,
                           struct tm_err *err);
void tm_pre_tokenizer_release(struct tm_pre_tokenizer *p);
/* Frees its scratch memory. */
void tm_pre_tokenizer_trim(struct tm_pre_tokenizer *p);
/* The words of a text, valid until the next call; none is empty. */
const struct tm_words *tm_pre_tokenize(struct tm_pre_tokenizer *p, const struct tm_utf8proc *u,
                                       const char *text, size_t len);

#endif
