/* late_files.h - a step of a step_rig.h whose worker is on another node. The test hides the file of
 * the large result, or changes it, and shows it later.
 */
#ifndef TM_TESTS_LATE_FILES_H
#define TM_TESTS_LATE_FILES_H

#include <unistd.h>

#include "step/announced.h"
#include "step_rig.h"

#define NODE 1 /* not this machine, for the step */

/* ---- files that are late: the test hides what the worker wrote ---- */

static inline void hide(struct step_rig *r, const char *path)
{
  char *away = tm_xprintf("%s/hidden", r->j.dir);
  assert_int_equal(rename(path, away), 0);
  free(r->spill);
  r->spill = tm_xstrdup(path);
  free(away);
}

static inline void show(struct step_rig *r)
{
  char *away = tm_xprintf("%s/hidden", r->j.dir);
  assert_int_equal(rename(away, r->spill), 0);
  free(away);
}

static inline void hide_first(struct step_rig *r, const char *path)
{
  r->on_spilled = NULL;
  hide(r, path);
}

/* Of the first three. */
static inline void hide_three(struct step_rig *r, const char *path)
{
  hide(r, path);
  r->on_spilled = r->spilled == 3 ? NULL : r->on_spilled;
}

/* Only the first half is there. */
static inline void cut_first(struct step_rig *r, const char *path)
{
  hide_first(r, path);
  char *half = tm_xmalloc(STEP_BIG / 2);
  memset(half, 'b', STEP_BIG / 2);
  assert_true(tm_fs_write_file(tm_fs_real(), path, half, STEP_BIG / 2, 0600, NULL) >= 0);
  free(half);
}

/* As long as the right one. */
static inline void spoil_first(struct step_rig *r, const char *path)
{
  hide_first(r, path);
  char *rows = tm_xmalloc(STEP_BIG);
  memset(rows, 'x', STEP_BIG);
  assert_true(tm_fs_write_file(tm_fs_real(), path, rows, STEP_BIG, 0600, NULL) >= 0);
  free(rows);
}

static inline void begin(struct step_rig *r,
                         void (*on_spilled)(struct step_rig *r, const char *path))
{
  step_setup(r);
  r->j.sync = 0.001;
  r->j.workers = 1; /* the worker that has announced does the rest */
  r->on_spilled = on_spilled;
  job_add(&r->j, "big", 1);
  job_add(&r->j, "ok", 10);
  step_open(r);
  step_start(r);
  step_set_node(r, NODE);
}

static inline int tries_of_first(const struct step_rig *r)
{
  int n = 0;
  for (size_t i = 0; i < r->j.seen.len; i++)
    n += r->j.seen.at[i].kind == TM_EVENT_TRY_ENDED && r->j.seen.at[i].index == 0;
  return n;
}

static inline int messages(const struct step_rig *r, const char *text)
{
  int n = 0;
  for (size_t i = 0; i < r->j.seen.len; i++)
    n += r->j.seen.at[i].kind == TM_EVENT_MESSAGE && strstr(r->j.seen.at[i].text, text);
  return n;
}

static inline void expect_rows(const struct step_rig *r, size_t bigs)
{
  struct tm_buf text = TM_BUF_NONE;
  char *path = tm_path_join(r->j.job_dir, "score/output/parallel_run_step.txt");
  size_t rows = 0, bytes = 0;
  assert_true(tm_fs_read_file(tm_fs_real(), path, 1 << 30, &text, NULL) >= 0);
  assert_int_equal(text.len, bigs * STEP_BIG + 10 * strlen("ok.000001\n"));
  for (size_t i = 0; i < text.len; i++) {
    rows += text.data[i] == '\n';
    bytes += text.data[i] == 'b';
  }
  assert_int_equal(rows, bigs + 10);
  assert_int_equal(bytes, bigs * (STEP_BIG - 1));
  tm_buf_release(&text);
  free(path);
}

/* Every row once, and no file is left. */
static inline void expect_done(struct step_rig *r)
{
  assert_int_equal(tm_supervisor_view(r->s)->verdict, TM_COMPLETED);
  assert_int_equal(tm_supervisor_view(r->s)->counts.succeeded, 11);
  expect_rows(r, 1);
  assert_int_equal(job_count_names(r->s->spill_dir), 0);
}

static inline void end(struct step_rig *r)
{
  step_close(r);
  free(r->spill);
}

static inline void count_others(struct job *j, const struct job_seen *e)
{
  j->count += e->kind == TM_EVENT_TRY_ENDED && e->index > 0;
}

/* A look has not seen the file, and `others` mini-batches are over. */
static inline bool is_late(const struct step_rig *r, int others)
{
  const struct tm_list *list = &r->s->announced.list;
  return r->j.count >= others && list->len > 0 &&
         TM_LIST_OWNER(tm_list_first(list), struct tm_announced, item)->look.wait_ns > 0;
}

static inline void show_after_the_others(struct step_rig *r)
{
  if (!is_late(r, 10))
    return;
  r->on_turn = NULL;
  assert_int_equal(r->s->sched.running, 1);
  if (tm_fs_exists(tm_fs_real(), r->spill))
    assert_int_equal(unlink(r->spill), 0);
  show(r);
}

#endif
