/* post_processor.c - see post_processor.h. */
#include "data/text/post_processor.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/tokenizer_part.h"

enum { ITEMS_MAX = 64 };

static const char what[] = "post-processor";
static const char known[] = "BertProcessing, ByteLevel, RobertaProcessing, TemplateProcessing";

static int add_special(struct tm_post_processor *p, const struct tm_json *part,
                       const struct tm_vocabulary *v, const struct tm_json *id, int64_t type,
                       struct tm_err *err)
{
  if (!id || id->type != TM_JSON_INT || id->integer < 0 || id->integer >= (int64_t)v->len)
    return tm_part_refuse(what, part, "the id of a special token is not in the vocabulary", err);
  if (p->items.len >= ITEMS_MAX)
    return tm_part_refuse(what, part, "there are more than 64 special tokens", err);
  *TM_ARRAY_ADD(&p->items) =
      (struct tm_post_item) { .id = (int32_t)id->integer, .type = (int32_t)type };
  return 0;
}

static void add_text(struct tm_post_processor *p, int64_t type)
{
  *TM_ARRAY_ADD(&p->items) = (struct tm_post_item) { .is_text = true, .type = (int32_t)type };
}

/* { "cls": [token, id], "sep": [token, id] } */
static int read_bert(struct tm_post_processor *p, const struct tm_json *part,
                     const struct tm_vocabulary *v, struct tm_err *err)
{
  static const struct tm_part_setting settings[] = {
    { "sep", TM_PART_LIST },
    { "cls", TM_PART_LIST },
    { "trim_offsets", TM_PART_FLAG | TM_PART_ABSENT }, /* there are no offsets here */
    { "add_prefix_space", TM_PART_FLAG | TM_PART_ABSENT },
  };
  const struct tm_json *cls = tm_json_get(part, "cls"), *sep = tm_json_get(part, "sep");
  int rc = tm_part_check(what, part, settings, TM_COUNT_OF(settings), err);

  if (rc == 0)
    rc = add_special(p, part, v, tm_json_items(cls) == 2 ? cls->list.at[1] : NULL, 0, err);

  add_text(p, 0);
  if (rc == 0)
    rc = add_special(p, part, v, tm_json_items(sep) == 2 ? sep->list.at[1] : NULL, 0, err);
  return rc;
}

static bool is_type(int64_t type)
{
  return type >= 0 && type <= INT32_MAX;
}

/* { "SpecialToken": { "id": name, "type_id": n } }: its ids are in special_tokens[name].ids. */
static int add_template_special(struct tm_post_processor *p, const struct tm_json *part,
                                const struct tm_vocabulary *v, const struct tm_json *token,
                                struct tm_err *err)
{
  const char *name = tm_json_str(token, "id", "");
  const struct tm_json *known_tokens = tm_json_get(part, "special_tokens");
  const struct tm_json *ids = tm_json_get(tm_json_get(known_tokens, name), "ids");
  int64_t type = tm_json_int(token, "type_id", -1);
  int rc = 0;

  if (tm_json_items(ids) == 0 || !is_type(type))
    return tm_part_refuse(
        what, part, "a special token of 'single' has no type_id, or is not in special_tokens", err);
  for (size_t i = 0; rc == 0 && i < tm_json_items(ids); i++)
    rc = add_special(p, part, v, ids->list.at[i], type, err);
  return rc;
}

/* { "single": [{ "SpecialToken": ... }, { "Sequence": { "id": "A", "type_id": n } }, ...] } */
static int read_template(struct tm_post_processor *p, const struct tm_json *part,
                         const struct tm_vocabulary *v, struct tm_err *err)
{
  static const struct tm_part_setting settings[] = {
    { "single", TM_PART_LIST },
    { "pair", TM_PART_LIST | TM_PART_ABSENT }, /* of two texts, which are not supported */
    { "special_tokens", TM_PART_OBJECT },
  };
  const struct tm_json *single = tm_json_get(part, "single");
  size_t texts = 0;
  int rc = tm_part_check(what, part, settings, TM_COUNT_OF(settings), err);

  for (size_t i = 0; rc == 0 && i < tm_json_items(single); i++) {
    const struct tm_json *special = tm_json_get(single->list.at[i], "SpecialToken");
    const struct tm_json *text = tm_json_get(single->list.at[i], "Sequence");
    int64_t type = tm_json_int(text, "type_id", -1);
    if (special) {
      rc = add_template_special(p, part, v, special, err);
    } else if (strcmp(tm_json_str(text, "id", ""), "A") == 0 && is_type(type)) {
      add_text(p, type);
      texts++;
    } else {
      rc = tm_part_refuse(what, part,
                          "an item of 'single' is neither a SpecialToken nor the Sequence A with "
                          "a type_id",
                          err);
    }
  }
  if (rc == 0 && texts != 1)
    rc = tm_part_refuse(what, part, "'single' must hold the Sequence A once", err);
  return rc;
}

static const struct tm_part_setting byte_level[] = {
  { "add_prefix_space", TM_PART_FLAG | TM_PART_ABSENT },
  { "trim_offsets", TM_PART_FLAG | TM_PART_ABSENT },
  { "use_regex", TM_PART_FLAG | TM_PART_ABSENT },
};

int tm_post_processor_parse(struct tm_post_processor *p, const struct tm_json *part,
                            const struct tm_vocabulary *v, struct tm_err *err)
{
  const char *type = tm_part_type(part);

  if (!part || part->type == TM_JSON_NULL) {
    add_text(p, 0);
    return 0;
  }
  if (strcmp(type, "ByteLevel") == 0) { /* changes offsets alone */
    add_text(p, 0);
    return tm_part_check(what, part, byte_level, TM_COUNT_OF(byte_level), err);
  }
  if (strcmp(type, "BertProcessing") == 0 || strcmp(type, "RobertaProcessing") == 0)
    return read_bert(p, part, v, err);
  if (strcmp(type, "TemplateProcessing") == 0)
    return read_template(p, part, v, err);
  return tm_part_refuse_type(what, part, known, err);
}

void tm_post_processor_release(struct tm_post_processor *p)
{
  TM_ARRAY_RELEASE(&p->items);
}
