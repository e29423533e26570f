/* test_tokenizer.c - each part of a tokenizer.json, where npm's package differs from the reference
 * or has nothing of the kind, and how files are refused. (tests/tokenizer compares the rest with
 * npm's package, over random texts.) */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "data/text/tokenizer.h"

#define WORDS "'continuing_subword_prefix':'##','max_input_chars_per_word':100"
#define PIECES(more)                                                                               \
  "{'type':'WordPiece','unk_token':'?'," WORDS ",'vocab':{'?':0,'a':1,'b':2,"                      \
  "'##b':3,'ab':4,'c':5,'[X]':6,'i\u0307':7,'\u03C3':8,'\u4E00':9" more "}}"
#define UNIGRAM(more) "{'type':'Unigram','unk_id':0,'vocab':[['?',0],['\u2581',-1]" more "]}"

static const struct tm_tokenizer_cut whole = { .with_specials = true }, bare = { 0 };

/* JSON with ' for ". */
static char *json_of(const char *text)
{
  char *copy = tm_xstrdup(text);
  for (char *at = copy; *at; at++)
    *at = *at == '\'' ? '"' : *at;
  return copy;
}

static struct tm_tokenizer *parse(const char *text, struct tm_err *err)
{
  char *json = json_of(text);
  struct tm_tokenizer *t = tm_tokenizer_parse(json, strlen(json), err);
  free(json);
  return t;
}

/* Whether the file is refused with these words. */
static void assert_refused(const char *file, const char *words)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_tokenizer *t = parse(file, &err);
  assert_null(t);
  if (!strstr(err.text, words))
    fail_msg("wanted: %s\ngot: %s", words, err.text);
}

/* The ids of a text, "1 2 3". */
static void assert_ids(const char *file, const char *text, int64_t max_length, const char *wanted)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_token_rows rows = { 0 };
  struct tm_buf ids = TM_BUF_NONE;
  struct tm_tokenizer *t = parse(file, &err);
  if (!t)
    fail_msg("%s", err.text);
  const struct tm_tokenizer_cut cut = { true, tm_tokenizer_shape(t)->cuts_left, max_length };
  assert_int_equal(tm_tokenizer_encode(t, text, strlen(text), &cut, NULL, &rows, &err), 0);
  for (size_t i = 0; i < rows.ids.len; i++)
    tm_buf_printf(&ids, "%s%d", i > 0 ? " " : "", (int)rows.ids.at[i]);
  if (strcmp(tm_buf_str(&ids), wanted) != 0)
    fail_msg("%s: wanted %s, got %s", text, wanted, tm_buf_str(&ids));
  tm_buf_release(&ids);
  tm_token_rows_release(&rows);
  tm_tokenizer_free(t);
}

#define BERT_WORDS "'pre_tokenizer':{'type':'BertPreTokenizer'}"

static void words_become_their_longest_pieces(void **state)
{
  static const char file[] = "{'model':" PIECES("") "," BERT_WORDS "}";
  assert_ids(file, "ab abb b a,b", 0, "4 4 3 2 1 0 2");
  assert_ids(file, "abx", 0, "0");
  assert_ids(file, "", 0, "");
}

static void each_capital_sigma_becomes_the_same_small_one(void **state)
{
  static const char file[] =
      "{'model':" PIECES("") ",'normalizer':{'type':'Lowercase'},'pre_tokenizer':{'type':"
                             "'WhitespaceSplit'}}";
  assert_ids(file, "\u03A3 \u0130 AB", 0, "8 7 4");
  assert_ids("{'model':" PIECES(",'##\u03C3':10") ",'normalizer':{'type':'Lowercase'}}", "A\u03A3",
             0, "1 10");
}

static void ideographs_beyond_the_first_plane_stand_alone_too(void **state)
{
  static const char file[] =
      "{'model':" PIECES(",'\U00020000':10") "," BERT_WORDS ",'normalizer':{'type':"
                                             "'BertNormalizer','clean_text':true,'handle_chinese_"
                                             "chars':true,'strip_accents':null,"
                                             "'lowercase':true}}";
  assert_ids(file, "A\u4E00B\U00020000c", 0, "1 9 2 10 5");
  assert_ids(file,
             "a\xC2\x85"
             "b\uFEFF \u200Bc\t\u00E1",
             0, "4 5 1"); /* controls are left out */
}

static void words_are_of_letters_in_any_script(void **state)
{
  static const char file[] =
      "{'model':" PIECES(",'\u00E9t\u00E9':10,'--':11") ",'pre_tokenizer':{'type':'Whitespace'}}";
  assert_ids(file, "\u00E9t\u00E9--a b", 0, "10 11 1 2");
  assert_ids(file,
             "a\xC2\x85"
             "b",
             0, "1 2");
}

static void added_tokens_may_be_words_and_take_blanks(void **state)
{
  static const char file[] = "{'model':" PIECES(
      "") "," BERT_WORDS ",'added_tokens':[{'id':10,'content':'ba','single_word'"
          ":true,'normalized':false},{'id':6,'content':'[X]','lstrip':true,'rstrip':true,'special':"
          "true}]}";
  assert_ids(file, "ba bab ba [X] a", 0, "10 0 10 6 1");
  assert_ids(file, "aba,ba-ba", 0, "0 0 10 0 10");
  assert_ids("{'model':" PIECES("") "," BERT_WORDS ",'added_tokens':[{'id':4,'content':'ab',"
                                    "'single_word':true,'normalized':false}]}",
             "b,abb", 0, "2 0 4 3"); /* the rest of the text is kept */
  assert_ids("{'model':" PIECES("") ",'added_tokens':[{'id':6,'content':'[X]','lstrip':true,"
                                    "'rstrip':true}]}",
             "a \u3000[X] \tb", 0, "1 6 2");
}

static void added_tokens_are_found_in_their_normal_form(void **state)
{
  static const char file[] =
      "{'model':" PIECES("") "," BERT_WORDS ",'normalizer':{'type':'Lowercase'},'added_tokens':[{"
                             "'id':10,'content':'NEW','normalized':true},{'id':11,'content':'RAW','"
                             "normalized':false}]}";
  assert_ids(file, "new New raw RAW", 0, "10 10 0 11");
}

static void of_added_tokens_that_look_the_same_the_first_is_found(void **state)
{
#define TWO(more)                                                                                  \
  "{'model':" PIECES("") "," BERT_WORDS ",'normalizer':{'type':'Lowercase'},'added_tokens':[{"     \
                         "'id':10,'content':'NEW','normalized':true},{'id':11,'content':'New','"   \
                         "normalized':true" more "}]}"
  assert_ids(TWO(""), "new a NEW", 0, "10 1 10");
  assert_ids(TWO(",'special':true"), "new a NEW", 0, "11 1 11");
}

static void blanks_at_the_ends_are_stripped(void **state)
{
#define STRIP(left, right)                                                                         \
  "{'model':" UNIGRAM(",['a',-1],[' ',-1],['\u3000',-1]") ",'normalizer':{'type':'Strip',"         \
                                                          "'strip_left':" left                     \
                                                          ",'strip_right':" right "}}"
  assert_ids(STRIP("true", "true"), " \u3000a a\u3000 ", 0, "2 3 2");
  assert_ids(STRIP("false", "true"), " a ", 0, "3 2");
  assert_ids(STRIP("true", "false"), " a ", 0, "2 3");
  assert_ids(STRIP("true", "true"), "\u3000 ", 0, "");
}

/* A text without blanks is one word. */
static void long_words_take_linear_time_and_can_be_stopped(void **state)
{
  static const char pairs[] =
      "{'model':{'type':'BPE','unk_token':'?','vocab':{'?':0,'a':1,'aa':2,'aaaa':3},"
      "'merges':['a a','aa aa']},'pre_tokenizer':{'type':'ByteLevel','add_prefix_space':false}}";
  static const char *const files[] = {
    "{'model':" PIECES("") "}",
    "{'model':" UNIGRAM(",['a',-1],['aa',-1.5],['aaa',-2]") "}",
    pairs,
  };
  struct tm_err err = TM_ERR_NONE;
  struct tm_token_rows rows = { 0 };
  enum { LEN = 1 << 20 };
  char *word = tm_xmalloc(LEN);
  memset(word, 'a', LEN);
  for (size_t i = 0; i < TM_COUNT_OF(files); i++) {
    atomic_bool stop = true;
    struct tm_tokenizer *t = parse(files[i], &err);
    assert_non_null(t);
    assert_int_equal(tm_tokenizer_encode(t, word, LEN, &whole, &stop, &rows, &err), -ECANCELED);
    assert_int_equal(rows.ends.len, i);
    stop = false;
    assert_int_equal(tm_tokenizer_encode(t, word, LEN, &whole, &stop, &rows, &err), 0);
    assert_int_equal(rows.ids.at[rows.ids.len - 1], i == 0 ? 0 : i == 1 ? 4 : 3);
    tm_tokenizer_free(t);
  }
  free(word);
  tm_token_rows_release(&rows);
}

static void the_mark_cuts_words_unless_told_otherwise(void **state)
{
#define CUTS(split)                                                                                \
  "{'model':" UNIGRAM(                                                                             \
      ",['\u2581a\u2581b',-1],['\u2581a',-5],['\u2581b',-5]") ","                                  \
                                                              "'pre_tokenizer':{'type':'"          \
                                                              "Metaspace','replacement':'\u2581'," \
                                                              "'add_prefix_space':true" split "}}"
  assert_ids(CUTS(""), "a b", 0, "3 4");
  assert_ids(CUTS(",'split':false"), "a b", 0, "2");
}

static void unknown_characters_side_by_side_are_one_token(void **state)
{
  static const char file[] = "{'model':" UNIGRAM(",['a',-1],['aa',-1.5]") "}";
  assert_ids(file, "xyzaaaxa", 0, "0 2 3 0 2");
}

#define T5_POST                                                                                    \
  "'post_processor':{'type':'TemplateProcessing','single':[{'SpecialToken':{'id':'s','type_id':0}" \
  "},{'Sequence':{'id':'A','type_id':1}},{'SpecialToken':{'id':'e','type_id':2}}],"                \
  "'special_tokens':{'s':{'ids':[5]},'e':{'ids':[6]}}}"

static void special_tokens_count_when_a_text_is_cut(void **state)
{
  static const char file[] = "{'model':" PIECES("") "," BERT_WORDS "," T5_POST "}",
                    left[] =
                        "{'model':" PIECES("") "," BERT_WORDS "," T5_POST
                                               ",'truncation':{'max_length':4,'direction':'Left'}}";
  assert_ids(file, "a b ab", 0, "5 1 2 4 6");
  assert_ids(file, "a b ab", 4, "5 1 2 6");
  assert_ids(file, "a b ab", 2, "5 6");
  assert_ids(left, "a b ab", 4, "5 2 4 6");
}

static void rows_are_filled_on_either_side(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_token_rows rows = { 0 };
  struct tm_tokenizer *t =
      parse("{'model':" PIECES("") "," BERT_WORDS "," T5_POST
                                   ",'padding':{'strategy':{'Fixed':6},'direction':'Left','pad_id':"
                                   "0,'pad_type_id':7,'pad_to_multiple_of':8}}",
            &err);
  const struct tm_tokenizer_shape *shape = tm_tokenizer_shape(t);
  assert_true(shape->has_padding && shape->width == 6 && shape->multiple == 8);
  assert_int_equal(tm_tokenizer_encode(t, "a", 1, &whole, NULL, &rows, &err), 0);
  assert_int_equal(tm_tokenizer_encode(t, "a b", 3, &bare, NULL, &rows, &err), 0);
  assert_int_equal(tm_token_rows_longest(&rows), 3);
  assert_int_equal(tm_token_rows_shortest(&rows), 2);
  int64_t ids[8], mask[8], types[8];
  tm_token_rows_fill(&rows, 4, &shape->padding, ids, mask, types);
  static const int64_t wanted[][8] = { { 0, 5, 1, 6, 0, 0, 1, 2 },
                                       { 0, 1, 1, 1, 0, 0, 1, 1 },
                                       { 7, 0, 1, 2, 7, 7, 1, 1 } };
  assert_memory_equal(ids, wanted[0], sizeof ids);
  assert_memory_equal(mask, wanted[1], sizeof mask);
  assert_memory_equal(types, wanted[2], sizeof types);
  tm_token_rows_release(&rows);
  tm_tokenizer_free(t);
}

struct refusal {
  const char *file, *words;
};

static void assert_all_refused(const struct refusal *cases, size_t n)
{
  for (size_t i = 0; i < n; i++)
    assert_refused(cases[i].file, cases[i].words);
}

static void models_are_refused_with_what_they_ask_for(void **state)
{
  static const struct refusal cases[] = {
    { "", "it is not a tokenizer.json: line 1" },
    { "[1]", "it is not a tokenizer.json: it has no \"model\"" },
    { "{'model':{'type':'WordLevel','vocab':{}}}",
      "model 'WordLevel' is not supported; these are: BPE (of bytes), Unigram, WordPiece" },
    { "{'model':{}}", "model without a type is not supported" },
    { "{'model':{'type':'WordPiece','vocab':[]}}",
      "model 'WordPiece': its vocab must be an object of tokens and their ids" },
    { "{'model':{'type':'WordPiece','unk_token':'?'," WORDS ",'vocab':{'a':0}}}",
      "model 'WordPiece': its unk_token is not in the vocabulary" },
    { "{'model':{'type':'WordPiece','unk_token':''," WORDS ",'vocab':{'a':0}}}",
      "it needs an unk_token" },
    { "{'model':{'type':'WordPiece','unk_token':'?','vocab':{'?':0}}}",
      "model 'WordPiece': the setting 'continuing_subword_prefix' is missing: it must be a text" },
    { "{'model':{'type':'WordPiece','unk_token':7," WORDS ",'vocab':{'?':0}}}",
      "model 'WordPiece': the setting 'unk_token' must be a text" },
    { "{'model':" PIECES(",'z':12") "}",
      "the token 'z' has an id that is not in 0 to 10, those of the 11 tokens: 12" },
    { "{'model':" PIECES("") ",'added_tokens':[{'id':11,'content':'y'},{'id':6,'content':'[X]'}]}",
      "the vocabulary has holes: no token has the id 10 of 12" },
    { "{'model':" PIECES(",'z':5") "}", "the token 'z' has the id of another token: 5" },
    { "{'model':" PIECES(",'z':-1") "}", "those of the 11 tokens: -1" },
    { "{'model':" PIECES(",'z':9007199254740993") "}", "tokens: 9007199254740993" },
    { "{'model':" PIECES(",'z':1.5") "}",
      "model 'WordPiece': entry 10 of its vocab has an id that is not an integer" },
    { "{'model':{'type':'Unigram','unk_id':1,'vocab':[['a',0]]}}",
      "its unk_id is not in the vocabulary" },
    { "{'model':{'type':'Unigram','unk_id':0,'vocab':[['a']]}}",
      "entry 0 of its vocab is not a token and a score" },
    { "{'model':{'type':'Unigram','unk_id':0,'vocab':[['a',0],['a',1]]}}",
      "the token 'a' has two ids" },
    { "{'model':{'type':'Unigram','unk_id':0,'vocab':[['?',0],['a',0.5]]}}",
      "the score in entry 1 of its vocab is above 0" },
    { "{'model':{'type':'Unigram','unk_id':null,'vocab':[['a',0]]}}",
      "model 'Unigram': the setting 'unk_id' must be an integer" },
    { "{'model':{'type':'Unigram','unk_id':0,'byte_fallback':true,'vocab':[['a',0]]}}",
      "byte_fallback is not supported" },
  };
  assert_all_refused(cases, TM_COUNT_OF(cases));
}

static void byte_pairs_are_refused_with_what_they_ask_for(void **state)
{
  static const struct refusal cases[] = {
    { "{'model':{'type':'BPE','vocab':{'a':0},'merges':[]}}",
      "its vocabulary lacks '\u0100', which stands for the byte 0" },
    { "{'model':{'type':'BPE','unk_token':'a','vocab':{'a':0},'merges':['a b']}}",
      "a token of entry 0 of its merges is not in the vocabulary" },
    { "{'model':{'type':'BPE','unk_token':'a','vocab':{'a':0},'merges':['ab']}}",
      "entry 0 of its merges is not two tokens" },
    { "{'model':{'type':'BPE','unk_token':'a','vocab':{'a':0},'merges':{}}}",
      "model 'BPE': the setting 'merges' must be a list" },
    { "{'model':{'type':'BPE','dropout':0.1,'vocab':{'a':0},'merges':[]}}",
      "dropout is not supported" },
    { "{'model':{'type':'BPE','ignore_merges':true,'vocab':{'a':0},'merges':[]}}",
      "model 'BPE': ignore_merges is not supported" },
    { "{'model':{'type':'BPE','dropped':0.1,'vocab':{'a':0},'merges':[]}}",
      "model 'BPE': the setting 'dropped' is not supported; these are: dropout, unk_token," },
    { "{'model':{'type':'BPE','end_of_word_suffix':'</w>','vocab':{'a':0},'merges':[]}}",
      "end_of_word_suffix is not supported" },
    { "{'model':{'type':'BPE','unk_token':'a','vocab':{'a':0},'merges':[]}}",
      "only byte-level BPE is supported" },
    { "{'model':" PIECES("") ",'pre_tokenizer':{'type':'ByteLevel','add_prefix_space':true}}",
      "it is supported with the model BPE only" },
  };
  assert_all_refused(cases, TM_COUNT_OF(cases));
}

static void steps_are_refused_with_what_they_ask_for(void **state)
{
  static const struct refusal cases[] = {
    { "{'model':" PIECES("") ",'normalizer':{'type':'Nmt'}}",
      "normalizer 'Nmt' is not supported; these are: BertNormalizer, Lowercase, NFC" },
    { "{'model':" PIECES("") ",'normalizer':{'type':'Sequence','normalizers':[{'type':'NFC'},{"
                             "'type':'Prepend'}]}}",
      "normalizer 'Prepend' is not supported" },
    { "{'model':" PIECES("") ",'normalizer':{'type':'Sequence'}}",
      "normalizer 'Sequence': the setting 'normalizers' is missing: it must be a list" },
    { "{'model':" PIECES("") ",'normalizer':{'type':'NFC','form':'D'}}",
      "normalizer 'NFC': the setting 'form' is not supported" },
    { "{'model':" PIECES("") ",'normalizer':{'type':'BertNormalizer'}}",
      "normalizer 'BertNormalizer': the setting 'clean_text' is missing: it must be true or "
      "false" },
    { "{'model':" PIECES("") ",'normalizer':{'type':'BertNormalizer','clean_text':true,"
                             "'handle_chinese_chars':true,'strip_accents':0,'lowercase':true}}",
      "the setting 'strip_accents' must be true or false or null" },
    { "{'model':" PIECES("") ",'normalizer':{'type':'Replace','pattern':{'Regex':'a+'},"
                             "'content':''}}",
      "normalizer 'Replace': of regular expressions, only a character that comes twice or more" },
    { "{'model':" PIECES("") ",'normalizer':{'type':'Replace','content':''}}",
      "normalizer 'Replace': the setting 'pattern' is missing: it must be an object" },
    { "{'model':" PIECES("") ",'normalizer':{'type':'Replace','pattern':{'Text':'a'},"
                             "'content':''}}",
      "its pattern must be a String or a Regex" },
    { "{'model':" PIECES("") ",'normalizer':{'type':'Precompiled'}}",
      "the setting 'precompiled_charsmap' is missing: it must be a text" },
    { "{'model':" PIECES("") ",'normalizer':{'type':'Precompiled','precompiled_charsmap':'%%%%'}}",
      "its precompiled_charsmap is damaged: it is not base64" },
    { "{'model':" PIECES("") ",'normalizer':{'type':'Precompiled','precompiled_charsmap':"
                             "'////AAAA'}}",
      "its precompiled_charsmap is damaged: the length of its array is wrong" },
    { "{'model':" PIECES("") ",'pre_tokenizer':{'type':'Split'}}",
      "pre-tokenizer 'Split' is not supported; these are: BertPreTokenizer, ByteLevel" },
    { "{'model':" PIECES("") ",'pre_tokenizer':{'type':'Metaspace','replacement':'ab'}}",
      "its replacement must be one character" },
    { "{'model':" PIECES(
          "") ",'pre_tokenizer':{'type':'Metaspace','replacement':'_','prepend_scheme':"
              "'first'}}",
      "its prepend_scheme must be 'always' or 'never'" },
    { "{'model':" PIECES(
          "") ",'pre_tokenizer':{'type':'Metaspace','replacement':'_','prepend_scheme':"
              "'always','add_prefix_space':false}}",
      "its prepend_scheme contradicts its add_prefix_space" },
    { "{'model':" PIECES("") ",'pre_tokenizer':{'type':'Sequence','pretokenizers':[{'type':"
                             "'ByteLevel','add_prefix_space':true},{'type':'Whitespace'}]}}",
      "nothing may follow ByteLevel" },
  };
  assert_all_refused(cases, TM_COUNT_OF(cases));
}

static void special_tokens_are_few(void **state)
{
  struct tm_buf file = TM_BUF_NONE;
  tm_buf_add_str(&file, "{'model':" PIECES("") ",'post_processor':{'type':'TemplateProcessing',"
                                               "'single':[{'SpecialToken':{'id':'s','type_id':0}}],"
                                               "'special_tokens':{'s':{'ids':[0");
  for (int i = 0; i < 64; i++)
    tm_buf_add_str(&file, ",1");
  tm_buf_add_str(&file, "]}}}}");
  assert_refused(file.data, "there are more than 64 special tokens");
  tm_buf_release(&file);
}

static void the_rest_of_a_file_is_refused_in_the_same_way(void **state)
{
  static const struct refusal cases[] = {
    { "{'model':" PIECES("") ",'post_processor':{'type':'Sequence'}}",
      "post-processor 'Sequence' is not supported; these are: BertProcessing, ByteLevel" },
    { "{'model':" PIECES("") ",'post_processor':{'type':'BertProcessing','cls':['x',1],'sep':['y',"
                             "99]}}",
      "the id of a special token is not in the vocabulary" },
    { "{'model':" PIECES("") ",'post_processor':{'type':'TemplateProcessing','single':[{"
                             "'SpecialToken':{'id':'s'}}]}}",
      "post-processor 'TemplateProcessing': the setting 'special_tokens' is missing" },
    { "{'model':" PIECES("") ",'post_processor':{'type':'TemplateProcessing','single':[{"
                             "'SpecialToken':{'id':'s','type_id':0}}],'special_tokens':{}}}",
      "a special token of 'single' has no type_id, or is not in special_tokens" },
    { "{'model':" PIECES("") ",'post_processor':{'type':'TemplateProcessing','single':[{"
                             "'Sequence':{'id':'B','type_id':0}}],'special_tokens':{}}}",
      "an item of 'single' is neither a SpecialToken nor the Sequence A with a type_id" },
    { "{'model':" PIECES("") ",'post_processor':{'type':'TemplateProcessing','single':[],"
                             "'special_tokens':{}}}",
      "'single' must hold the Sequence A once" },
    { "{'model':" PIECES("") ",'added_tokens':[{'id':10}]}",
      "entry 0 of added_tokens: the setting 'content' is missing: it must be a text" },
    { "{'model':" PIECES("") ",'added_tokens':[{'id':6,'content':'[X]','lstrip':'yes'}]}",
      "entry 0 of added_tokens: the setting 'lstrip' must be true or false" },
    { "{'model':" PIECES("") ",'added_tokens':[7]}",
      "entry 0 of added_tokens: it must be an object" },
    { "{'model':" PIECES("") ",'added_tokens':[{'id':10,'content':'ab'}]}",
      "entry 0 of added_tokens: the token 'ab' has two ids, one of which is 10" },
    { "{'model':" PIECES("") ",'truncation':{'max_length':0}}",
      "truncation: its max_length must be positive" },
    { "{'model':" PIECES("") ",'truncation':{'max_length':5,'direction':'Up'}}",
      "truncation: its direction must be 'Left' or 'Right'" },
    { "{'model':" PIECES("") ",'truncation':{'max_length':5,'strategy':'OnlySecond'}}",
      "truncation: its strategy 'OnlySecond' needs pairs of texts" },
    { "{'model':" PIECES("") ",'padding':{'strategy':'All','pad_id':0}}",
      "padding: its strategy must be" },
    { "{'model':" PIECES("") ",'padding':{'strategy':'BatchLongest','pad_id':99}}",
      "padding: its pad_id is not in the vocabulary" },
    { "{'model':" PIECES("") ",'version':'2.0'}", "the version of the file is not 1.0" },
    { "{'model':" PIECES("") ",'post_normalizer':null}",
      "tokenizer.json: the setting 'post_normalizer' is not supported; these are: version," },
  };
  assert_all_refused(cases, TM_COUNT_OF(cases));
}

static void texts_that_cannot_be_used_are_refused(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_token_rows rows = { 0 };
  struct tm_tokenizer *t = parse("{'model':" PIECES("") "}", &err);
  char *long_text = tm_xcalloc(1, TM_TOKENIZER_TEXT_MAX + 1);
  assert_int_equal(tm_tokenizer_encode(t, "a\xFF", 2, &whole, NULL, &rows, &err), TM_EINPUT);
  assert_string_equal(err.text, "it is not UTF-8");
  assert_int_equal(
      tm_tokenizer_encode(t, long_text, TM_TOKENIZER_TEXT_MAX + 1, &whole, NULL, &rows, &err),
      TM_ELIMIT);
  assert_string_equal(err.text, "it has more than 4 MB");
  assert_int_equal(rows.ends.len, 0);
  free(long_text);
  tm_tokenizer_free(t);
  /* Each step makes the text ten times as long. */
#define TEN "{'type':'Replace','pattern':{'String':'a'},'content':'aaaaaaaaaa'}"
  assert_refused(
      "{'model':" PIECES("") ",'normalizer':{'type':'Sequence','normalizers':[" TEN "," TEN "," TEN
                             "," TEN "," TEN
                             "]},'added_tokens':[{'id':10,'content':'ba','normalized':true}]}",
      "entry 0 of added_tokens: its normal form has more than 16 KB");
  t = parse("{'model':" PIECES("") ",'normalizer':{'type':'Sequence','normalizers':[" TEN "," TEN
                                   "," TEN "," TEN "," TEN "," TEN "," TEN "," TEN "," TEN "]}}",
            &err);
  assert_int_equal(tm_tokenizer_encode(t, "a", 1, &whole, NULL, &rows, &err), TM_ELIMIT);
  assert_string_equal(err.text, "its normal form has more than 16384 KB");
  tm_token_rows_release(&rows);
  tm_tokenizer_free(t);
}

UNIT_TESTS({
    cmocka_unit_test(words_become_their_longest_pieces),
    cmocka_unit_test(each_capital_sigma_becomes_the_same_small_one),
    cmocka_unit_test(ideographs_beyond_the_first_plane_stand_alone_too),
    cmocka_unit_test(words_are_of_letters_in_any_script),
    cmocka_unit_test(added_tokens_may_be_words_and_take_blanks),
    cmocka_unit_test(added_tokens_are_found_in_their_normal_form),
    cmocka_unit_test(of_added_tokens_that_look_the_same_the_first_is_found),
    cmocka_unit_test(blanks_at_the_ends_are_stripped),
    cmocka_unit_test(long_words_take_linear_time_and_can_be_stopped),
    cmocka_unit_test(the_mark_cuts_words_unless_told_otherwise),
    cmocka_unit_test(unknown_characters_side_by_side_are_one_token),
    cmocka_unit_test(special_tokens_count_when_a_text_is_cut),
    cmocka_unit_test(rows_are_filled_on_either_side),
    cmocka_unit_test(models_are_refused_with_what_they_ask_for),
    cmocka_unit_test(byte_pairs_are_refused_with_what_they_ask_for),
    cmocka_unit_test(steps_are_refused_with_what_they_ask_for),
    cmocka_unit_test(special_tokens_are_few),
    cmocka_unit_test(the_rest_of_a_file_is_refused_in_the_same_way),
    cmocka_unit_test(texts_that_cannot_be_used_are_refused),
});
