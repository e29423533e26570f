/* own_loop.c - a host with a libuv loop of its own, on which its other work goes on: here a clock
 * that shows how far the job is. Ctrl-C lets running mini-batches end; the handler is the host's.
 */
#include <signal.h>
#include <stdio.h>
#include <tidemill.h>
#include <uv.h>

struct host {
  uv_loop_t loop;
  uv_timer_t clock;
  uv_signal_t interrupt;
  struct tidemill_runtime *rt;
  struct tidemill_job *job;
  int status;
};

static void show(uv_timer_t *clock)
{
  const struct host *h = clock->data;
  const struct tidemill_counts *c = tidemill_job_counts(h->job);
  fprintf(stderr, "\r%lld of %s%lld mini-batches, %lld running ",
          (long long)(c->succeeded + c->failed), c->all_created ? "" : "at least ",
          (long long)c->created, (long long)c->running);
}

static void on_interrupt(uv_signal_t *s, int number)
{
  const struct host *h = s->data;
  (void)number;
  tidemill_job_cancel(h->job, false);
}

static void on_event(const struct tidemill_event *e, void *data)
{
  struct host *h = data;
  if (e->kind != TIDEMILL_EVENT_STATE || e->state == TIDEMILL_STATE_RUNNING)
    return;
  show(&h->clock);
  fprintf(stderr, "\n");
  puts(tidemill_job_result(h->job));
  h->status = tidemill_job_exit_status(h->job);
  uv_close((uv_handle_t *)&h->clock, NULL);
  uv_close((uv_handle_t *)&h->interrupt, NULL);
  tidemill_job_close(h->job); /* the loop has nothing left to do, and uv_run() returns */
}

static int begin(struct host *h, const char *path, struct tidemill_error *err)
{
  struct tidemill_runtime_options options = TIDEMILL_RUNTIME_OPTIONS_INIT;
  struct tidemill_job_options of_job = TIDEMILL_JOB_OPTIONS_INIT;
  struct tidemill_pipeline *pipeline = NULL;
  int rc;
  options.loop = &h->loop;
  of_job.on_event = on_event;
  of_job.data = h;
  if ((rc = tidemill_runtime_new(&h->rt, &options, err)) < 0 ||
      (rc = tidemill_pipeline_load(&pipeline, h->rt, path, err)) < 0)
    return rc;
  rc = tidemill_job_submit(&h->job, pipeline, &of_job, err);
  tidemill_pipeline_free(pipeline);
  return rc;
}

int main(int argc, char **argv)
{
  struct host h = { .status = 2 };
  struct tidemill_error err = { 0 };
  if (argc != 2) {
    fprintf(stderr, "usage: %s PIPELINE.lua\n", argv[0]);
    return 2;
  }
  uv_loop_init(&h.loop);
  if (begin(&h, argv[1], &err) < 0) {
    fprintf(stderr, "%s: %s\n", argv[0], err.text);
  } else {
    uv_timer_init(&h.loop, &h.clock);
    uv_signal_init(&h.loop, &h.interrupt);
    h.clock.data = h.interrupt.data = &h;
    uv_timer_start(&h.clock, show, 0, 100);
    uv_signal_start(&h.interrupt, on_interrupt, SIGINT);
    uv_run(&h.loop, UV_RUN_DEFAULT);
  }
  tidemill_runtime_close(h.rt, NULL);
  uv_run(&h.loop, UV_RUN_DEFAULT); /* what is closed leaves the loop */
  return uv_loop_close(&h.loop) == 0 ? h.status : 3;
}
