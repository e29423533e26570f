/* data_facts.c - what a step read and wrote: files and bytes of its input, rows of its output, and
 * the names under which its outputs are registered. */
#include "insights/insight.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "base/text.h"
#include "inspect/inspection.h"
#include "record/input_record.h"
#include "store/registry.h"

#define ROWS_MAX   (INT64_C(64) << 20) /* bytes of a file whose rows are counted */
#define PIECE_SIZE (256 << 10)
#define LIST_MAX   (INT64_C(16) << 20) /* bytes of a list of mini-batches whose files are counted */

static bool has(const char *text)
{
  return text && *text;
}

/* ---- inputs ---- */

/* Of a list of paths, the record of inputs has only the file with the list. */
static bool has_list(const struct tm_fact_step *s)
{
  bool found = false;
  for (size_t i = 0; i < s->inputs.len && !found; i++)
    found = strcmp(tm_text_or_empty(s->inputs.at[i].kind), "manifest") == 0 ||
            strcmp(tm_text_or_empty(s->inputs.at[i].kind), "failed") == 0;
  return found;
}

/* The record of inputs, which steps have that can be reused; of several inputs, it has the sum. */
static bool read_recorded(const char *dir, struct tm_fact_step *s)
{
  char *path = tm_xprintf("%s/%s/state/inputs", dir, s->name);
  int64_t files, bytes;
  bool is_known = !has_list(s) &&
                  tm_input_record_sum(&files, &bytes, tm_fs_real(), path, NULL) >= 0 && files > 0;
  free(path);
  if (is_known) {
    s->input_files = files;
    s->input_bytes = bytes;
  }
  if (is_known && s->inputs.len == 1) {
    s->inputs.at[0].files = files;
    s->inputs.at[0].bytes = bytes;
  }
  return is_known;
}

/* Otherwise the list of mini-batches, unless it is long. */
static void count_listed(const char *dir, struct tm_fact_step *s)
{
  char *path = tm_xprintf("%s/%s/state/manifest", dir, s->name);
  size_t n = s->inputs.len;
  struct tm_manifest_files *files = tm_xmalloc(n * sizeof(*files));
  if (tm_manifest_count_files(files, n, path, LIST_MAX, NULL) >= 0)
    for (size_t i = 0; i < n; i++)
      if (files[i].files > 0) {
        s->inputs.at[i].files = files[i].files;
        s->inputs.at[i].bytes = files[i].bytes;
      }
  free(files);
  free(path);
}

static void read_inputs(const char *dir, struct tm_fact_step *s)
{
  s->input_files = s->input_bytes = -1;
  if (s->inputs.len > 0 && !read_recorded(dir, s) && s->state != TM_FACT_RUNNING)
    count_listed(dir, s);
}

/* ---- rows ---- */

/* -1: they cannot be counted. */
static int64_t count_lines(const char *path)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;
  int64_t lines = 0, at = 0, n = 1;
  if (fs->stat(fs->self, path, false, &st) < 0 || !S_ISREG(st.mode) || st.size > ROWS_MAX)
    return -1;
  int fd = fs->open(fs->self, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
  char *piece = tm_xmalloc(PIECE_SIZE);
  for (; fd >= 0 && n > 0 && at < st.size; at += n) {
    n = fs->pread(fs->self, fd, piece, PIECE_SIZE, at);
    for (const char *p = piece, *end = piece + (n > 0 ? n : 0);
         (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
      lines++;
  }
  free(piece);
  if (fd >= 0)
    (void)fs->close(fs->self, fd);
  return fd < 0 || n < 0 ? -1 : lines;
}

static const char *setting(const struct tm_fact_step *s, const char *name)
{
  for (size_t i = 0; i < s->settings.len; i++)
    if (strcmp(s->settings.at[i].name, name) == 0)
      return tm_text_or_empty(s->settings.at[i].value);
  return "";
}

/* Data frames may have a first line with the names of their columns. */
static bool has_header(const char *dir, const struct tm_fact_step *s, const char *file)
{
  char *columns = tm_xprintf("%s/%s/state/columns", dir, s->name);
  const char *header = setting(s, "append_row_header"), *dot = strrchr(tm_path_base(file), '.');
  bool is_table = dot && (strcmp(dot, ".csv") == 0 || strcmp(dot, ".tsv") == 0);
  bool found = tm_fs_exists(tm_fs_real(), columns);
  free(columns);
  return found && (strcmp(header, "true") == 0 || (strcmp(header, "false") != 0 && is_table));
}

static bool is_within(const char *path, const char *dir)
{
  size_t n = strlen(dir);
  return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* A row is a line where a row cannot have a line break. */
static void read_rows(const char *dir, struct tm_fact_step *s, const char *file)
{
  if (s->state != TM_FACT_COMPLETED || !has(file) || !is_within(file, dir) ||
      strcmp(setting(s, "output_action"), "append_row") != 0 ||
      strcmp(setting(s, "append_row_line_break"), "error") != 0)
    return;
  int64_t lines = count_lines(file);
  for (size_t i = 0; lines >= 0 && i < s->outputs.len; i++)
    if (is_within(file, tm_text_or_empty(s->outputs.at[i].path))) {
      s->outputs.at[i].rows = lines - (lines > 0 && has_header(dir, s, file));
      return;
    }
}

/* ---- registered names ---- */

static bool is_of(const struct tm_registered *r, const char *dir, const struct tm_fact_step *s,
                  const struct tm_fact_output *o)
{
  const struct tm_json *paths = tm_json_get(r->definition, "paths");
  if (!r->job || strcmp(r->job, dir) != 0 || strcmp(tm_text_or_empty(r->step), s->name) != 0 ||
      tm_json_items(paths) != 1 || paths->list.at[0]->type != TM_JSON_STRING)
    return false;
  const char *at = paths->list.at[0]->string.at;
  return strcmp(at, tm_text_or_empty(o->path)) == 0 ||
         strcmp(at, tm_text_or_empty(o->destination)) == 0;
}

static void name_outputs(struct tidemill_insight *in, const struct tm_registered *r)
{
  for (size_t i = 0; i < in->job.steps.len; i++)
    for (size_t k = 0; k < in->job.steps.at[i].outputs.len; k++) {
      struct tm_fact_output *o = &in->job.steps.at[i].outputs.at[k];
      if (is_of(r, in->job.dir, &in->job.steps.at[i], o))
        o->registered = *TM_ARRAY_ADD(&in->paths) =
            tm_xprintf("%s:%lld", r->name, (long long)r->version);
    }
}

static bool has_registered(const struct tidemill_insight *in)
{
  bool found = false;
  for (size_t i = 0; i < in->job.steps.len && !found; i++) {
    char *word = tm_xprintf("%s/%s/registered", in->job.dir, in->job.steps.at[i].name);
    found = tm_fs_exists(tm_fs_real(), word);
    free(word);
  }
  return found;
}

void tm_insight_read_data(struct tidemill_insight *in)
{
  struct tm_registered_list list = { 0 };
  for (size_t i = 0; i < in->job.steps.len; i++) {
    struct tm_fact_step *s = &in->job.steps.at[i];
    read_inputs(in->job.dir, s);
    read_rows(in->job.dir, s, tidemill_record_step(in->record, i)->output);
  }
  if (in->workspace && has_registered(in) && tm_registry_list_all(&list, in->workspace, NULL) >= 0)
    for (size_t i = 0; i < list.len; i++)
      name_outputs(in, &list.at[i]);
  tm_registered_list_release(&list);
}
