/* config.c - see config.h. */
#include "plan/config.h"

#include <stdlib.h>
#include <string.h>

bool tm_config_returns_any(const struct tm_config *c, bool are_rows)
{
  if (c->returns == TM_RETURNS_AUTO)
    return are_rows && c->error_threshold < 0;
  return c->returns == TM_RETURNS_ANY;
}

static void free_list(char **list)
{
  for (char **text = list; text && *text; text++)
    free(*text);
  free(list);
}

void tm_config_release(struct tm_config *c)
{
  free(c->entry_script);
  free(c->model);
  free(c->library_dir);
  free(c->source_directory);
  free(c->append_row_file_name);
  for (size_t i = 0; i < c->partition_keys_len; i++)
    free(c->partition_keys[i]);
  free(c->partition_keys);
  free_list(c->environment);
  free_list(c->module_paths);
  free_list(c->node_command);
  free_list(c->node_hosts);
  free_list(c->slurm_options);
  free(c->slurm_exclude);
  free(c->description);
  free(c->resume_from);
  memset(c, 0, sizeof(*c));
}
