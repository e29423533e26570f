/* post_processor.h - special tokens around those of a text: the "post_processor" of a
 * tokenizer.json, for one text.
 */
#ifndef TM_DATA_POST_PROCESSOR_H
#define TM_DATA_POST_PROCESSOR_H

#include "base/json.h"
#include "base/mem.h"
#include "data/text/vocabulary.h"

struct tm_post_item {
  bool is_text;     /* the tokens of the text stand here */
  int32_t id, type; /* else this token; its token_type_id */
};

/* Exactly one item is the text. */
struct tm_post_processor {
  struct TM_ARRAY(struct tm_post_item) items;
};

/* `part` may be NULL or null: only the text. After an error release it as well. */
int tm_post_processor_parse(struct tm_post_processor *p, const struct tm_json *part,
                            const struct tm_vocabulary *v, struct tm_err *err);
void tm_post_processor_release(struct tm_post_processor *p);

#endif
