/* cmd_verify.c - `tidemill verify JOB`: compares the files of a job with its journals, and its
 * uploads with its files. Prints faults to standard error as it finds them, and a summary to
 * standard output.
 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"

#define FAULTS_SHOWN 10

struct verifying {
  struct tm_buf text;
  const char *dir; /* of the job; NULL: unknown */
  int64_t faults;
  bool is_own; /* whether a file in `dir` has a fault */
};

static int verify(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_verify = {
  .name = "verify",
  .run = verify,
  .usage = "[JOB]",
  .summary = "compares a job's output and uploads with its journal, byte by byte",
  .help = "Reads all files of a job and changes none. Each fault is shown with its file and\n"
          "place. The columns and the grouped rows of tables have check sums of their own.\n"
          "A folder at the destination of an upload is compared with the step's own output,\n"
          "and an archive with its recorded hash. For a folder, the message ends with the\n"
          "command that repairs it. A destination that a later job has replaced is not a\n"
          "fault. The file of 'map --output FILE' is compared with the rows of the job. If\n"
          "it differs, or is gone, the message says whether it was changed after the job\n"
          "had put it there, and ends with the command that puts the job's rows there\n"
          "again.\n"
          "\n"
          "Exit status: 0 no faults, 2 there is no such job, 3 faults, or the job is\n"
          "running.\n",
};

static void on_fault(const char *path, int64_t at, const char *what, void *data)
{
  struct verifying *v = data;
  size_t n = v->dir ? strlen(v->dir) : 0;
  v->is_own = v->is_own || (n > 0 && strncmp(path, v->dir, n) == 0 && path[n] == '/');
  if (++v->faults > FAULTS_SHOWN)
    return;
  if (at >= 0)
    tm_cli_say("'%s' is damaged at byte %" PRId64 ": %s", path, at, what);
  else
    tm_cli_say("'%s': %s", path, what);
}

static void add_uploads(struct tm_buf *out, const char *lines)
{
  for (const char *end; (end = strchr(lines, '\n')); lines = end + 1)
    tm_buf_printf(out, "  uploaded: %.*s\n", (int)(end - lines), lines);
}

static void on_step(const struct tidemill_verified *s, void *data)
{
  struct verifying *v = data;
  struct tm_buf *out = &v->text;
  tm_buf_printf(out, "step '%s': %s\n", s->step, s->faults == 0 ? "good" : "damaged");
  tm_buf_add_str(out, "  journal:  ");
  tm_text_count(out, s->records, tm_text_counted(s->records, " record; ", " records; "));
  tm_text_count(
      out, s->committed,
      tm_text_counted(s->committed, " mini-batch committed, ", " mini-batches committed, "));
  tm_text_count(out, s->failed, " failed\n");
  tm_buf_add_str(out, "  manifest: ");
  tm_text_count(out, s->entries, tm_text_counted(s->entries, " mini-batch\n", " mini-batches\n"));
  if (*s->output) {
    tm_buf_add_str(out, "  output:   ");
    tm_text_count(out, s->output_bytes, " bytes, ");
    tm_buf_printf(out, "%s\n", s->output);
  }
  if (s->failure_bytes > 0) {
    tm_buf_add_str(out, "  failures: ");
    tm_text_count(out, s->failure_bytes, " bytes\n");
  }
  add_uploads(out, s->uploads);
  if (*s->copy)
    tm_buf_printf(out, "  copy:     %s\n", s->copy);
  if (s->torn_records > 0 || s->torn_bytes > 0) {
    tm_buf_add_str(out, "  incomplete, and removed when the job is resumed:  ");
    tm_text_count(out, s->torn_records, " records, ");
    tm_text_count(out, s->torn_bytes, " bytes of output\n");
  }
}

/* The faults of copies name their own remedy. */
static void say_remedy(const struct verifying *v)
{
  struct tm_buf dir = TM_BUF_NONE;
  tm_text_shell(&dir, v->dir);
  tm_cli_say("the files of the job cannot be repaired: restore them, or start a new job; the "
             "command that started this one is in: tidemill status %s",
             tm_buf_str(&dir));
  tm_buf_release(&dir);
}

static int check(struct tidemill_workspace *ws, const char *job, struct tm_err *err)
{
  struct tidemill_record *record = NULL;
  struct verifying v = { .text = TM_BUF_NONE };
  if (tidemill_record_open(&record, ws, job, NULL) >= 0)
    v.dir = tidemill_record_info(record)->dir;
  int faults = tidemill_workspace_verify(ws, job, on_fault, on_step, &v, err);
  int rc = faults < 0 ? faults : 0;
  if (rc == 0) {
    if (v.faults > FAULTS_SHOWN)
      tm_cli_say("%" PRId64 " more faults were found", v.faults - FAULTS_SHOWN);
    if (faults == 0)
      tm_buf_add_str(&v.text, "everything matches the journal\n");
    rc = tm_cli_write(&v.text);
    if (rc == 0 && faults > 0)
      rc = 3;
    if (v.is_own)
      say_remedy(&v);
  }
  tidemill_record_close(record);
  tm_buf_release(&v.text);
  return rc;
}

static int verify(const struct tm_cli *cli, int argc, char **argv)
{
  struct tidemill_workspace *ws;
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  int rc = tm_options_read(NULL, 0, argc, argv, NULL, &rest, &err);
  if (rc >= 0)
    rc = tm_cli_one_job(&rest, &err);
  if (rc < 0) {
    TM_ARRAY_RELEASE(&rest);
    return tm_cli_fail_usage(&tm_command_verify, &err);
  }
  ws = tm_cli_nearest_workspace(cli);
  rc = check(ws, rest.at[0], &err);
  TM_ARRAY_RELEASE(&rest);
  tidemill_workspace_close(ws);
  return tm_cli_end(rc, &err);
}
