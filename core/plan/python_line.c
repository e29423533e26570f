/* python_line.c - see python_line.h. A line is compared by its first word, and by what occurs in
 * it. Only lines that Lua refused come here, so that a word in a text or a comment does no harm
 * beyond an answer that does not fit.
 */
#include "plan/python_line.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define BLOCK "a block begins without a colon, and ends with 'end'"

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

const char *tm_python_explain_line(const char *text, size_t len, unsigned long number,
                                   const char *message)
{
  struct words line = line_of(text, len, number);
  const char *answer = explain_first(line);
  if (!answer && number > 1)
    answer = explain_first(line_of(text, len, number - 1));
  bool is_clear =
      strstr(message, " near '='") || strstr(message, " near '['") || strstr(message, " near ':'");
  return answer || is_clear ? answer : explain_inside(line);
}
