/* run.c - `tidemill run`: a pipeline file, run as a new job, or gone on with. How it is run is launch.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/plan.h"
#include "base/path.h"
#include "cli/execute.h"
#include "cli/launch.h"
#include "cli/like.h"
#include "run/failed_source.h"
#include "run/job_dir.h"
#include "run/job_record.h"
#include "store/workspace.h"
#include "sys/clock.h"

struct run_options {
  struct tm_launch_options launch;
  const char *job_dir, *only_failed, *like;
  bool dry_run, explain;
};

struct run {
  struct tm_launch launch;
  struct run_options o;
  struct tm_words rest;
  struct tm_like like;
  char *file; /* the pipeline file, absolute */
};

#define PLACE(field)  offsetof(struct run_options, field)
#define LAUNCH(field) PLACE(launch.field)
/* clang-format off */
static const struct tm_option options[] = {
  { "param", TM_OPTION_LIST, LAUNCH(params), "NAME=VALUE", NULL, "gives a PipelineParameter a value; as often as needed" },
  { "params-file", TM_OPTION_VALUE, LAUNCH(params_file), "FILE", NULL, "values of parameters, of a JSON object or a Lua file that returns a table; --param goes before it" },
  { "like", TM_OPTION_VALUE, PLACE(like), "JOB", NULL, "a new job of the pipeline file of JOB, with the values that its parameters had where none is given" },
  { "job-dir", TM_OPTION_VALUE, PLACE(job_dir), "DIR", NULL, "where the job lives; else in the workspace, .tidemill/jobs/" },
  { "resume", TM_OPTION_FLAG, LAUNCH(resume), NULL, NULL, "goes on with the job in DIR, else with this pipeline's newest that is not Completed" },
  { "keep-failed", TM_OPTION_FLAG, LAUNCH(keep_failed), NULL, NULL, "with --resume or --resume_from: failed mini-batches stay failed" },
  { "keep-script", TM_OPTION_FLAG, LAUNCH(keep_script), NULL, NULL, "with --resume: goes on with the job's own copy of the script, whatever that is now" },
  { "accept-changes", TM_OPTION_FLAG, LAUNCH(accept_changes), NULL, NULL, "with --resume or --resume_from: goes on although script or inputs have changed" },
  { "verify-input", TM_OPTION_FLAG, LAUNCH(verify_input), NULL, NULL, "with --resume or --resume_from: lists the input again and compares all of it" },
  { "only-failed", TM_OPTION_VALUE, PLACE(only_failed), "JOB", NULL, "a new job over the items that failed in JOB alone, each step over those of the step of its name" },
  { "no-reuse", TM_OPTION_FLAG, LAUNCH(no_reuse), NULL, NULL, "every step is run, whatever earlier jobs have done; later ones may reuse this one" },
  { "dry-run", TM_OPTION_FLAG, PLACE(dry_run), NULL, NULL, "says what would be run: settings with their origins, mini-batches; makes nothing" },
  { "explain", TM_OPTION_FLAG, PLACE(explain), NULL, NULL, "with --dry-run: of each step why an earlier result would be reused, or what has changed" },
  { "max-workers", TM_OPTION_VALUE, LAUNCH(max_workers), "N", NULL, "workers of all steps together; else as many as cores, or as the largest process_count_per_node" },
  { "progress", TM_OPTION_VALUE, LAUNCH(progress), "MODE", tm_progress_modes, "auto, bar, plain or none; auto: a bar on a terminal" },
  { "json", TM_OPTION_FLAG, LAUNCH(json), NULL, NULL, "the result as one JSON object, the last line of standard output" },
};
/* clang-format on */

static int run(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_run = {
  .name = "run",
  .run = run,
  .usage = "PIPELINE.lua|--like JOB [--param NAME=VALUE]... [--params-file FILE] [--job-dir DIR] "
           "[--resume [--keep-failed] [--keep-script] [--accept-changes] [--verify-input]] "
           "[--only-failed JOB] "
           "[--no-reuse] [--dry-run [--explain]] [--progress auto|bar|plain|none] [--json]",
  .summary = "runs a pipeline",
  .options = options,
  .options_len = TM_COUNT_OF(options),
};

static int read_arguments(struct run *r, int argc, char **argv, struct tm_err *err)
{
  const struct tm_launch_options *o = &r->o.launch;
  int rc = tm_options_read(options, TM_COUNT_OF(options), argc, argv, &r->o, &r->rest, err);
  r->launch.o = r->o.launch; /* the launch releases what was read */
  r->launch.o.has_stdin = true;
  if (rc < 0)
    return rc;
  if (r->rest.len == 0 && !r->o.like)
    return tm_err_set(err, TM_EUSAGE, "a pipeline file is missing");
  if (o->resume && r->o.like)
    return tm_err_set(
        err, TM_EUSAGE,
        "'--like' starts a new job; --resume goes on with one, with its own parameters");
  if (r->rest.len > 1)
    return tm_err_set(err, TM_EUSAGE, "one pipeline file is run at a time, '%s' is one too many",
                      r->rest.at[1]);
  if (o->resume && r->o.only_failed)
    return tm_err_set(err, TM_EUSAGE,
                      "'--only-failed' starts a new job; --resume goes on with one, over the input "
                      "that it was started with");
  if (o->keep_script && !o->resume)
    return tm_err_set(err, TM_EUSAGE,
                      "'--keep-script' goes with --resume: a new job takes a copy anew");
  if (o->resume && r->o.dry_run)
    return tm_launch_refuse_dry_resume(err);
  if (r->o.explain && !r->o.dry_run)
    return tm_err_set(
        err, TM_EUSAGE,
        "'--explain' goes with --dry-run; a run says by itself what it reuses, and why");
  return 0;
}

/* The job's directory, to free(). */
static char *choose_dir(struct run *r, struct tm_err *err)
{
  const struct tm_fs *fs = r->launch.cli->fs;
  const char *name = r->launch.pipeline->name;
  char *workspace, *dir = NULL;
  if (r->o.job_dir)
    return tm_path_absolute(r->launch.cwd, r->o.job_dir);
  workspace = tm_workspace_find(fs, r->file, getenv(TM_WORKSPACE_VARIABLE), r->launch.cwd, err);
  if (!workspace)
    return NULL;
  if (r->launch.o.resume)
    dir = tm_workspace_find_open_job(fs, workspace, name);
  if (!dir)
    dir = tm_workspace_new_job(fs, workspace, name, tm_clock_wall_ns(), err);
  free(workspace);
  return dir;
}

/* 1: nothing has failed, and there is nothing to do. */
static int take_failed(struct run *r, struct tm_err *err)
{
  struct tm_failed_source s;
  int rc = tm_failed_source_open(&s, r->launch.cli->fs, r->o.only_failed,
                                 getenv(TM_WORKSPACE_VARIABLE), r->launch.cwd, err);
  if (rc == 0)
    rc = tm_failed_source_apply(&s, r->launch.pipeline, err);
  if (rc > 0)
    tm_cli_say("nothing to do: no item failed in job '%s'", s.dir);
  tm_failed_source_release(&s);
  return rc < 0 ? tm_err_wrap(err, "--only-failed") : rc;
}

/* A job that was started with --only-failed goes on over the same input; one that cannot be read is refused when it is opened. */
static int take_again(struct run *r, const char *dir, struct tm_err *err)
{
  struct tm_err ignored = TM_ERR_NONE;
  struct tm_json *record =
      tm_job_dir_look(dir, &ignored) == TM_JOB_DIR_JOB ? tm_job_record_load(dir, &ignored) : NULL;
  int rc = record ? tm_failed_source_again(record, r->launch.pipeline, err) : 0;
  tm_json_free(record);
  return rc;
}

static int dry_run(struct run *r, struct tm_err *err)
{
  struct tm_launch *l = &r->launch;
  tm_launch_find_workspace(l);
  struct tm_plan plan = { .fs = l->cli->fs,
                          .pipeline = l->pipeline,
                          .workspace = l->workspace,
                          .no_reuse = l->o.no_reuse,
                          .explain = r->o.explain,
                          .json = l->o.json };
  return tm_launch_say_plan(&plan, err);
}

static int run_loaded(struct run *r, struct tm_err *err)
{
  const struct tm_launch_options *o = &r->launch.o;
  char *dir;
  int rc = tm_launch_check_resume(r->launch.pipeline, o->resume, o->keep_failed, o->accept_changes,
                                  o->verify_input, err);
  if (rc == 0 && r->o.like)
    rc = tm_like_apply(&r->like, r->launch.pipeline, !r->o.only_failed, err);
  if (rc == 0 && r->o.only_failed)
    rc = take_failed(r, err);
  if (rc > 0 && o->json)
    puts("{\"status\":\"Completed\",\"steps\":[]}"); /* looked at when the program ends */
  if (rc != 0)
    return rc < 0 ? rc : 0;
  if (r->o.dry_run)
    return dry_run(r, err);
  dir = choose_dir(r, err);
  if (dir && r->launch.o.resume && take_again(r, dir, err) < 0) {
    free(dir);
    return err->code;
  }
  return dir ? tm_launch_run(&r->launch, dir, err) : err->code;
}

static void release(struct run *r)
{
  TM_ARRAY_RELEASE(&r->rest);
  tm_like_release(&r->like);
  tm_launch_release(&r->launch);
  free(r->file);
}

/* Which pipeline file; those of the job that this one is to be like. */
static int find_file(struct run *r, struct tm_err *err)
{
  const char *given = r->rest.len > 0 ? r->rest.at[0] : NULL;
  if (r->o.like && tm_like_open(&r->like, &r->launch, r->o.like, given, err) < 0)
    return err->code;
  r->file = tm_path_absolute(r->launch.cwd, given ? given : r->like.file);
  return tm_launch_load(&r->launch, r->file, err);
}

static int run(const struct tm_cli *cli, int argc, char **argv)
{
  struct run r = { .o = { .job_dir = NULL } };
  struct tm_err err = TM_ERR_NONE;
  int rc, status;
  if (read_arguments(&r, argc, argv, &err) < 0 || tm_launch_init(&r.launch, cli, &err) < 0) {
    status = tm_cli_fail_usage(&tm_command_run, &err);
    release(&r);
    return status;
  }
  if ((rc = find_file(&r, &err)) >= 0)
    rc = run_loaded(&r, &err);
  status = tm_launch_status(rc, &err);
  release(&r);
  return status;
}
