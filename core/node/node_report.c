/* node_report.c - see node_report.h. The bytes come from another machine, through a pipe that
 * anything may have written to: see node_msg.c. */
#include "node/node_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "node/msg_strings.h"

static int refuse(struct tm_err *err, const char *what)
{
  return tm_err_set(err, TM_EPROTOCOL, "%s cannot be read", what);
}

void tm_node_report_encode(struct tm_buf *out, const struct tm_node_report *r)
{
  tm_require(r->cpus >= 1 && r->cpus <= TM_NODE_CPUS_MAX && r->temp_dir[0] == '/');
  tm_msg_add_str(out, r->host);
  tm_msg_add_str(out, r->boot_id);
  tm_msg_add_str(out, r->cpus_why);
  tm_msg_add_str(out, r->slurm_job);
  tm_msg_add_str(out, r->temp_dir);
  tm_msg_add_str(out, r->memory_dir);
  tm_buf_add_u32(out, r->uid);
  tm_buf_add_u32(out, r->pid);
  tm_buf_add_u32(out, r->cpus);
  tm_buf_add_u32(out, r->gpus);
  tm_buf_add_u64(out, r->memory);
}

int tm_node_report_decode(struct tm_node_report *out, const char *p, size_t n, struct tm_err *err)
{
  struct tm_reader r;

  tm_reader_init(&r, p, n);
  *out = (struct tm_node_report) { .host = tm_msg_read_str(&r) };
  out->boot_id = tm_msg_read_str(&r);
  out->cpus_why = tm_msg_read_str(&r);
  out->slurm_job = tm_msg_read_str(&r);
  out->temp_dir = tm_msg_read_str(&r);
  out->memory_dir = tm_msg_read_str(&r);
  out->uid = tm_read_u32(&r);
  out->pid = tm_read_u32(&r);
  out->cpus = tm_read_u32(&r);
  out->gpus = tm_read_u32(&r);
  out->memory = tm_read_u64(&r);
  if (!r.bad && r.at == r.end && out->cpus >= 1 && out->cpus <= TM_NODE_CPUS_MAX &&
      out->gpus <= TM_NODE_CPUS_MAX && out->temp_dir[0] == '/' &&
      (out->memory_dir[0] == '/' || !out->memory_dir[0]))
    return 0;
  tm_node_report_release(out);
  return refuse(err, "the report of a node");
}

void tm_node_report_release(struct tm_node_report *r)
{
  free(r->host);
  free(r->boot_id);
  free(r->cpus_why);
  free(r->slurm_job);
  free(r->temp_dir);
  free(r->memory_dir);
  *r = (struct tm_node_report) { 0 };
}

void tm_node_probe_encode(struct tm_buf *out, const struct tm_node_probe *p)
{
  tm_msg_add_str(out, p->job_dir);
  tm_msg_add_str(out, p->asked);
  tm_msg_add_str(out, p->answered);
  tm_msg_add_str(out, p->nonce);
  tm_msg_add_list(out, p->reads, p->reads_len);
  tm_msg_add_list(out, p->writes, p->writes_len);
}

int tm_node_probe_decode(struct tm_node_probe *out, const char *p, size_t n, struct tm_err *err)
{
  struct tm_reader r;

  tm_reader_init(&r, p, n);
  *out = (struct tm_node_probe) { .job_dir = tm_msg_read_str(&r) };
  out->asked = tm_msg_read_str(&r);
  out->answered = tm_msg_read_str(&r);
  out->nonce = tm_msg_read_str(&r);
  tm_msg_read_list(&r, &out->reads, &out->reads_len);
  tm_msg_read_list(&r, &out->writes, &out->writes_len);
  if (!r.bad && r.at == r.end && out->job_dir[0] == '/' && out->asked[0] == '/' &&
      out->answered[0] == '/' && out->nonce[0])
    return 0;
  tm_node_probe_release(out);
  return refuse(err, "the probe of a node");
}

void tm_node_probe_release(struct tm_node_probe *p)
{
  free(p->job_dir);
  free(p->asked);
  free(p->answered);
  free(p->nonce);
  tm_msg_release_list(p->reads, p->reads_len);
  tm_msg_release_list(p->writes, p->writes_len);
  *p = (struct tm_node_probe) { 0 };
}

static void add_file(struct tm_buf *out, const struct tm_node_file *f)
{
  tm_buf_add_u64(out, (uint64_t)f->size);
  tm_buf_add_u64(out, (uint64_t)f->time_ns);
}

static struct tm_node_file read_file(struct tm_reader *r)
{
  struct tm_node_file f = { .size = (int64_t)tm_read_u64(r) };

  f.time_ns = (int64_t)tm_read_u64(r);
  return f;
}

void tm_node_probed_encode(struct tm_buf *out, const struct tm_node_probed *p)
{
  tm_msg_add_str(out, p->problem);
  add_file(out, &p->asked);
  add_file(out, &p->answered);
}

int tm_node_probed_decode(struct tm_node_probed *out, const char *p, size_t n, struct tm_err *err)
{
  struct tm_reader r;

  tm_reader_init(&r, p, n);
  *out = (struct tm_node_probed) { .problem = tm_msg_read_str(&r) };
  out->asked = read_file(&r);
  out->answered = read_file(&r);
  if (!r.bad && r.at == r.end && out->asked.size >= 0 && out->answered.size >= 0)
    return 0;
  tm_node_probed_release(out);
  return refuse(err, "the answer of a node to its probe");
}

void tm_node_probed_release(struct tm_node_probed *p)
{
  free(p->problem);
  *p = (struct tm_node_probed) { 0 };
}

void tm_node_source_encode(struct tm_buf *out, const struct tm_node_source *s)
{
  tm_msg_add_str(out, s->job_dir);
  tm_msg_add_str(out, s->dir);
  tm_msg_add_str(out, s->hash);
  tm_buf_add_u64(out, s->incarnation.epoch);
  tm_buf_add_u32(out, s->incarnation.node);
  tm_buf_add_u32(out, s->incarnation.number);
}

int tm_node_source_decode(struct tm_node_source *out, const char *p, size_t n, struct tm_err *err)
{
  struct tm_reader r;

  tm_reader_init(&r, p, n);
  *out = (struct tm_node_source) { .job_dir = tm_msg_read_str(&r) };
  out->dir = tm_msg_read_str(&r);
  out->hash = tm_msg_read_str(&r);
  out->incarnation.epoch = tm_read_u64(&r);
  out->incarnation.node = tm_read_u32(&r);
  out->incarnation.number = tm_read_u32(&r);
  if (!r.bad && r.at == r.end && out->job_dir[0] == '/' && out->dir[0] == '/' &&
      strlen(out->hash) == 16)
    return 0;
  tm_node_source_release(out);
  return refuse(err, "the message about a script");
}

void tm_node_source_release(struct tm_node_source *s)
{
  free(s->job_dir);
  free(s->dir);
  free(s->hash);
  *s = (struct tm_node_source) { 0 };
}
