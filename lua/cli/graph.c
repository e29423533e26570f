/* graph.c - `tidemill graph PIPELINE.lua`: which step waits for which (plan/graph.h). Nothing is run, and nothing made. */
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "cli/cli.h"
#include "cli/launch.h"
#include "plan/graph.h"

struct graph_options {
  struct tm_words params;
  const char *format;
};

static const char *const formats[] = {
  [TM_GRAPH_TEXT] = "text", [TM_GRAPH_DOT] = "dot", [TM_GRAPH_MERMAID] = "mermaid", NULL
};

#define PLACE(field) offsetof(struct graph_options, field)
/* clang-format off */
static const struct tm_option options[] = {
  { "format", TM_OPTION_VALUE, PLACE(format), "FORMAT", formats, "text, a tree of lines, or what draws it: dot (Graphviz) or mermaid" },
  { "param", TM_OPTION_LIST, PLACE(params), "NAME=VALUE", NULL, "gives a PipelineParameter a value; as often as needed" },
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

static enum tm_graph_format format_of(const char *word)
{
  for (int i = TM_GRAPH_TEXT; i <= TM_GRAPH_MERMAID; i++)
    if (word && strcmp(formats[i], word) == 0)
      return (enum tm_graph_format)i;
  return TM_GRAPH_TEXT;
}

static int show(struct tm_launch *l, const char *file, const char *format, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  char *path = tm_path_absolute(l->cwd, file);
  int rc = tm_launch_load(l, path, err);
  if (rc >= 0) {
    tm_graph_add(&text, l->pipeline, format_of(format));
    rc = tm_cli_write(&text);
  }
  tm_buf_release(&text);
  free(path);
  return rc;
}

static int graph(const struct tm_cli *cli, int argc, char **argv)
{
  struct graph_options o = { 0 };
  struct tm_launch l = { 0 };
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  int status, rc = tm_options_read(options, TM_COUNT_OF(options), argc, argv, &o, &rest, &err);
  if (rc >= 0 && rest.len != 1)
    rc = tm_err_set(&err, TM_EUSAGE, "graph takes one pipeline file, and %zu %s given", rest.len,
                    rest.len == 1 ? "is" : "are");
  l.o.params = o.params;
  if (rc >= 0)
    rc = tm_launch_init(&l, cli, &err);
  status = rc < 0 ? tm_cli_fail_usage(&tm_command_graph, &err)
                  : tm_launch_status(show(&l, rest.at[0], o.format, &err), &err);
  TM_ARRAY_RELEASE(&rest);
  tm_launch_release(&l);
  return status;
}
