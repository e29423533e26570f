/* python.c - see python.h. Each line has the names, or the text of a message, and what to write in
 * Lua. Names are separated by '|'. */
#include "plan/python.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

#define COLON                                                                                      \
  "if the colon is Python's: a dictionary is { name = value }, and a block begins without a colon"
#define OF_TIDEMILL   "local tidemill = require \"tidemill\", and tidemill.NAME"
#define OPEN          "if it is a path, open it: local file = assert(io.open(path))"
#define OPEN_TO_WRITE "if it is a path, open it: local file = assert(io.open(path, \"w\"))"
#define PATHS                                                                                      \
  "if it is a mini-batch of files, it is an array of paths; it is a data frame with --rows, or "   \
  "if the input is a tidemill.Dataset.Tabular"

static const struct {
  const char *names, *words;
} functions[] = {
  { "len", "#x" },
  { "str|repr", "tostring(x)" },
  { "int", "math.floor(tonumber(x))" },
  { "float", "tonumber(x)" },
  { "range", "for i = 1, n do ... end" },
  { "enumerate", "for i, x in ipairs(list) do ... end" },
  { "sorted", "table.sort(list)" },
  { "abs|round|max|min", "math.abs(x), math.floor(x + 0.5), math.max(a, b) and math.min(a, b)" },
  { "open", "io.open(path)" },
  { "zip", "for i = 1, #a do local x, y = a[i], b[i] ... end" },
  { "map|filter|sum|any|all", "a loop, for i, x in ipairs(list) do ... end" },
  { "isinstance", "type(x) == \"table\"" },
  { "list|dict|tuple|set", "{ ... }" },
  { "hasattr|getattr", "x[name], which is nil where x has no such field" },
  { "raise|Exception|ValueError|TypeError|KeyError|RuntimeError|FileNotFoundError",
    "error(message)" },

  /* Methods of lists, dictionaries and strings. */
  { "append|extend", "list[#list + 1] = x" },
  { "get", "x[key], which is nil where x has no such key" },
  { "pop", "table.remove(list)" },
  { "sort", "table.sort(list)" },
  { "splitext", "path.stem(p) and path.ext(p) of tidemill.path" },
  { "exit|quit", "error(message)" },
  { "input", "io.read()" },
  { "items|keys", "for key, value in pairs(x) do ... end" },
  { "split", "for word in text:gmatch \"[^,]+\" do ... end" },
  { "strip|lstrip|rstrip", "text:match \"^%s*(.-)%s*$\"" },
  { "startswith", "text:sub(1, #prefix) == prefix" },
  { "endswith", "text:sub(-#suffix) == suffix" },
  { "replace", "text:gsub(pattern, replacement)" },
  { "join", "table.concat(list, separator), and of paths path.join() of tidemill.path" },

  /* Functions in modules, and what scripts get from them. */
  { "environ", "os.getenv(name)" },
  { "makedirs|mkdir", "fs.mkdir(path, { parents = true, exist_ok = true }) of tidemill.fs" },
  { "dumps", "json.encode(value) of tidemill.json" },
  { "load|loads", "json.decode(text) of tidemill.json" },
  { "isfile|isdir", "fs.stat(path) of tidemill.fs" },
  { "getcwd", "path.absolute(\".\") of tidemill.path" },
  { "__file__", "EntryScript().script_dir, of require \"tidemill.entry_script\"" },
  { "mini_batch_context", "context, the second argument of run(mini_batch, context)" },
  { "dataset", "context.dataset_name and context.source" },

  /* What scripts import. */
  { "Run|get_context", "EntryScript(), of require \"tidemill.entry_script\"; a script has no run" },
  { "Model|get_model_path", "a model is a file: put it into source_directory or side_inputs" },
  { "Dataset|DataType|Datastore|DatasetConsumptionConfig", OF_TIDEMILL },
  { "OutputFileDatasetConfig|ParallelRunConfig|ParallelRunStep", OF_TIDEMILL },
  { "Pipeline|PipelineParameter|Workspace", OF_TIDEMILL },
};

static const struct {
  const char *modules;
  const char *names; /* functions and classes in them with the same answer, or NULL */
  const char *words;
} modules[] = {
  { "os|pathlib", "path|Path", "local path = require \"tidemill.path\", for os.path" },
  { "glob", "listdir|walk", "fs.list(path) of tidemill.fs" },
  { "json", NULL, "local json = require \"tidemill.json\"" },
  { "argparse", "ArgumentParser", "local argparse = require \"tidemill.argparse\"" },
  { "subprocess", "Popen|check_call|check_output", "process.run({ ... }) of tidemill.process" },
  { "logging", "getLogger|logger", "EntryScript().logger, of require \"tidemill.entry_script\"" },
  { "pandas|pd", "DataFrame", "local frame = require \"tidemill.frame\"" },
  { "numpy|np", NULL,
    "a loop over a column, for i = 1, #df do local x = df.c.NAME[i] ... end; and for arrays "
    "local tensor = require \"tidemill.tensor\"" },
  { "sys", "argv", "arg, the list of arguments" },
  { "datetime", "strftime", "os.time() and os.date(format)" },
  { "time", "sleep",
    "os.time() and os.clock(); to wait, process.run { \"sleep\", \"1\" } of tidemill.process" },
  { "shutil", "copyfile|copytree|rmtree", "fs.copy(from, to) and fs.remove(path) of tidemill.fs" },
  { "random", NULL, "math.random()" },
  { "re", NULL, "text:match(pattern), text:gmatch(pattern) and text:gsub(pattern, replacement)" },
  { "pickle|joblib|torch|sklearn|tf|tensorflow|keras|PIL|cv2", "Image",
    "what a library for Lua reads; json.decode(text) of tidemill.json reads JSON" },
  { "azureml|azure|mltable", NULL, "local tidemill = require \"tidemill\", which has all names" },
  { "azureml_user", "EntryScript", "local EntryScript = require \"tidemill.entry_script\"" },
};

const char *tm_python_find_module(const char *name, size_t len)
{
  for (size_t i = 0; i < TM_COUNT_OF(modules); i++)
    if (tm_text_has_word(modules[i].modules, name, len))
      return modules[i].words;
  return NULL;
}

const char *tm_python_find(const char *name, size_t len)
{
  for (size_t i = 0; i < TM_COUNT_OF(functions); i++)
    if (tm_text_has_word(functions[i].names, name, len))
      return functions[i].words;
  for (size_t i = 0; i < TM_COUNT_OF(modules); i++)
    if (tm_text_has_word(modules[i].names, name, len))
      return modules[i].words;
  return tm_python_find_module(name, len);
}

#define NAME_FOLLOWS "\1" /* at the end of a text: a letter or '_' comes next */

/* The first line that fits counts: `text`, and `more` if there is one, are in the message. */
static const struct {
  const char *text, *more;
  const char *words;
} messages[] = {
  /* The grammar. */
  { "')' expected near '='", NULL,
    "arguments with names are a table, f { name = value }, and 'equal' is ==" },
  { "')' expected near ','", NULL, "a tuple is a table: { a, b }" },
  { "'}' expected near ':'", NULL, "a dictionary is { name = value }, or { [\"name\"] = value }" },
  { "')' expected near ':'", NULL,
    "a text before a method needs parentheses, (\"%s\"):format(x), and a parameter has no type" },
  { "']' expected near ':'", NULL,
    "a part of a text is text:sub(first, last); a part of a list is a loop, for i = first, last" },
  { "unexpected symbol near '['", NULL, "a list is { a, b }; for a comprehension write a loop" },
  { "unexpected symbol near '#'", NULL, "a comment begins with --" },
  { "unexpected symbol near '*'", NULL, "*list is unpack(list), and x ** 2 is x ^ 2" },
  { "unexpected symbol near '/'", NULL, "x // y is math.floor(x / y)" },
  { "unexpected symbol near ':'", NULL, "a block begins without a colon, and ends with 'end'" },
  { "'<name>' expected near ", NULL, COLON },
  { "function arguments expected near ", NULL, COLON },
  { " near '.'", NULL, "a text before a method needs parentheses: (\"%s: %d\"):format(name, n)" },
  { " near '!'", NULL, "x != y is x ~= y, and !x is not x" },
  { " near '&'", NULL, "x && y is x and y" },
  { " near '|'", NULL, "x || y is x or y" },
  { "'then' expected near '='", NULL, "'equal' is ==" },
  { "'then' expected near 'is'", NULL, "'x is None' is x == nil" },
  { "'then' expected near 'in'", NULL, "with the values as keys of a table: if names[x] then" },
  { "'then' expected near 'not'", NULL, "with the values as keys: if not names[x] then" },
  { "'then' expected near", NULL, "write if CONDITION then ... end" },
  { "'do' expected near", NULL,
    "write for i, x in ipairs(list) do ... end, or while x do ... end" },
  { "'=' expected near '+'", NULL, "x += 1 is x = x + 1" },
  { "'=' expected near '-'", NULL, "x -= 1 is x = x - 1" },
  { "'=' expected near '*'", NULL, "x *= 2 is x = x * 2" },
  { "'=' expected near '/'", NULL, "x /= 2 is x = x / 2" },
  { "'=' expected near '" NAME_FOLLOWS, NULL,
    "a call has parentheses, f(x), and an assignment is x = y" },

  /* What a script does. */
  { "attempt to call global 'f' (a nil value)", NULL,
    "if it is Python's f\"{x}/y\", write (\"%s/y\"):format(x)" },
  { "_000'", "malformed number near", "a number has no '_' in Lua: 1_000 is 1000" },
  { "attempt to call global 'r' (a nil value)", NULL, "if it is Python's r\"x\", write [[x]]" },
  { "attempt to call global 'b' (a nil value)", NULL, "if it is Python's b\"x\", write \"x\"" },
  { "attempt to index global 'sys' (a nil value)", NULL, "sys.exit(text) is error(text)" },
  { "attempt to call global 'import' (a nil value)", NULL, "write local x = require \"x\"" },
  { "(string expected, got no value)", NULL,
    "a method is called with a colon: text:upper(), text:format(x)" },
  { "attempt to call a table value", NULL,
    "to walk through a list, write for i, x in ipairs(list) do" },
  { "attempt to call a userdata value", NULL,
    "to walk through a data frame, write for row in df:rows() do" },
  { "(table expected, got userdata)", NULL,
    "if it is a mini-batch of rows, it is a data frame: for row in mini_batch:rows() do; a column: "
    "for i = 1, #column do" },
  { "attempt to call method 'rows' (a nil value)", NULL, PATHS },
  { "attempt to call method 'irows' (a nil value)", NULL, PATHS },
  { "attempt to call method 'filter' (a nil value)", NULL, PATHS },
  { "attempt to call method 'select' (a nil value)", NULL, PATHS },
  { "attempt to call method 'group_by' (a nil value)", NULL, PATHS },
  { "attempt to call method 'with_column' (a nil value)", NULL, PATHS },
  { "attempt to call method 'read' (a nil value)", NULL, OPEN },
  { "attempt to call method 'lines' (a nil value)", NULL, OPEN },
  { "attempt to call method 'write' (a nil value)", NULL, OPEN_TO_WRITE },
  { "attempt to call method 'close' (a nil value)", NULL, OPEN },
  { "attempt to compare ", "userdata",
    "rows are chosen by df:filter(\"column\", \">\", value), not by a comparison of a column" },
  { "attempt to perform arithmetic on ", "a userdata value",
    "a column is computed row by row: df:with_column(name, function(row) return row.a * 2 end)" },
  { "attempt to perform arithmetic on ", "a string value",
    "texts are joined with .., and '\"%s\" % x' is string.format(\"%s\", x); tonumber(text) is a "
    "number" },
  { "(FILE* expected, got ", NULL, "a method is called with a colon: file:read \"*a\"" },
  { "attempt to call field 'unpack' (a nil value)", NULL, "write unpack(list)" },
  { " 'path' (a string value)", "attempt to call ",
    "'path' is text: a path in a datastore is { datastore, \"x\" }, or datastore.path .. \"/x\"" },
};

static bool has_text(const char *message, const char *text)
{
  size_t n = strcspn(text, NAME_FOLLOWS);
  const char *at = message;

  while ((at = strchr(at, text[0])) != NULL) {
    if (strncmp(at, text, n) == 0 && (!text[n] || isalpha((unsigned char)at[n]) || at[n] == '_'))
      return true;
    at++;
  }
  return false;
}

/* Adds the message without what LuaJIT adds if a bracket was opened in another line: "(to close '('
 * at line 2)". */
static void add_without_opening(struct tm_buf *out, const char *message)
{
  static const char before[] = " (to close '";
  const char *at = strstr(message, before), *end = at ? strstr(at, " at line ") : NULL;
  end = end ? strchr(end, ')') : NULL;
  tm_buf_add(out, message, end ? (size_t)(at - message) : strlen(message));
  tm_buf_add_str(out, end ? end + 1 : "");
}

static const char *explain(const char *message)
{
  for (size_t i = 0; i < TM_COUNT_OF(messages); i++)
    if (has_text(message, messages[i].text) &&
        (!messages[i].more || strstr(message, messages[i].more)))
      return messages[i].words;
  return NULL;
}

const char *tm_python_explain(const char *message)
{
  struct tm_buf text = TM_BUF_NONE;
  add_without_opening(&text, message);
  const char *words = explain(tm_buf_str(&text));
  tm_buf_release(&text);
  return words;
}
