/* input_record.c - see input_record.h. */
#include "record/input_record.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "data/splitter.h"

#define MAGIC     "TMINPUTS"
#define VERSION   1
#define HEAD      (8 + 4 + 4 + 8 * 3)
#define FILE_MAX  ((size_t)512 << 20) /* bytes */
#define HAS_FILES 1
#define BY_BYTES  2

void tm_input_record_init(struct tm_input_record *r, const struct tm_fs *fs,
                          const struct tm_dataset *const *inputs, bool by_content)
{
  *r = (struct tm_input_record) {
    .fs = fs,
    .inputs = inputs,
    .sum = { .is_listed = true, .has_contents = by_content, .max = TM_INPUT_RECORD_MAX }
  };
  r->before = r->sum;
}

void tm_input_record_release(struct tm_input_record *r)
{
  tm_identity_release(&r->sum);
}

/* The files of the current input will be listed again. */
static void begin_again(struct tm_input_record *r)
{
  tm_require(r->sum.files >= r->before.files && r->sum.bytes >= r->before.bytes);
  r->sum.files = r->before.files;
  r->sum.bytes = r->before.bytes;
  r->sum.hash = r->before.hash;
  while (r->sum.list.len > r->before.list.len)
    free(r->sum.list.at[--r->sum.list.len].path);
}

int tm_input_record_add(struct tm_input_record *r, uint32_t input, const struct tm_item *file,
                        struct tm_err *err)
{
  if (r->inputs[input]->is_placed) /* its originals are recorded elsewhere */
    return 0;
  tm_require(input >= r->at);
  if (input != r->at) {
    r->at = input;
    r->before = r->sum;
  }
  if (!file) {
    begin_again(r);
    return 0;
  }
  return tm_identity_count_of(&r->sum, r->fs, r->inputs[input], file, err);
}

/* On the disk. */

int tm_input_record_write(const struct tm_fs *fs, const char *path, const struct tm_identity *sum,
                          struct tm_err *err)
{
  struct tm_buf out = TM_BUF_NONE;
  int rc;
  tm_require(!sum->is_listed || sum->list.len == (size_t)sum->files);
  tm_buf_add(&out, MAGIC, 8);
  tm_buf_add_u32(&out, VERSION);
  tm_buf_add_u32(&out, (sum->is_listed ? HAS_FILES : 0) | (sum->has_contents ? BY_BYTES : 0));
  tm_buf_add_u64(&out, (uint64_t)sum->files);
  tm_buf_add_u64(&out, (uint64_t)sum->bytes);
  tm_buf_add_u64(&out, sum->hash);
  for (size_t i = 0; i < sum->list.len; i++) {
    const struct tm_identity_file *f = &sum->list.at[i];
    tm_item_add(&out, &(struct tm_item) { .path = f->path,
                                          .path_len = strlen(f->path),
                                          .size = f->size,
                                          .mtime_ns = f->mtime_ns });
  }
  tm_buf_add_u64(&out, tm_hash64(out.data, out.len));
  rc = tm_fs_write_file(fs, path, out.data, out.len, 0600, err);
  tm_buf_release(&out);
  return rc;
}

static int refuse(struct tm_err *err, const char *path)
{
  return tm_err_set(err, TM_EDAMAGE, "'%s' is damaged", path);
}

static int decode(struct tm_identity *out, const struct tm_buf *text, const char *path,
                  struct tm_err *err)
{
  struct tm_reader r;
  struct tm_item item;
  uint32_t version, flags;
  if (text->len < HEAD + 8 || memcmp(text->data, MAGIC, 8) != 0 ||
      tm_get_u64(text->data + text->len - 8) != tm_hash64(text->data, text->len - 8))
    return refuse(err, path);
  tm_reader_init(&r, text->data + 8, text->len - 16);
  if ((version = tm_read_u32(&r)) != VERSION)
    return tm_err_set(err, TM_EVERSION, "'%s' is of version %u; this tidemill reads version %d",
                      path, version, VERSION);
  flags = tm_read_u32(&r);
  out->files = (int64_t)tm_read_u64(&r);
  out->bytes = (int64_t)tm_read_u64(&r);
  out->hash = tm_read_u64(&r);
  out->is_listed = flags & HAS_FILES;
  out->has_contents = flags & BY_BYTES;
  while (tm_item_next(&r, &item))
    tm_identity_add(out, item.path, item.path_len, item.size, item.mtime_ns);
  return r.bad || (out->is_listed && out->list.len != (size_t)out->files) ? refuse(err, path) : 0;
}

int tm_input_record_read(struct tm_identity *out, const struct tm_fs *fs, const char *path,
                         struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  int rc = tm_fs_read_file(fs, path, FILE_MAX, &text, err);
  *out = (struct tm_identity) { .files = 0 };
  if (rc >= 0)
    rc = decode(out, &text, path, err);
  tm_buf_release(&text);
  return rc;
}

int tm_input_record_sum(int64_t *files, int64_t *bytes, const struct tm_fs *fs, const char *path,
                        struct tm_err *err)
{
  char head[HEAD];
  int fd = fs->open(fs->self, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
  if (fd < 0)
    return tm_err_set(err, fd, "cannot open '%s'", path);
  int64_t n = fs->pread(fs->self, fd, head, sizeof(head), 0);
  (void)fs->close(fs->self, fd);
  if (n < (int64_t)sizeof(head) || memcmp(head, MAGIC, 8) != 0)
    return refuse(err, path);
  if (tm_get_u32(head + 8) != VERSION)
    return tm_err_set(err, TM_EVERSION, "'%s' is of version %u; this tidemill reads version %d",
                      path, tm_get_u32(head + 8), VERSION);
  *files = (int64_t)tm_get_u64(head + 16);
  *bytes = (int64_t)tm_get_u64(head + 24);
  return *files < 0 || *bytes < 0 ? refuse(err, path) : 0;
}

/* Listing. */

struct listing {
  struct tm_identity *out;
  const struct tm_fs *fs;
  const struct tm_dataset *d;
  const atomic_bool *stop;
};

static int on_file(void *data, uint32_t input, const struct tm_item *file, struct tm_err *err)
{
  struct listing *l = data;
  if (l->stop && atomic_load(l->stop))
    return tm_err_set(err, -ECANCELED, "the listing was stopped");
  return tm_identity_count_of(l->out, l->fs, l->d, file, err);
}

/* For tables and archives, lists the files themselves, without reading or splitting them. */
int tm_input_record_list(struct tm_identity *out, const struct tm_fs *fs,
                         const struct tm_dataset *d, const atomic_bool *stop, struct tm_err *err)
{
  struct tm_dataset files = *d;
  const struct tm_dataset *input = &files;
  struct listing l = { .out = out, .fs = fs, .d = d, .stop = stop };
  struct tm_splitter_options o = { .fs = fs,
                                   .inputs = &input,
                                   .inputs_len = 1,
                                   .mini_batch_size = 1000,
                                   .on_file = on_file,
                                   .data = &l };
  struct tm_mini_batch mb = { 0 };
  struct tm_splitter *splitter;
  int rc;
  if (tm_dataset_is_table(d) || d->kind == TM_DATASET_ARCHIVES) {
    files.kind = TM_DATASET_FILES;
    files.limit = 0; /* counts rows or entries, not files */
  }
  files.table = NULL;
  files.archives = NULL;
  files.partition_format = NULL;
  splitter = tm_splitter_open(&o);
  while ((rc = tm_splitter_next(splitter, &mb, err)) > 0)
    ;
  tm_buf_release(&mb.bytes);
  tm_splitter_close(splitter);
  return rc;
}
