/* command.c - the command line of a job, for the job's record (record/job_record.h). */
#include <stdlib.h>
#include <string.h>

#include "records/disk.h"
#include "api/own.h"
#include "base/text.h"
#include "snapshot/source.h"

int tidemill_pipeline_set_command(struct tidemill_pipeline *p, const char *const *words,
                                  struct tm_err *err)
{
  err = TM_ERR_OWN(err);
  if (tm_need(err, "tidemill_pipeline_set_command()", "p", p, "words", words, NULL) < 0)
    return TM_EUSAGE;
  char *here = tm_api_here(err);
  if (!here)
    return err->code;
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT), *list = tm_json_new(TM_JSON_ARRAY);
  for (size_t i = 0; words[i]; i++)
    tm_json_add(list, tm_json_new_bytes(words[i], strlen(words[i])));
  tm_json_set(v, "words", list);
  tm_json_set(v, "directory", tm_json_new_bytes(here, strlen(here)));
  tm_json_free(p->command);
  p->command = tm_source_pack(v);
  tm_json_free(v);
  free(here);
  tm_draft_changed(p);
  return 0;
}

/* The words as a shell reads them, to free(). NULL: the record has none, or is damaged. */
static char *text_of(const struct tm_json *words)
{
  struct tm_buf text = TM_BUF_NONE;
  for (size_t i = 0; i < tm_json_items(words); i++) {
    const struct tm_json *word = words->list.at[i];
    if (word->type != TM_JSON_STRING) {
      tm_buf_release(&text);
      return NULL;
    }
    if (i > 0)
      tm_buf_add_char(&text, ' ');
    tm_text_shell(&text, word->string.at);
  }
  return text.len > 0 ? tm_buf_take(&text) : NULL;
}

const char *tidemill_record_command(struct tidemill_record *r, const char **directory)
{
  const char *text = r && !r->command ? tidemill_record_definition(r) : NULL;
  if (text) {
    struct tm_json *record = tm_json_of(text);
    struct tm_json *command = tm_source_unpack(tm_json_get(record, "command"));
    const char *here = tm_json_str(command, "directory", NULL);
    r->command = here ? text_of(tm_json_get(command, "words")) : NULL;
    r->directory = r->command ? tm_xstrdup(here) : NULL;
    tm_json_free(command);
    tm_json_free(record);
  }
  if (directory)
    *directory = r ? r->directory : NULL;
  return r ? r->command : NULL;
}
