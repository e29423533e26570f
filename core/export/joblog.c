/* joblog.c - see joblog.h.
 *
 *   nodes -> their addresses                  (workers.csv)
 *   tries -> the mini-batch of each decision  (the first time)
 *         -> those that a later one replaces, found from the end
 *         -> rows                             (the second time)
 *
 *  (1) The second reading ends where the first one did, so both see the same decisions while the
 *      job runs.
 *  (2) Memory depends on the rows that there are, never on the numbers in them.
 */
#include "export/joblog.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"
#include "export/deciding.h"
#include "report/life_rows.h"
#include "report/try_rows.h"

#define PIECE_BYTES   (64u << 10)
#define RUNTIME_WIDTH 10 /* "%10.3f" */

/* ---- rows ---- */

struct tm_joblog_command tm_joblog_command(const char *job_dir, const char *step)
{
  struct tm_buf before = TM_BUF_NONE, after = TM_BUF_NONE;
  tm_buf_add_str(&before, "tidemill replay ");
  tm_text_shell(&before, job_dir);
  tm_buf_add_str(&before, " --mini-batch ");
  if (step) {
    tm_buf_add_str(&after, " --step ");
    tm_text_shell(&after, step);
  }
  return (struct tm_joblog_command) { .before = tm_buf_take(&before),
                                      .after = tm_buf_take(&after) };
}

void tm_joblog_command_release(struct tm_joblog_command *c)
{
  free(c->before);
  free(c->after);
  *c = (struct tm_joblog_command) { .before = NULL };
}

/* A word: readers split rows at blanks, too. */
static void add_host(struct tm_buf *out, const char *host)
{
  size_t begin = out->len;
  tm_text_one_line(out, host ? host : "", host ? strlen(host) : 0, 0);
  for (size_t i = begin; i < out->len; i++)
    if (out->data[i] == ' ')
      out->data[i] = '_';
  if (out->len == begin)
    tm_buf_add_char(out, ':');
}

/* GNU parallel rounds moments, and truncates durations. */
static void add_seconds(struct tm_buf *out, int64_t ms)
{
  int64_t rest = ms % 1000;
  tm_buf_add_int(out, ms / 1000);
  tm_buf_add(out,
             (char[]) { '.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
                        (char)('0' + rest % 10) },
             4);
}

static void add_runtime(struct tm_buf *out, int64_t ms)
{
  size_t begin = out->len;
  add_seconds(out, ms);
  size_t len = out->len - begin;
  if (len >= RUNTIME_WIDTH)
    return;
  tm_buf_extend(out, RUNTIME_WIDTH - len);
  memmove(out->data + begin + RUNTIME_WIDTH - len, out->data + begin, len);
  memset(out->data + begin, ' ', RUNTIME_WIDTH - len);
}

/* As the table of tries has it. */
static int64_t microseconds(int64_t ns)
{
  return ns > 0 ? ns / 1000 : 0;
}

static void add_number(struct tm_buf *out, int64_t n)
{
  tm_buf_add_int(out, n);
  tm_buf_add_char(out, '\t');
}

void tm_joblog_add(struct tm_buf *out, const struct tm_joblog_row *row,
                   const struct tm_joblog_command *command)
{
  add_number(out, row->mini_batch < INT64_MAX ? row->mini_batch + 1 : INT64_MAX);
  add_host(out, row->host);
  tm_buf_add_char(out, '\t');
  add_seconds(out, (microseconds(row->begin_wall_ns) + 500) / 1000);
  tm_buf_add_char(out, '\t');
  add_runtime(out, microseconds(row->elapsed_ns) / 1000);
  tm_buf_add_str(out, "\t0\t");
  add_number(out, row->bytes);
  add_number(out, row->has_succeeded ? 0 : row->is_timeout ? -1 : 1);
  add_number(out, row->has_succeeded ? 0 : row->signal);
  tm_buf_add_str(out, command->before);
  tm_buf_add_int(out, row->mini_batch);
  tm_buf_add_str(out, command->after);
  tm_buf_add_char(out, '\n');
}

/* ---- the addresses of nodes ---- */

struct hosts {
  struct tm_map by_node; /* to `names` */
  struct TM_ARRAY(char *) names;
};

static int on_life(void *data, const struct tm_life_row *row)
{
  struct hosts *h = data;
  bool is_new;
  uint64_t *at =
      *row->address ? tm_map_add(&h->by_node, row->node, strlen(row->node), &is_new) : NULL;
  if (at && is_new) {
    *at = h->names.len;
    *TM_ARRAY_ADD(&h->names) = tm_xstrdup(row->address);
  }
  return 0;
}

static const char *host_of(const struct hosts *h, const char *node)
{
  const uint64_t *at = tm_map_find(&h->by_node, node, strlen(node));
  return at ? h->names.at[*at] : NULL;
}

static void release_hosts(struct hosts *h)
{
  TM_ARRAY_RELEASE_EACH(&h->names);
  tm_map_release(&h->by_node);
}

/* ---- numbers that were seen: bits, in pages ---- */

struct page {
  uint64_t bits[8];
};
#define PAGE_BITS 512

struct seen {
  struct tm_map by_number; /* to `pages` */
  struct TM_ARRAY(struct page) pages;
};

/* Whether it was seen before. */
static bool see(struct seen *s, int64_t number)
{
  int64_t page = number / PAGE_BITS;
  size_t bit = (size_t)(number % PAGE_BITS);
  bool is_new;
  uint64_t *at = tm_map_add(&s->by_number, &page, sizeof(page), &is_new);
  if (is_new) {
    *at = s->pages.len;
    *TM_ARRAY_ADD(&s->pages) = (struct page) { .bits = { 0 } };
  }
  uint64_t *word = &s->pages.at[*at].bits[bit / 64], mask = UINT64_C(1) << (bit % 64);
  bool was_seen = *word & mask;
  *word |= mask;
  return was_seen;
}

static void release_seen(struct seen *s)
{
  TM_ARRAY_RELEASE(&s->pages);
  tm_map_release(&s->by_number);
}

/* ---- a step ---- */

struct writing {
  const struct tm_joblog_command *command;
  const struct tm_text_sink *sink;
  struct hosts hosts;
  struct tm_deciding deciding;
  /* the mini-batch of each decision; -1: a later one replaces it */
  struct TM_ARRAY(int64_t) decisions;
  int64_t rows;   /* of tries, that were read the first time; then those that are left */
  size_t decided; /* the second time */
  int64_t written;
  struct tm_buf out;
};

static bool is_timeout(const struct tm_try_row *row)
{
  return strcmp(row->category, "timeout") == 0;
}

/* "dataset=NAME count=N part=5-8 manifest=...": the path at the end may hold anything. */
static bool is_part(const char *detail)
{
  static const char count[] = " count=", part[] = " part=";
  const char *at = strstr(detail, count);
  if (!at)
    return false;
  at += sizeof(count) - 1;
  return strncmp(at + strcspn(at, " "), part, sizeof(part) - 1) == 0;
}

static bool decides(struct writing *w, const struct tm_try_row *row, struct tm_decision *d)
{
  struct tm_deciding_try t = { .mini_batch = row->mini_batch,
                               .is_part = is_part(row->detail),
                               .is_done = strcmp(row->status, "RUN_DONE") == 0,
                               .bytes = row->bytes };
  (void)tm_text_int(row->total, &t.items);
  (void)tm_text_int(row->failed, &t.failed);
  return tm_deciding_add(&w->deciding, &t, d);
}

/* The first reading. */
static int on_try(void *data, const struct tm_try_row *row)
{
  struct writing *w = data;
  struct tm_decision d;
  w->rows++;
  if (decides(w, row, &d))
    *TM_ARRAY_ADD(&w->decisions) = row->mini_batch;
  return 0;
}

static void leave_out_replaced(struct writing *w)
{
  struct seen seen = { .by_number = { NULL, 0, 0 } };
  for (size_t i = w->decisions.len; i-- > 0;)
    if (see(&seen, w->decisions.at[i]))
      w->decisions.at[i] = -1;
  release_seen(&seen);
}

static int flush(struct writing *w)
{
  int rc = w->out.len > 0 ? w->sink->write(w->sink->data, w->out.data, w->out.len) : 0;
  tm_buf_clear(&w->out);
  return rc;
}

#define DONE 1 /* a row number; keeps (1) */

/* The second one. */
static int on_try_again(void *data, const struct tm_try_row *row)
{
  struct writing *w = data;
  struct tm_decision d;
  if (decides(w, row, &d) && w->decided < w->decisions.len &&
      w->decisions.at[w->decided++] == row->mini_batch) {
    w->written++;
    tm_joblog_add(&w->out,
                  &(struct tm_joblog_row) { .mini_batch = row->mini_batch,
                                            .host = host_of(&w->hosts, row->node),
                                            .begin_wall_ns = row->begin_wall_ns,
                                            .elapsed_ns = row->elapsed_ns,
                                            .bytes = d.bytes,
                                            .has_succeeded = d.has_succeeded,
                                            .is_timeout = is_timeout(row),
                                            .signal = row->signal },
                  w->command);
  }
  int rc = w->out.len >= PIECE_BYTES ? flush(w) : 0;
  return rc ? rc : --w->rows <= 0 ? DONE : 0;
}

int tm_joblog_write(const char *logs_dir, const struct tm_joblog_command *command,
                    const struct tm_text_sink *sink, struct tm_joblog_written *out,
                    struct tm_err *err)
{
  struct writing w = { .command = command, .sink = sink };
  int64_t lives_at = 0, at = 0, again_at = 0;
  *out = (struct tm_joblog_written) { 0 };
  int rc = tm_life_rows_next(logs_dir, &lives_at, on_life, &w.hosts, &out->lives, err);
  if (rc == 0)
    rc = tm_try_rows_next(logs_dir, &at, on_try, &w, &out->tries, err);
  leave_out_replaced(&w);
  tm_deciding_release(&w.deciding);
  if (rc == 0 && w.rows > 0)
    rc = tm_try_rows_next(logs_dir, &again_at, on_try_again, &w, NULL, err);
  if (rc == 0 || rc == DONE)
    rc = flush(&w);
  out->rows = w.written;
  tm_deciding_release(&w.deciding);
  release_hosts(&w.hosts);
  TM_ARRAY_RELEASE(&w.decisions);
  tm_buf_release(&w.out);
  return rc;
}
