/* job_probe.c - see job_probe.h.
 *
 *  (1) A node is asked only for paths that exist here: a step may name inputs that do not exist, or
 *      not yet, and the lister reports them.
 *  (2) A look reads nothing but itself, so that it can be left behind.
 *  (3) A refusal ends the probe, which is freed then.
 */
#include "job/job_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/text.h"
#include "base/time.h"
#include "fleet/node_probe.h"
#include "job/job_own.h"
#include "job/job_source.h"
#include "job/probe_paths.h"
#include "snapshot/snapshot.h"
#include "sys/clock.h"
#include "sys/errand.h"
#include "sys/process.h"

/* How long the node's file may take to appear here: network file systems cache the names in a
 * folder. */
#define PATIENCE_NS (10 * TM_S)

struct seen {
  int code; /* negative: it cannot be seen */
  struct tm_stat st;
};

/* Owned together with its thread. */
struct look {
  struct tm_errand errand;
  struct tm_job_probe *probe; /* not for the thread */
  const struct tm_fs *fs;
  char **paths;
  size_t len;
  struct seen *seen; /* of each path */
  bool are_files;    /* which must be readable */
};

struct tm_job_probe {
  struct tm_launched_node *node;
  char *asked, *answered; /* paths */
  struct tm_probe_paths paths;
  struct look *look;            /* a thread is at work; or NULL */
  struct tm_node_probed probed; /* its answer, if has_answer */
  bool is_asked, has_answer;
  bool is_over;     /* it is admitted */
  int64_t until_ns; /* of the patience */
};

/* ---- looks ---- */

static void run(void *data)
{
  struct look *l = data;

  for (size_t i = 0; i < l->len; i++) {
    int fd = l->are_files ? tm_fs_open(l->fs, l->paths[i], O_RDONLY, 0, NULL) : -1;
    l->seen[i].code =
        fd < 0 && l->are_files ? fd : l->fs->stat(l->fs->self, l->paths[i], true, &l->seen[i].st);
    tm_fs_close(l->fs, fd);
  }
}

static void free_look(void *data)
{
  struct look *l = data;

  for (size_t i = 0; i < l->len; i++)
    free(l->paths[i]);
  free(l->paths);
  free(l->seen);
  free(l);
}

static void on_seen(struct tm_job_probe *p, const struct look *l);

static void on_wake(void *data)
{
  struct look *l = data; /* lives until the loop turns */
  struct tm_job_probe *p = l->probe;

  tm_require(p->look == l);
  p->look = NULL;
  if (tm_errand_end(&l->errand, 0))
    on_seen(p, l);
}

static struct look *new_look(struct tm_job_probe *p, size_t room)
{
  struct look *l = TM_NEW(struct look);

  l->probe = p;
  l->fs = p->node->job->o.fs;
  l->paths = tm_xcalloc(room + 1, sizeof(*l->paths));
  l->seen = tm_xcalloc(room + 1, sizeof(*l->seen));
  return l;
}

static void add_path(struct look *l, const char *path)
{
  l->paths[l->len++] = tm_xstrdup(path);
}

/* ---- the verdict ---- */

static struct tm_node *node_of(const struct tm_job_probe *p)
{
  return tm_fleet_node(&p->node->job->fleet, p->node->id);
}

/* Keeps (3). */
static void refuse(struct tm_job_probe *p, const char *problem)
{
  struct tm_node *node = node_of(p);
  struct tm_buf text = TM_BUF_NONE;

  p->node->is_refused = true;
  tm_launched_node_refusal(&text, problem, p->node->job->dir.path,
                           node ? tm_node_reported(node)->uid : geteuid(), geteuid());
  if (node)
    tm_node_give_up(node, tm_buf_str(&text));
  tm_buf_release(&text);
}

static void start(struct look *l)
{
  struct tm_job_probe *p = l->probe;
  struct tm_err err = TM_ERR_NONE;

  l->errand = (struct tm_errand) {
    .loop = p->node->job->o.loop, .run = run, .on_wake = on_wake, .free_data = free_look, .data = l
  };
  p->look = l;
  if (tm_errand_start(&l->errand, &err) == 0)
    return;
  p->look = NULL;
  refuse(p, err.text);
}

static void look_at_files(struct tm_job_probe *p)
{
  struct look *l = new_look(p, 2);

  l->are_files = true;
  add_path(l, p->asked);
  add_path(l, p->answered);
  start(l);
}

static struct tm_node_file file_of(const struct seen *s)
{
  return s->code < 0 ? (struct tm_node_file) { .size = -1 }
                     : (struct tm_node_file) { .size = s->st.size, .time_ns = s->st.mtime_ns };
}

/* A warning for the first node, since others are likely to see the same. */
static void note_times(struct tm_job_probe *p)
{
  struct tm_job_launches *l = p->node->job->launches;
  struct tm_buf text = TM_BUF_NONE;

  tm_launched_node_name(&text, p->node);
  tm_buf_add_str(
      &text, " sees other times of the same files than this machine: its workers compare only the "
             "sizes of inputs with the listed sizes; mount the file system in the same way "
             "on all nodes");
  tm_job_emit(p->node->job, TM_EVENT_MESSAGE, l->has_noted_times ? TM_DEBUG : TM_WARNING,
              tm_buf_str(&text));
  l->has_noted_times = true;
  tm_buf_release(&text);
}

static void refuse_other(struct tm_job_probe *p)
{
  char *text = tm_xprintf("cannot see its file '%s' here: the job directory '%s' is another one "
                          "there",
                          p->answered, p->node->job->dir.path);

  refuse(p, text);
  free(text);
}

/* Nor could it read the results that workers put into files. */
static void refuse_unreadable(struct tm_job_probe *p, int code)
{
  char *text = tm_xprintf("cannot read its file '%s' here: %s", p->answered, tm_code_text(code));

  refuse(p, text);
  free(text);
}

static void compare(struct tm_job_probe *p, const struct look *l)
{
  struct tm_node_file asked = file_of(&l->seen[0]), answered = file_of(&l->seen[1]);
  enum tm_node_view view = tm_node_probe_compare(&p->probed, &asked, &answered);

  if (l->seen[1].code == -EACCES) {
    refuse_unreadable(p, l->seen[1].code);
    return;
  }
  if (view == TM_NODE_SEES_OTHER) {
    if (tm_clock_mono_ns() >= p->until_ns)
      refuse_other(p);
    return; /* the next tick looks again */
  }
  if (view == TM_NODE_SEES_TIMES)
    note_times(p);
  p->is_over = true;
  tm_job_source_begin(p->node, view == TM_NODE_SEES_TIMES); /* may free the probe */
}

/* ---- asking ---- */

static int make_asked(struct tm_job_probe *p, const char *nonce, struct tm_err *err)
{
  const struct tm_fs *fs = p->node->job->o.fs;
  int fd = tm_fs_open(fs, p->asked, O_WRONLY | O_CREAT | O_EXCL, 0600, err), rc = fd;

  if (fd >= 0)
    rc = tm_fs_write_at(fs, fd, p->asked, nonce, strlen(nonce), 0, err);
  tm_fs_close(fs, fd);
  return rc < 0 ? rc : 0;
}

/* Keeps (1): moves those that were seen to the front. Returns how many. */
static size_t keep_seen(char **paths, const struct seen *seen, size_t len)
{
  size_t kept = 0;

  for (size_t i = 0; i < len; i++)
    if (seen[i].code == 0) {
      char *path = paths[i];
      paths[i] = paths[kept];
      paths[kept++] = path;
    }
  return kept;
}

static void ask(struct tm_job_probe *p, const struct look *l)
{
  size_t reads = p->paths.reads.len;
  char *nonce = tm_xprintf("%016" PRIx64 "%016" PRIx64, tm_process_random(), tm_process_random());
  struct tm_node_probe probe = { .job_dir = p->node->job->dir.path,
                                 .asked = p->asked,
                                 .answered = p->answered,
                                 .nonce = nonce,
                                 .reads = p->paths.reads.at,
                                 .writes = p->paths.writes.at };
  struct tm_err err = TM_ERR_NONE;

  probe.reads_len = keep_seen(probe.reads, l->seen, reads);
  probe.writes_len = keep_seen(probe.writes, l->seen + reads, p->paths.writes.len);
  p->is_asked = true;
  if (make_asked(p, nonce, &err) == 0)
    tm_node_ask(node_of(p), &probe);
  else
    refuse(p, err.text);
  free(nonce);
}

static void on_seen(struct tm_job_probe *p, const struct look *l)
{
  if (!node_of(p)) /* lost meanwhile */
    return;
  if (p->has_answer)
    compare(p, l);
  else
    ask(p, l);
}

static void collect(struct tm_job_probe *p)
{
  const struct tm_job *job = p->node->job;

  for (size_t i = 0; i < job->steps_len; i++)
    if (job->launches->group_of[i] == p->node->group && job->steps[i].state != TM_STEP_OVER)
      tm_probe_paths_add(&p->paths, job->o.pipeline->steps[i], job->snapshots[i].dir);
}

void tm_job_probe_begin(struct tm_launched_node *n)
{
  struct tm_job_probe *p = TM_NEW(struct tm_job_probe);
  struct look *l;

  tm_require(!n->probe);
  n->probe = p;
  p->node = n;
  p->asked = tm_xprintf("%s/nodes/%" PRIu32 ".asked", n->job->dir.path, n->id);
  p->answered = tm_xprintf("%s/nodes/%" PRIu32 ".answered", n->job->dir.path, n->id);
  collect(p);
  l = new_look(p, p->paths.reads.len + p->paths.writes.len);
  for (size_t i = 0; i < p->paths.reads.len; i++)
    add_path(l, p->paths.reads.at[i]);
  for (size_t i = 0; i < p->paths.writes.len; i++)
    add_path(l, p->paths.writes.at[i]);
  start(l);
}

void tm_job_probe_answered(struct tm_launched_node *n, const struct tm_node_probed *probed)
{
  struct tm_job_probe *p = n->probe;

  tm_require(p && p->is_asked && !p->has_answer);
  if (probed->problem[0]) {
    refuse(p, probed->problem);
    return;
  }
  p->has_answer = true;
  p->probed = (struct tm_node_probed) { .asked = probed->asked, .answered = probed->answered };
  p->until_ns = tm_clock_mono_ns() + PATIENCE_NS;
  look_at_files(p);
}

void tm_job_probe_tick(struct tm_launched_node *n)
{
  struct tm_job_probe *p = n->probe;

  if (p && p->has_answer && !p->is_over && !p->look && node_of(p))
    look_at_files(p);
}

static void remove_file(const struct tm_fs *fs, const char *path)
{
  (void)fs->unlink(fs->self, path); /* it may not have been made */
}

void tm_job_probe_end(struct tm_launched_node *n)
{
  struct tm_job_probe *p = n->probe;

  tm_job_source_end(n);
  if (!p)
    return;
  n->probe = NULL;
  if (p->look)
    (void)tm_errand_end(&p->look->errand, 0);
  if (p->is_asked) {
    remove_file(n->job->o.fs, p->asked);
    remove_file(n->job->o.fs, p->answered);
  }
  tm_probe_paths_release(&p->paths);
  free(p->asked);
  free(p->answered);
  free(p);
}
