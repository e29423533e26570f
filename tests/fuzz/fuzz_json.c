/* fuzz_json.c - a JSON text: writing and reading the value again gives the same value. */
#include "fuzz.h"

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_json *v = tm_json_parse((const char *)data, size, &err);
  struct tm_buf text = TM_BUF_NONE;
  if (v == NULL) {
    fuzz_require(err.code < 0 && err.text[0] != '\0');
    return 0;
  }
  tm_json_write(&text, v, (struct tm_json_style) { .sorted = true, .indent = size % 3 });
  struct tm_json *again = tm_json_parse(text.data, text.len, &err);
  fuzz_require(again != NULL && tm_json_is_equal(v, again));
  tm_json_free(again);
  tm_json_free(v);
  tm_buf_release(&text);
  return 0;
}
