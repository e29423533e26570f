/* destination.c - see destination.h. */
#include "plan/destination.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"

#define RUN_ID      "{run-id}"
#define OUTPUT_NAME "{output-name}"

/* To free. */
static char *replace(const char *text, const char *what, const char *with)
{
  struct tm_buf out = TM_BUF_NONE;
  for (const char *at; (at = strstr(text, what)) != NULL; text = at + strlen(what)) {
    tm_buf_add(&out, text, (size_t)(at - text));
    tm_buf_add_str(&out, with);
  }
  tm_buf_add_str(&out, text);
  return tm_buf_take(&out);
}

static bool begins(const char *text, const char *with)
{
  return strncmp(text, with, strlen(with)) == 0;
}

static int check_names(const char *given, struct tm_err *err)
{
  for (const char *at = strchr(given, '{'); at; at = strchr(at + 1, '{')) {
    size_t n = strcspn(at, "}");
    if (at[n] && !begins(at, RUN_ID) && !begins(at, OUTPUT_NAME))
      return tm_err_set(err, TM_EUSAGE,
                        "'destination' is \"%s\"; accepted in braces: " RUN_ID
                        ", the job, and " OUTPUT_NAME,
                        given);
  }
  return 0;
}

char *tm_destination_new(const char *given, const char *output_name, const char *base_dir,
                         struct tm_err *err)
{
  if (check_names(given, err) < 0)
    return NULL;
  if (*given != '/' && strstr(base_dir, RUN_ID)) { /* it would be replaced there, too */
    tm_err_set(err, TM_EUSAGE,
               "'destination' is \"%s\", below the folder '%s', whose name holds " RUN_ID
               "; rename the folder",
               given, base_dir);
    return NULL;
  }
  char *named = replace(given, OUTPUT_NAME, output_name);
  char *path = tm_path_absolute(base_dir, named);
  free(named);
  return path;
}

void tm_destinations_bind(struct tm_pipeline *p, const char *job_dir)
{
  const char *slash = strrchr(job_dir, '/'), *run_id = slash ? slash + 1 : job_dir;
  for (size_t i = 0; i < p->steps_len; i++) {
    struct tm_json *record = tm_json_get(p->steps[i]->effective, "outputs");
    for (size_t k = 0; k < p->steps[i]->outputs_len; k++) {
      struct tm_step_output *out = &p->steps[i]->outputs[k];
      if (!out->destination || !strstr(out->destination, RUN_ID))
        continue;
      char *path = replace(out->destination, RUN_ID, run_id);
      free(out->destination);
      out->destination = path;
      tm_json_set(record->list.at[k], "destination", tm_json_new_string(path));
    }
  }
}
