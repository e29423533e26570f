/* relay_news.h - what a relay says of its node, for relays that a test plays. */
#ifndef TM_TESTS_RELAY_NEWS_H
#define TM_TESTS_RELAY_NEWS_H

#include "node/node_msg.h"
#include "node/node_report.h"
#include "sys/messages/node_stream.h"

#define RELAY_HOST "cn17"

static inline struct tm_node_report usual_report(void)
{
  return (struct tm_node_report) { .host = (char *)RELAY_HOST,
                                   .boot_id = (char *)"another kernel",
                                   .cpus_why = (char *)"the affinity",
                                   .slurm_job = (char *)"",
                                   .temp_dir = (char *)"/tmp",
                                   .memory_dir = (char *)"",
                                   .uid = 1000,
                                   .pid = 77,
                                   .cpus = 3,
                                   .memory = UINT64_C(16000000000) };
}

static inline void tell_bytes(struct tm_node_stream *relay, uint32_t type,
                              const struct tm_buf *bytes)
{
  tm_node_stream_send(
      relay, &(struct tm_msg) {
                 .type = type, .payload = bytes->data, .length = (uint32_t)bytes->len, .fd = -1 });
}

static inline void tell_report(struct tm_node_stream *relay, const struct tm_node_report *report)
{
  struct tm_buf bytes = TM_BUF_NONE;
  tm_node_report_encode(&bytes, report);
  tell_bytes(relay, TM_MSG_REPORT, &bytes);
  tm_buf_release(&bytes);
}

static inline void tell_probed(struct tm_node_stream *relay, const char *problem)
{
  struct tm_node_probed probed = { .problem = (char *)problem, { 16, 5 }, { 16, 6 } };
  struct tm_buf bytes = TM_BUF_NONE;
  tm_node_probed_encode(&bytes, &probed);
  tell_bytes(relay, TM_MSG_PROBED, &bytes);
  tm_buf_release(&bytes);
}

/* What a user asks who makes no files. */
static inline void ask_nothing(struct tm_node *n)
{
  tm_node_ask(n, &(struct tm_node_probe) { .job_dir = (char *)"/j",
                                           .asked = (char *)"/j/1.asked",
                                           .answered = (char *)"/j/1.answered",
                                           .nonce = (char *)"0123456789abcdef" });
}

#endif
