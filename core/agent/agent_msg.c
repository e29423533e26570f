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

#define SETUP_VERSION 6u

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
  tm_buf_add_u32(out, SETUP_VERSION);
  tm_msg_add_str(out, s->worker_name);
  tm_msg_add_str(out, s->node_id);
  tm_msg_add_str(out, s->script);
  tm_msg_add_str(out, s->script_name);
  tm_msg_add_str(out, s->script_dir);
  tm_msg_add_list(out, s->arguments, s->arguments_len);
  tm_msg_add_list(out, s->runner_arguments, s->runner_arguments_len);
  tm_msg_add_list(out, s->datasets, s->datasets_len);
  tm_msg_add_str(out, s->tables);
  tm_msg_add_str(out, s->schema_file);
  tm_msg_add_str(out, s->index_dir);
  tm_msg_add_str(out, s->output_dir);
  tm_msg_add_list(out, s->outputs, s->outputs_len);
  tm_msg_add_str(out, s->log_dir);
  tm_msg_add_str(out, s->temp_dir);
  tm_msg_add_str(out, s->memory_dir);
  tm_msg_add_str(out, s->logger_file);
  tm_msg_add_str(out, s->error_file);
  tm_msg_add_str(out, s->spill_dir);
  tm_msg_add_str(out, s->staging_dir);
  tm_msg_add_str(out, s->profile_file);
  tm_buf_add_u32(out, (uint32_t)s->logging_level);
  tm_buf_add_u32(out, (s->append_row ? 1u : 0) | (s->verify_items ? 2u : 0) |
                          (s->escapes_line_breaks ? 4u : 0) | (s->is_interruptible ? 8u : 0));
  tm_buf_add_u32(out, (unsigned char)s->separator);
  tm_buf_add_u64(out, (uint64_t)s->max_result_size);
  tm_buf_add_u64(out, (uint64_t)s->memory_limit);
  tm_buf_add_u64(out, (uint64_t)s->run_timeout_ns);
  tm_buf_add_u64(out, (uint64_t)s->init_timeout_ns);
}

int tm_setup_decode(struct tm_setup *out, const char *p, size_t n, struct tm_err *err)
{
  struct tm_reader r;
  tm_reader_init(&r, p, n);
  *out = (struct tm_setup) { 0 };
  uint32_t version = tm_read_u32(&r);
  out->worker_name = tm_msg_read_str(&r);
  out->node_id = tm_msg_read_str(&r);
  out->script = tm_msg_read_str(&r);
  out->script_name = tm_msg_read_str(&r);
  out->script_dir = tm_msg_read_str(&r);
  tm_msg_read_list(&r, &out->arguments, &out->arguments_len);
  tm_msg_read_list(&r, &out->runner_arguments, &out->runner_arguments_len);
  tm_msg_read_list(&r, &out->datasets, &out->datasets_len);
  out->tables = tm_msg_read_str(&r);
  out->schema_file = tm_msg_read_str(&r);
  out->index_dir = tm_msg_read_str(&r);
  out->output_dir = tm_msg_read_str(&r);
  tm_msg_read_list(&r, &out->outputs, &out->outputs_len);
  out->log_dir = tm_msg_read_str(&r);
  out->temp_dir = tm_msg_read_str(&r);
  out->memory_dir = tm_msg_read_str(&r);
  out->logger_file = tm_msg_read_str(&r);
  out->error_file = tm_msg_read_str(&r);
  out->spill_dir = tm_msg_read_str(&r);
  out->staging_dir = tm_msg_read_str(&r);
  out->profile_file = tm_msg_read_str(&r);
  uint32_t level = tm_read_u32(&r);
  uint32_t flags = tm_read_u32(&r);
  uint32_t separator = tm_read_u32(&r);
  out->max_result_size = (int64_t)tm_read_u64(&r);
  out->separator = (char)separator;
  out->memory_limit = (int64_t)tm_read_u64(&r);
  out->run_timeout_ns = (int64_t)tm_read_u64(&r);
  out->init_timeout_ns = (int64_t)tm_read_u64(&r);
  out->logging_level = (int)level;
  out->append_row = flags & 1;
  out->verify_items = flags & 2;
  out->escapes_line_breaks = flags & 4;
  out->is_interruptible = flags & 8;
  if (!r.bad && version == SETUP_VERSION && level <= TM_ERROR && flags <= 15 && separator < 128 &&
      r.at == r.end && out->max_result_size >= 0 && out->memory_limit >= 0)
    return 0;
  tm_setup_release(out);
  return tm_err_set(err, TM_EPROTOCOL, "the settings of the worker cannot be read");
}

void tm_setup_release(struct tm_setup *s)
{
  free(s->worker_name);
  free(s->node_id);
  free(s->script);
  free(s->script_name);
  free(s->script_dir);
  tm_msg_release_list(s->arguments, s->arguments_len);
  tm_msg_release_list(s->runner_arguments, s->runner_arguments_len);
  tm_msg_release_list(s->datasets, s->datasets_len);
  free(s->tables);
  free(s->schema_file);
  free(s->index_dir);
  free(s->output_dir);
  tm_msg_release_list(s->outputs, s->outputs_len);
  free(s->log_dir);
  free(s->temp_dir);
  free(s->memory_dir);
  free(s->logger_file);
  free(s->error_file);
  free(s->spill_dir);
  free(s->staging_dir);
  free(s->profile_file);
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
