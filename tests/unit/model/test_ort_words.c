/* test_ort_words.c - messages of ONNX Runtime, as its versions 1.17 and 1.30 wrote them, without
 * places in its sources. */
#include "unit.h"

#include "model/ort_words.h"

static void expect(const char *message, const char *wanted)
{
  struct tm_buf words = TM_BUF_NONE;
  tm_ort_words_add(&words, message);
  assert_string_equal(tm_buf_str(&words), wanted);
  tm_buf_release(&words);
}

#define NODE "Non-zero status code returned while running "
#define SRC  "/onnxruntime_src/onnxruntime/core/"

static void a_place_goes_with_its_function_and_check(void **state)
{
  expect(NODE "Add node. Name:'' Status Message: " SRC
              "providers/cpu/math/element_wise_ops.h:540 void "
              "onnxruntime::BroadcastIterator::Init(ptrdiff_t, ptrdiff_t) axis == 1 || axis == "
              "largest was false. Attempting to broadcast an axis by a dimension other than 1. 2 "
              "by 3\n",
         "an Add node: Attempting to broadcast an axis by a dimension other than 1. 2 by 3");
  expect(NODE "MatMul node. Name:'m' Status Message: matmul_helper.h:59 Compute MatMul dimension "
              "mismatch",
         "node 'm' (MatMul): MatMul dimension mismatch");
  expect("Load model from /tmp/a b.onnx failed:" SRC
         "graph/graph.cc:1555 void onnxruntime::Graph::InitializeStateFromModelFileGraphProto() "
         "This is an invalid model. Graph output (yy) does not exist in the graph.\n",
         "This is an invalid model. Graph output (yy) does not exist in the graph.");
  expect(SRC
         "providers/webgpu/webgpu_context.cc:136 onnxruntime::webgpu::WebGpuContext::Initialize("
         "const onnxruntime::webgpu::WebGpuContextConfig&)::<lambda()> adapter_result.status == "
         "wgpu::RequestAdapterStatus::Success was false. Failed to get a WebGPU adapter: No "
         "supported adapters.",
         "Failed to get a WebGPU adapter: No supported adapters.");
  expect(SRC "util/thread_utils.cc:67 std::vector<std::vector<int> > "
             "onnxruntime::concurrency::ReadThreadAffinityConfig(const std::string&) "
             "std::all_of(processor_str.begin(), processor_str.end(), ::isdigit) was false. "
             "Processor id must consist of only digits: xx",
         "Processor id must consist of only digits: xx");
  expect(SRC
         "framework/bfc_arena.cc:376 void* onnxruntime::BFCArena::AllocateRawInternal(size_t, "
         "bool, onnxruntime::Stream*, bool, onnxruntime::WaitNotificationFn) Failed to allocate "
         "memory for requested buffer of size 40000000000000",
         "Failed to allocate memory for requested buffer of size 40000000000000");
  expect("endian_utils.cc:56 CopyLittleEndian source and destination buffer size mismatch",
         "source and destination buffer size mismatch");
}

static void codes_and_repeated_places_go(void **state)
{
  expect("[ONNXRuntimeError] : 1 : FAIL : Failed to load library libcuda.so",
         "Failed to load library libcuda.so");
  expect(SRC "session/provider_bridge_ort.cc:1730 onnxruntime::Provider& "
             "onnxruntime::ProviderLibrary::Get() [ONNXRuntimeError] : 1 : FAIL : Failed to load "
             "library x.so",
         "Failed to load library x.so");
  expect(SRC
         "providers/cuda/cuda_call.cc:129 std::conditional_t<THRW, void, "
         "onnxruntime::common::Status> onnxruntime::CudaCall(ERRTYPE, const char*, const char*, "
         "SUCCTYPE, const char*, const char*, int) [with ERRTYPE = cudaError; bool THRW = true; "
         "SUCCTYPE = cudaError; std::conditional_t<THRW, void, common::Status> = void] " SRC
         "providers/cuda/cuda_call.cc:121 std::conditional_t<THRW, void, "
         "onnxruntime::common::Status> onnxruntime::CudaCall(ERRTYPE, const char*) [with ERRTYPE = "
         "cudaError; bool THRW = true] CUDA failure 100: no CUDA-capable device is detected ; "
         "GPU=-1 ; hostname=here ; file=" SRC "providers/cuda/cuda_execution_provider.cc ; "
         "line=280 ; expr=cudaSetDevice(info_.device_id);\n",
         "CUDA failure 100: no CUDA-capable device is detected ; GPU=-1 ; hostname=here");
  expect("Couldn't load Vulkan: libvulkan.so.1: no such file\n"
         "    at operator() (/build/Release/dawn/native/vulkan/BackendVk.cpp:368)\n",
         "Couldn't load Vulkan: libvulkan.so.1: no such file");
  expect(NODE "Loop node. Name:'l' Status Message: " NODE
              "Reshape node. Name:'r' Status Message: " SRC "cpu/reshape_helper.h:44 "
              "onnxruntime::ReshapeHelper::ReshapeHelper(const onnxruntime::TensorShape&, bool) "
              "input_shape_size == size was false. The input tensor cannot be reshaped",
         "node 'l' (Loop): node 'r' (Reshape): The input tensor cannot be reshaped");
}

/* Also what a hostile model puts into a message. */
static void other_words_stay(void **state)
{
  static const char *const same[] = {
    "",
    "CUDA failure 2: out of memory ; GPU=0",
    "tensor 'w.cc:12' is missing",
    "the time is 12:30 in model.onnx:3",
    "Unsupported type (see a.md:3)",
    "that (x) was false. Really",
    "a.cc:",
    ".cc:1x",
    "'a.cc:12 f(' is a name",
    "the axis at 3 was false.",
  };
  for (size_t i = 0; i < sizeof same / sizeof *same; i++)
    expect(same[i], same[i]);
  expect("a.cc:12", "a.cc:12"); /* nothing else is left */
  expect("/a.cc:12 void f(int) x > 0 was false.\n", "x > 0 was false.");
  expect("/a.cc:12 void f(((( x", "f(((( x");
  expect("/a.cc:12 std::map<<<< x", "::map<<<< x");
  expect("two\nlines\t \n and blanks ", "two lines and blanks");
}

UNIT_TESTS({
    cmocka_unit_test(a_place_goes_with_its_function_and_check),
    cmocka_unit_test(codes_and_repeated_places_go),
    cmocka_unit_test(other_words_stay),
});
