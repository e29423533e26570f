/* python.c - see python.h. Each line has the names and what to write in Lua. */
#include "plan/python.h"

#include "base/mem.h"
#include "base/text.h"

#define OF_TIDEMILL "local tidemill = require \"tidemill\", and tidemill.NAME"

static const struct {
  const char *names; /* with '|' between them */
  const char *words;
} answers[] = {
  /* Functions. */
  { "len", "#x" },
  { "str|repr", "tostring(x)" },
  { "int", "math.floor(tonumber(x))" },
  { "float", "tonumber(x)" },
  { "range", "for i = 1, n do ... end" },
  { "enumerate", "for i, x in ipairs(list) do ... end" },
  { "sorted", "table.sort(list)" },
  { "abs|round|max|min", "math.abs(x), math.floor(x + 0.5), math.max(a, b) and math.min(a, b)" },
  { "open", "io.open(path)" },
  { "isinstance", "type(x) == \"table\"" },
  { "list|dict|tuple|set", "{ ... }" },
  { "hasattr|getattr", "x[name], which is nil where x has no such field" },
  { "Exception|ValueError|TypeError|KeyError|RuntimeError|FileNotFoundError", "error(message)" },

  /* Methods of lists, dictionaries and strings. */
  { "append|extend", "list[#list + 1] = x" },
  { "items|keys", "for key, value in pairs(x) do ... end" },
  { "split", "for word in text:gmatch \"[^,]+\" do ... end" },
  { "strip|lstrip|rstrip", "text:match \"^%s*(.-)%s*$\"" },
  { "startswith", "text:sub(1, #prefix) == prefix" },
  { "endswith", "text:sub(-#suffix) == suffix" },
  { "replace", "text:gsub(pattern, replacement)" },
  { "join", "table.concat(list, separator), and of paths path.join() of tidemill.path" },

  /* Modules, and functions in them. */
  { "path|Path|pathlib", "local path = require \"tidemill.path\", for os.path" },
  { "environ", "os.getenv(name)" },
  { "makedirs|mkdir", "fs.mkdir(path, { parents = true, exist_ok = true }) of tidemill.fs" },
  { "listdir|walk|glob", "fs.list(path) of tidemill.fs" },
  { "json", "local json = require \"tidemill.json\"" },
  { "dumps", "json.encode(value) of tidemill.json" },
  { "loads", "json.decode(text) of tidemill.json" },
  { "argparse", "local argparse = require \"tidemill.argparse\"" },
  { "subprocess|Popen|check_call|check_output", "process.run({ ... }) of tidemill.process" },
  { "logging|getLogger", "EntryScript().logger, of require \"tidemill.entry_script\"" },
  { "pd|pandas|DataFrame", "local frame = require \"tidemill.frame\"" },
  { "np|numpy", "a loop over a column, for i = 1, #df do local x = df.c.NAME[i] ... end" },
  { "sys|argv", "arg, the list of arguments" },
  { "datetime", "os.time() and os.date(format)" },
  { "time|sleep",
    "os.time() and os.clock(); to wait, process.run { \"sleep\", \"1\" } of tidemill.process" },
  { "getcwd", "path.absolute(\".\") of tidemill.path" },
  { "shutil|copyfile|copytree|rmtree", "fs.copy(from, to) and fs.remove(path) of tidemill.fs" },
  { "random", "math.random()" },
  { "re", "text:match(pattern), text:gmatch(pattern) and text:gsub(pattern, replacement)" },
  { "pickle|joblib|torch|sklearn",
    "what a library for Lua reads; json.decode(text) of tidemill.json reads JSON" },
  { "__file__", "EntryScript().script_dir, of require \"tidemill.entry_script\"" },
  { "dataset", "context.dataset_name and context.source" },

  /* What scripts import. */
  { "azureml|azure|mltable", "local tidemill = require \"tidemill\", which has all names" },
  { "EntryScript|azureml_user", "local EntryScript = require \"tidemill.entry_script\"" },
  { "Run|get_context", "EntryScript(), of require \"tidemill.entry_script\"; a script has no run" },
  { "Model|get_model_path", "a model is a file: put it into source_directory or side_inputs" },

  { "Dataset|DataType|Datastore|DatasetConsumptionConfig", OF_TIDEMILL },
  { "OutputFileDatasetConfig|ParallelRunConfig|ParallelRunStep", OF_TIDEMILL },
  { "Pipeline|PipelineParameter|Workspace", OF_TIDEMILL },
};

const char *tm_python_find(const char *name, size_t len)
{
  for (size_t i = 0; i < TM_COUNT_OF(answers); i++)
    if (tm_text_has_word(answers[i].names, name, len))
      return answers[i].words;
  return NULL;
}
