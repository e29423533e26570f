/* cmd_graph.c - `tidemill graph PIPELINE.lua`: shows which step waits for which. Runs and creates
 * nothing. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "cli/cli.h"
#include "cli/loading.h"

struct graph_options {
  struct tm_words params;
  const char *format;
};

static const char *const formats[] = {
  [TIDEMILL_GRAPH_TEXT] = "text",
  [TIDEMILL_GRAPH_DOT] = "dot",
  [TIDEMILL_GRAPH_MERMAID] = "mermaid",
  NULL,
};

#define PLACE(field) offsetof(struct graph_options, field)
/* clang-format off */
static const struct tm_option options[] = {
  { "format", TM_OPTION_VALUE, PLACE(format), "FORMAT", formats, "text: a tree of lines; dot: for Graphviz; mermaid: for Mermaid" },
  { "param", TM_OPTION_LIST, PLACE(params), "NAME=VALUE", NULL, "sets a PipelineParameter; may be repeated" },
};
/* clang-format on */

static int graph(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_graph = {
  .name = "graph",
  .run = graph,
  .usage = "PIPELINE.lua [--format text|dot|mermaid] [--param NAME=VALUE]...",
  .summary = "shows which step of a pipeline waits for which",
  .options = options,
  .options_len = TM_COUNT_OF(options),
};

static enum tidemill_graph format_of(const char *word)
{
  for (int i = TIDEMILL_GRAPH_TEXT; i <= TIDEMILL_GRAPH_MERMAID; i++)
    if (word && strcmp(formats[i], word) == 0)
      return (enum tidemill_graph)i;
  return TIDEMILL_GRAPH_TEXT;
}

static int read_arguments(struct graph_options *o, struct tm_words *rest, int argc, char **argv,
                          struct tm_err *err)
{
  int rc = tm_options_read(options, TM_COUNT_OF(options), argc, argv, o, rest, err);
  if (rc >= 0 && rest->len != 1)
    rc = tm_err_set(err, TM_EUSAGE, "graph takes one pipeline file, and %zu %s given", rest->len,
                    rest->len == 1 ? "is" : "are");
  for (size_t i = 0; rc >= 0 && i < o->params.len; i++)
    if (!tm_option_pair(o->params.at[i], err))
      rc = TM_EUSAGE;
  return rc;
}

static int give(struct tidemill_pipeline *p, const struct tm_words *params, const char *cwd,
                struct tm_err *err)
{
  int rc = 0;
  for (size_t i = 0; i < params->len && rc == 0; i++) {
    const char *value = tm_option_pair(params->at[i], err);
    char *name = tm_xstrndup(params->at[i], (size_t)(value - params->at[i]) - 1);
    rc = tidemill_pipeline_set_param_from(p, name, value, "--param", cwd, err);
    free(name);
  }
  return rc;
}

/* Refuses a file whose scripts are not valid Lua, as all commands do. */
static int show(struct tidemill_runtime *rt, const char *file, const struct graph_options *o,
                const char *cwd, struct tm_err *err)
{
  struct tidemill_pipeline *p = NULL;
  struct tm_buf text = TM_BUF_NONE;
  const char *graph;
  int rc = tm_loading_file(&p, rt, file, err);
  if (rc == 0)
    rc = give(p, &o->params, cwd, err);
  if (rc == 0)
    rc = tidemill_pipeline_check(p, err);
  if (rc == 0)
    rc = tidemill_pipeline_graph(&graph, p, format_of(o->format), err);
  if (rc == 0) {
    tm_buf_add_str(&text, graph);
    rc = tm_cli_write(&text);
  }
  tm_buf_release(&text);
  tidemill_pipeline_free(p);
  return rc == TM_ESCRIPT ? TM_EUSAGE : rc; /* an error in the definition */
}

static int open_and_show(const struct tm_cli *cli, const char *file, const struct graph_options *o,
                         const char *cwd, struct tm_err *err)
{
  struct tidemill_runtime *rt = NULL;
  char *path = tm_path_absolute(cwd, file);
  int rc = tm_cli_open_runtime(cli, &rt, err);
  if (rc == 0)
    rc = show(rt, path, o, cwd, err);
  tidemill_runtime_close(rt, NULL);
  free(path);
  return rc;
}

static int graph(const struct tm_cli *cli, int argc, char **argv)
{
  struct graph_options o = { 0 };
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  char *cwd = NULL;
  int status, rc = read_arguments(&o, &rest, argc, argv, &err);
  if (rc >= 0 && !(cwd = getcwd(NULL, 0)))
    rc = tm_err_set(&err, TM_EUSAGE, "the current directory is gone; go to another one");
  status = rc < 0 ? tm_cli_fail_usage(&tm_command_graph, &err)
                  : tm_cli_end(open_and_show(cli, rest.at[0], &o, cwd, &err), &err);
  TM_ARRAY_RELEASE(&rest);
  TM_ARRAY_RELEASE(&o.params);
  free(cwd);
  return status;
}
