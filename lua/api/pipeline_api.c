/* pipeline_api.c - pipelines of a host: loads them from a file, from text or from a Lua stack, sets
 * parameters, checks and shows them.
 *
 * It keeps the tree that the constructors made. Each submission makes a struct tm_pipeline of this
 * tree, with the parameters of that time.
 */
#include "api/own.h"

#include <string.h>

#include "api/model_words.h"
#include "api/plan.h"
#include "base/check.h"
#include "base/map.h"
#include "base/path.h"
#include "modules.h"
#include "outputs/registering.h"
#include "plan/graph.h"
#include "plan/read.h"
#include "runtime.h"
#include "snapshot/snapshot.h"

static char *absolute(const char *name, struct tm_err *err)
{
  char *cwd = tm_api_here(err);
  char *path = cwd ? tm_path_absolute(cwd, *name ? name : "pipeline") : NULL;
  free(cwd);
  return path;
}

int tm_draft_new(struct tidemill_pipeline **out, struct tidemill_runtime *rt, struct tm_json *tree,
                 const char *name, bool has_file, struct tm_err *err)
{
  char *file = tree ? absolute(name, err) : NULL;
  struct tidemill_pipeline *p;
  if (!file) {
    tm_json_free(tree);
    return err->code;
  }
  p = TM_NEW(struct tidemill_pipeline);
  p->rt = rt;
  p->tree = tree;
  p->file = file;
  p->has_file = has_file;
  rt->pipelines++;
  *out = p;
  return 0;
}

static void on_note(void *data, const char *words)
{
  const struct tidemill_runtime *rt = data;
  if (rt->o.on_log)
    rt->o.on_log(TIDEMILL_LEVEL_INFO, words, rt->o.data);
}

static void on_warning(void *data, const char *words)
{
  const struct tidemill_runtime *rt = data;
  if (rt->o.on_log)
    rt->o.on_log(TIDEMILL_LEVEL_WARNING, words, rt->o.data);
}

/* Callbacks of the host may not close the runtime meanwhile. */
static struct tm_json *load_piece(struct tidemill_runtime *rt, const char *name, const char *text,
                                  struct tm_err *err)
{
  struct tm_lua_piece piece = { .name = name,
                                .text = text,
                                .modules = tm_lua_modules(),
                                .prepare = tm_host_prepare,
                                .on_note = on_note,
                                .data = rt };
  rt->loading++;
  struct tm_json *tree = tm_lua_load_piece(&piece, err);
  tm_require(rt->loading > 0);
  rt->loading--;
  return tree;
}

int tidemill_pipeline_load(struct tidemill_pipeline **out, struct tidemill_runtime *rt,
                           const char *path, struct tm_err *err)
{
  err = TM_ERR_OWN(err);
  if (out)
    *out = NULL;
  if (tm_need(err, "tidemill_pipeline_load()", "out", out, "rt", rt, "path", path, NULL) < 0)
    return TM_EUSAGE;
  return tm_draft_new(out, rt, load_piece(rt, path, NULL, err), path, true, err);
}

int tidemill_pipeline_load_string(struct tidemill_pipeline **out, struct tidemill_runtime *rt,
                                  const char *text, const char *name, struct tm_err *err)
{
  err = TM_ERR_OWN(err);
  if (out)
    *out = NULL;
  if (tm_need(err, "tidemill_pipeline_load_string()", "out", out, "rt", rt, "text", text, "name",
              name, NULL) < 0)
    return TM_EUSAGE;
  return tm_draft_new(out, rt, load_piece(rt, name, text, err), name, false, err);
}

int tidemill_pipeline_from_lua(struct tidemill_pipeline **out, struct tidemill_runtime *rt,
                               struct lua_State *L, int index, const char *name, struct tm_err *err)
{
  err = TM_ERR_OWN(err);
  if (out)
    *out = NULL;
  if (tm_need(err, "tidemill_pipeline_from_lua()", "out", out, "rt", rt, "L", L, "name", name,
              NULL) < 0)
    return TM_EUSAGE;
  return tm_draft_new(out, rt, tm_lua_pipeline_at(L, index, name, err), name, false, err);
}

void tm_draft_changed(struct tidemill_pipeline *p)
{
  tm_pipeline_free(p->checked);
  p->checked = NULL;
}

void tidemill_pipeline_free(struct tidemill_pipeline *p)
{
  if (!p)
    return;
  tm_require(p->rt->pipelines > 0);
  p->rt->pipelines--;
  tm_draft_release_params(p);
  tm_draft_release_handles(p);
  tm_draft_release_earlier(p);
  tm_draft_changed(p);
  tm_json_free(p->tree);
  free(p->file);
  free(p->working_dir);
  free(p->output_file);
  tm_json_free(p->command);
  free(p->graph);
  free(p->plan);
  free(p);
}

const char *tidemill_pipeline_name(const struct tidemill_pipeline *p)
{
  return p ? tm_json_str(p->tree, "name", "") : NULL;
}

int tm_draft_check_scripts(const struct tm_pipeline *p, struct tm_err *err)
{
  struct tm_map seen = { 0 };
  int rc = 0;
  for (size_t i = 0; i < p->steps_len && rc >= 0; i++) {
    const char *script = p->steps[i]->config.entry_script;
    bool is_new;
    tm_map_add(&seen, script, strlen(script), &is_new);
    /* several steps may share one; that of a model is part of the program */
    if (is_new && !p->steps[i]->config.script_text)
      rc = tm_lua_check_script(script, script, tm_lua_modules(), err);
    if (rc >= 0 && p->steps[i]->config.script_text)
      rc = tm_model_words_check(p->steps[i], err);
    if (rc >= 0)
      rc = tm_snapshot_check(tm_fs_real(), &p->steps[i]->config, err);
  }
  tm_map_release(&seen);
  return rc < 0 ? rc : 0;
}

static struct tm_pipeline *define_built(const struct tidemill_pipeline *p, bool keeps_scripts,
                                        struct tm_err *err)
{
  char *dir = tm_path_dir(p->file);
  struct tm_pipeline *defined = tm_pipeline_from_calls(p->tree, dir, p->working_dir, p->params.at,
                                                       p->params.len, keeps_scripts, err);
  free(dir);
  return defined;
}

static struct tm_pipeline *define(const struct tidemill_pipeline *p, bool keeps_scripts,
                                  struct tm_err *err)
{
  if (p->is_built)
    return define_built(p, keeps_scripts, err);
  struct tm_pipeline *defined =
      tm_pipeline_from_json(p->tree, p->file, p->params.at, p->params.len, keeps_scripts, err);
  if (defined && !p->has_file) {
    free(defined->file);
    defined->file = NULL;
  }
  return defined;
}

/* Refuses a list on standard input, which belongs to the host, unless the host is a command. */
int tm_refuse_stdin(const struct tidemill_runtime *rt, const struct tm_pipeline *p,
                    struct tm_err *err)
{
  for (size_t i = 0; i < p->steps_len && !rt->is_command; i++)
    for (size_t k = 0; k < p->steps[i]->inputs_len; k++)
      if (tm_dataset_is_stdin(p->steps[i]->inputs[k]))
        return tm_err_set(err, TM_EUSAGE,
                          "step '%s' reads a list on standard input, which is the host's; name a "
                          "file, or let the program run it",
                          p->steps[i]->name);
  return 0;
}

int tm_draft_registry(char **out, const struct tidemill_pipeline *p,
                      const struct tm_pipeline *settled, struct tm_err *err)
{
  const char *name = tm_registering_name(settled);
  *out = name ? tm_runtime_workspace(p->rt, p->file, err) : NULL;
  return name && !*out ? tm_err_wrap(err, "dataset '%s' could not be registered later", name) : 0;
}

struct tm_pipeline *tm_draft_define(const struct tidemill_pipeline *p, struct tm_err *err)
{
  return define(p, false, err);
}

struct tm_pipeline *tm_draft_settle(const struct tidemill_pipeline *p, enum tm_scripts scripts,
                                    struct tm_err *err)
{
  tm_require(p->tree && p->file[0] == '/');
  struct tm_pipeline *settled = define(p, scripts == TM_SCRIPTS_KEPT, err);
  if (settled)
    settled->source = tm_draft_source(p);
  if (settled && p->command)
    settled->command = tm_json_copy(p->command);
  if (settled && ((scripts == TM_SCRIPTS_COMPILED && tm_draft_check_scripts(settled, err) < 0) ||
                  tm_draft_take_earlier(p, settled, err) < 0)) {
    tm_pipeline_free(settled);
    return NULL;
  }
  return settled;
}

int tidemill_pipeline_check(struct tidemill_pipeline *p, struct tm_err *err)
{
  err = TM_ERR_OWN(err);
  if (tm_need(err, "tidemill_pipeline_check()", "p", p, NULL) < 0)
    return TM_EUSAGE;
  tm_draft_changed(p);
  p->checked = tm_draft_settle(p, TM_SCRIPTS_COMPILED, err);
  return p->checked ? 0 : tm_words_for_host(p->rt, err);
}

int tidemill_pipeline_graph(const char **out, struct tidemill_pipeline *p,
                            enum tidemill_graph format, struct tm_err *err)
{
  static const enum tm_graph_format formats[] = { [TIDEMILL_GRAPH_TEXT] = TM_GRAPH_TEXT,
                                                  [TIDEMILL_GRAPH_DOT] = TM_GRAPH_DOT,
                                                  [TIDEMILL_GRAPH_MERMAID] = TM_GRAPH_MERMAID };
  static const char call[] = "tidemill_pipeline_graph()";
  struct tm_buf text = TM_BUF_NONE;
  struct tm_pipeline *settled = NULL;
  err = TM_ERR_OWN(err);
  if (out)
    *out = NULL;
  if (tm_need(err, call, "out", out, "p", p, NULL) < 0)
    return TM_EUSAGE;
  if ((unsigned)format >= TM_COUNT_OF(formats))
    return tm_err_set(err, TM_EUSAGE, "%s: %d is not a format", call, (int)format);
  if (!p->checked && !(settled = tm_draft_settle(p, TM_SCRIPTS_THERE, err)))
    return tm_words_for_host(p->rt, err);
  tm_graph_add(&text, settled ? settled : p->checked, formats[format]);
  tm_pipeline_free(settled);
  free(p->graph);
  p->graph = tm_buf_take(&text);
  *out = p->graph;
  return 0;
}

/* Adds the plan of a checked definition. Callbacks of the host may not close the runtime
 * meanwhile. */
static int add_plan(struct tm_buf *out, const struct tidemill_pipeline *p,
                    const struct tm_pipeline *settled, const struct tidemill_plan_options *o,
                    struct tm_err *err)
{
  struct tidemill_runtime *rt = p->rt;
  char *cwd = tm_refuse_stdin(rt, settled, err) == 0 ? tm_api_here(err) : NULL;
  char *workspace = NULL;
  int rc = cwd ? tm_runtime_known_workspace(&workspace, rt, p->file, cwd, err) : err->code;
  struct tm_plan plan = { .fs = rt->fs,
                          .pipeline = settled,
                          .source = rt->is_command ? "of the command line" : "of the host",
                          .workspace = workspace,
                          .program = rt->program,
                          .no_reuse = o->no_reuse,
                          .explain = o->explain,
                          .json = o->json,
                          .on_warning = on_warning,
                          .data = rt };
  rt->loading++;
  if (rc == 0) {
    tm_draft_tell_earlier(p, settled);
    rc = tm_plan_add(out, &plan, err);
  }
  tm_require(rt->loading > 0);
  rt->loading--;
  free(workspace);
  free(cwd);
  return rc;
}

int tidemill_pipeline_plan(const char **out, struct tidemill_pipeline *p,
                           const struct tidemill_plan_options *options, struct tm_err *err)
{
  static const char call[] = "tidemill_pipeline_plan()";
  struct tidemill_plan_options o = TIDEMILL_PLAN_OPTIONS_INIT;
  struct tm_buf text = TM_BUF_NONE;
  struct tm_pipeline *settled;
  int rc;
  err = TM_ERR_OWN(err);
  if (out)
    *out = NULL;
  if (tm_need(err, call, "out", out, "p", p, NULL) < 0 ||
      tm_take_options(&o, sizeof(o), options, call, "the options", "TIDEMILL_PLAN_OPTIONS_INIT",
                      err) < 0)
    return TM_EUSAGE;
  if (!(settled = tm_draft_settle(p, TM_SCRIPTS_COMPILED, err)))
    return tm_words_for_host(p->rt, err);
  rc = add_plan(&text, p, settled, &o, err);
  tm_pipeline_free(settled);
  if (rc < 0) {
    tm_buf_release(&text);
    return tm_words_for_host(p->rt, err);
  }
  free(p->plan);
  p->plan = tm_buf_take(&text);
  *out = p->plan;
  return 0;
}
