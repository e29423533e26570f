/* ort_words.c - see ort_words.h.
 *
 * A place has one of two forms. The first is that of exceptions, the other that of returned errors:
 *   /onnxruntime_src/.../model.cc:179 onnxruntime::Model::Model(onnx::ModelProto&&, ...) WORDS
 *   matmul_helper.h:59 Compute WORDS
 * and "CONDITION was false." may be in front of the words. CUDA's failures end in a third one:
 *   ... ; GPU=0 ; hostname=here ; file=/onnxruntime_src/.../cuda_call.cc ; line=121 ; expr=f(x);
 * and those of WebGPU in lines of a fourth:
 *   at operator() (/build/.../BackendVk.cpp:368)
 */
#include "model/ort_words.h"

#include <string.h>

#include "base/text.h"

#define CONDITION_MAX 400 /* bytes */

static bool begins(const char *s, const char *with)
{
  return strncmp(s, with, strlen(with)) == 0;
}

static size_t span_of_name(const char *s)
{
  return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

/* The length of "name.cc:12" at `s`, or 0. */
static size_t place_len(const char *s)
{
  static const char endings[] = "cc|cpp|c|h|hpp|inc|inl|cu|cuh";
  size_t len = strcspn(s, " \t\r\n'\"()");
  size_t digits = 0;
  while (digits < len && s[len - digits - 1] >= '0' && s[len - digits - 1] <= '9')
    digits++;
  if (digits == 0 || digits + 1 >= len || s[len - digits - 1] != ':')
    return 0;
  const char *end = s + len - digits - 1, *dot = end;
  while (dot > s && *dot != '.')
    dot--;
  return *dot == '.' && tm_text_has_word(endings, dot + 1, (size_t)(end - dot - 1)) ? len : 0;
}

/* What is behind the bracket at `s` and all within it; NULL: it is not closed in its line. */
static const char *behind_bracket(const char *s, char open, char close)
{
  int depth = 0;
  for (; *s && *s != '\n'; s++) {
    depth += (*s == open) - (*s == close);
    if (depth == 0)
      return s + 1;
  }
  return NULL;
}

/* The bracket where the arguments begin: the first one outside of templates, behind a name. */
static const char *arguments_of(const char *s)
{
  int depth = 0;
  for (const char *at = s; *at && *at != '\n'; at++) {
    if (*at == '(' && depth <= 0)
      return at > s && at[-1] != ' ' ? at : NULL;
    if (begins(at, ". ") || begins(at, ": "))
      return NULL;
    depth += (*at == '<') - (*at == '>');
  }
  return NULL;
}

/* What is behind a function as the compiler writes it; NULL: there is none. */
static const char *behind_function(const char *s)
{
  const char *at = arguments_of(s);
  at = at ? behind_bracket(at, '(', ')') : NULL;
  while (at) {
    if (*at == '(')
      at = behind_bracket(at, '(', ')');
    else if (begins(at, "::<"))
      at = behind_bracket(at + 2, '<', '>');
    else if (begins(at, "::"))
      return behind_function(at + 2);
    else if (begins(at, " const"))
      at += 6;
    else if (begins(at, " [with "))
      at = behind_bracket(at + 1, '[', ']');
    else
      break;
  }
  return at;
}

static const char *behind_blanks(const char *s)
{
  return s + strspn(s, " \t\r\n");
}

/* Skips the check that failed, if words follow. */
static const char *behind_condition(const char *s)
{
  static const char words[] = " was false.";
  const char *at = strstr(s, words), *stop = strstr(s, ". ");
  if (!at || at - s > CONDITION_MAX || (stop && stop < at) || memchr(s, '\n', (size_t)(at - s)))
    return s;
  at = behind_blanks(at + sizeof words - 1);
  return *at ? at : s;
}

/* What is behind a place of `len` bytes, with its function and its check. */
static const char *behind_place(const char *s, size_t len)
{
  bool is_exception = memchr(s, '/', len) != NULL;
  const char *at = behind_blanks(s + len);
  const char *end = is_exception ? behind_function(at) : NULL;
  if (!end)
    end = begins(at, "operator()") ? at + 10 : at + span_of_name(at);
  return behind_condition(behind_blanks(end));
}

/* Skips the code, which a message may repeat with each level of the library. */
static const char *behind_code(const char *message)
{
  static const char mark[] = "[ONNXRuntimeError] : ";
  const char *at = message, *next;
  while ((next = strstr(at, mark)) != NULL)
    at = next + sizeof mark - 1;
  for (int i = 0; at != message && i < 2; i++)
    if ((next = strstr(at, " : ")) != NULL)
      at = next + 3;
  return at;
}

/* Says which node fails; returns what is behind that, or `s`. */
static const char *add_node(struct tm_buf *out, const char *s)
{
  static const char before[] = "Non-zero status code returned while running ",
                    between[] = " node. Name:'", after[] = "' Status Message: ";
  const char *type = s + sizeof before - 1, *name, *end;
  if (!begins(s, before) || !(name = strstr(type, between)) ||
      !(end = strstr(name + sizeof between - 1, after)))
    return s;
  int type_len = (int)(name - type), len;
  name += sizeof between - 1;
  len = (int)(end - name);
  if (len > 0)
    tm_buf_printf(out, "node '%.*s' (%.*s): ", len, name, type_len, type);
  else
    tm_buf_printf(out, "%s %.*s node: ", tm_text_article(type), type_len, type);
  return end + sizeof after - 1;
}

/* Removes the "at FUNCTION " that was added. */
static void remove_at(struct tm_buf *out)
{
  const char *text = tm_buf_str(out);
  size_t at = out->len > 0 && text[out->len - 1] == ' ' ? out->len - 1 : 0;
  while (at > 0 && text[at - 1] != ' ')
    at--;
  if (at < 3 || !begins(text + at - 3, "at ") || (at > 3 && text[at - 4] != ' '))
    return;
  out->len = at - 3;
  out->data[out->len] = '\0';
}

/* Skips one thing that a user cannot read; returns `s` if there is none. */
static const char *skip(struct tm_buf *out, const char *s, bool is_first)
{
  bool begins_word = is_first || strchr(" \t\r\n:", s[-1]);
  size_t len = begins_word ? place_len(s) : 0;
  if (len > 0)
    return behind_place(s, len);
  if (*s == '(' && (len = place_len(s + 1)) > 0 && s[1 + len] == ')') {
    remove_at(out);
    return s + len + 2;
  }
  if (begins(s, " ; file=")) {
    const char *end = strstr(s, ";\n");
    return end ? end + 1 : s + strlen(s);
  }
  return add_node(out, s);
}

void tm_ort_words_add(struct tm_buf *out, const char *message)
{
  static const char load[] = "Load model from ", failed[] = " failed:";
  size_t begin = out->len;
  const char *s = behind_code(message), *first = s, *next;
  if (begins(s, load) && (next = strstr(s, failed)) != NULL) /* our message has the path */
    s = next + sizeof failed - 1;
  while (*s) {
    if ((next = skip(out, s, s == first)) != s) {
      s = next;
      continue;
    }
    char c = strchr("\t\r\n", *s) ? ' ' : *s;
    if (c != ' ' || (out->len > begin && out->data[out->len - 1] != ' '))
      tm_buf_add_char(out, c);
    s++;
  }
  while (out->len > begin && out->data[out->len - 1] == ' ')
    out->data[--out->len] = '\0';
  if (out->len == begin)
    tm_buf_add_str(out, message);
}
