/* plan.h - what a job would do, for --dry-run and for hosts. Reads the inputs as a job would;
 * creates nothing. */
#ifndef TM_API_PLAN_H
#define TM_API_PLAN_H

#include "plan/pipeline.h"
#include "sys/fs.h"

struct tm_plan {
  const struct tm_fs *fs;
  const struct tm_pipeline *pipeline;
  const char *source;    /* where a definition without a file comes from, for users */
  const char *workspace; /* absolute; NULL: there is none, and nothing is reused */
  const char *program;   /* that nodes of Slurm run */
  bool no_reuse;
  bool explain;                                      /* adds what explain.h reports of each step */
  bool json;                                         /* else text */
  void (*on_warning)(void *data, const char *words); /* warnings about the inputs */
  void *data;
};

/* Adds for each step: its mini-batches, the first and the last of them, the effective settings with
 * the origin of each. As text that ends with a line break; `json`: one object on one line, without
 * one,
 *
 *   {"pipeline", "file" (null: there is none), "steps": [{"name", "mini_batches", "items", "first":
 *    {"index", "items", "from", "to"}, "last", "settings": {NAME: {"value", "origin"}}, "reuse": of
 *    explain.h, "node_start": [...], the command that starts a node of Slurm}]}
 *
 * If something would stop a job (job/preflight.h), the plan has that message in place of the part.
 * Returns 0, or a negative code with an error if an input cannot be read, or is empty. */
int tm_plan_add(struct tm_buf *out, const struct tm_plan *plan, struct tm_err *err);

#endif
