/* normalizer.c - see normalizer.h. */
#include "data/text/normalizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/text/tokenizer_part.h"

enum { STEPS_MAX = 32 };

static const char what[] = "normalizer";
static const char known[] =
    "BertNormalizer, Lowercase, NFC, NFD, NFKC, NFKD, Precompiled, Replace, Strip, "
    "StripAccents, and a Sequence of these";

struct input {
  const struct tm_normal_step *step;
  const struct tm_utf8proc *u;
  const char *text;
  size_t len;
  struct tm_chars *chars;
  size_t max; /* bytes of the result */
  const atomic_bool *stop;
};

struct tm_normal_step {
  /* Appends to `out`. It may stop when that is longer than the input's `max`. */
  void (*run)(const struct input *in, struct tm_buf *out);
  enum tm_normal_form form;
  struct tm_charsmap *charsmap;
  char *pattern, *content; /* "Replace" */
  size_t pattern_len, content_len;
  bool is_run;      /* the pattern is a character that comes twice or more */
  bool left, right; /* "Strip" */
};

static void run_form(const struct input *in, struct tm_buf *out)
{
  tm_normal_form(in->u, in->step->form, in->text, in->len, in->chars, out);
}

static void run_lowercase(const struct input *in, struct tm_buf *out)
{
  for (size_t i = 0, len; i < in->len; i += len) {
    int32_t c = tm_char_at(in->text + i, &len);
    if (c < 0x80)
      tm_char_add(out, c >= 'A' && c <= 'Z' ? c + 32 : c);
    else if (c == 0x130) /* the one character whose lower case is always two: i, and a dot */
      tm_buf_add(out, "i\xCC\x87", 3);
    else
      tm_char_add(out, in->u->tolower(c));
  }
}

static void run_strip_accents(const struct input *in, struct tm_buf *out)
{
  for (size_t i = 0, len; i < in->len; i += len) {
    if (!tm_char_is_mark(in->u, tm_char_at(in->text + i, &len)))
      tm_buf_add(out, in->text + i, len);
  }
}

/* BERT's: decomposes, and then leaves out marks that take no room. */
static void run_bert_accents(const struct input *in, struct tm_buf *out)
{
  struct tm_buf decomposed = TM_BUF_NONE;

  if (tm_text_is_ascii(in->text, in->len)) {
    tm_buf_add(out, in->text, in->len);
    return;
  }
  tm_normal_form(in->u, TM_NFD, in->text, in->len, in->chars, &decomposed);
  for (size_t i = 0, len; i < decomposed.len; i += len) {
    if (!tm_char_is_nonspacing_mark(in->u, tm_char_at(decomposed.data + i, &len)))
      tm_buf_add(out, decomposed.data + i, len);
  }
  tm_buf_release(&decomposed);
}

static void run_clean(const struct input *in, struct tm_buf *out)
{
  for (size_t i = 0, len; i < in->len; i += len) {
    int32_t c = tm_char_at(in->text + i, &len);
    if (c == '\t' || c == '\n' || c == '\r')
      tm_buf_add_char(out, ' ');
    else if (c == 0 || c == 0xFFFD || tm_char_is_control(in->u, c))
      continue;
    else if (tm_char_is_space(c))
      tm_buf_add_char(out, ' ');
    else
      tm_buf_add(out, in->text + i, len);
  }
}

static void run_ideographs(const struct input *in, struct tm_buf *out)
{
  for (size_t i = 0, len; i < in->len; i += len) {
    bool is_ideograph = tm_char_is_ideograph(tm_char_at(in->text + i, &len));
    if (is_ideograph)
      tm_buf_add_char(out, ' ');
    tm_buf_add(out, in->text + i, len);
    if (is_ideograph)
      tm_buf_add_char(out, ' ');
  }
}

/* Without blanks at its ends. */
static void run_strip(const struct input *in, struct tm_buf *out)
{
  const char *from = in->text, *to = in->text + in->len;

  for (size_t n; in->step->left && from < to && tm_char_is_space(tm_char_at(from, &n));)
    from += n;
  while (in->step->right && from < to) {
    size_t n;
    const char *last = tm_char_before(from, to);
    if (!tm_char_is_space(tm_char_at(last, &n)))
      break;
    to = last;
  }
  tm_buf_add(out, from, (size_t)(to - from));
}

static void run_charsmap(const struct input *in, struct tm_buf *out)
{
  tm_charsmap_apply(in->step->charsmap, in->u, in->text, in->len, in->max, out);
}

/* The number of bytes at `at` that the step replaces. */
static size_t matched(const struct input *in, size_t at)
{
  const struct tm_normal_step *s = in->step;
  size_t end = at;

  while (in->len - end >= s->pattern_len &&
         memcmp(in->text + end, s->pattern, s->pattern_len) == 0) {
    end += s->pattern_len;
    if (!s->is_run)
      break;
  }
  return s->is_run && end - at == s->pattern_len ? 0 : end - at;
}

static void run_replace(const struct input *in, struct tm_buf *out)
{
  for (size_t i = 0; i < in->len && out->len <= in->max && !tm_part_is_stopped(in->stop);) {
    size_t len = matched(in, i);
    if (len > 0) {
      tm_buf_add(out, in->step->content, in->step->content_len);
      i += len;
    } else {
      tm_buf_add_char(out, in->text[i++]);
    }
  }
}

static struct tm_normal_step *add(struct tm_normalizer *n,
                                  void (*run)(const struct input *in, struct tm_buf *out))
{
  tm_array_reserve((void **)&n->steps, n->len + 1, &n->cap, sizeof *n->steps);
  n->steps[n->len] = (struct tm_normal_step) { .run = run };
  return &n->steps[n->len++];
}

static int add_bert(struct tm_normalizer *n, const struct tm_json *part, struct tm_err *err)
{
  static const struct tm_part_setting settings[] = {
    { "clean_text", TM_PART_FLAG },
    { "handle_chinese_chars", TM_PART_FLAG },
    { "strip_accents", TM_PART_FLAG | TM_PART_NULL | TM_PART_ABSENT },
    { "lowercase", TM_PART_FLAG },
  };
  bool lowercase = tm_part_is_on(part, "lowercase");
  int rc = tm_part_check(what, part, settings, TM_COUNT_OF(settings), err);

  if (rc < 0)
    return rc;
  if (tm_part_is_on(part, "clean_text"))
    add(n, run_clean);
  if (tm_part_is_on(part, "handle_chinese_chars"))
    add(n, run_ideographs);
  if (tm_json_bool(part, "strip_accents", lowercase))
    add(n, run_bert_accents);
  if (lowercase)
    add(n, run_lowercase);
  return 0;
}

static int add_charsmap(struct tm_normalizer *n, const struct tm_json *part, struct tm_err *err)
{
  static const struct tm_part_setting settings[] = { { "precompiled_charsmap", TM_PART_TEXT } };
  const struct tm_json *map = tm_json_get(part, "precompiled_charsmap");
  int rc = tm_part_check(what, part, settings, TM_COUNT_OF(settings), err);

  if (rc < 0)
    return rc;
  struct tm_charsmap *charsmap = tm_charsmap_parse(map->string.at, map->string.len, err);
  if (!charsmap)
    return tm_err_wrap(err, "%s 'Precompiled': its precompiled_charsmap is damaged", what);
  add(n, run_charsmap)->charsmap = charsmap;
  return 0;
}

/* Whether the expression is one plain character that comes twice or more: " {2,}". */
static bool is_run_of(const char *regex, size_t len)
{
  return len == 5 && memcmp(regex + 1, "{2,}", 4) == 0 && !strchr("\\^$.|?*+()[]{}", regex[0]);
}

static int add_replace(struct tm_normalizer *n, const struct tm_json *part, struct tm_err *err)
{
  static const struct tm_part_setting settings[] = { { "pattern", TM_PART_OBJECT },
                                                     { "content", TM_PART_TEXT } };
  const struct tm_json *pattern = tm_json_get(part, "pattern");
  const struct tm_json *text = tm_json_get(pattern, "String");
  const struct tm_json *regex = tm_json_get(pattern, "Regex");
  const struct tm_json *content = tm_json_get(part, "content");
  const struct tm_json *from = text ? text : regex;
  int rc = tm_part_check(what, part, settings, TM_COUNT_OF(settings), err);

  if (rc < 0)
    return rc;
  if (!from || from->type != TM_JSON_STRING || from->string.len == 0 || pattern->list.len != 1)
    return tm_part_refuse(what, part, "its pattern must be a String or a Regex", err);
  if (!text && !is_run_of(from->string.at, from->string.len))
    return tm_part_refuse(
        what, part,
        "of regular expressions, only a character that comes twice or more (' {2,}') is "
        "supported",
        err);
  struct tm_normal_step *step = add(n, run_replace);
  step->is_run = !text;
  step->pattern_len = text ? from->string.len : 1;
  step->pattern = tm_xstrndup(from->string.at, step->pattern_len);
  step->content = tm_xstrndup(content->string.at, content->string.len);
  step->content_len = content->string.len;
  return 0;
}

static int add_strip(struct tm_normalizer *n, const struct tm_json *part, struct tm_err *err)
{
  static const struct tm_part_setting settings[] = { { "strip_left", TM_PART_FLAG },
                                                     { "strip_right", TM_PART_FLAG } };
  int rc = tm_part_check(what, part, settings, TM_COUNT_OF(settings), err);

  if (rc < 0)
    return rc;
  struct tm_normal_step *step = add(n, run_strip);
  step->left = tm_part_is_on(part, "strip_left");
  step->right = tm_part_is_on(part, "strip_right");
  return 0;
}

static const struct {
  const char *type;
  void (*run)(const struct input *in, struct tm_buf *out);
  enum tm_normal_form form;
} simple[] = {
  { "NFC", run_form, TM_NFC },       { "NFD", run_form, TM_NFD },
  { "NFKC", run_form, TM_NFKC },     { "NFKD", run_form, TM_NFKD },
  { "Lowercase", run_lowercase, 0 }, { "StripAccents", run_strip_accents, 0 },
};

static int take(void *context, const struct tm_json *part, struct tm_err *err)
{
  struct tm_normalizer *n = context;
  const char *type = tm_part_type(part);

  if (n->len >= STEPS_MAX)
    return tm_part_refuse(what, part, "there are more than 32 steps", err);
  for (size_t i = 0; i < TM_COUNT_OF(simple); i++) {
    if (strcmp(type, simple[i].type) == 0) {
      add(n, simple[i].run)->form = simple[i].form;
      return tm_part_check(what, part, NULL, 0, err);
    }
  }
  if (strcmp(type, "BertNormalizer") == 0)
    return add_bert(n, part, err);
  if (strcmp(type, "Precompiled") == 0)
    return add_charsmap(n, part, err);
  if (strcmp(type, "Replace") == 0)
    return add_replace(n, part, err);
  if (strcmp(type, "Strip") == 0)
    return add_strip(n, part, err);
  return tm_part_refuse_type(what, part, known, err);
}

int tm_normalizer_parse(struct tm_normalizer *n, const struct tm_json *part, struct tm_err *err)
{
  return tm_part_each(what, part, "normalizers", take, n, err);
}

void tm_normalizer_trim(struct tm_normalizer *n)
{
  TM_ARRAY_RELEASE(&n->chars);
  tm_buf_release(&n->texts[0]);
  tm_buf_release(&n->texts[1]);
}

void tm_normalizer_release(struct tm_normalizer *n)
{
  for (size_t i = 0; i < n->len; i++) {
    tm_charsmap_free(n->steps[i].charsmap);
    free(n->steps[i].pattern);
    free(n->steps[i].content);
  }
  free(n->steps);
  tm_normalizer_trim(n);
  *n = (struct tm_normalizer) { 0 };
}

int tm_normalize(struct tm_normalizer *n, const struct tm_utf8proc *u, const char *text, size_t len,
                 size_t max, const atomic_bool *stop, const char **out, size_t *out_len,
                 struct tm_err *err)
{
  for (size_t i = 0; i < n->len && !tm_part_is_stopped(stop); i++) {
    struct tm_buf *to = &n->texts[i % 2];
    struct input in = { &n->steps[i], u, text, len, &n->chars, max, stop };
    tm_buf_clear(to);
    n->steps[i].run(&in, to);
    if (to->len > max)
      return tm_err_set(err, TM_ELIMIT, "its normal form has more than %zu KB", max >> 10);
    text = tm_buf_str(to);
    len = to->len;
  }
  *out = text;
  *out_len = len;
  return 0;
}
