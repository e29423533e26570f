/* python_line.c - see python_line.h. A line is compared by its first word, and by what occurs in
 * it. Only lines that Lua refused come here, so that a word in a text or a comment does no harm
 * beyond an answer that does not fit.
 */
#include "plan/python_line.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "plan/python.h"

#define NO_TYPES "Lua has no types of variables, parameters and results: leave them out"
#define FILLED   "'\"%s\" % x' is string.format(\"%s\", x)"
#define BLOCK    "a block begins without a colon, and ends with 'end'"

/* Lines that begin with a word of Python. `next` is what must follow it: 'n' a name, ':' a colon,
 * '.' the end of the line. */
static const struct {
  const char *words; /* separated by '|' */
  const char *next;
  const char *answer;
} first_words[] = {
  { "import|from", "n", "'import' is Python's; write local x = require \"x\"" },
  { "def", "n", "'def' is Python's; write function name(a, b) ... end" },
  { "async", "n", "'async' is Python's; write function run(mini_batch) ... end" },
  { "class", "n", "'class' is Python's; write functions, or a table of functions" },
  { "with", "n", "'with' is Python's; write local f = io.open(path) ... f:close()" },
  { "raise", "n", "'raise' is Python's; write error(message)" },
  { "raise", ".", "'raise' is Python's; write error(message)" },
  { "assert", "n", "write assert(condition, message)" },
  { "del", "n", "'del' is Python's; write x = nil" },
  { "global|nonlocal", "n",
    "leave it out: a name without 'local' is global, and a function sees the names around it" },
  { "pass", ".", "'pass' is Python's; leave it out" },
  { "continue", ".", "'continue' is Python's; write if CONDITION then ... end around the rest" },
  { "try|finally", ":", "write local ok, message = pcall(function() ... end)" },
  { "except", ":n", "write local ok, message = pcall(function() ... end)" },
  { "elif", "n", "'elif' is Python's; write elseif CONDITION then" },
  { "else", ":", BLOCK },
  { "print", "n", "a call has parentheses: print(x)" },
  { "const|let|var", "n", "write local x = y" },
};

/* What occurs in a line. The first that fits counts. */
static const struct {
  const char *text, *more; /* both occur, in this order; `more` may be NULL */
  const char *answer;
} inside[] = {
  { "\"\"\"", NULL, "a long text is [[ ... ]], and a comment begins with --" },
  { "'''", NULL, "a long text is [[ ... ]], and a comment begins with --" },
  { "lambda ", ":", "'lambda x: x + 1' is function(x) return x + 1 end" },
  { "lambda:", NULL, "'lambda: x' is function() return x end" },
  { " is not None", NULL, "'x is not None' is x ~= nil" },
  { " is None", NULL, "'x is None' is x == nil" },
  { " if ", " else ", "'a if x else b' is x and a or b" },
  { " not in ", NULL, "with the values as keys of a table: if not names[x] then" },
  { ", end=", NULL, "io.write(text) writes without a line break" },
  { "\" % ", NULL, FILLED },
  { "' % ", NULL, FILLED },
  { " ? ", " : ", "'a ? b : c' is a and b or c" },
};

struct words {
  const char *at, *end;
};

static bool is_name(char c)
{
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static struct words line_of(const char *text, size_t len, unsigned long number)
{
  struct words line = { text, text + len };
  for (; number > 1 && line.at < line.end; number--) {
    const char *end = memchr(line.at, '\n', (size_t)(line.end - line.at));
    line.at = end ? end + 1 : line.end;
  }
  const char *end = memchr(line.at, '\n', (size_t)(line.end - line.at));
  line.end = end ? end : line.end;
  while (line.at < line.end && strchr(" \t", *line.at))
    line.at++;
  while (line.at < line.end && strchr(" \t\r", line.end[-1]))
    line.end--;
  return line;
}

/* Whether what follows the first word fits one of `kinds`. */
static bool is_followed(const char *after, const char *end, const char *kinds)
{
  bool has_blank = after < end && *after == ' ';
  while (after < end && *after == ' ')
    after++;
  if (after == end || *after == '#')
    return strchr(kinds, '.') != NULL;
  if (*after == ':')
    return strchr(kinds, ':') != NULL;
  return has_blank && is_name(*after) && strchr(kinds, 'n') != NULL;
}

static bool has(struct words line, const char *text, const char *more)
{
  size_t n = strlen(text);
  for (const char *at = line.at; (size_t)(line.end - at) >= n; at++)
    if (memcmp(at, text, n) == 0)
      return !more || has((struct words) { at + n, line.end }, more, NULL);
  return false;
}

static const char *explain_first(struct words line)
{
  const char *after = line.at;
  while (after < line.end && is_name(*after))
    after++;
  for (size_t i = 0; i < TM_COUNT_OF(first_words); i++)
    if (tm_text_has_word(first_words[i].words, line.at, (size_t)(after - line.at)) &&
        is_followed(after, line.end, first_words[i].next))
      return first_words[i].answer;
  bool is_decorator = line.at < line.end && *line.at == '@';
  return is_decorator ? "Lua has no decorators: leave it out" : NULL;
}

static const char *explain_inside(struct words line)
{
  for (size_t i = 0; i < TM_COUNT_OF(inside); i++)
    if (has(line, inside[i].text, inside[i].more) && !has(line, " then ", NULL))
      return inside[i].answer;
  return NULL;
}

static struct words skip(struct words line, const char *bytes)
{
  while (line.at < line.end && strchr(bytes, *line.at))
    line.at++;
  return line;
}

static struct words skip_name(struct words line)
{
  while (line.at < line.end && is_name(*line.at))
    line.at++;
  return line;
}

static struct words skip_word(struct words line, const char *word)
{
  size_t n = strlen(word);
  bool has_word = (size_t)(line.end - line.at) > n && memcmp(line.at, word, n) == 0;
  bool is_whole = has_word && !is_name(line.at[n]);
  return is_whole ? skip((struct words) { line.at + n, line.end }, " ") : line;
}

/* "x: int = 3", "local x: int" */
static bool is_typed_variable(struct words line)
{
  struct words name = skip_word(line, "local"), after = skip(skip_name(name), " ");
  if (after.at == name.at || after.at == after.end || *after.at != ':')
    return false;
  after.at++;
  struct words type = skip(after, " "), rest = skip_name(type);
  if (type.at == rest.at || type.at == after.at)
    return false;
  rest = skip(rest, " ");
  return rest.at == rest.end || *rest.at == '=' || *rest.at == '[';
}

/* "function f(x: int)", "function f() -> int" */
static bool is_typed_function(struct words line, const char *message)
{
  struct words local = skip_word(line, "local");
  bool is_function = skip_word(local, "function").at > local.at;
  bool has_type = strstr(message, "')' expected near ':'") && has(line, "(", ":");
  return is_function && (has_type || has(line, ")", "->"));
}

static bool has_else_if(const char *text, size_t len)
{
  const char *end = text + len;
  for (const char *at = text; at < end; at++) {
    bool is_start = at == text || !is_name(at[-1]);
    struct words next = skip_word((struct words) { at, end }, "else");
    if (is_start && next.at > at && skip_word(next, "if").at > next.at)
      return true;
  }
  return false;
}

static const char *explain_shape(const char *text, size_t len, struct words line,
                                 const char *message)
{
  if (strstr(message, "'end' expected") && has_else_if(text, len))
    return "'else if' begins a block with an 'end' of its own; write elseif";
  if (is_typed_variable(line) || is_typed_function(line, message))
    return NO_TYPES;
  return NULL;
}

const char *tm_python_explain_line(const char *text, size_t len, unsigned long number,
                                   const char *message)
{
  struct words line = line_of(text, len, number);
  const char *answer = explain_first(line);
  if (!answer && number > 1)
    answer = explain_first(line_of(text, len, number - 1));
  answer = answer ? answer : explain_shape(text, len, line, message);
  bool is_clear =
      strstr(message, " near '='") || strstr(message, " near '['") || strstr(message, " near ':'");
  return answer || is_clear ? answer : explain_inside(line);
}

const char *tm_python_find_import(const char *text, size_t len, unsigned long number,
                                  const char **name, size_t *name_len)
{
  struct words line = line_of(text, len, number);
  const char *after = line.at;
  while (after < line.end && is_name(*after))
    after++;
  if (!tm_text_has_word("import|from", line.at, (size_t)(after - line.at)))
    return NULL;
  while (after < line.end && *after == ' ')
    after++;
  *name = after;
  while (after < line.end && is_name(*after))
    after++;
  *name_len = (size_t)(after - *name);
  return *name_len > 0 ? tm_python_find_module(*name, *name_len) : NULL;
}
