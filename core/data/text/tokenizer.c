/* tokenizer.c - see tokenizer.h. */
#include "data/text/tokenizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "data/text/added_tokens.h"
#include "data/text/normalizer.h"
#include "data/text/post_processor.h"
#include "data/text/pre_tokenizer.h"
#include "data/text/token_model.h"
#include "data/text/tokenizer_part.h"

enum { KEPT_MAX = 1 << 18 }; /* bytes of a text; a longer one leaves no scratch memory */

struct tm_tokenizer {
  const struct tm_utf8proc *unicode;
  struct tm_added_tokens added;
  struct tm_normalizer normalizer;
  struct tm_pre_tokenizer pre_tokenizer;
  struct tm_token_model model;
  struct tm_post_processor post_processor;
  struct tm_tokenizer_shape shape;
  struct tm_token_ids ids; /* scratch */
  const atomic_bool *stop; /* of the call that runs */
};

static bool is_null(const struct tm_json *v)
{
  return !v || v->type == TM_JSON_NULL;
}

/* Whether a "direction" is "Left". */
static int read_direction(const struct tm_json *part, const char *what, bool *is_left,
                          struct tm_err *err)
{
  const char *direction = tm_json_str(part, "direction", "Right");

  *is_left = strcmp(direction, "Left") == 0;
  if (*is_left || strcmp(direction, "Right") == 0)
    return 0;
  return tm_err_set(err, TM_EINPUT, "%s: its direction must be 'Left' or 'Right'", what);
}

static bool is_length(int64_t n)
{
  return n > 0 && n <= INT32_MAX;
}

static int read_truncation(struct tm_tokenizer *t, const struct tm_json *part, struct tm_err *err)
{
  static const struct tm_part_setting settings[] = {
    { "direction", TM_PART_TEXT | TM_PART_ABSENT },
    { "max_length", TM_PART_INTEGER },
    { "strategy", TM_PART_TEXT | TM_PART_ABSENT },
    { "stride", TM_PART_INTEGER | TM_PART_ABSENT }, /* of the pieces after the first */
  };

  if (is_null(part))
    return 0;
  int rc = tm_part_check("truncation", part, settings, TM_COUNT_OF(settings), err);
  if (rc < 0)
    return rc;
  t->shape.max_length = tm_json_int(part, "max_length", 0);
  if (!is_length(t->shape.max_length))
    return tm_err_set(err, TM_EINPUT, "truncation: its max_length must be positive");
  if (strcmp(tm_json_str(part, "strategy", ""), "OnlySecond") == 0)
    return tm_err_set(err, TM_EINPUT, "truncation: its strategy 'OnlySecond' needs pairs of texts");
  return read_direction(part, "truncation", &t->shape.cuts_left, err);
}

static int read_padding(struct tm_tokenizer *t, const struct tm_json *part, struct tm_err *err)
{
  static const struct tm_part_setting settings[] = {
    { "strategy", TM_PART_TEXT | TM_PART_OBJECT },
    { "direction", TM_PART_TEXT | TM_PART_ABSENT },
    { "pad_to_multiple_of", TM_PART_INTEGER | TM_PART_NULL | TM_PART_ABSENT },
    { "pad_id", TM_PART_INTEGER },
    { "pad_type_id", TM_PART_INTEGER | TM_PART_ABSENT },
    { "pad_token", TM_PART_TEXT | TM_PART_ABSENT }, /* pad_id counts */
  };
  struct tm_tokenizer_shape *s = &t->shape;

  if (is_null(part))
    return 0;
  int rc = tm_part_check("padding", part, settings, TM_COUNT_OF(settings), err);
  if (rc < 0)
    return rc;
  const struct tm_json *strategy = tm_json_get(part, "strategy");
  const struct tm_json *fixed = tm_json_get(strategy, "Fixed");
  bool is_longest = strcmp(tm_json_str(part, "strategy", ""), "BatchLongest") == 0;
  if (!is_longest && !(fixed && is_length(tm_json_int(strategy, "Fixed", 0))))
    return tm_err_set(err, TM_EINPUT,
                      "padding: its strategy must be 'BatchLongest', or { \"Fixed\": n }");
  s->width = tm_json_int(strategy, "Fixed", 0);
  s->multiple = tm_json_int(part, "pad_to_multiple_of", 0);
  int64_t id = tm_json_int(part, "pad_id", -1), type = tm_json_int(part, "pad_type_id", 0);
  if (id < 0 || id >= (int64_t)t->model.vocabulary.len)
    return tm_err_set(err, TM_EINPUT, "padding: its pad_id is not in the vocabulary");
  if (s->multiple < 0 || s->multiple > INT32_MAX || type < 0 || type > INT32_MAX)
    return tm_err_set(err, TM_EINPUT, "padding: a number is too large, or negative");
  s->padding.id = (int32_t)id;
  s->padding.type = (int32_t)type;
  s->has_padding = true;
  return read_direction(part, "padding", &s->padding.is_left, err);
}

/* Without "padding" in the file: the token that BERT, RoBERTa and T5 use for it, if it is there. */
static void find_padding(struct tm_tokenizer *t)
{
  static const char *const names[] = { "[PAD]", "<pad>" };

  for (size_t i = 0; i < TM_COUNT_OF(names) && !t->shape.has_padding; i++) {
    int32_t id = tm_vocabulary_id(&t->model.vocabulary, names[i], strlen(names[i]));
    t->shape.has_padding = id >= 0;
    t->shape.padding.id = id < 0 ? 0 : id;
  }
}

/* Words must be what the model takes. */
static int check_words(const struct tm_tokenizer *t, struct tm_err *err)
{
  if (t->model.is_byte_level && !t->pre_tokenizer.is_byte_level)
    return tm_err_set(err, TM_EINPUT,
                      "model 'BPE': only byte-level BPE is supported, with the "
                      "pre-tokenizer ByteLevel");
  if (t->pre_tokenizer.is_byte_level && !t->model.is_byte_level)
    return tm_err_set(err, TM_EINPUT,
                      "pre-tokenizer 'ByteLevel': it is supported with the model "
                      "BPE only");
  return 0;
}

static int check_file(const struct tm_json *file, struct tm_err *err)
{
  enum {
    PART = TM_PART_OBJECT | TM_PART_NULL | TM_PART_ABSENT,
    TEXT = TM_PART_TEXT | TM_PART_ABSENT,
    LIST = TM_PART_LIST | TM_PART_NULL | TM_PART_ABSENT
  };
  static const struct tm_part_setting settings[] = {
    { "version", TEXT },        { "truncation", PART }, { "padding", PART },
    { "added_tokens", LIST },   { "normalizer", PART }, { "pre_tokenizer", PART },
    { "post_processor", PART }, { "decoder", PART },    { "model", TM_PART_OBJECT },
  };
  const char *version = tm_json_str(file, "version", "1.0");
  int rc = tm_part_check("tokenizer.json", file, settings, TM_COUNT_OF(settings), err);

  if (rc == 0 && strcmp(version, "1.0") != 0)
    rc = tm_err_set(err, TM_EINPUT, "the version of the file is not 1.0, the only one supported");
  return rc;
}

/* All ids are below the number of tokens: a file of few bytes takes little memory. */
static size_t count_tokens(const struct tm_json *file)
{
  const struct tm_json *vocabulary = tm_json_get(tm_json_get(file, "model"), "vocab");
  size_t n = tm_json_items(tm_json_get(file, "added_tokens"));

  if (vocabulary && (vocabulary->type == TM_JSON_OBJECT || vocabulary->type == TM_JSON_ARRAY))
    n += vocabulary->list.len;
  return n < TM_VOCABULARY_MAX ? n : TM_VOCABULARY_MAX;
}

static int read_parts(struct tm_tokenizer *t, const struct tm_json *file, struct tm_err *err)
{
  struct tm_vocabulary *v = &t->model.vocabulary;
  int rc = check_file(file, err);

  v->most = count_tokens(file);
  if (rc == 0)
    rc = tm_token_model_parse(&t->model, tm_json_get(file, "model"), err);

  if (rc == 0)
    rc = tm_normalizer_parse(&t->normalizer, tm_json_get(file, "normalizer"), err);
  if (rc == 0)
    rc = tm_pre_tokenizer_parse(&t->pre_tokenizer, tm_json_get(file, "pre_tokenizer"), err);
  if (rc == 0)
    rc = check_words(t, err);
  if (rc == 0)
    rc = tm_added_tokens_parse(&t->added, tm_json_get(file, "added_tokens"), &t->normalizer,
                               t->unicode, v, err);
  if (rc == 0)
    rc = tm_vocabulary_check(v, err);
  if (rc == 0)
    rc = tm_post_processor_parse(&t->post_processor, tm_json_get(file, "post_processor"), v, err);
  if (rc == 0)
    rc = read_truncation(t, tm_json_get(file, "truncation"), err);
  if (rc == 0)
    rc = read_padding(t, tm_json_get(file, "padding"), err);
  find_padding(t);
  return rc;
}

struct tm_tokenizer *tm_tokenizer_parse(const char *text, size_t len, struct tm_err *err)
{
  const struct tm_utf8proc *unicode = tm_utf8proc(err);

  err = TM_ERR_OWN(err);
  if (!unicode)
    return NULL;
  struct tm_json *file = tm_json_parse(text, len, err);
  const struct tm_json *model = tm_json_get(file, "model");
  struct tm_tokenizer *t = TM_NEW(struct tm_tokenizer);
  int rc = -1;
  t->unicode = unicode;
  if (!file)
    rc = tm_err_wrap(err, "it is not a tokenizer.json");
  else if (!model || model->type != TM_JSON_OBJECT)
    rc = tm_err_set(err, TM_EINPUT, "it is not a tokenizer.json: it has no \"model\"");
  else
    rc = read_parts(t, file, err);
  tm_json_free(file);
  if (rc == 0)
    return t;
  tm_tokenizer_free(t);
  return NULL;
}

void tm_tokenizer_free(struct tm_tokenizer *t)
{
  if (!t)
    return;
  tm_added_tokens_release(&t->added);
  tm_normalizer_release(&t->normalizer);
  tm_pre_tokenizer_release(&t->pre_tokenizer);
  tm_token_model_release(&t->model);
  tm_post_processor_release(&t->post_processor);
  TM_ARRAY_RELEASE(&t->ids);
  free(t);
}

const struct tm_tokenizer_shape *tm_tokenizer_shape(const struct tm_tokenizer *t)
{
  return &t->shape;
}

size_t tm_tokenizer_len(const struct tm_tokenizer *t)
{
  return t->model.vocabulary.len;
}

int32_t tm_tokenizer_id(const struct tm_tokenizer *t, const char *token, size_t len)
{
  return tm_vocabulary_id(&t->model.vocabulary, token, len);
}

const char *tm_tokenizer_token(const struct tm_tokenizer *t, int64_t id, size_t *len)
{
  const struct tm_vocabulary *v = &t->model.vocabulary;

  if (id < 0 || id >= (int64_t)v->len)
    return NULL;
  *len = v->tokens[id].len;
  return v->tokens[id].at;
}

size_t tm_tokenizer_specials(const struct tm_tokenizer *t)
{
  return t->post_processor.items.len - 1;
}

static bool is_stopped(const struct tm_tokenizer *t)
{
  return tm_part_is_stopped(t->stop);
}

/* Text that holds no added tokens, and is normalized. */
static void encode_words(struct tm_tokenizer *t, const char *text, size_t len)
{
  const struct tm_words *words = tm_pre_tokenize(&t->pre_tokenizer, t->unicode, text, len);

  for (size_t i = 0, start = 0; i < words->ends.len && !is_stopped(t); start = words->ends.at[i++])
    tm_token_model_encode(&t->model, words->text.data + start, words->ends.at[i] - start, t->stop,
                          &t->ids);
}

static int encode_raw(struct tm_tokenizer *t, const char *text, size_t len, struct tm_err *err)
{
  struct tm_added_scan s = { .is_normalized = true, .stop = t->stop };
  int rc = tm_normalize(&t->normalizer, t->unicode, text, len, TM_NORMALIZED_MAX, t->stop, &s.text,
                        &s.len, err);

  while (rc == 0 && !is_stopped(t) && tm_added_next(&t->added, t->unicode, &s)) {
    if (s.before_len > 0)
      encode_words(t, s.before, s.before_len);
    if (s.id >= 0)
      *TM_ARRAY_ADD(&t->ids) = s.id;
  }
  return rc;
}

/* Adds the row: t->ids, cut, with special tokens. */
static void add_row(struct tm_tokenizer *t, const struct tm_tokenizer_cut *cut,
                    struct tm_token_rows *rows)
{
  size_t specials = cut->with_specials ? tm_tokenizer_specials(t) : 0;
  size_t max = cut->max_length > 0 ? (size_t)cut->max_length - specials : t->ids.len;
  size_t n = t->ids.len < max ? t->ids.len : max;
  const int32_t *from = t->ids.at + (cut->is_left ? t->ids.len - n : 0);

  for (size_t i = 0; i < t->post_processor.items.len; i++) {
    const struct tm_post_item *item = &t->post_processor.items.at[i];
    for (size_t k = 0; item->is_text && k < n; k++) {
      *TM_ARRAY_ADD(&rows->ids) = from[k];
      *TM_ARRAY_ADD(&rows->types) = item->type;
    }
    if (!item->is_text && cut->with_specials) {
      *TM_ARRAY_ADD(&rows->ids) = item->id;
      *TM_ARRAY_ADD(&rows->types) = item->type;
    }
  }
  *TM_ARRAY_ADD(&rows->ends) = rows->ids.len;
}

static int encode_text(struct tm_tokenizer *t, const char *text, size_t len, struct tm_err *err)
{
  struct tm_added_scan s = { .text = text, .len = len, .stop = t->stop };
  int rc = 0;

  t->ids.len = 0;
  while (rc == 0 && !is_stopped(t) && tm_added_next(&t->added, t->unicode, &s)) {
    if (s.before_len > 0)
      rc = encode_raw(t, s.before, s.before_len, err);
    if (rc == 0 && s.id >= 0)
      *TM_ARRAY_ADD(&t->ids) = s.id;
  }
  if (is_stopped(t))
    rc = tm_err_set(err, -ECANCELED, "it was stopped");
  return rc;
}

int tm_tokenizer_encode(struct tm_tokenizer *t, const char *text, size_t len,
                        const struct tm_tokenizer_cut *cut, const atomic_bool *stop,
                        struct tm_token_rows *rows, struct tm_err *err)
{
  if (len > TM_TOKENIZER_TEXT_MAX)
    return tm_err_set(err, TM_ELIMIT, "it has more than 4 MB");
  if (!tm_text_is_utf8(text, len))
    return tm_err_set(err, TM_EINPUT, "it is not UTF-8");
  t->stop = stop;
  int rc = encode_text(t, text, len, err);
  t->stop = NULL;
  if (rc == 0)
    add_row(t, cut, rows);
  if (len > KEPT_MAX) {
    tm_normalizer_trim(&t->normalizer);
    tm_pre_tokenizer_trim(&t->pre_tokenizer);
    TM_ARRAY_RELEASE(&t->ids);
  }
  return rc;
}
