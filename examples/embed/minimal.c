/* minimal.c - the shortest host: runs the pipeline file that it is given, and prints the result. */
#include <stdio.h>
#include <tidemill.h>

static void on_event(const struct tidemill_event *e, void *data)
{
  if (e->kind == TIDEMILL_EVENT_MINI_BATCH && e->outcome != TIDEMILL_OUTCOME_DONE)
    fprintf(stderr, "mini-batch %llu: %s\n", (unsigned long long)e->mini_batch, e->text);
}

int main(int argc, char **argv)
{
  struct tidemill_job_options options = TIDEMILL_JOB_OPTIONS_INIT;
  struct tidemill_runtime *rt = NULL;
  struct tidemill_pipeline *pipeline = NULL;
  struct tidemill_job *job = NULL;
  struct tidemill_error err = { 0 };
  options.on_event = on_event;
  if (argc != 2 || tidemill_runtime_new(&rt, NULL, &err) < 0 ||
      tidemill_pipeline_load(&pipeline, rt, argv[1], &err) < 0 ||
      tidemill_job_submit(&job, pipeline, &options, &err) < 0 ||
      tidemill_job_wait(job, -1, &err) < 0)
    fprintf(stderr, "%s: %s\n", argv[0], argc == 2 ? err.text : "a pipeline file is expected");
  else
    puts(tidemill_job_result(job));
  int status = job ? tidemill_job_exit_status(job) : 2;
  tidemill_pipeline_free(pipeline);
  tidemill_runtime_close(rt, NULL);
  return status;
}
