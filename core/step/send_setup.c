/* send_setup.c - sends a worker what it needs before it loads the script: see supervisor_own.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/check.h"
#include "base/path.h"
#include "base/time.h"
#include "record/temp_dirs.h"
#include "step/supervisor_own.h"
#include "step/worker_setup.h"

/* How long a node may see a file of the job late, as in announced.c. */
#define PATIENCE_NS (10 * TM_S)

static char *in_logs(const struct tm_worker *w, const char *folder, const char *name,
                     const char *suffix)
{
  return tm_xprintf("%s/user/%s/%s/%s%s", w->s->logs_dir, folder, w->node->name, name, suffix);
}

static char *profile_file(const struct tm_worker *w)
{
  const struct tm_supervisor *s = w->s;

  return s->o.step->config.is_profiled
             ? tm_xprintf("%s/sys/node/%s/%s.profile", s->logs_dir, w->node->name, w->name)
             : tm_xstrdup("");
}

/* As this machine names them. */
static void add_staged_in(struct tm_setup *setup)
{
  setup->staged_in = tm_xcalloc(setup->outputs_len + 1, sizeof(char *));
  setup->staged_in_len = setup->outputs_len;
  for (size_t i = 0; i < setup->outputs_len; i++) {
    char *folder = i == 0 ? tm_xstrdup(setup->output_dir)
                          : tm_xprintf("%s.%s", setup->output_dir, setup->outputs[i]);
    setup->staged_in[i] = tm_output_staging(tm_fs_real(), folder);
    free(folder);
  }
}

static void release_staged_in(struct tm_setup *setup)
{
  for (size_t i = 0; i < setup->staged_in_len; i++)
    free(setup->staged_in[i]);
  free(setup->staged_in);
}

void tm_workers_send_setup(struct tm_worker *w)
{
  struct tm_supervisor *s = w->s;
  struct tm_buf text = TM_BUF_NONE;
  struct tm_temp_dirs dirs = tm_temp_dirs_of(&w->node->temp, s->view.name, w->name);
  char *libraries_dir = tm_path_join(s->state_dir, "libraries");
  char session[24];
  struct tm_setup setup;

  tm_require(w->link && w->node->script);
  tm_setup_of_step(&setup, s->o.step);
  setup.worker_name = w->name;
  setup.node_id = w->node->name;
  setup.cores = tm_setup_cores(w->node->cores, w->node->slots);
  setup.is_only_worker = w->node->slots == 1;
  setup.owns_process = true;
  setup.ignores_warnings = w->node->id != TM_LOCAL_NODE;
  setup.script = w->node->script;
  setup.script_dir = w->node->script_dir;
  setup.arguments = s->bound.arguments;
  setup.arguments_len = s->bound.arguments_len;
  setup.schema_file = s->schema_file;
  setup.index_dir = s->index_dir;
  setup.models_dir = s->models_dir;
  snprintf(session, sizeof session, "%016" PRIx64, s->o.epoch);
  setup.session = session;
  setup.output_dir = s->output_dir;
  setup.log_dir = in_logs(w, "entry_script_log", "", "");
  setup.temp_dir = dirs.temp;
  setup.memory_dir = dirs.memory;
  setup.logger_file = in_logs(w, "entry_script_log", w->name, ".log.txt");
  setup.error_file = in_logs(w, "error", w->name, ".txt");
  setup.spill_dir = s->spill_dir;
  setup.libraries_dir = libraries_dir;
  setup.staging_dir = s->staging_dir;
  setup.profile_file = profile_file(w);
  setup.verify_items = s->o.is_resumed && !s->o.accept_changes;
  setup.patience_ns = w->node->id == TM_LOCAL_NODE ? 0 : PATIENCE_NS;
  setup.sizes_alone = w->node->node && tm_node_has_sizes_alone(w->node->node);
  if (setup.sizes_alone)
    add_staged_in(&setup);
  setup.is_interruptible = setup.is_interruptible || s->arms_workers;
  tm_setup_encode(&text, &setup);
  struct tm_msg f = {
    .type = TM_MSG_SETUP, .fd = -1, .payload = text.data, .length = (uint32_t)text.len
  };
  tm_worker_link_send(w->link, &f);
  tm_buf_release(&text);
  free(libraries_dir);
  free(setup.log_dir);
  free(setup.logger_file);
  free(setup.error_file);
  free(setup.profile_file);
  release_staged_in(&setup);
  tm_setup_release_step(&setup);
  tm_temp_dirs_release(&dirs);
}
