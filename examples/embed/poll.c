/* poll.c - a host whose loop is epoll: the runtime is one descriptor in it, and a time. Here the
 * other one is a second job. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <tidemill.h>
#include <unistd.h>

static void on_event(const struct tidemill_event *e, void *data)
{
  const char *name = data;
  if (e->kind == TIDEMILL_EVENT_STATE)
    fprintf(stderr, "%s: %s %s\n", name, tidemill_state_name(e->state), e->text);
}

/* Until no job runs. */
static int turn(struct tidemill_runtime *rt, struct tidemill_error *err)
{
  int poll = epoll_create1(EPOLL_CLOEXEC), running = -1;
  struct epoll_event wanted = { .events = EPOLLIN }, ready;
  if (poll >= 0 && epoll_ctl(poll, EPOLL_CTL_ADD, tidemill_runtime_fd(rt), &wanted) == 0)
    do
      if (epoll_wait(poll, &ready, 1, tidemill_runtime_timeout_ms(rt)) < 0 && errno != EINTR)
        break;
    while ((running = tidemill_runtime_turn(rt, err)) > 0);
  if (poll >= 0)
    close(poll);
  return running;
}

static int run(struct tidemill_runtime *rt, const char *path, struct tidemill_error *err)
{
  struct tidemill_job_options options = TIDEMILL_JOB_OPTIONS_INIT;
  struct tidemill_pipeline *pipeline;
  struct tidemill_job *jobs[2] = { NULL, NULL };
  char names[2][8] = { "first", "second" };
  int status = 3, rc = tidemill_pipeline_load(&pipeline, rt, path, err);
  options.on_event = on_event;
  for (int i = 0; i < 2 && rc == 0; i++) {
    options.data = names[i];
    rc = tidemill_job_submit(&jobs[i], pipeline, &options, err);
  }
  tidemill_pipeline_free(pipeline);
  if (rc == 0 && turn(rt, err) == 0) {
    puts(tidemill_job_result(jobs[0]));
    status = tidemill_job_exit_status(jobs[0]);
    if (status == 0)
      status = tidemill_job_exit_status(jobs[1]);
  }
  tidemill_job_close(jobs[0]);
  tidemill_job_close(jobs[1]);
  return rc < 0 ? rc : status;
}

int main(int argc, char **argv)
{
  struct tidemill_runtime *rt = NULL;
  struct tidemill_error err = { 0 };
  int status = -1;
  if (argc == 2 && tidemill_runtime_new(&rt, NULL, &err) == 0)
    status = run(rt, argv[1], &err);
  if (status < 0)
    fprintf(stderr, "%s: %s\n", argv[0], argc == 2 ? err.text : "a pipeline file is expected");
  tidemill_runtime_close(rt, NULL);
  return status < 0 ? 2 : status;
}
