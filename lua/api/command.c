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

/* The words, NULL-ended. False: the record has none, or is damaged. */
static bool read_words(struct tidemill_record *r, const struct tm_json *words)
{
  for (size_t i = 0; i < tm_json_items(words); i++) {
    const struct tm_json *word = words->list.at[i];
    if (word->type != TM_JSON_STRING)
      return false;
    *TM_ARRAY_ADD(&r->words) = tm_xstrdup(word->string.at);
  }
  *TM_ARRAY_ADD(&r->words) = NULL;
  return r->words.len > 1;
}

static void read_command(struct tidemill_record *r)
{
  const char *text = tidemill_record_definition(r);
  struct tm_json *record = text ? tm_json_of(text) : NULL;
  struct tm_json *command = tm_source_unpack(tm_json_get(record, "command"));
  const char *here = tm_json_str(command, "directory", NULL);
  if (here && read_words(r, tm_json_get(command, "words")))
    r->directory = tm_xstrdup(here);
  tm_json_free(command);
  tm_json_free(record);
}

const char *const *tidemill_record_words(struct tidemill_record *r, const char **directory)
{
  if (r && !r->directory) {
    TM_ARRAY_RELEASE_EACH(&r->words);
    read_command(r);
  }
  if (directory)
    *directory = r ? r->directory : NULL;
  return r && r->directory ? (const char *const *)r->words.at : NULL;
}

const char *tidemill_record_command(struct tidemill_record *r, const char **directory)
{
  const char *const *words = tidemill_record_words(r, directory);
  struct tm_buf text = TM_BUF_NONE;
  for (size_t i = 0; words && !r->command && words[i]; i++) {
    if (i > 0)
      tm_buf_add_char(&text, ' ');
    tm_text_shell(&text, words[i]);
  }
  if (text.len > 0)
    r->command = tm_buf_take(&text);
  return r ? r->command : NULL;
}
