/* fuzz_cancel_request.c - a request to cancel a job. An accepted request has printable names, and
 * writing and reading it again gives the same request.
 */
#include "fuzz.h"

#include "record/cancel_request.h"

static void check_name(const char *name)
{
  size_t n = strlen(name);
  fuzz_require(n > 0 && n < TM_CANCEL_NAME_MAX);
  for (size_t i = 0; i < n; i++)
    fuzz_require(name[i] > ' ' && name[i] < 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct tm_cancel_request r, again;
  struct tm_buf text = TM_BUF_NONE;
  if (tm_cancel_request_parse(&r, (const char *)data, size, NULL) < 0)
    return 0;
  check_name(r.user);
  check_name(r.host);
  fuzz_require(r.pid > 0);
  tm_cancel_request_write(&text, &r);
  fuzz_require(tm_cancel_request_parse(&again, text.data, text.len, NULL) == 0);
  fuzz_require(again.epoch == r.epoch && again.now == r.now && again.pid == r.pid);
  fuzz_require(strcmp(again.user, r.user) == 0 && strcmp(again.host, r.host) == 0);
  tm_buf_release(&text);
  return 0;
}
