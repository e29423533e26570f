/* pre_tokenizer.c - see pre_tokenizer.h. */
#include "data/text/pre_tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "data/text/tokenizer_part.h"

enum { STEPS_MAX = 32 };

static const char what[] = "pre-tokenizer";
static const char known[] =
    "BertPreTokenizer, ByteLevel, Metaspace, Whitespace, WhitespaceSplit, and a Sequence of these";

struct tm_word_step {
  /* Appends the words of a text to `out`. */
  void (*run)(const struct tm_word_step *step, const struct tm_utf8proc *u, const char *text,
              size_t len, struct tm_words *out);
  bool has_prefix; /* ByteLevel, Metaspace: something is put before the text */
  bool has_cuts;   /* ByteLevel: use_regex; Metaspace: split */
  char mark[5];    /* Metaspace: what a blank becomes */
  size_t mark_len;
};

static void add_word(struct tm_words *out, const char *text, size_t len)
{
  if (len == 0)
    return;
  tm_buf_add(&out->text, text, len);
  *TM_ARRAY_ADD(&out->ends) = out->text.len;
}

static void run_whitespace_split(const struct tm_word_step *step, const struct tm_utf8proc *u,
                                 const char *text, size_t len, struct tm_words *out)
{
  size_t first = 0;

  for (size_t i = 0, n; i < len; i += n) {
    if (tm_char_is_space(tm_char_at(text + i, &n))) {
      add_word(out, text + first, i - first);
      first = i + n;
    }
  }
  add_word(out, text + first, len - first);
}

/* As whitespace, but punctuation stands alone. */
static void run_bert(const struct tm_word_step *step, const struct tm_utf8proc *u, const char *text,
                     size_t len, struct tm_words *out)
{
  size_t first = 0;

  for (size_t i = 0, n; i < len; i += n) {
    int32_t c = tm_char_at(text + i, &n);
    bool is_space = tm_char_is_space(c);
    if (!is_space && !tm_char_is_punctuation(u, c))
      continue;
    add_word(out, text + first, i - first);
    if (!is_space)
      add_word(out, text + i, n);
    first = i + n;
  }
  add_word(out, text + first, len - first);
}

/* \w+|[^\w\s]+ */
static void run_whitespace(const struct tm_word_step *step, const struct tm_utf8proc *u,
                           const char *text, size_t len, struct tm_words *out)
{
  enum { SPACE, WORD, OTHER } kind = SPACE, before = SPACE;
  size_t first = 0;

  for (size_t i = 0, n; i < len; i += n, before = kind) {
    int32_t c = tm_char_at(text + i, &n);
    kind = tm_char_is_space(c) ? SPACE : tm_char_is_word(u, c) ? WORD : OTHER;
    if (kind == before)
      continue;
    if (before != SPACE)
      add_word(out, text + first, i - first);
    first = i;
  }
  if (before != SPACE)
    add_word(out, text + first, len - first);
}

static void run_metaspace(const struct tm_word_step *step, const struct tm_utf8proc *u,
                          const char *text, size_t len, struct tm_words *out)
{
  size_t first = out->text.len;

  if (step->has_prefix && text[0] != ' ' &&
      !(len >= step->mark_len && memcmp(text, step->mark, step->mark_len) == 0))
    tm_buf_add(&out->text, step->mark, step->mark_len);
  for (size_t i = 0, n; i < len; i += n) {
    tm_char_at(text + i, &n);
    bool is_mark = text[i] == ' ' || (n == step->mark_len && memcmp(text + i, step->mark, n) == 0);
    if (is_mark && step->has_cuts && out->text.len > first) {
      *TM_ARRAY_ADD(&out->ends) = out->text.len;
      first = out->text.len;
    }
    if (is_mark)
      tm_buf_add(&out->text, step->mark, step->mark_len);
    else
      tm_buf_add(&out->text, text + i, n);
  }
  if (out->text.len > first)
    *TM_ARRAY_ADD(&out->ends) = out->text.len;
}

/* The length of 's, 't, 're, 've, 'm, 'll or 'd at the front; 0: there is no such one. */
static size_t contraction_len(const char *text, size_t len)
{
  if (len < 2 || text[0] != '\'')
    return 0;
  if (strchr("stmd", text[1]) && text[1] != '\0')
    return 2;
  bool is_long =
      len > 2 && ((text[1] == 'r' && text[2] == 'e') || (text[1] == 'v' && text[2] == 'e') ||
                  (text[1] == 'l' && text[2] == 'l'));
  return is_long ? 3 : 0;
}

enum kind { SPACE, LETTER, NUMBER, OTHER };

static enum kind kind_of(const struct tm_utf8proc *u, int32_t c)
{
  if (tm_char_is_space(c))
    return SPACE;
  if (tm_char_is_letter(u, c))
    return LETTER;
  return tm_char_is_number(u, c) ? NUMBER : OTHER;
}

/* The end of the characters of one kind that begin at `at`. *last: where the last of them is. */
static size_t run_end(const struct tm_utf8proc *u, const char *text, size_t len, size_t at,
                      enum kind kind, size_t *last)
{
  for (size_t n; at < len; at += n) {
    if (kind_of(u, tm_char_at(text + at, &n)) != kind)
      break;
    *last = at;
  }
  return at;
}

/* The length that this expression of GPT-2 matches at the front of the text:
 * 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ */
static size_t gpt2_len(const struct tm_utf8proc *u, const char *text, size_t len)
{
  size_t found = contraction_len(text, len), n, last = 0;

  if (found > 0)
    return found;
  size_t at = text[0] == ' ' && len > 1 ? 1 : 0;
  enum kind kind = kind_of(u, tm_char_at(text + at, &n));
  if (kind != SPACE)
    return run_end(u, text, len, at, kind, &last);
  size_t end = run_end(u, text, len, 0, SPACE, &last);
  /* The last blank before a word belongs to that word, or stands alone. */
  return end == len || last == 0 ? end : last;
}

static void run_byte_level(const struct tm_word_step *step, const struct tm_utf8proc *u,
                           const char *text, size_t len, struct tm_words *out)
{
  struct tm_buf longer = TM_BUF_NONE;

  if (step->has_prefix && text[0] != ' ') {
    tm_buf_add_char(&longer, ' ');
    tm_buf_add(&longer, text, len);
    text = longer.data;
    len = longer.len;
  }
  if (!step->has_cuts)
    add_word(out, text, len);
  for (size_t i = 0, n; step->has_cuts && i < len; i += n) {
    n = gpt2_len(u, text + i, len - i);
    add_word(out, text + i, n);
  }
  tm_buf_release(&longer);
}

static struct tm_word_step *add(struct tm_pre_tokenizer *p, __typeof__(run_bert) *run)
{
  tm_array_reserve((void **)&p->steps, p->len + 1, &p->cap, sizeof *p->steps);
  p->steps[p->len] = (struct tm_word_step) { .run = run };
  return &p->steps[p->len++];
}

static int add_metaspace(struct tm_pre_tokenizer *p, const struct tm_json *part, struct tm_err *err)
{
  static const struct tm_part_setting settings[] = {
    { "replacement", TM_PART_TEXT },
    { "add_prefix_space", TM_PART_FLAG | TM_PART_ABSENT },
    { "prepend_scheme", TM_PART_TEXT | TM_PART_ABSENT },
    { "split", TM_PART_FLAG | TM_PART_ABSENT },
    { "str_rep", TM_PART_TEXT | TM_PART_ABSENT }, /* of old files: `replacement` again */
  };
  const char *mark = tm_json_str(part, "replacement", "");
  const char *scheme = tm_json_str(part, "prepend_scheme", "always");
  bool is_old = !tm_json_bool(part, "add_prefix_space", true); /* before there was prepend_scheme */
  int rc = tm_part_check(what, part, settings, TM_COUNT_OF(settings), err);

  if (rc < 0)
    return rc;
  if (strlen(mark) == 0 || tm_text_utf8_len(mark, strlen(mark)) != strlen(mark))
    return tm_part_refuse(what, part, "its replacement must be one character", err);
  if (strcmp(scheme, "always") != 0 && strcmp(scheme, "never") != 0)
    return tm_part_refuse(what, part, "its prepend_scheme must be 'always' or 'never'", err);
  if (is_old && tm_json_get(part, "prepend_scheme") && strcmp(scheme, "never") != 0)
    return tm_part_refuse(what, part, "its prepend_scheme contradicts its add_prefix_space", err);
  struct tm_word_step *step = add(p, run_metaspace);
  step->has_prefix = !is_old && strcmp(scheme, "always") == 0;
  step->has_cuts = tm_json_bool(part, "split", true);
  step->mark_len = strlen(mark);
  memcpy(step->mark, mark, step->mark_len);
  return 0;
}

static int add_byte_level(struct tm_pre_tokenizer *p, const struct tm_json *part,
                          struct tm_err *err)
{
  static const struct tm_part_setting settings[] = {
    { "add_prefix_space", TM_PART_FLAG },
    { "trim_offsets", TM_PART_FLAG | TM_PART_ABSENT }, /* there are no offsets here */
    { "use_regex", TM_PART_FLAG | TM_PART_ABSENT },
  };
  struct tm_word_step *step = add(p, run_byte_level);

  step->has_prefix = tm_part_is_on(part, "add_prefix_space");
  step->has_cuts = tm_json_bool(part, "use_regex", true);
  p->is_byte_level = true;
  return tm_part_check(what, part, settings, TM_COUNT_OF(settings), err);
}

static const struct {
  const char *type;
  __typeof__(run_bert) *run;
} simple[] = {
  { "BertPreTokenizer", run_bert },
  { "Whitespace", run_whitespace },
  { "WhitespaceSplit", run_whitespace_split },
};

static int take(void *context, const struct tm_json *part, struct tm_err *err)
{
  struct tm_pre_tokenizer *p = context;
  const char *type = tm_part_type(part);

  if (p->len >= STEPS_MAX)
    return tm_part_refuse(what, part, "there are more than 32 steps", err);
  if (p->is_byte_level)
    return tm_part_refuse(what, part, "nothing may follow ByteLevel", err);
  for (size_t i = 0; i < TM_COUNT_OF(simple); i++) {
    if (strcmp(type, simple[i].type) == 0) {
      add(p, simple[i].run);
      return tm_part_check(what, part, NULL, 0, err);
    }
  }
  if (strcmp(type, "Metaspace") == 0)
    return add_metaspace(p, part, err);
  if (strcmp(type, "ByteLevel") != 0)
    return tm_part_refuse_type(what, part, known, err);
  return add_byte_level(p, part, err);
}

int tm_pre_tokenizer_parse(struct tm_pre_tokenizer *p, const struct tm_json *part,
                           struct tm_err *err)
{
  return tm_part_each(what, part, "pretokenizers", take, p, err);
}

void tm_pre_tokenizer_trim(struct tm_pre_tokenizer *p)
{
  for (int i = 0; i < 2; i++) {
    tm_buf_release(&p->words[i].text);
    TM_ARRAY_RELEASE(&p->words[i].ends);
  }
}

void tm_pre_tokenizer_release(struct tm_pre_tokenizer *p)
{
  tm_pre_tokenizer_trim(p);
  free(p->steps);
  *p = (struct tm_pre_tokenizer) { 0 };
}

static void clear(struct tm_words *w)
{
  tm_buf_clear(&w->text);
  w->ends.len = 0;
}

const struct tm_words *tm_pre_tokenize(struct tm_pre_tokenizer *p, const struct tm_utf8proc *u,
                                       const char *text, size_t len)
{
  struct tm_words *from = &p->words[0];

  clear(from);
  if (p->len == 0)
    add_word(from, text, len);
  else if (len > 0)
    p->steps[0].run(&p->steps[0], u, text, len, from);
  for (size_t i = 1; i < p->len; i++) {
    struct tm_words *to = &p->words[i % 2];
    clear(to);
    for (size_t k = 0, start = 0; k < from->ends.len; start = from->ends.at[k++])
      p->steps[i].run(&p->steps[i], u, from->text.data + start, from->ends.at[k] - start, to);
    from = to;
  }
  return from;
}
