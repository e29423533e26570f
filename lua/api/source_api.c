/* source_api.c - writes the definition of a job without a pipeline file to the job's record, and
 * reads it when the job is resumed.
 */
#include "api/own.h"

#include <string.h>

#include "base/text.h"
#include "snapshot/source.h"

/* Leaves out a path that is not UTF-8, because JSON cannot hold it. */
static void add_output_file(struct tm_json *v, const struct tidemill_pipeline *p)
{
  if (!p->output_file || !tm_text_is_utf8(p->output_file, strlen(p->output_file)))
    return;
  tm_json_set(v, "output_file", tm_json_new_string(p->output_file));
  tm_json_set(v, "overwrite", tm_json_new_bool(p->overwrites));
}

struct tm_json *tm_draft_source(const struct tidemill_pipeline *p)
{
  struct tm_json *tree = p->has_file ? NULL : tm_source_pack(p->tree);
  if (!tree)
    return NULL;
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(v, "base", tm_json_new_string(p->file));
  tm_json_set_text(v, "working_dir", p->working_dir);
  tm_json_set(v, "by_calls", tm_json_new_bool(p->is_built));
  add_output_file(v, p);
  tm_json_set(v, "tree", tree);
  return v;
}

int tm_draft_of_source(struct tidemill_pipeline **out, struct tidemill_runtime *rt,
                       const struct tm_json *source, struct tm_err *err)
{
  struct tm_json *tree = tm_source_unpack(tm_json_get(source, "tree"));
  const char *base = tm_json_str(source, "base", NULL);
  if (!tree || !tree->tag || strcmp(tree->tag, "Pipeline") != 0 || !base || *base != '/') {
    tm_json_free(tree);
    return tm_err_set(err, TM_EDAMAGE, "its record holds no whole definition");
  }
  int rc = tm_draft_new(out, rt, tree, base, false, err);
  if (rc < 0)
    return rc;
  (*out)->is_built = tm_json_bool(source, "by_calls", false);
  (*out)->working_dir = tm_xstrdup(tm_json_str(source, "working_dir", NULL));
  const char *output_file = tm_json_str(source, "output_file", NULL);
  if (output_file && *output_file == '/') {
    (*out)->output_file = tm_xstrdup(output_file);
    (*out)->overwrites = tm_json_bool(source, "overwrite", false);
  }
  return 0;
}
