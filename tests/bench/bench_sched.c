/* bench_sched.c - the scheduler with many nodes, in the simulator: how many decisions it makes a
 * second, how long the steps take beside the least possible time, and whether what it decides is
 * right.
 *
 *   bench_sched [--nodes N] [--slots N] [--mini-batches N] [--seed N] [CASE...]
 *   bench_sched --list
 *
 * Prints a line for each case; without a case, for all of them (sim/sim_cases.c). Fails if a check
 * of the simulator fails (sim/sim.h).
 *
 *   decisions  mini-batches handed out, and results
 *   seconds    processor time of this process, simulator included
 *   ratio      the time until the last result, beside the time that the work takes if no slot is
 *              ever free; a node counts from when it is ready
 *   begun      likewise, until all mini-batches had begun
 *   last       how long the mini-batch took that ended last: if its begin was in time, this is why
 *              the ratio is above 1
 *   waited     the longest that something waited behind another one at a worker while some worker
 *              was idle, beyond the round trip
 *   lost, ended, sick   nodes: lost, asked to end, found to be sick
 *   failed     mini-batches that used up their tries
 *   peak MB    of this process so far
 *   trace      a hash of all decisions; the same seed gives the same hash
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "sim/sim_cases.h"

static double seconds(void)
{
  struct timespec t;

  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void print_head(void)
{
  printf("%-11s %10s %8s %11s %10s %6s %7s %6s %7s %8s %9s %6s %6s %5s %6s %8s  %s\n", "case",
         "decisions", "seconds", "per second", "simulated", "ratio", "allowed", "begun", "last",
         "recalls", "waited", "lost", "ended", "sick", "failed", "peak MB", "trace");
}

static void print_row(const struct sim_case *c, const struct sim *x, double s)
{
  struct rusage usage;
  char allowed[16] = "";

  getrusage(RUSAGE_SELF, &usage);
  if (c->most > 0)
    snprintf(allowed, sizeof(allowed), "%.2f", c->most);
  printf("%-11s %10" PRIu64 " %8.2f %11.0f %9.1fs %6.3f %7s %6.3f %6.1fs %8" PRIu64
         " %7.1fms %6" PRIu64 " %6" PRIu64 " %5" PRIu64 " %6" PRIu64 " %8.0f  %016" PRIx64 "\n",
         c->name, sim_decisions(x), s, (double)sim_decisions(x) / s, (double)x->last_ns / 1e9,
         sim_ratio(x), allowed, sim_begun_ratio(x), (double)x->last_run_ns / 1e9, x->recalls,
         (double)x->found.longest_ns / 1e6, x->lost_nodes, x->drained_nodes, x->sick_nodes,
         x->failed, (double)usage.ru_maxrss / 1024, sim_trace(x));
  fflush(stdout);
}

static bool run(const struct sim_case *c, const struct sim_size *size)
{
  struct sim_options o = sim_case_options(c, size);
  double begin = seconds();
  struct sim x;
  bool is_right;

  sim_init(&x, &o);
  is_right = sim_run(&x);
  if (is_right)
    print_row(c, &x, seconds() - begin);
  else
    fprintf(stderr, "%s: %s\n", c->name, x.found.text);
  sim_release(&x);
  return is_right;
}

static const struct sim_case *find(const char *name)
{
  for (size_t i = 0; i < sim_cases_len; i++)
    if (strcmp(sim_cases[i].name, name) == 0)
      return &sim_cases[i];
  fprintf(stderr, "unknown case '%s'; bench_sched --list\n", name);
  exit(2);
}

static void list(void)
{
  for (size_t i = 0; i < sim_cases_len; i++)
    printf("%-11s %s\n", sim_cases[i].name, sim_cases[i].what);
}

static bool read_option(const char *name, const char *value, struct sim_size *size)
{
  uint64_t n = value ? strtoull(value, NULL, 10) : 0;

  if (strcmp(name, "--seed") == 0)
    size->seed = n;
  else if (n == 0)
    return false;
  else if (strcmp(name, "--nodes") == 0)
    size->nodes = (uint32_t)n;
  else if (strcmp(name, "--slots") == 0)
    size->slots = (int64_t)n;
  else if (strcmp(name, "--mini-batches") == 0)
    size->mini_batches = n;
  else
    return false;
  return true;
}

int main(int argc, char **argv)
{
  struct sim_size size = { .nodes = 1000, .slots = 100, .mini_batches = 10000000, .seed = 7 };
  bool is_right = true;
  int i = 1;

  if (argc == 2 && strcmp(argv[1], "--list") == 0) {
    list();
    return 0;
  }
  for (; i < argc && strncmp(argv[i], "--", 2) == 0; i += 2)
    if (!read_option(argv[i], argv[i + 1], &size)) {
      fprintf(stderr, "cannot use '%s'; --nodes N, --slots N, --mini-batches N, --seed N, --list\n",
              argv[i]);
      return 2;
    }
  print_head();
  for (int k = i; k < argc; k++)
    is_right &= run(find(argv[k]), &size);
  for (size_t k = 0; i >= argc && k < sim_cases_len; k++)
    is_right &= run(&sim_cases[k], &size);
  return is_right ? 0 : 1;
}
