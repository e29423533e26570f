/* failure_words.c - see failure_words.h.
 *
 * Of the CPU's memory, and of a GPU's:
 *   Failed to allocate memory for requested buffer of size 1600000000
 *   Available memory of 1000000 is smaller than requested bytes of 1600000000
 * Of CUDA, and of libraries over it:
 *   CUDA failure 2: out of memory ; GPU=0 ; hostname=here ; file=...
 *   CUDA failure 700: an illegal memory access was encountered ; GPU=0 ; ...
 *   CUBLAS failure 3: CUBLAS_STATUS_ALLOC_FAILED ; GPU=0 ; ...
 *   CUDNN_FE failure 11: CUDNN_BACKEND_API_FAILED ; GPU=0 ; ...
 */
#include "model/failure_words.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"

#define NO_MEMORY "not enough memory"

static bool has_any(const char *message, const char *const *words, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (strstr(message, words[i]))
      return true;
  return false;
}

bool tm_failure_is_memory(const char *message)
{
  static const char *const words[] = {
    "Failed to allocate",   "bad_alloc",
    "CUDA failure 2:",      "is smaller than requested bytes of ",
    "_STATUS_ALLOC_FAILED", "_STATUS_HOST_ALLOCATION_FAILED",
    "CUDA out of memory"
  };

  return has_any(message, words, TM_COUNT_OF(words));
}

bool tm_failure_is_of_gpu(const char *message)
{
  static const char *const words[] = { "CUDA failure ",     "CUBLAS failure ", "CUDNN failure ",
                                       "CUDNN_FE failure ", "CUFFT failure ",  "CURAND failure ",
                                       "CUSPARSE failure ", "CUDA error " };

  return has_any(message, words, TM_COUNT_OF(words)) && !tm_failure_is_memory(message);
}

/* The number behind `words`; -1: they are not there. */
static int64_t number_behind(const char *message, const char *words)
{
  const char *at = strstr(message, words);

  return at ? strtoll(at + strlen(words), NULL, 10) : -1;
}

void tm_failure_explain_memory(struct tm_err *err, bool is_on_gpu, bool is_loading)
{
  int64_t wanted = number_behind(err->text, "buffer of size ");
  int64_t left = number_behind(err->text, "Available memory of ");
  struct tm_buf text = TM_BUF_NONE;

  if (wanted < 0)
    wanted = number_behind(err->text, "requested bytes of ");
  tm_buf_printf(&text, NO_MEMORY "%s", is_on_gpu ? " on the GPU" : "");
  if (wanted >= 0) {
    tm_buf_add_str(&text, is_on_gpu || is_loading ? " for " : " for a result of ");
    tm_text_bytes(&text, wanted);
  }
  if (left >= 0) {
    tm_buf_add_str(&text, ", where ");
    tm_text_bytes(&text, left);
    tm_buf_add_str(&text, " are left");
  }
  if (!is_loading)
    tm_buf_add_str(&text, "; set or lower 'max_batch'");
  if (is_on_gpu)
    tm_buf_add_str(&text, "; 'nvidia-smi' shows which programs use it");
  tm_err_set(err, TM_ELIMIT, "%s", tm_buf_str(&text));
  tm_buf_release(&text);
}

bool tm_failure_repeats(const char *line, const char *message)
{
  return strstr(message, line) || strstr(line, message) ||
         (tm_failure_is_memory(line) && strstr(message, NO_MEMORY));
}
