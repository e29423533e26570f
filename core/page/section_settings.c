/* section_settings.c - what the step was given: inputs, outputs, and each setting with its origin.
 * What differs from the default is shown; the rest is behind a switch. */
#include "base/text.h"
#include "page/section.h"

static bool has(const char *text)
{
  return text && *text;
}

/* One without a name has a number. */
static void add_name(struct tm_html *h, const char *name, size_t i)
{
  if (has(name))
    tm_html_name(h, name);
  else
    tm_html_int(h, (int64_t)i + 1);
}

struct input_columns {
  bool sizes, version; /* of some input they are known */
};

static struct input_columns look_at_inputs(const struct tm_fact_step *step)
{
  struct input_columns c = { 0 };
  for (size_t i = 0; i < step->inputs.len; i++) {
    c.version = c.version || has(step->inputs.at[i].version);
    c.sizes = c.sizes || step->inputs.at[i].files >= 0 || step->inputs.at[i].bytes >= 0;
  }
  return c;
}

static void begin_inputs(struct tm_html *h, struct input_columns c)
{
  const char *columns[7] = { "Input", "Kind", "Where" };
  size_t n = 3;
  if (c.sizes) {
    columns[n++] = "#Files";
    columns[n++] = "#Size";
  }
  if (c.version)
    columns[n++] = "Version";
  tm_page_table_begin(h, "Inputs", columns);
}

static void add_input(struct tm_html *h, const struct tm_fact_input *in, size_t i,
                      struct input_columns c)
{
  tm_html_open(h, "tr");
  tm_html_open(h, "th scope='row'");
  add_name(h, in->name, i);
  tm_html_close(h, "th");
  tm_page_cell(h, in->kind);
  tm_html_open(h, "td class='path'");
  tm_html_name(h, in->where);
  tm_html_close(h, "td");
  if (c.sizes) {
    tm_page_cell_int(h, in->files);
    tm_page_cell_bytes(h, in->bytes);
  }
  if (c.version)
    tm_page_cell(h, in->version);
  tm_html_close(h, "tr");
}

static void add_inputs(struct tm_html *h, const struct tm_fact_step *step)
{
  struct input_columns c = look_at_inputs(step);
  if (step->inputs.len == 0)
    return;
  begin_inputs(h, c);
  for (size_t i = 0; i < step->inputs.len; i++)
    add_input(h, &step->inputs.at[i], i, c);
  tm_page_table_end(h);
  if (step->inputs.len > 1 && step->input_files > 0) {
    tm_html_open(h, "p class='more'");
    tm_html_text(h, "All inputs together: ");
    tm_page_count(h, step->input_files, "file, ", "files, ");
    tm_page_bytes(h, step->input_bytes);
    tm_html_text(h, ".");
    tm_html_close(h, "p");
  }
}

struct output_columns {
  bool rows, destination, registered;
};

static void begin_outputs(struct tm_html *h, struct output_columns c)
{
  const char *columns[7] = { "Output", "Where" };
  size_t n = 2;
  if (c.rows)
    columns[n++] = "#Rows";
  columns[n++] = "#Size";
  if (c.destination)
    columns[n++] = "Destination";
  if (c.registered)
    columns[n++] = "Registered as";
  tm_page_table_begin(h, "Outputs", columns);
}

static void add_output(struct tm_html *h, const struct tm_job_page *page,
                       const struct tm_fact_output *o, size_t i, struct output_columns c)
{
  tm_html_open(h, "tr");
  tm_html_open(h, "th scope='row'");
  add_name(h, o->name, i);
  tm_html_close(h, "th");
  tm_html_open(h, "td class='path'");
  if (has(o->path))
    tm_page_file(h, page, o->path);
  tm_html_close(h, "td");
  if (c.rows)
    tm_page_cell_int(h, o->rows);
  tm_page_cell_bytes(h, o->bytes);
  if (c.destination)
    tm_html_put(h, "td class='path'", o->destination);
  if (c.registered)
    tm_page_cell(h, o->registered);
  tm_html_close(h, "tr");
}

static void add_outputs(struct tm_html *h, const struct tm_job_page *page,
                        const struct tm_fact_step *step)
{
  struct output_columns c = { 0 };
  for (size_t i = 0; i < step->outputs.len; i++) {
    const struct tm_fact_output *o = &step->outputs.at[i];
    c.rows = c.rows || o->rows >= 0;
    c.destination = c.destination || has(o->destination);
    c.registered = c.registered || has(o->registered);
  }
  if (step->outputs.len == 0)
    return;
  begin_outputs(h, c);
  for (size_t i = 0; i < step->outputs.len; i++)
    add_output(h, page, &step->outputs.at[i], i, c);
  tm_page_table_end(h);
}

/* A number of bytes also as a person reads it, unless that is the same number. */
static void add_value(struct tm_html *h, const char *value, bool is_bytes)
{
  int64_t bytes;
  tm_html_open(h, "code");
  tm_html_long(h, value);
  tm_html_close(h, "code");
  if (!is_bytes || !value || !tm_text_int(value, &bytes) || bytes < 1000)
    return;
  tm_html_text(h, " ");
  tm_html_open(h, "small");
  tm_page_bytes(h, bytes);
  tm_html_close(h, "small");
}

static void add_setting(struct tm_html *h, const struct tm_fact_setting *s, bool has_before)
{
  tm_html_open(h, "tr");
  tm_html_open(h, "th scope='row'");
  tm_html_name(h, s->name);
  tm_html_close(h, "th");
  tm_html_open(h, "td class='path'");
  add_value(h, s->value, s->is_bytes);
  tm_html_close(h, "td");
  tm_html_put(h, "td class='dim'", s->origin);
  if (has_before) {
    tm_html_open(h, "td class='path'");
    if (s->before)
      add_value(h, s->before, s->is_bytes);
    tm_html_close(h, "td");
  }
  tm_html_close(h, "tr");
}

static size_t count_settings(const struct tm_fact_setting *at, size_t len, bool is_default)
{
  size_t n = 0;
  for (size_t i = 0; i < len; i++)
    n += is_default == (at[i].is_default && !at[i].before);
  return n;
}

static void add_settings_table(struct tm_html *h, const char *caption,
                               const struct tm_fact_setting *at, size_t len, bool is_default)
{
  bool has_before = false;
  for (size_t i = 0; i < len; i++)
    has_before = has_before || at[i].before;
  has_before = has_before && !is_default;
  const char *const columns[] = { "Setting", "Value", "From",
                                  has_before ? "In the last completed job" : NULL, NULL };
  tm_page_table_begin(h, caption, columns);
  for (size_t i = 0; i < len; i++)
    if (is_default == (at[i].is_default && !at[i].before))
      add_setting(h, &at[i], has_before);
  tm_page_table_end(h);
}

static void add_settings(struct tm_html *h, const char *caption, const struct tm_fact_setting *at,
                         size_t len)
{
  size_t defaults = count_settings(at, len, true);
  if (len > defaults)
    add_settings_table(h, caption, at, len, false);
  if (defaults == 0)
    return;
  tm_html_open(h, "details class='more'");
  tm_html_open(h, "summary");
  tm_page_count(h, (int64_t)defaults, "setting has its default", "settings have their defaults");
  tm_html_close(h, "summary");
  add_settings_table(h, "Defaults", at, len, true);
  tm_html_close(h, "details");
}

static void add_script(struct tm_html *h, const struct tm_fact_step *step)
{
  if (!has(step->script))
    return;
  tm_html_open(h, "p class='more'");
  tm_html_text(h, "Entry script: ");
  tm_html_put(h, "code", step->script);
  if (has(step->script_hash)) {
    tm_html_text(h, " · hash of the files of its folder: ");
    tm_html_put(h, "code", step->script_hash);
  }
  if (has(step->script_hash_before)) {
    tm_html_text(h, " (in the last completed job: ");
    tm_html_put(h, "code", step->script_hash_before);
    tm_html_text(h, ")");
  }
  tm_html_close(h, "p");
}

void tm_section_settings(struct tm_html *h, const struct tm_job_page *page)
{
  const struct tm_fact_step *step = tm_page_fact(page);
  if (!step ||
      step->inputs.len + step->outputs.len + step->settings.len + page->job->parameters.len == 0)
    return;
  tm_section_begin(h, page, "settings", "Inputs, outputs, settings", TM_SECTION_OF_STEP, NULL);
  add_inputs(h, step);
  add_outputs(h, page, step);
  if (!page->is_further)
    add_settings(h, "Parameters of the pipeline", page->job->parameters.at,
                 page->job->parameters.len);
  add_settings(h, "Settings", step->settings.at, step->settings.len);
  add_script(h, step);
  tm_section_end(h);
}
