/* modules.c - see modules.h. */
#include "modules.h"

#include "bind/lib_plan.h"
#include "bind/lib_store.h"
#include "bind/libs.h"
#include "bind/state.h"
#include "entry/lua_frame.h"
#include "model/lib_image.h"
#include "model/lib_onnx.h"
#include "model/lib_onnx_file.h"
#include "model/lib_tokenizer.h"
#include "model/lua_tensor.h"
#include "prompt/lib_develop.h"
#include "prompt/lib_job.h"

static const struct tm_lua_module modules[] = {
  { "plan", tm_lua_open_plan },
  { "store", tm_lua_open_store },
  { "path", tm_lua_open_path },
  { "fs", tm_lua_open_fs },
  { "json_c", tm_lua_open_json_c },
  { "frame_c", tm_lua_open_frame_c },
  { "process_c", tm_lua_open_process_c },
  { "develop_c", tm_lua_open_develop_c },
  { "job_c", tm_lua_open_job_c },
  { "tensor_c", tm_lua_open_tensor_c },
  { "onnx_c", tm_lua_open_onnx_c },
  { "onnx_file_c", tm_lua_open_onnx_file_c },
  { "image_c", tm_lua_open_image_c },
  { "tokenizer_c", tm_lua_open_tokenizer_c },
  { NULL, NULL },
};

const struct tm_lua_module *tm_lua_modules(void)
{
  return modules;
}
