/* fuzz_message.c - frames between supervisor, keeper and workers: the first byte is the kind, the
 * rest is the payload.
 *
 * A decoded frame that is encoded again can be decoded, and then encodes to the same bytes.
 */
#include "fuzz.h"

#include "agent/agent_msg.h"
#include "node/node_msg.h"
#include "node/node_report.h"

#define CHECK(type)                                                                                \
  static void check_##type(const char *p, size_t n)                                                \
  {                                                                                                \
    struct tm_##type a, b;                                                                         \
    struct tm_err err = TM_ERR_NONE;                                                               \
    struct tm_buf once = TM_BUF_NONE, twice = TM_BUF_NONE;                                         \
    if (tm_##type##_decode(&a, p, n, &err) < 0) {                                                  \
      fuzz_require(err.text[0] != '\0');                                                           \
      return;                                                                                      \
    }                                                                                              \
    tm_##type##_encode(&once, &a);                                                                 \
    fuzz_require(tm_##type##_decode(&b, once.data, once.len, &err) == 0);                          \
    tm_##type##_encode(&twice, &b);                                                                \
    fuzz_require(once.len == twice.len && memcmp(once.data, twice.data, once.len) == 0);           \
    tm_##type##_release(&a);                                                                       \
    tm_##type##_release(&b);                                                                       \
    tm_buf_release(&once);                                                                         \
    tm_buf_release(&twice);                                                                        \
  }

static void tm_ended_release(struct tm_ended *e)
{
}

CHECK(setup)
CHECK(failure)
CHECK(node_step)
CHECK(ended)
CHECK(node_report)
CHECK(node_probe)
CHECK(node_probed)
CHECK(node_source)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static void (*const checks[])(const char *, size_t) = { check_setup,       check_failure,
                                                          check_node_step,   check_ended,
                                                          check_node_report, check_node_probe,
                                                          check_node_probed, check_node_source };
  if (size > 0)
    checks[data[0] % (sizeof(checks) / sizeof(checks[0]))]((const char *)data + 1, size - 1);
  return 0;
}
