/* tokenizer.h - texts to tokens, as a tokenizer.json of Hugging Face's tokenizers says.
 *
 * A text goes through added tokens, normalizer, pre-tokenizer, model and post-processor. What a
 * file asks for is done as the reference implementation (in Rust) does it, or the file is refused
 * with the name of the part that is not supported. A file may be hostile: so may a text.
 *
 * One thread at a time uses a tokenizer.
 */
#ifndef TM_DATA_TOKENIZER_H
#define TM_DATA_TOKENIZER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "data/text/token_rows.h"

enum {
  TM_TOKENIZER_FILE_MAX = 1 << 25, /* bytes */
  TM_TOKENIZER_TEXT_MAX = 1 << 22
};

struct tm_tokenizer;

/* What the file says of the shape of a rows. */
struct tm_tokenizer_shape {
  int64_t max_length; /* 0: any */
  int64_t width;      /* all rows have this width; 0: that of the longest */
  int64_t multiple;   /* the width is a multiple of it; 0: any */
  bool cuts_left;     /* a text that is too long keeps its end */
  bool has_padding;   /* a padding token is known */
  struct tm_padding padding;
};

/* The tokenizer of a file with these bytes. NULL with a message: it is damaged, or asks for what is
 * not supported. */
struct tm_tokenizer *tm_tokenizer_parse(const char *text, size_t len, struct tm_err *err);
void tm_tokenizer_free(struct tm_tokenizer *t); /* NULL: a no-op */

const struct tm_tokenizer_shape *tm_tokenizer_shape(const struct tm_tokenizer *t);
size_t tm_tokenizer_len(const struct tm_tokenizer *t); /* tokens */
/* -1: there is no such token. */
int32_t tm_tokenizer_id(const struct tm_tokenizer *t, const char *token, size_t len);
/* Within its memory; NULL: there is no such id. */
const char *tm_tokenizer_token(const struct tm_tokenizer *t, int64_t id, size_t *len);
/* How many special tokens the post-processor adds to a text. */
size_t tm_tokenizer_specials(const struct tm_tokenizer *t);

struct tm_tokenizer_cut {
  bool with_specials;
  bool is_left;       /* a text that is too long keeps its end */
  int64_t max_length; /* of a row; 0: any; not less than the special tokens, if with_specials */
};

/* Adds the tokens of a text as a row of `rows`. TM_EINPUT: it is not UTF-8. TM_ELIMIT: it is too
 * long. -ECANCELED: *stop, which may be NULL, became true; no row was added. */
int tm_tokenizer_encode(struct tm_tokenizer *t, const char *text, size_t len,
                        const struct tm_tokenizer_cut *cut, const atomic_bool *stop,
                        struct tm_token_rows *rows, struct tm_err *err);

#endif
