/* model_kind.c - see model_kind.h. */
#include "model/model_kind.h"

#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/path.h"

#define IR_VERSION_MOST 1000 /* far beyond the newest one */

/* ---- by the first bytes ---- */

struct mark {
  enum tm_model_kind kind;
  uint8_t at, len;
  const char *bytes;
};

/* The first that fits. */
static const struct mark marks[] = {
  { TM_MODEL_KIND_LFS, 0, 34, "version https://git-lfs.github.com" },
  { TM_MODEL_KIND_GGUF, 0, 4, "GGUF" },
  { TM_MODEL_KIND_KERAS, 0, 8, "\x89HDF\r\n\x1a\n" },
  { TM_MODEL_KIND_TFLITE, 4, 4, "TFL3" },
  { TM_MODEL_KIND_ORT, 4, 4, "ORTM" },
  { TM_MODEL_KIND_PYTORCH, 0, 14, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19" },
  { TM_MODEL_KIND_PACKED, 0, 3, "\x1f\x8b\x08" },
  { TM_MODEL_KIND_PACKED, 0, 4, "\x28\xb5\x2f\xfd" },
  { TM_MODEL_KIND_PACKED, 0, 5, "\xfd\x37zXZ" },
  { TM_MODEL_KIND_HTML, 0, 5, "<html" },
  { TM_MODEL_KIND_HTML, 0, 9, "<!DOCTYPE" },
  { TM_MODEL_KIND_HTML, 0, 9, "<!doctype" },
};

static bool has_text(const char *p, size_t n, const char *text)
{
  return memmem(p, n, text, strlen(text)) != NULL;
}

/* Names of entries are in front of their contents. */
static enum tm_model_kind kind_of_zip(const char *p, size_t n)
{
  if (has_text(p, n, "/data.pkl") || has_text(p, n, "/.format_version"))
    return TM_MODEL_KIND_PYTORCH;
  bool is_first = n > 30 && has_text(p + 30, n - 30 < 11 ? n - 30 : 11, "config.json");
  if (is_first || has_text(p, n, "metadata.json") || has_text(p, n, "model.weights.h5"))
    return TM_MODEL_KIND_KERAS;
  return TM_MODEL_KIND_ARCHIVE;
}

/* A length, then JSON of so many bytes. */
static bool is_safetensors(const char *p, size_t n, int64_t size)
{
  if (n < 10 || p[8] != '{' || (p[9] != '"' && p[9] != '}' && p[9] != ' '))
    return false;
  uint64_t len = tm_get_u64(p);
  return len >= 2 && len <= (uint64_t)size;
}

static bool is_pickle(const char *p, size_t n)
{
  return n >= 3 && (unsigned char)p[0] == 0x80 && p[1] >= 2 && p[1] <= 5;
}

enum tm_model_kind tm_model_kind_of(const char *head, size_t n, int64_t size)
{
  if (n == 0)
    return TM_MODEL_KIND_EMPTY;
  for (size_t i = 0; i < TM_COUNT_OF(marks); i++)
    if (n >= (size_t)marks[i].at + marks[i].len &&
        memcmp(head + marks[i].at, marks[i].bytes, marks[i].len) == 0)
      return marks[i].kind;
  if (n >= 4 && memcmp(head, "PK\3\4", 4) == 0)
    return kind_of_zip(head, n);
  if (is_safetensors(head, n, size))
    return TM_MODEL_KIND_SAFETENSORS;
  return is_pickle(head, n) ? TM_MODEL_KIND_PICKLE : TM_MODEL_KIND_UNKNOWN;
}

bool tm_model_kind_is_model(enum tm_model_kind kind)
{
  return kind >= TM_MODEL_KIND_PYTORCH && kind <= TM_MODEL_KIND_ORT;
}

/* ---- words ---- */

static const char *const words[TM_MODEL_KIND_COUNT] = {
  [TM_MODEL_KIND_EMPTY] = "the file is empty; copy or download it again",
  [TM_MODEL_KIND_LFS] = "the file is a Git LFS pointer; run 'git lfs pull'",
  [TM_MODEL_KIND_PYTORCH] =
      "the file is a PyTorch model; export it: torch.onnx.export(model, inputs, \"model.onnx\")",
  [TM_MODEL_KIND_PICKLE] =
      "the file is a Python pickle; export what is in it, for a scikit-learn model: "
      "skl2onnx.to_onnx(model, X[:1]).SerializeToString()",
  [TM_MODEL_KIND_SAFETENSORS] =
      "the file is a safetensors file, which has weights and no graph; export the model: "
      "optimum-cli export onnx --model FOLDER OUT",
  [TM_MODEL_KIND_GGUF] = "the file is a GGUF file, for llama.cpp; export the model that it was "
                         "made from: optimum-cli export onnx --model FOLDER OUT",
  [TM_MODEL_KIND_KERAS] = "the file is a Keras model; export it: model.export(\"model.onnx\", "
                          "format=\"onnx\"), or with an older Keras: python -m tf2onnx.convert "
                          "--keras FILE --output model.onnx",
  [TM_MODEL_KIND_SAVED_MODEL] =
      "the file is a TensorFlow SavedModel; export it: python -m tf2onnx.convert --saved-model "
      "FOLDER --output model.onnx",
  [TM_MODEL_KIND_GRAPH] = "the file is a TensorFlow graph; export it: python -m tf2onnx.convert "
                          "--graphdef FILE --output model.onnx --inputs ... --outputs ...",
  [TM_MODEL_KIND_TFLITE] = "the file is a TensorFlow Lite model; export it: python -m "
                           "tf2onnx.convert --tflite FILE --output model.onnx",
  [TM_MODEL_KIND_ORT] =
      "the file is in ONNX Runtime's own format; use the .onnx file that it was made from",
  [TM_MODEL_KIND_ARCHIVE] = "the file is a zip archive; unpack it, and name the .onnx file",
  [TM_MODEL_KIND_PACKED] = "the file is compressed; unpack it first",
  [TM_MODEL_KIND_HTML] = "the file is a web page; download the model itself",
};

int tm_model_kind_refuse(enum tm_model_kind kind, struct tm_err *err)
{
  tm_require(kind > TM_MODEL_KIND_UNKNOWN && kind < TM_MODEL_KIND_COUNT);
  return tm_err_set(err, TM_EINPUT, "%s", words[kind]);
}

int tm_model_kind_refuse_folder(const struct tm_fs *fs, const char *path, struct tm_err *err)
{
  static const struct {
    const char *name, *words;
  } inside[] = {
    { "model.onnx", "it is a folder; name the file in it: 'model.onnx'" },
    { "saved_model.pb", "it is a folder with a TensorFlow SavedModel; export it: python -m "
                        "tf2onnx.convert --saved-model FOLDER --output model.onnx" },
    { "config.json", "it is a folder with a model of Hugging Face; export it: optimum-cli export "
                     "onnx --model FOLDER OUT" },
  };
  for (size_t i = 0; i < TM_COUNT_OF(inside); i++) {
    char *file = tm_path_join(path, inside[i].name);
    bool exists = tm_fs_exists(fs, file);
    free(file);
    if (exists)
      return tm_err_set(err, TM_EINPUT, "%s", inside[i].words);
  }
  return tm_err_set(err, TM_EINPUT, "it is a folder; name the .onnx file");
}

/* Where what a field of protobuf contains begins, if the field at `at` has this key; else 0. */
static size_t inside(const unsigned char *p, size_t n, size_t at, unsigned char key)
{
  if (at >= n || p[at] != key)
    return 0;
  for (at++; at < n && p[at] >= 128; at++)
    ;
  return at + 1 < n ? at + 1 : 0;
}

/* { 1: { 1: name, 2: operator } }, the first node */
static bool is_graph(const unsigned char *p, size_t n)
{
  size_t node = inside(p, n, 0, 0x0a), name = node ? inside(p, n, node, 0x0a) : 0;
  return name && inside(p, n, name + p[name - 1], 0x12);
}

/* { 1: 1, 2: { 1: ... } } */
static bool is_saved_model(const unsigned char *p, size_t n)
{
  size_t graph = n > 2 && p[0] == 0x08 && p[1] == 1 ? inside(p, n, 2, 0x12) : 0;
  return graph && inside(p, n, graph, 0x0a);
}

int tm_model_kind_explain(const char *head, size_t n, int64_t ir_version, struct tm_err *err)
{
  const unsigned char *p = (const unsigned char *)head;
  bool is_onnx = p[0] == 0x08 && ir_version > 0 && ir_version <= IR_VERSION_MOST;
  struct tm_err why = *err;
  if (is_saved_model(p, n))
    return tm_model_kind_refuse(TM_MODEL_KIND_SAVED_MODEL, err);
  if (is_graph(p, n))
    return tm_model_kind_refuse(TM_MODEL_KIND_GRAPH, err);
  if (is_onnx && why.code == TM_ENOINPUT)
    return tm_err_set(err, TM_EINPUT, "the file is cut: %s; copy or download it again", why.text);
  if (is_onnx)
    return tm_err_set(err, TM_EINPUT, "the file is damaged or cut: %s; copy or download it again",
                      why.text);
  return tm_err_set(err, TM_EINPUT, "the file is not an ONNX model: %s", why.text);
}
