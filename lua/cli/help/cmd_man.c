/* cmd_man.c - writes the manual page, tidemill.1, in roff's man macros, from the same tables as the
 * help. It has no date, so that the same program writes the same bytes.
 */
#include <string.h>

#include <tidemill.h>

#include "cli/help/cmd_help.h"
#include "cli/help/cmd_manual.h"
#include "cli/help/roff.h"
#include "cli/parameter_options.h"

#define CONFIG TM_TAKES(TM_PARAMETERS_CONFIG) /* listed once, below PARAMETERS */

static void add_command(struct tm_buf *out, const struct tm_command *c)
{
  tm_buf_printf(out, ".SS tidemill %s\n", c->name);
  tm_buf_printf(out, "\\fBtidemill %s\\fR ", c->name);
  tm_roff_add_line(out, c->usage);
  tm_buf_add_str(out, ".PP\n");
  tm_roff_add_line(out, c->summary);
  struct tm_parameter_options o;
  tm_parameter_options_init(&o, c->options, c->options_len, c->parameters & ~CONFIG, 0);
  for (size_t i = 0; i < o.all.len; i++) {
    tm_roff_add_term(out, tm_option_dashes(&o.all.at[i]), o.all.at[i].name, o.all.at[i].value);
    tm_roff_add_line(out, o.all.at[i].help);
  }
  tm_parameter_options_release(&o);
  if (c->parameters & CONFIG) {
    tm_roff_add_term(out, "--", "PARAMETER", "VALUE");
    tm_roff_add_line(out, "every parameter of ParallelRunConfig (see below) except entry_script; "
                          "-N is --mini-batch-size, -j is --process-count-per-node");
  }
}

static void add_parameter(struct tm_buf *out, const struct tidemill_parameter *p)
{
  tm_roff_add_term(out, "", p->name, NULL);
  tm_roff_add_text(out, p->help);
  tm_buf_add_str(out, ".\nAccepted: ");
  tm_roff_add_text(out, p->accepted);
  if (p->required) {
    tm_buf_add_str(out, ". Required");
  } else if (p->default_value) {
    tm_buf_add_str(out, ". Default: ");
    tm_roff_add_text(out, p->default_value);
  }
  if (p->may_be_parameter)
    tm_buf_add_str(out, ". May be a PipelineParameter");
  tm_buf_add_str(out, ".\n");
}

static void add_parameters(struct tm_buf *out)
{
  struct tidemill_parameter p = TIDEMILL_PARAMETER_INIT;
  tm_buf_add_str(out, ".SH PARAMETERS\nThe parameters of the constructors in a pipeline file.\n");
  for (size_t i = 0; tidemill_constructor(i); i++) {
    tm_buf_printf(out, ".SS %s\n", tidemill_constructor(i));
    for (size_t k = 0; tidemill_parameter(tidemill_constructor(i), k, &p); k++)
      add_parameter(out, &p);
  }
}

static void add_rest(struct tm_buf *out)
{
  tm_buf_add_str(out, ".SH EXIT STATUS\n");
  for (size_t i = 0; tm_help_exit_status_at(i); i++) {
    const char *line = tm_help_exit_status_at(i), *blank = strchr(line, ' ');
    tm_buf_printf(out, ".TP\n\\fB%.*s\\fR\n", (int)(blank - line), line);
    tm_roff_add_line(out, blank + 1);
  }
  tm_buf_add_str(out, ".SH ENVIRONMENT\n");
  for (size_t i = 0; tm_help_variable_at(i); i++) {
    tm_roff_add_term(out, "", tm_help_variable_at(i)->name, NULL);
    tm_roff_add_line(out, tm_help_variable_at(i)->help);
  }
  tm_buf_add_str(out, ".SH FILES\n");
  tm_roff_add_term(out, "", ".tidemill/jobs/", NULL);
  tm_roff_add_line(
      out,
      "the jobs of a workspace, one folder each: job.json is the definition, job_result.json the "
      "result, STEP/output has the rows, STEP/logs the logs");
  tm_buf_add_str(out, ".SH SEE ALSO\n\\fBtidemill\\-entry\\-script\\fR(7), \\fBtidemill.h\\fR(3)");
  for (const struct tm_manual_page *p = tm_manual_pages; p->name; p++)
    tm_buf_printf(out, ",\n\\fBtidemill\\-%s\\fR(7)", p->name);
  tm_buf_add_char(out, '\n');
}

void tm_man_write(struct tm_buf *out, const struct tm_cli *cli)
{
  tm_buf_add_str(
      out,
      ".TH TIDEMILL 1 \"\" \"tidemill " TM_VERSION "\" \"User Commands\"\n"
      ".SH NAME\ntidemill \\- runs a Lua function over many files in supervised "
      "worker processes\n"
      ".SH SYNOPSIS\n\\fBtidemill\\fR \\fICOMMAND\\fR ...\n"
      ".SH DESCRIPTION\n"
      "A pipeline file, written in Lua, names entry scripts and the files that "
      "they are run over.\n"
      "The files are split into mini\\-batches, and each goes to a worker process.\n"
      "What the script returns for it becomes rows of one output file, each exactly once, "
      "whatever dies on the way.\n"
      ".PP\n\\fIJOB\\fR is the directory of a job, its name in the workspace, or "
      "\\fBlatest\\fR, which is the default.\nOptions are accepted with dashes or underscores.\n"
      ".SH COMMANDS\n");
  for (size_t i = 0; cli->commands[i]; i++)
    if (cli->commands[i]->summary)
      add_command(out, cli->commands[i]);
  add_parameters(out);
  add_rest(out);
}
