/* node_ready.c - a node from its first message until it can be used: see node_state.h and
 * node_probe.h. */
#include "fleet/node_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static void tell_ready(struct tm_node *n)
{
  bool is_admitted = !n->is_stream || n->admission.phase == TM_NODE_ADMITTED;

  if (n->has_hello && is_admitted && n->o.on_ready)
    n->o.on_ready(n->o.data);
}

void tm_node_on_hello(struct tm_node *n, const struct tm_msg *f)
{
  const char *hello = tm_hello();

  n->has_hello =
      !n->has_hello && f->length == strlen(hello) && memcmp(f->payload, hello, f->length) == 0;
  if (!n->has_hello)
    tm_node_lose(n, "the keeper of the workers has another version of tidemill");
  else
    tell_ready(n);
}

const struct tm_node_report *tm_node_reported(const struct tm_node *n)
{
  return n->admission.phase == TM_NODE_REPORT_AWAITED ? NULL : &n->admission.report;
}

int64_t tm_node_workers(const struct tm_node *n)
{
  const struct tm_node_report *r = tm_node_reported(n);

  return r ? tm_node_report_workers(r) : 0;
}

void tm_node_ask(struct tm_node *n, const struct tm_node_probe *probe)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_msg f = { .type = TM_MSG_PROBE, .fd = -1 };

  tm_require(n->admission.phase == TM_NODE_REPORTED && !n->is_closed);
  n->admission.phase = TM_NODE_ASKED;
  tm_node_probe_encode(&text, probe);
  f.payload = text.data;
  f.length = (uint32_t)text.len;
  tm_node_send(n, &f);
  tm_buf_release(&text);
}

void tm_node_send_source(struct tm_node *n, const struct tm_node_source *s)
{
  struct tm_buf text = TM_BUF_NONE;
  struct tm_msg f = { .type = TM_MSG_SOURCE, .fd = -1 };
  struct tm_node_source sent = *s;

  tm_require(!n->is_closed);
  tm_node_admission_source(&n->admission);
  sent.incarnation = n->o.incarnation;
  tm_node_source_encode(&text, &sent);
  f.payload = text.data;
  f.length = (uint32_t)text.len;
  tm_node_send(n, &f);
  tm_buf_release(&text);
}

void tm_node_send_source_data(struct tm_node *n, const char *p, size_t len)
{
  struct tm_msg f = { .type = TM_MSG_SOURCE_DATA,
                      .worker = TM_SOURCE_WORKER,
                      .payload = p,
                      .length = (uint32_t)len,
                      .fd = -1 };

  tm_require(n->admission.is_sending && !n->is_closed);
  tm_node_send(n, &f);
}

size_t tm_node_source_pending(const struct tm_node *n)
{
  return tm_node_connection_pending(n->connection, TM_SOURCE_WORKER);
}

void tm_node_admit(struct tm_node *n, bool sizes_alone)
{
  tm_require(n->admission.phase == TM_NODE_ANSWERED && !n->is_closed);
  n->admission.phase = TM_NODE_ADMITTED;
  n->has_sizes_alone = sizes_alone;
  tell_ready(n);
}

bool tm_node_has_sizes_alone(const struct tm_node *n)
{
  return n->has_sizes_alone;
}

static void on_report(struct tm_node *n, const struct tm_msg *f)
{
  if (!tm_node_admission_report(&n->admission, f->payload, f->length)) {
    tm_node_lose(n, "the relay of the node sent an impossible message");
    return;
  }
  if (!n->address[0])
    snprintf(n->address, sizeof(n->address), "%s", n->admission.report.host);
  n->o.on_report(n->o.data);
}

static void on_probed(struct tm_node *n, const struct tm_msg *f)
{
  struct tm_node_probed probed;

  if (!tm_node_admission_answer(&n->admission, &probed, f->payload, f->length)) {
    tm_node_lose(n, "the relay of the node sent an impossible message");
    return;
  }
  n->o.on_probed(n->o.data, &probed);
  tm_node_probed_release(&probed);
}

static void on_source_taken(struct tm_node *n, const struct tm_msg *f)
{
  char *problem = tm_node_admission_taken(&n->admission, f->payload, f->length);

  if (problem)
    n->o.on_source_taken(n->o.data, problem);
  else
    tm_node_lose(n, "the relay of the node sent an impossible message");
  free(problem);
}

static void on_drains(struct tm_node *n)
{
  if (n->admission.phase != TM_NODE_ADMITTED || !n->has_hello)
    tm_node_lose(n, "the node was asked to end before it was ready");
  else if (!n->drains && n->o.on_drains)
    n->o.on_drains(n->o.data);
  n->drains = true;
}

bool tm_node_is_of_relay(const struct tm_node *n, const struct tm_msg *f)
{
  return n->is_stream &&
         (f->type == TM_MSG_REPORT || f->type == TM_MSG_PROBED || f->type == TM_MSG_DRAINS ||
          f->type == TM_MSG_SOURCE_TAKEN || f->type == TM_MSG_KEEPER_SILENT ||
          n->admission.phase == TM_NODE_REPORT_AWAITED);
}

void tm_node_on_relay_news(struct tm_node *n, const struct tm_msg *f)
{
  if (f->type == TM_MSG_PROBED)
    on_probed(n, f);
  else if (f->type == TM_MSG_SOURCE_TAKEN)
    on_source_taken(n, f);
  else if (f->type == TM_MSG_REPORT)
    on_report(n, f);
  else if (f->type == TM_MSG_DRAINS)
    on_drains(n);
  else if (f->type == TM_MSG_KEEPER_SILENT && n->admission.phase != TM_NODE_REPORT_AWAITED)
    tm_node_on_keeper_silent(n, f);
  else
    tm_node_lose(n, "the relay of the node did not report its machine first");
}
