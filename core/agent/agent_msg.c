/* agent_msg.c - the messages between supervisor and worker, as bytes.
 *
 * Both sides may receive garbage: a worker runs the user's code, which can write to any descriptor.
 * So a decoder reads all fields, then checks once for bad bytes (base/buf.h), refuses surplus
 * bytes, and checks every number that becomes an index or an enum. On failure it frees what it has
 * allocated.
 */
#include "agent/agent_msg.h"

#include <stdlib.h>

#include "base/mem.h"
#include "node/msg_strings.h"

/* Counts the fields, so that a worker of another version of the program refuses them. */
#define ONE(name)     +1u
#define SETUP_VERSION (7u << 16 | (0 TM_SETUP_MAP(ONE, ONE, ONE, ONE)))

const char *tm_status_name(enum tm_status s)
{
  static const char *const names[] = {
#define XX(name) #name,
    TM_STATUS_MAP(XX)
#undef XX
  };
  return (unsigned)s < TM_COUNT_OF(names) ? names[s] : "UNKNOWN";
}

void tm_setup_encode(struct tm_buf *out, const struct tm_setup *s)
{
#define TEXT(name)   tm_msg_add_str(out, s->name);
#define LIST(name)   tm_msg_add_list(out, s->name, s->name##_len);
#define FLAG(name)   tm_buf_add_u64(out, s->name);
#define NUMBER(name) tm_buf_add_u64(out, (uint64_t)s->name);
  tm_buf_add_u32(out, SETUP_VERSION);
  TM_SETUP_MAP(TEXT, LIST, FLAG, NUMBER)
#undef TEXT
#undef LIST
#undef FLAG
#undef NUMBER
}

static int64_t read_number(struct tm_reader *r, uint64_t max)
{
  uint64_t n = tm_read_u64(r);
  r->bad = r->bad || n > max;
  return r->bad ? 0 : (int64_t)n;
}

int tm_setup_decode(struct tm_setup *out, const char *p, size_t n, struct tm_err *err)
{
  struct tm_reader r;
  tm_reader_init(&r, p, n);
  *out = (struct tm_setup) { 0 };
  uint32_t version = tm_read_u32(&r);
#define TEXT(name)   out->name = tm_msg_read_str(&r);
#define LIST(name)   tm_msg_read_list(&r, &out->name, &out->name##_len);
#define FLAG(name)   out->name = read_number(&r, 1) == 1;
#define NUMBER(name) out->name = read_number(&r, INT64_MAX);
  TM_SETUP_MAP(TEXT, LIST, FLAG, NUMBER)
#undef TEXT
#undef LIST
#undef FLAG
#undef NUMBER
  if (!r.bad && version == SETUP_VERSION && r.at == r.end && out->logging_level <= TM_ERROR &&
      out->separator < 128)
    return 0;
  tm_setup_release(out);
  return tm_err_set(err, TM_EPROTOCOL, "the settings of the worker cannot be read");
}

void tm_setup_release(struct tm_setup *s)
{
#define TEXT(name) free(s->name);
#define LIST(name) tm_msg_release_list(s->name, s->name##_len);
#define NOTHING(name)
  TM_SETUP_MAP(TEXT, LIST, NOTHING, NOTHING)
#undef TEXT
#undef LIST
#undef NOTHING
  *s = (struct tm_setup) { 0 };
}

void tm_mini_batch_head_encode(char out[16], const struct tm_mini_batch_head *h)
{
  tm_put_u64(out, h->seq);
  tm_put_u32(out + 8, h->dataset);
  tm_put_u32(out + 12, h->items);
}

bool tm_mini_batch_head_read(struct tm_reader *r, struct tm_mini_batch_head *h)
{
  h->seq = tm_read_u64(r);
  h->dataset = tm_read_u32(r);
  h->items = tm_read_u32(r);
  return !r->bad;
}

void tm_result_head_encode(char out[TM_RESULT_HEAD], const struct tm_result_head *h)
{
  tm_put_u64(out, h->seq);
  tm_put_u64(out + 8, (uint64_t)h->begin_wall_ns);
  tm_put_u64(out + 16, (uint64_t)h->total_ns);
  tm_put_u64(out + 24, (uint64_t)h->run_ns);
  tm_put_u64(out + 32, (uint64_t)h->cpu_ns);
  tm_put_u32(out + 40, h->returned);
  tm_put_u32(out + 44, h->is_spilled);
  tm_put_u32(out + 48, h->flags);
  tm_put_u32(out + 52, h->items);
}

bool tm_result_head_read(struct tm_reader *r, struct tm_result_head *h)
{
  h->seq = tm_read_u64(r);
  h->begin_wall_ns = (int64_t)tm_read_u64(r);
  h->total_ns = (int64_t)tm_read_u64(r);
  h->run_ns = (int64_t)tm_read_u64(r);
  h->cpu_ns = (int64_t)tm_read_u64(r);
  h->returned = tm_read_u32(r);
  h->is_spilled = tm_read_u32(r);
  h->flags = tm_read_u32(r);
  h->items = tm_read_u32(r);
  if (h->is_spilled > 1)
    r->bad = true;
  return !r->bad;
}

void tm_failure_encode(struct tm_buf *out, const struct tm_failure *f)
{
  char head[TM_RESULT_HEAD];
  tm_result_head_encode(head, &f->head);
  tm_buf_add(out, head, sizeof head);
  tm_buf_add_u32(out, (uint32_t)f->status);
  tm_msg_add_str(out, f->message);
  tm_msg_add_str(out, f->stack);
  tm_msg_add_str(out, f->where);
}

int tm_failure_decode(struct tm_failure *out, const char *p, size_t n, struct tm_err *err)
{
  struct tm_reader r;
  tm_reader_init(&r, p, n);
  *out = (struct tm_failure) { 0 };
  tm_result_head_read(&r, &out->head);
  uint32_t status = tm_read_u32(&r);
  out->status = (enum tm_status)status;
  out->message = tm_msg_read_str(&r);
  out->stack = tm_msg_read_str(&r);
  out->where = tm_msg_read_str(&r);
  if (!r.bad && r.at == r.end && status != TM_RUN_DONE && status <= TM_CANCELED)
    return 0;
  tm_failure_release(out);
  return tm_err_set(err, TM_EPROTOCOL, "a worker's report of a failure cannot be read");
}

void tm_failure_release(struct tm_failure *f)
{
  free(f->message);
  free(f->stack);
  free(f->where);
  *f = (struct tm_failure) { 0 };
}
