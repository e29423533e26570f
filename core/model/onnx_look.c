/* onnx_look.c - whether a file is a model, by its contents. */
#include <fcntl.h>
#include <sys/stat.h>

#include "model/model_kind.h"
#include "model/onnx_own.h"

#define FIELDS_MAX 10000 /* of a model, outside of its graph */

/* A version, a graph, operator sets, and nothing that protobuf does not have, up to the end. */
static bool is_onnx(struct tm_stream *s, int64_t size)
{
  struct tm_protobuf_reader reader;
  struct tm_protobuf_field f;
  unsigned seen = 0;
  int rc = 1;
  tm_protobuf_init(&reader, s, size);
  struct tm_protobuf m = tm_protobuf_of(&reader, 0, size);
  for (int i = 0; i < FIELDS_MAX && (rc = tm_protobuf_next(&m, &f, NULL)) > 0; i++) {
    seen |= tm_protobuf_is(&f, 1, TM_PROTOBUF_VARINT) ? 1 : 0;
    seen |= tm_protobuf_is(&f, 7, TM_PROTOBUF_BYTES) ? 2 : 0;
    seen |= tm_protobuf_is(&f, 8, TM_PROTOBUF_BYTES) ? 4 : 0;
  }
  return rc == 0 && seen == 7;
}

bool tm_onnx_is_model(const struct tm_fs *fs, const char *path)
{
  char head[TM_MODEL_KIND_HEAD];
  struct tm_stat st;
  if (fs->stat(fs->self, path, true, &st) < 0 || !S_ISREG(st.mode))
    return false;
  int fd = tm_fs_open(fs, path, O_RDONLY, 0, NULL);
  if (fd < 0)
    return false;
  struct tm_stream *s = tm_stream_of_file(fs, fd, path, st.size);
  int64_t n = tm_stream_read(s, head, sizeof(head), 0, NULL);
  bool is_model = n > 0 && tm_model_kind_is_model(tm_model_kind_of(head, (size_t)n, st.size));
  is_model = is_model || (n > 0 && is_onnx(s, st.size));
  tm_stream_close(s);
  return is_model;
}
