/* slurm_text.c - see slurm_text.h. */
#include "slurm/slurm_text.h"

#include <string.h>

#include "base/mem.h"

#define FIELDS 6 /* of a line of squeue: slurm_command.c */

/* Bytes of somebody else's. */
struct span {
  const char *at;
  size_t len;
};

/* ---- spans ---- */

/* The next line without its line break; false at the end. */
static bool next_line(const char *text, size_t len, size_t *at, struct span *line)
{
  const char *begin = text + *at, *end;

  if (*at >= len)
    return false;
  end = memchr(begin, '\n', len - *at);
  line->at = begin;
  line->len = end ? (size_t)(end - begin) : len - *at;
  *at += line->len + (end ? 1 : 0);
  return true;
}

static bool is_word(struct span s, const char *word)
{
  return s.len == strlen(word) && memcmp(s.at, word, s.len) == 0;
}

/* Whether it begins so; then that is removed. */
static bool take_begin(struct span *s, const char *begin)
{
  size_t len = strlen(begin);

  if (s->len < len || memcmp(s->at, begin, len) != 0)
    return false;
  s->at += len;
  s->len -= len;
  return true;
}

/* A number at the beginning, which is removed; false: there is none, or it is above `max`. */
static bool take_number(struct span *s, int64_t max, int64_t *out)
{
  size_t digits = 0;
  int64_t number = 0;

  for (; digits < s->len && s->at[digits] >= '0' && s->at[digits] <= '9'; digits++) {
    number = 10 * number + (s->at[digits] - '0');
    if (number > max)
      return false;
  }
  s->at += digits;
  s->len -= digits;
  *out = number;
  return digits > 0;
}

static void copy(char out[TM_SLURM_TEXT_MAX], struct span s)
{
  size_t n = s.len < TM_SLURM_TEXT_MAX ? s.len : TM_SLURM_TEXT_MAX - 1;

  for (size_t i = 0; i < n; i++)
    out[i] = s.at[i] >= ' ' && s.at[i] < 0x7f ? s.at[i] : '?';
  out[n] = '\0';
}

/* ---- squeue ---- */

static const struct known_state {
  const char *name;
  enum tm_slurm_state state;
  enum tm_slurm_end end;
} states[] = {
  { "PENDING", TM_SLURM_WAITS, TM_SLURM_END_NOT_KNOWN },
  { "CONFIGURING", TM_SLURM_WAITS, TM_SLURM_END_NOT_KNOWN },
  { "REQUEUED", TM_SLURM_WAITS, TM_SLURM_END_NOT_KNOWN },
  { "REQUEUE_FED", TM_SLURM_WAITS, TM_SLURM_END_NOT_KNOWN },
  { "REQUEUE_HOLD", TM_SLURM_WAITS, TM_SLURM_END_NOT_KNOWN },
  { "SPECIAL_EXIT", TM_SLURM_WAITS, TM_SLURM_END_NOT_KNOWN },
  { "RESV_DEL_HOLD", TM_SLURM_WAITS, TM_SLURM_END_NOT_KNOWN },
  { "RUNNING", TM_SLURM_RUNS, TM_SLURM_END_NOT_KNOWN },
  { "COMPLETING", TM_SLURM_ENDS, TM_SLURM_END_NOT_KNOWN },
  { "SUSPENDED", TM_SLURM_RUNS, TM_SLURM_END_NOT_KNOWN },
  { "STOPPED", TM_SLURM_RUNS, TM_SLURM_END_NOT_KNOWN },
  { "RESIZING", TM_SLURM_RUNS, TM_SLURM_END_NOT_KNOWN },
  { "SIGNALING", TM_SLURM_RUNS, TM_SLURM_END_NOT_KNOWN },
  { "STAGE_OUT", TM_SLURM_RUNS, TM_SLURM_END_NOT_KNOWN },
  { "NODE_FAIL", TM_SLURM_ENDED, TM_SLURM_END_NODE_FAIL },
  { "PREEMPTED", TM_SLURM_ENDED, TM_SLURM_END_PREEMPTED },
  { "TIMEOUT", TM_SLURM_ENDED, TM_SLURM_END_TIMEOUT },
  { "OUT_OF_MEMORY", TM_SLURM_ENDED, TM_SLURM_END_OUT_OF_MEMORY },
  { "COMPLETED", TM_SLURM_ENDED, TM_SLURM_END_OTHER },
  { "FAILED", TM_SLURM_ENDED, TM_SLURM_END_OTHER },
  { "BOOT_FAIL", TM_SLURM_ENDED, TM_SLURM_END_OTHER },
  { "DEADLINE", TM_SLURM_ENDED, TM_SLURM_END_OTHER },
  { "LAUNCH_FAILED", TM_SLURM_ENDED, TM_SLURM_END_OTHER },
  { "REVOKED", TM_SLURM_ENDED, TM_SLURM_END_OTHER },
  { "CANCELLED", TM_SLURM_CANCELED, TM_SLURM_END_CANCELED },
};

static struct known_state find_state(struct span name)
{
  for (size_t i = 0; i < TM_COUNT_OF(states); i++)
    if (is_word(name, states[i].name))
      return states[i];
  return (struct known_state) { .state = TM_SLURM_UNKNOWN };
}

/* "3-04:05:06", "1:00:00", "2:59" -> seconds; -1 for words (UNLIMITED, INVALID, NOT_SET). */
static int64_t seconds_of(struct span s)
{
  int64_t days = 0, part, seconds;
  int parts = 1;

  if (!take_number(&s, INT32_MAX, &part))
    return -1;
  if (take_begin(&s, "-")) {
    days = part;
    if (!take_number(&s, INT32_MAX, &part))
      return -1;
  }
  for (seconds = part; parts < 3 && take_begin(&s, ":"); parts++) {
    if (!take_number(&s, INT32_MAX, &part))
      return -1;
    seconds = 60 * seconds + part;
  }
  return s.len > 0 || parts == 1 ? -1 : days * 86400 + seconds;
}

/* The last field keeps what looks like a separator. */
static bool split(struct span line, struct span fields[FIELDS])
{
  for (size_t i = 0; i < FIELDS - 1; i++) {
    const char *bar = memchr(line.at, '|', line.len);
    if (!bar)
      return false;
    fields[i] = (struct span) { line.at, (size_t)(bar - line.at) };
    line.len -= fields[i].len + 1;
    line.at = bar + 1;
  }
  fields[FIELDS - 1] = line;
  return true;
}

static bool read_job(struct span line, struct tm_slurm_job *out)
{
  struct known_state known;
  struct span f[FIELDS];
  int64_t id;

  if (!split(line, f) || !take_number(&f[0], UINT32_MAX, &id) || f[0].len > 0 || id == 0)
    return false;
  known = find_state(f[2]);
  *out = (struct tm_slurm_job) {
    .id = (uint32_t)id, .state = known.state, .end = known.end, .left_s = seconds_of(f[4])
  };
  copy(out->name, f[1]);
  copy(out->state_name, f[2]);
  copy(out->host, f[3]);
  if (!is_word(f[5], "None"))
    copy(out->reason, f[5]);
  return true;
}

bool tm_slurm_text_next_job(const char *text, size_t len, size_t *at, struct tm_slurm_job *out)
{
  struct span line;

  while (next_line(text, len, at, &line))
    if (read_job(line, out))
      return true;
  return false;
}

/* ---- srun ---- */

static bool is_about_job(struct span said, const char *end, uint32_t *job)
{
  int64_t id;

  if (!take_begin(&said, "job ") || !take_number(&said, UINT32_MAX, &id) || !is_word(said, end))
    return false;
  *job = (uint32_t)id;
  return true;
}

static void trim(struct span *s)
{
  while (s->len > 0 && (s->at[s->len - 1] == '\n' || s->at[s->len - 1] == '\r'))
    s->len--;
}

static void read_line(struct span said, struct tm_slurm_said *out)
{
  *out = (struct tm_slurm_said) { 0 };
  trim(&said);
  if (!take_begin(&said, "srun: "))
    return;
  if (is_about_job(said, " queued and waiting for resources", &out->job)) {
    out->kind = TM_SLURM_LINE_QUEUED;
  } else if (is_about_job(said, " has been allocated resources", &out->job)) {
    out->kind = TM_SLURM_LINE_GRANTED;
  } else if (take_begin(&said, "error: ") || take_begin(&said, "fatal: ")) {
    out->kind = TM_SLURM_LINE_ERROR;
    copy(out->text, said);
  }
}

void tm_slurm_text_line(const char *line, size_t len, struct tm_slurm_said *out)
{
  read_line((struct span) { line, len }, out);
}

/* "No error" is what srun says if all hosts are excluded. */
static bool is_reason(struct span line, struct span *reason)
{
  *reason = line;
  return (take_begin(reason, "allocation failure: ") ||
          take_begin(reason, "srun: error: Unable to allocate resources: ") ||
          take_begin(reason, "srun: error: Unable to create step for job ") ||
          take_begin(reason, "slurm_load_jobs error: ")) &&
         !is_word(*reason, "No error");
}

/* A hint that follows the error. */
static bool is_hint(struct span line)
{
  return take_begin(&line, "Try \"srun --help\"");
}

void tm_slurm_text_error(const char *text, size_t len, char out[TM_SLURM_TEXT_MAX])
{
  struct tm_slurm_said said;
  struct span line, reason;
  bool has_error = false;
  size_t at = 0;

  out[0] = '\0';
  while (next_line(text, len, &at, &line)) {
    trim(&line);
    if (is_reason(line, &reason)) {
      copy(out, reason);
      return;
    }
    read_line(line, &said);
    if (said.kind == TM_SLURM_LINE_ERROR) {
      has_error = true;
      memcpy(out, said.text, sizeof said.text);
    } else if (!has_error && line.len > 0 && !is_hint(line)) {
      copy(out, line);
    }
  }
}

static bool begins_with(const char *line, const char *const *reasons, size_t len)
{
  struct span said = { line, strlen(line) };

  (void)(take_begin(&said, "srun: error: Unable to allocate resources: ") ||
         take_begin(&said, "allocation failure: "));
  for (size_t i = 0; i < len; i++)
    if (take_begin(&said, reasons[i]))
      return true;
  return false;
}

bool tm_slurm_text_is_unreached(const char *line)
{
  static const char *const reasons[] = { "Unable to contact slurm controller",
                                         "Slurm backup controller in standby mode",
                                         "Could not establish a configuration source" };

  return begins_with(line, reasons, TM_COUNT_OF(reasons));
}

bool tm_slurm_text_is_unanswered(const char *line)
{
  static const char *const reasons[] = { "Zero Bytes were transmitted or received",
                                         "Socket timed out on send/recv operation",
                                         "Insane message length" };

  return tm_slurm_text_is_unreached(line) || begins_with(line, reasons, TM_COUNT_OF(reasons));
}

bool tm_slurm_text_is_unavailable(const char *line)
{
  static const char *const reason = "Requested node configuration is not available";

  return begins_with(line, &reason, 1);
}

/* ---- the allocation ---- */

/* "2(x3)" or "4", and the comma behind it. */
static bool take_group(struct span *s, int64_t *cpus, int64_t *hosts)
{
  *hosts = 1;
  if (!take_number(s, INT32_MAX, cpus) || *cpus == 0)
    return false;
  if (take_begin(s, "(x") && (!take_number(s, INT32_MAX, hosts) || !take_begin(s, ")")))
    return false;
  return s->len == 0 || take_begin(s, ",");
}

int64_t tm_slurm_text_cpus(const char *text, size_t host)
{
  struct span s = { text, strlen(text) };
  int64_t cpus, hosts;

  while (take_group(&s, &cpus, &hosts)) {
    if (host < (size_t)hosts)
      return cpus;
    host -= (size_t)hosts;
  }
  return 0;
}

static bool is_host(struct span s)
{
  for (size_t i = 0; i < s.len; i++)
    if (s.at[i] <= ' ' || s.at[i] >= 0x7f || s.at[i] == '[' || s.at[i] == ',')
      return false;
  return s.len > 0 && s.at[0] != '-';
}

size_t tm_slurm_text_next_host(const char *text, size_t len, size_t *at, const char **name)
{
  struct span line;

  while (next_line(text, len, at, &line))
    if (is_host(line)) {
      *name = line.at;
      return line.len;
    }
  return 0;
}
