/* onnx_file.c - see onnx_file.h.
 *
 *   model -> graph -> node -> attribute -> graph, tensor
 *                  -> initializer, a tensor         (onnx_tensor.c)
 *                  -> input, output, with its type  (onnx_value.c)
 *         -> function -> node
 *
 *  (1) Every tensor of the file is looked at, wherever it is: the library would read its data.
 *  (2) A message is read as protobuf reads it: fields in any order, the last one of a number
 *      counts, a field of another kind is unknown and skipped. A message that occurs twice where
 *      one belongs would be merged; it is refused.
 */
#include "model/onnx_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "model/model_kind.h"
#include "model/onnx_own.h"

#define KEPT         64   /* bytes that a kept thing takes besides its texts */
#define OPERATOR_MAX 4096 /* bytes of the name of an operator or a domain */

/* ---- what is kept ---- */

int tm_onnx_hold(struct tm_onnx_walk *w, size_t n, struct tm_err *err)
{
  if (n > TM_ONNX_HELD_MAX || w->held + n + KEPT > TM_ONNX_HELD_MAX)
    return tm_err_set(err, TM_ELIMIT, "its names and texts take more than %d MB",
                      TM_ONNX_HELD_MAX >> 20);
  w->held += n + KEPT;
  return 0;
}

static void add_without_nul(struct tm_buf *out, const char *s, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (s[i])
      tm_buf_add_char(out, s[i]);
    else
      tm_buf_add_str(out, "\xef\xbf\xbd");
}

int tm_onnx_text(struct tm_onnx_walk *w, const struct tm_protobuf_field *f, char **out,
                 struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  int rc = tm_onnx_hold(w, f->len > TM_ONNX_HELD_MAX ? TM_ONNX_HELD_MAX : (size_t)f->len, err);
  if (rc == 0)
    rc = tm_protobuf_text(w->reader, f, TM_ONNX_HELD_MAX, &text, err);
  if (rc == 0) {
    struct tm_buf clean = TM_BUF_NONE;
    if (text.len > 0 && memchr(text.data, 0, text.len)) {
      add_without_nul(&clean, text.data, text.len);
      tm_buf_release(&text);
      text = clean;
    }
    free(*out);
    *out = text.len > 0 ? tm_buf_take(&text) : tm_xstrdup("");
  }
  tm_buf_release(&text);
  return rc;
}

int tm_onnx_once(struct tm_onnx_once *o, const struct tm_protobuf_field *f, struct tm_err *err)
{
  uint64_t bit = UINT64_C(1) << (f->number & 63);
  if (o->seen & bit)
    return tm_err_set(err, TM_EDAMAGE, "at byte %lld is a second field %u where one belongs",
                      (long long)f->at, f->number);
  o->seen |= bit;
  return 0;
}

int tm_onnx_deeper(struct tm_onnx_walk *w, struct tm_err *err)
{
  if (w->depth >= TM_ONNX_DEPTH_MAX)
    return tm_err_set(err, TM_ELIMIT, "it has graphs or types more than %d deep",
                      TM_ONNX_DEPTH_MAX);
  w->depth++;
  return 0;
}

struct tm_protobuf tm_onnx_inner(struct tm_onnx_walk *w, const struct tm_protobuf_field *f)
{
  return tm_protobuf_of(w->reader, f->at, f->len);
}

/* ---- small messages ---- */

/* { 1: key, 2: value } */
static int read_pair(struct tm_onnx_walk *w, const struct tm_protobuf_field *field,
                     struct tm_onnx_pair *out, struct tm_err *err)
{
  struct tm_protobuf m = tm_onnx_inner(w, field);
  struct tm_protobuf_field f;
  int rc;
  while ((rc = tm_protobuf_next(&m, &f, err)) > 0) {
    if (tm_protobuf_is(&f, 1, TM_PROTOBUF_BYTES))
      rc = tm_onnx_text(w, &f, &out->key, err);
    else if (tm_protobuf_is(&f, 2, TM_PROTOBUF_BYTES))
      rc = tm_onnx_text(w, &f, &out->value, err);
    if (rc < 0)
      return rc;
  }
  out->key = out->key ? out->key : tm_xstrdup("");
  out->value = out->value ? out->value : tm_xstrdup("");
  return rc;
}

static char *domain_name(const char *domain)
{
  return tm_xstrdup(domain && *domain ? domain : "ai.onnx");
}

/* { 1: domain, 2: version } */
static int read_opset(struct tm_onnx_walk *w, const struct tm_protobuf_field *field,
                      struct tm_onnx_opset *out, struct tm_err *err)
{
  struct tm_protobuf m = tm_onnx_inner(w, field);
  struct tm_protobuf_field f;
  char *domain = NULL;
  int rc;
  while ((rc = tm_protobuf_next(&m, &f, err)) > 0) {
    if (tm_protobuf_is(&f, 1, TM_PROTOBUF_BYTES))
      rc = tm_onnx_text(w, &f, &domain, err);
    else if (tm_protobuf_is(&f, 2, TM_PROTOBUF_VARINT))
      out->version = (int64_t)f.value;
    if (rc < 0)
      break;
  }
  out->domain = domain_name(domain);
  free(domain);
  return rc;
}

/* ---- nodes ---- */

static int read_graph(struct tm_onnx_walk *w, const struct tm_protobuf_field *field, bool is_main,
                      struct tm_err *err);

/* { 1: values, 2: indices }, both tensors */
static int read_sparse(struct tm_onnx_walk *w, const struct tm_protobuf_field *field, bool is_main,
                       struct tm_err *err)
{
  struct tm_protobuf m = tm_onnx_inner(w, field);
  struct tm_protobuf_field f;
  struct tm_onnx_once once = { 0 };
  int rc;
  while ((rc = tm_protobuf_next(&m, &f, err)) > 0) {
    if (f.kind != TM_PROTOBUF_BYTES || (f.number != 1 && f.number != 2))
      continue;
    if ((rc = tm_onnx_once(&once, &f, err)) < 0 ||
        (rc = tm_onnx_read_tensor(w, &f, is_main && f.number == 1, err)) < 0)
      return rc;
  }
  return rc;
}

static int read_attribute(struct tm_onnx_walk *w, const struct tm_protobuf_field *field,
                          struct tm_err *err)
{
  struct tm_protobuf m = tm_onnx_inner(w, field);
  struct tm_protobuf_field f;
  struct tm_onnx_once once = { 0 };
  int rc;
  while ((rc = tm_protobuf_next(&m, &f, err)) > 0) {
    bool is_one = f.number == 5 || f.number == 6 || f.number == 22;
    if (f.kind != TM_PROTOBUF_BYTES)
      continue;
    if (is_one && (rc = tm_onnx_once(&once, &f, err)) < 0)
      return rc;
    switch (f.number) {
    case 5:
    case 10: rc = tm_onnx_read_tensor(w, &f, false, err); break;
    case 6:
    case 11: rc = read_graph(w, &f, false, err); break;
    case 22:
    case 23: rc = read_sparse(w, &f, false, err); break;
    default: break;
    }
    if (rc < 0)
      return rc;
  }
  return rc;
}

struct node {
  struct tm_buf domain, type;
  struct tm_protobuf_field name, output; /* len 0: none */
};

static int count_operator(struct tm_onnx_walk *w, const struct node *n, struct tm_err *err)
{
  const char *domain = n->domain.len > 0 ? tm_buf_str(&n->domain) : "ai.onnx";
  struct tm_buf key = TM_BUF_NONE;
  bool is_new;
  int rc = 0;
  tm_buf_printf(&key, "%s\n%s", domain, tm_buf_str(&n->type));
  uint64_t *index = tm_map_add(&w->operators, key.data, key.len, &is_new);
  if (is_new) {
    *index = w->out->operators.len;
    struct tm_onnx_operator *o = TM_ARRAY_ADD(&w->out->operators);
    *o = (struct tm_onnx_operator) { .domain = tm_xstrdup(domain),
                                     .type = tm_xstrdup(tm_buf_str(&n->type)) };
    rc = tm_onnx_hold(w, 2 * key.len, err);
    if (rc == 0 && (n->name.len > 0 || n->output.len > 0))
      rc = tm_onnx_text(w, n->name.len > 0 ? &n->name : &n->output, &o->node, err);
    o->node = o->node ? o->node : tm_xstrdup("");
  }
  w->out->operators.at[*index].nodes++;
  tm_buf_release(&key);
  return rc;
}

static int read_operator_text(struct tm_onnx_walk *w, const struct tm_protobuf_field *f,
                              struct tm_buf *out, struct tm_err *err)
{
  tm_buf_clear(out);
  return tm_protobuf_text(w->reader, f, OPERATOR_MAX, out, err);
}

/* The name of a node is kept only if it is the first of its kind. */
static int read_node(struct tm_onnx_walk *w, const struct tm_protobuf_field *field,
                     struct tm_err *err)
{
  struct tm_protobuf m = tm_onnx_inner(w, field);
  struct tm_protobuf_field f;
  struct node n = { 0 };
  int rc = 1;
  while (rc >= 0 && (rc = tm_protobuf_next(&m, &f, err)) > 0) {
    if (tm_protobuf_is(&f, 2, TM_PROTOBUF_BYTES) && n.output.len == 0)
      n.output = f;
    else if (tm_protobuf_is(&f, 3, TM_PROTOBUF_BYTES))
      n.name = f;
    else if (tm_protobuf_is(&f, 4, TM_PROTOBUF_BYTES))
      rc = read_operator_text(w, &f, &n.type, err);
    else if (tm_protobuf_is(&f, 5, TM_PROTOBUF_BYTES))
      rc = read_attribute(w, &f, err);
    else if (tm_protobuf_is(&f, 7, TM_PROTOBUF_BYTES))
      rc = read_operator_text(w, &f, &n.domain, err);
  }
  if (rc == 0)
    rc = count_operator(w, &n, err);
  tm_buf_release(&n.domain);
  tm_buf_release(&n.type);
  return rc;
}

/* ---- graphs ---- */

static int add_value(struct tm_onnx_walk *w, const struct tm_protobuf_field *f, bool is_input,
                     struct tm_err *err)
{
  struct tm_onnx_value v = { 0 };
  int rc = tm_onnx_read_value(w, f, &v, err);
  if (rc < 0)
    tm_onnx_value_release(&v);
  else if (is_input)
    *TM_ARRAY_ADD(&w->out->inputs) = v;
  else
    *TM_ARRAY_ADD(&w->out->outputs) = v;
  return rc;
}

static int read_graph_field(struct tm_onnx_walk *w, const struct tm_protobuf_field *f, bool is_main,
                            struct tm_err *err)
{
  switch (f->number) {
  case 1: w->out->nodes++; return read_node(w, f, err);
  case 2: return is_main ? tm_onnx_text(w, f, &w->out->graph, err) : 0;
  case 5: return tm_onnx_read_tensor(w, f, is_main, err);
  case 11:
  case 12: return is_main ? add_value(w, f, f->number == 11, err) : 0;
  case 15: return read_sparse(w, f, is_main, err);
  default: return 0;
  }
}

static int read_graph(struct tm_onnx_walk *w, const struct tm_protobuf_field *field, bool is_main,
                      struct tm_err *err)
{
  struct tm_protobuf m = tm_onnx_inner(w, field);
  struct tm_protobuf_field f;
  int rc = tm_onnx_deeper(w, err);
  while (rc >= 0 && (rc = tm_protobuf_next(&m, &f, err)) > 0)
    if (f.kind == TM_PROTOBUF_BYTES)
      rc = read_graph_field(w, &f, is_main, err);
  w->depth--;
  return rc;
}

/* ---- the model ---- */

/* { 7: node, 10: domain, 11: attribute with a default } */
static int read_function(struct tm_onnx_walk *w, const struct tm_protobuf_field *field,
                         struct tm_err *err)
{
  struct tm_protobuf m = tm_onnx_inner(w, field);
  struct tm_protobuf_field f;
  char *domain = NULL;
  int rc;
  while ((rc = tm_protobuf_next(&m, &f, err)) > 0) {
    if (tm_protobuf_is(&f, 7, TM_PROTOBUF_BYTES))
      rc = read_node(w, &f, err);
    else if (tm_protobuf_is(&f, 10, TM_PROTOBUF_BYTES))
      rc = tm_onnx_text(w, &f, &domain, err);
    else if (tm_protobuf_is(&f, 11, TM_PROTOBUF_BYTES))
      rc = read_attribute(w, &f, err);
    if (rc < 0)
      break;
  }
  *TM_ARRAY_ADD(&w->out->functions) = (struct tm_onnx_opset) { .domain = domain_name(domain) };
  free(domain);
  return rc < 0 ? rc : tm_onnx_hold(w, 0, err);
}

/* { 1: graph, 2: graph } */
static int read_training(struct tm_onnx_walk *w, const struct tm_protobuf_field *field,
                         struct tm_err *err)
{
  struct tm_protobuf m = tm_onnx_inner(w, field);
  struct tm_protobuf_field f;
  int rc;
  while ((rc = tm_protobuf_next(&m, &f, err)) > 0)
    if (f.kind == TM_PROTOBUF_BYTES && (f.number == 1 || f.number == 2) &&
        (rc = read_graph(w, &f, false, err)) < 0)
      return rc;
  return rc;
}

static int add_opset(struct tm_onnx_walk *w, const struct tm_protobuf_field *f, struct tm_err *err)
{
  struct tm_onnx_opset o = { 0 };
  int rc = read_opset(w, f, &o, err);
  *TM_ARRAY_ADD(&w->out->opsets) = o;
  return rc < 0 ? rc : tm_onnx_hold(w, 0, err);
}

static int add_metadata(struct tm_onnx_walk *w, const struct tm_protobuf_field *f,
                        struct tm_err *err)
{
  struct tm_onnx_pair p = { 0 };
  int rc = read_pair(w, f, &p, err);
  *TM_ARRAY_ADD(&w->out->metadata) = p;
  return rc;
}

static int read_model_field(struct tm_onnx_walk *w, const struct tm_protobuf_field *f,
                            struct tm_onnx_once *once, struct tm_err *err)
{
  int rc;
  if (f->kind == TM_PROTOBUF_VARINT && f->number == 1)
    w->out->ir_version = (int64_t)f->value;
  if (f->kind == TM_PROTOBUF_VARINT && f->number == 5)
    w->out->model_version = (int64_t)f->value;
  if (f->kind != TM_PROTOBUF_BYTES)
    return 0;
  switch (f->number) {
  case 2: return tm_onnx_text(w, f, &w->out->producer, err);
  case 3: return tm_onnx_text(w, f, &w->out->producer_version, err);
  case 7: rc = tm_onnx_once(once, f, err); return rc < 0 ? rc : read_graph(w, f, true, err);
  case 8: return add_opset(w, f, err);
  case 14: return add_metadata(w, f, err);
  case 20: return read_training(w, f, err);
  case 25: return read_function(w, f, err);
  default: return 0;
  }
}

/* Inputs that are initializers have a value: users need not give them. */
static void drop_initializers(struct tm_onnx_walk *w)
{
  struct tm_onnx_file *o = w->out;
  size_t kept = 0;
  for (size_t i = 0; i < o->inputs.len; i++) {
    struct tm_onnx_value *v = &o->inputs.at[i];
    if (tm_map_find(&w->initializers, v->name, strlen(v->name)))
      tm_onnx_value_release(v);
    else
      o->inputs.at[kept++] = *v;
  }
  o->inputs.len = kept;
}

static void fill_texts(struct tm_onnx_file *o)
{
  char **texts[] = { &o->producer, &o->producer_version, &o->graph };
  for (size_t i = 0; i < TM_COUNT_OF(texts); i++)
    if (!*texts[i])
      *texts[i] = tm_xstrdup("");
}

static int read_model(struct tm_onnx_walk *w, struct tm_err *err)
{
  struct tm_protobuf m = tm_protobuf_of(w->reader, 0, w->reader->size);
  struct tm_protobuf_field f;
  struct tm_onnx_once once = { 0 };
  int rc;
  while ((rc = tm_protobuf_next(&m, &f, err)) > 0)
    if ((rc = read_model_field(w, &f, &once, err)) < 0)
      return rc;
  if (rc == 0 && once.seen == 0)
    return tm_err_set(err, TM_EDAMAGE, "it has no graph");
  if (rc == 0 && w->out->opsets.len == 0)
    return tm_err_set(err, TM_ENOINPUT, "its list of operator sets is missing");
  drop_initializers(w);
  return rc;
}

int tm_onnx_file_read_stream(struct tm_onnx_file *out, struct tm_stream *s, int64_t size,
                             struct tm_err *err)
{
  struct tm_protobuf_reader reader;
  struct tm_onnx_walk w = { .reader = &reader, .out = out };
  char head[TM_MODEL_KIND_HEAD];
  err = TM_ERR_OWN(err);
  *out = (struct tm_onnx_file) { .size = size };
  fill_texts(out);
  int64_t n = tm_stream_read(s, head, sizeof(head), 0, err);
  enum tm_model_kind kind = n < 0 ? TM_MODEL_KIND_UNKNOWN : tm_model_kind_of(head, (size_t)n, size);
  if (n < 0)
    return (int)n;
  if (kind != TM_MODEL_KIND_UNKNOWN)
    return tm_model_kind_refuse(kind, err);
  tm_protobuf_init(&reader, s, size);
  int rc = read_model(&w, err);
  tm_map_release(&w.initializers);
  tm_map_release(&w.operators);
  tm_map_release(&w.data_files);
  return rc == TM_EDAMAGE || rc == TM_ENOINPUT
             ? tm_model_kind_explain(head, (size_t)n, out->ir_version, err)
             : rc;
}

static int check_file(const struct tm_fs *fs, const char *path, struct tm_stat *st,
                      struct tm_err *err)
{
  int rc = fs->stat(fs->self, path, true, st);
  if (rc < 0)
    return tm_err_set(err, rc, "%s", tm_code_text(rc));
  if (S_ISDIR(st->mode))
    return tm_model_kind_refuse_folder(fs, path, err);
  if (!S_ISREG(st->mode))
    return tm_err_set(err, TM_EINPUT, "it is not a regular file");
  return 0;
}

int tm_onnx_file_read(struct tm_onnx_file *out, const struct tm_fs *fs, const char *path,
                      struct tm_err *err)
{
  struct tm_stat st;
  *out = (struct tm_onnx_file) { 0 };
  int rc = check_file(fs, path, &st, err);
  if (rc < 0)
    return rc;
  int fd = fs->open(fs->self, path, O_RDONLY, 0);
  if (fd < 0)
    return tm_err_set(err, fd, "%s", tm_code_text(fd));
  struct tm_stream *s = tm_stream_of_file(fs, fd, path, st.size);
  rc = tm_onnx_file_read_stream(out, s, st.size, err);
  tm_stream_close(s);
  return rc;
}

/* ---- release ---- */

static void release_opsets(struct tm_onnx_opset *at, size_t n)
{
  for (size_t i = 0; i < n; i++)
    free(at[i].domain);
  free(at);
}

void tm_onnx_file_release(struct tm_onnx_file *f)
{
  for (size_t i = 0; i < f->inputs.len; i++)
    tm_onnx_value_release(&f->inputs.at[i]);
  for (size_t i = 0; i < f->outputs.len; i++)
    tm_onnx_value_release(&f->outputs.at[i]);
  for (size_t i = 0; i < f->metadata.len; i++) {
    free(f->metadata.at[i].key);
    free(f->metadata.at[i].value);
  }
  for (size_t i = 0; i < f->data_files.len; i++) {
    free(f->data_files.at[i].location);
    free(f->data_files.at[i].tensor);
  }
  for (size_t i = 0; i < f->operators.len; i++) {
    free(f->operators.at[i].domain);
    free(f->operators.at[i].type);
    free(f->operators.at[i].node);
  }
  release_opsets(f->opsets.at, f->opsets.len);
  release_opsets(f->functions.at, f->functions.len);
  free(f->inputs.at);
  free(f->outputs.at);
  free(f->metadata.at);
  free(f->data_files.at);
  free(f->operators.at);
  free(f->producer);
  free(f->producer_version);
  free(f->graph);
  *f = (struct tm_onnx_file) { 0 };
}
