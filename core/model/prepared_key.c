/* prepared_key.c - see prepared_key.h. */
#include "model/prepared_key.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/path.h"

#define VERSION  "tidemill 2" /* another one for copies that are made in another way */
#define PIECE    ((size_t)1 << 20)
#define CPU_SIZE ((size_t)64 << 10) /* bytes of /proc/cpuinfo: its first processor, and more */

static void add_text(struct tm_hash *h, const char *text)
{
  tm_hash_add(h, text, strlen(text) + 1);
}

static void add_number(struct tm_hash *h, int64_t n)
{
  char text[24];

  snprintf(text, sizeof(text), "%" PRId64, n);
  add_text(h, text);
}

static int add_file(struct tm_hash *h, const struct tm_fs *fs, const char *path, char *piece,
                    const atomic_bool *is_stopped, struct tm_err *err)
{
  int64_t n, at = 0;
  int fd = tm_fs_open(fs, path, O_RDONLY, 0, err);

  if (fd < 0)
    return fd;
  do {
    n = atomic_load(is_stopped) ? tm_err_set(err, -ECANCELED, "interrupted")
                                : tm_fs_read_at(fs, fd, path, piece, PIECE, at, err);
    if (n > 0)
      tm_hash_add(h, piece, (size_t)n);
    at += n;
  } while (n == (int64_t)PIECE);
  tm_fs_close(fs, fd);
  add_number(h, at);
  return n < 0 ? (int)n : 0;
}

static int add_model(struct tm_hash *h, const struct tm_fs *fs, const char *path,
                     const struct tm_onnx_file *f, const atomic_bool *is_stopped,
                     struct tm_err *err)
{
  char *piece = tm_xmalloc(PIECE), *folder = tm_path_dir(path);
  int rc = add_file(h, fs, path, piece, is_stopped, err);

  for (size_t i = 0; i < f->data_files.len && rc == 0; i++) {
    char *data = tm_path_join(folder, f->data_files.at[i].location);
    add_text(h, f->data_files.at[i].location);
    rc = add_file(h, fs, data, piece, is_stopped, err);
    free(data);
  }
  free(piece);
  free(folder);
  return rc;
}

/* The line of flags; elsewhere than on Linux for x86 and ARM there is none. */
static void add_cpu(struct tm_hash *h, const struct tm_fs *fs)
{
  static const char *const keys[] = { "\nflags", "\nFeatures" };
  char *text = tm_xcalloc(CPU_SIZE + 1, 1);
  int fd = tm_fs_open(fs, "/proc/cpuinfo", O_RDONLY, 0, NULL);

  if (fd >= 0)
    (void)tm_fs_read_at(fs, fd, "/proc/cpuinfo", text, CPU_SIZE, 0, NULL);
  tm_fs_close(fs, fd);
  for (size_t i = 0; i < TM_COUNT_OF(keys); i++) {
    const char *line = strstr(text, keys[i]);
    tm_hash_add(h, line ? line + 1 : "", line ? strcspn(line + 1, "\n") : 0);
    add_text(h, "");
  }
  free(text);
}

int tm_prepared_key(char out[TM_PREPARED_KEY_SIZE], const struct tm_fs *fs, const char *path,
                    const struct tm_onnx_file *f, const char *version,
                    const struct tm_model_options *options, const atomic_bool *is_stopped,
                    struct tm_err *err)
{
  struct tm_hash *h = tm_hash_new();

  add_text(h, VERSION);
  add_text(h, version);
  add_number(h, options->optimization);
  add_number(h, (int64_t)options->config.len);
  for (size_t i = 0; i < options->config.len; i++) {
    add_text(h, options->config.at[i].name);
    add_text(h, options->config.at[i].value);
  }
  add_cpu(h, fs);
  int rc = add_model(h, fs, path, f, is_stopped, err);
  snprintf(out, TM_PREPARED_KEY_SIZE, "%016" PRIx64, tm_hash_end(h));
  tm_hash_free(h);
  return rc;
}
