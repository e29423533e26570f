/* test_failure_words.c - messages of ONNX Runtime about memory and GPUs. */
#include "unit.h"

#include "base/mem.h"
#include "model/failure_words.h"

#define BUFFER    "Failed to allocate memory for requested buffer of size 1717986918"
#define LIMITED   "Available memory of 524288000 is smaller than requested bytes of 1717986918"
#define OF_CUDA   "CUDA failure 2: out of memory ; GPU=0 ; hostname=here ; file=cuda_call.cc"
#define OF_CUBLAS "CUBLAS failure 3: CUBLAS_STATUS_ALLOC_FAILED ; GPU=0"

static void failures_are_told_apart(void **state)
{
  static const char *const memory[] = { BUFFER, LIMITED, OF_CUDA, OF_CUBLAS, "std::bad_alloc" };
  static const char *const broken[] = {
    "CUDA failure 700: an illegal memory access was encountered ; GPU=0 ; hostname=here",
    "Non-zero status code. Name:'c' CUDA failure 719: unspecified launch failure",
    "CUDA failure 200: device kernel image is invalid",
    "CUDNN failure 4: CUDNN_STATUS_INTERNAL_ERROR ; GPU=0",
    "CUDNN_FE failure 11: CUDNN_BACKEND_API_FAILED ; GPU=0",
    "CUBLAS failure 13: the GPU program failed to execute",
  };
  static const char *const others[] = { "", "Unknown provider option: \"gpu_mem_limt\"",
                                        "Failed to load shared library" };
  for (size_t i = 0; i < TM_COUNT_OF(memory); i++)
    assert_true(tm_failure_is_memory(memory[i]) && !tm_failure_is_of_gpu(memory[i]));
  for (size_t i = 0; i < TM_COUNT_OF(broken); i++)
    assert_true(!tm_failure_is_memory(broken[i]) && tm_failure_is_of_gpu(broken[i]));
  for (size_t i = 0; i < TM_COUNT_OF(others); i++)
    assert_false(tm_failure_is_memory(others[i]) || tm_failure_is_of_gpu(others[i]));
}

static void expect(const char *message, bool is_on_gpu, bool is_loading, const char *words)
{
  struct tm_err err;
  tm_err_set(&err, TM_ELIMIT, "%s", message);
  tm_failure_explain_memory(&err, is_on_gpu, is_loading);
  assert_string_equal(err.text, words);
}

static void a_lack_of_memory_has_its_sizes(void **state)
{
  expect(BUFFER, false, false,
         "not enough memory for a result of 1.6 GB; set or lower 'max_batch'");
  expect("std::bad_alloc", false, false, "not enough memory; set or lower 'max_batch'");
  expect(BUFFER, false, true, "not enough memory for 1.6 GB");
  expect(BUFFER, true, false,
         "not enough memory on the GPU for 1.6 GB; set or lower 'max_batch'; 'nvidia-smi' shows "
         "which programs use it");
  expect(LIMITED, true, false,
         "not enough memory on the GPU for 1.6 GB, where 500 MB are left; set or lower "
         "'max_batch'; 'nvidia-smi' shows which programs use it");
  expect(OF_CUDA, true, true,
         "not enough memory on the GPU; 'nvidia-smi' shows which programs use it");
}

UNIT_TESTS({
    cmocka_unit_test(failures_are_told_apart),
    cmocka_unit_test(a_lack_of_memory_has_its_sizes),
});
