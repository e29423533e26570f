/* slurm_options.c - see slurm_options.h. Each option is looked up in one table. */
#include "plan/slurm_options.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"

/* OPTIONAL: the value is joined to the name, "-K1", "--nice=5". */
enum takes { VALUE, OPTIONAL, NOTHING };

#define NODES  "each node is one task of an srun of its own; write node_count for more nodes"
#define STREAM "the messages of a node travel on the standard input and output of srun"
#define GIVEN  "tidemill passes it itself"
#define CLUSTER                                                                                    \
  "squeue and scancel would ask another cluster; set SLURM_CLUSTERS=NAME in the environment of "   \
  "tidemill instead: all commands of Slurm read it"
#define NOWORK "with it srun would not start a node"

struct option {
  char letter; /* 0: none */
  enum takes takes;
  const char *name;
  const char *refused; /* why; NULL: it is not */
};

static const struct option options[] = {
  { 'n', VALUE, "ntasks", NODES },
  { 'N', VALUE, "nodes", NODES },
  { 'o', VALUE, "output", STREAM },
  { 'i', VALUE, "input", STREAM },
  { 'e', VALUE, "error", "what srun writes to standard error is in nodes/<id>.txt of the job" },
  { 'l', NOTHING, "label", "it would put text between the messages of a node" },
  { 0, OPTIONAL, "pty", "a terminal would change the messages of a node" },
  { 'u', NOTHING, "unbuffered", GIVEN },
  { 'J', VALUE, "job-name", "tidemill finds its Slurm jobs by the names that it gives them" },
  { 'K', OPTIONAL, "kill-on-bad-exit", GIVEN },
  { 0, NOTHING, "multi-prog", "srun would read a list of programs instead of a node's command" },
  { 0, VALUE, "jobid", "the node would belong to that Slurm job" },
  { 'Q', NOTHING, "quiet", "srun would not say that a node waits in the queue" },
  { 'M', VALUE, "clusters", CLUSTER },
  { 0, NOTHING, "test-only", NOWORK },
  { 'h', NOTHING, "help", NOWORK },
  { 0, NOTHING, "usage", NOWORK },
  { 'V', NOTHING, "version", NOWORK },
  { 'x', VALUE, "exclude", NULL },
  { 'A', VALUE, "account", NULL },
  { 0, VALUE, "acctg-freq", NULL },
  { 0, VALUE, "bb", NULL },
  { 0, VALUE, "bbf", NULL },
  { 0, OPTIONAL, "bcast", NULL },
  { 0, VALUE, "bcast-exclude", NULL },
  { 'b', VALUE, "begin", NULL },
  { 'D', VALUE, "chdir", NULL },
  { 0, VALUE, "cluster-constraint", NULL },
  { 0, VALUE, "comment", NULL },
  { 0, OPTIONAL, "compress", NULL },
  { 'C', VALUE, "constraint", NULL },
  { 0, VALUE, "container", NULL },
  { 0, NOTHING, "contiguous", NULL },
  { 'S', VALUE, "core-spec", NULL },
  { 0, VALUE, "cores-per-socket", NULL },
  { 0, VALUE, "cpu-bind", NULL },
  { 0, VALUE, "cpu-freq", NULL },
  { 0, VALUE, "cpus-per-gpu", NULL },
  { 'c', VALUE, "cpus-per-task", NULL },
  { 0, VALUE, "deadline", NULL },
  { 0, VALUE, "delay-boot", NULL },
  { 'd', VALUE, "dependency", NULL },
  { 'X', NOTHING, "disable-status", NULL },
  { 'm', VALUE, "distribution", NULL },
  { 0, VALUE, "epilog", NULL },
  { 0, NOTHING, "exact", NULL },
  { 0, OPTIONAL, "exclusive", NULL },
  { 0, VALUE, "export", NULL },
  { 'B', VALUE, "extra-node-info", NULL },
  { 0, VALUE, "gpu-bind", NULL },
  { 0, VALUE, "gpu-freq", NULL },
  { 'G', VALUE, "gpus", NULL },
  { 0, VALUE, "gpus-per-node", NULL },
  { 0, VALUE, "gpus-per-socket", NULL },
  { 0, VALUE, "gpus-per-task", NULL },
  { 0, VALUE, "gres", NULL },
  { 0, VALUE, "gres-flags", NULL },
  { 0, VALUE, "het-group", NULL },
  { 0, VALUE, "hint", NULL },
  { 'H', NOTHING, "hold", NULL },
  { 'I', OPTIONAL, "immediate", NULL },
  { 'L', VALUE, "licenses", NULL },
  { 0, VALUE, "mail-type", NULL },
  { 0, VALUE, "mail-user", NULL },
  { 0, VALUE, "mcs-label", NULL },
  { 0, VALUE, "mem", NULL },
  { 0, VALUE, "mem-bind", NULL },
  { 0, VALUE, "mem-per-cpu", NULL },
  { 0, VALUE, "mem-per-gpu", NULL },
  { 0, VALUE, "mincpus", NULL },
  { 0, VALUE, "mpi", NULL },
  { 0, VALUE, "network", NULL },
  { 0, OPTIONAL, "nice", NULL },
  { 'Z', NOTHING, "no-allocate", NULL },
  { 'k', OPTIONAL, "no-kill", NULL },
  { 'F', VALUE, "nodefile", NULL },
  { 'w', VALUE, "nodelist", NULL },
  { 0, VALUE, "ntasks-per-core", NULL },
  { 0, VALUE, "ntasks-per-gpu", NULL },
  { 0, VALUE, "ntasks-per-node", NULL },
  { 0, VALUE, "ntasks-per-socket", NULL },
  { 'O', NOTHING, "overcommit", NULL },
  { 0, NOTHING, "overlap", NULL },
  { 's', NOTHING, "oversubscribe", NULL },
  { 'p', VALUE, "partition", NULL },
  { 0, VALUE, "power", NULL },
  { 'E', NOTHING, "preserve-env", NULL },
  { 0, VALUE, "priority", NULL },
  { 0, VALUE, "profile", NULL },
  { 0, VALUE, "prolog", NULL },
  { 0, OPTIONAL, "propagate", NULL },
  { 'q', VALUE, "qos", NULL },
  { 0, NOTHING, "quit-on-interrupt", NULL },
  { 0, NOTHING, "reboot", NULL },
  { 'r', VALUE, "relative", NULL },
  { 0, VALUE, "reservation", NULL },
  { 0, OPTIONAL, "resv-ports", NULL },
  { 0, OPTIONAL, "send-libs", NULL },
  { 0, VALUE, "signal", NULL },
  { 0, VALUE, "slurmd-debug", NULL },
  { 0, VALUE, "sockets-per-node", NULL },
  { 0, NOTHING, "spread-job", NULL },
  { 0, VALUE, "switches", NULL },
  { 0, VALUE, "task-epilog", NULL },
  { 0, VALUE, "task-prolog", NULL },
  { 0, VALUE, "thread-spec", NULL },
  { 'T', VALUE, "threads", NULL },
  { 0, VALUE, "threads-per-core", NULL },
  { 't', VALUE, "time", NULL },
  { 0, VALUE, "time-min", NULL },
  { 0, VALUE, "tmp", NULL },
  { 0, NOTHING, "use-min-nodes", NULL },
  { 'v', NOTHING, "verbose", NULL },
  { 'W', VALUE, "wait", NULL },
  { 0, VALUE, "wckey", NULL },
};

/* One option within the words. */
struct found {
  const struct option *what; /* NULL: another version's */
  const char *value;         /* NULL: none, or in the next word */
};

static const struct option *by_letter(char letter)
{
  for (size_t i = 0; i < TM_COUNT_OF(options); i++)
    if (options[i].letter == letter)
      return &options[i];
  return NULL;
}

/* A name that is the beginning of several names is refused by srun. Here it is the first of them:
 * those that are refused come first. */
static const struct option *by_name(const char *name, size_t len)
{
  const struct option *first = NULL;

  for (size_t i = 0; i < TM_COUNT_OF(options); i++) {
    if (strncmp(options[i].name, name, len) != 0)
      continue;
    if (options[i].name[len] == '\0')
      return &options[i];
    if (!first)
      first = &options[i];
  }
  return first;
}

static int refuse(struct tm_err *err, const char *word, const struct option *o)
{
  return tm_err_set(err, TM_EUSAGE, "leave out '%s' (--%s): %s", word, o->name, o->refused);
}

static int read_long(struct found *f, const char *word, struct tm_err *err)
{
  const char *name = word + 2, *equals = strchr(name, '=');

  *f = (struct found) { .what = by_name(name, equals ? (size_t)(equals - name) : strlen(name)),
                        .value = equals ? equals + 1 : NULL };
  return f->what && f->what->refused ? refuse(err, word, f->what) : 0;
}

/* "-vp" is "-v -p"; the last one may have a value. */
static int read_letters(struct found *f, const char *word, struct tm_err *err)
{
  *f = (struct found) { 0 };
  for (const char *at = word + 1; *at; at++) {
    const struct option *o = by_letter(*at);
    f->what = o;
    if (!o)
      return tm_err_set(err, TM_EUSAGE, "'%s' is not an option of srun: there is no -%c", word,
                        *at);
    if (o->refused)
      return refuse(err, word, o);
    if (o->takes == NOTHING)
      continue;
    f->value = at[1] ? at + 1 : NULL;
    if (o->letter == 'x' && at > word + 1)
      return tm_err_set(err, TM_EUSAGE, "'%s' joins -x to others: write -x on its own", word);
    return 0;
  }
  return 0;
}

/* Whether the next word belongs to it. */
static bool has_value_behind(const struct found *f, const char *next)
{
  if (f->value)
    return false;
  if (!f->what)
    return next && next[0] != '-';
  return f->what->takes == VALUE;
}

static int read_option(struct found *f, char *const *word, struct tm_err *err)
{
  int rc;

  if (word[0][0] != '-' || word[0][1] == '\0' || strcmp(word[0], "--") == 0)
    return tm_err_set(err, TM_EUSAGE,
                      "'%s' is not an option: srun would run it instead of a node; options begin "
                      "with '-', such as --partition=NAME",
                      word[0]);
  rc = word[0][1] == '-' ? read_long(f, word[0], err) : read_letters(f, word[0], err);
  if (rc == 0 && has_value_behind(f, word[1]) && !word[1])
    return tm_err_set(err, TM_EUSAGE, "'%s' needs a value (--%s)", word[0], f->what->name);
  return rc;
}

static void exclude(struct tm_slurm_options *out, const char *hosts)
{
  char *all = out->exclude ? tm_xprintf("%s,%s", out->exclude, hosts) : tm_xstrdup(hosts);

  free(out->exclude);
  out->exclude = all;
}

int tm_slurm_options_read(struct tm_slurm_options *out, char *const *words, struct tm_err *err)
{
  size_t len = 0, n = 0;

  while (words[len])
    len++;
  *out = (struct tm_slurm_options) { .words = tm_xcalloc(len + 1, sizeof(*out->words)) };
  for (size_t i = 0; i < len;) {
    struct found f = { 0 };
    size_t used;
    if (read_option(&f, words + i, err) < 0) {
      tm_slurm_options_release(out);
      return TM_EUSAGE;
    }
    used = has_value_behind(&f, words[i + 1]) ? 2 : 1;
    if (f.what && f.what->letter == 'x')
      exclude(out, f.value ? f.value : words[i + 1]);
    else
      for (size_t k = 0; k < used; k++)
        out->words[n++] = tm_xstrdup(words[i + k]);
    i += used;
  }
  return 0;
}

/* They say which machines a Slurm job gets. */
static bool is_of_job(const struct option *o)
{
  static const char *const names[] = { "begin",    "constraint", "exclusive",
                                       "nodefile", "nodelist",   "relative" };

  for (size_t i = 0; i < TM_COUNT_OF(names); i++)
    if (strcmp(names[i], o->name) == 0)
      return true;
  return false;
}

/* All were read before. */
char **tm_slurm_options_of_step(char *const *words, struct tm_buf *left_out)
{
  size_t len = 0, n = 0;
  char **out;

  while (words && words[len])
    len++;
  out = tm_xcalloc(len + 1, sizeof(*out));
  for (size_t i = 0; i < len;) {
    struct found f = { 0 };
    size_t used;
    tm_require(read_option(&f, words + i, NULL) == 0);
    used = has_value_behind(&f, words[i + 1]) ? 2 : 1;
    if (f.what && is_of_job(f.what))
      tm_buf_printf(left_out, "%s--%s", left_out->len > 0 ? ", " : "", f.what->name);
    else
      for (size_t k = 0; k < used; k++)
        out[n++] = tm_xstrdup(words[i + k]);
    i += used;
  }
  return out;
}

void tm_slurm_options_release(struct tm_slurm_options *o)
{
  for (size_t i = 0; o->words && o->words[i]; i++)
    free(o->words[i]);
  free(o->words);
  free(o->exclude);
  *o = (struct tm_slurm_options) { 0 };
}
