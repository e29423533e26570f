/* bench_inference.c - programs in C over the same libraries, for inference.sh to compare.
 *
 *   bench_inference images LIST MODEL OUT WORKERS RESIZE CROP    the paths in LIST, to scores
 *   bench_inference rows TABLE MODEL OUT WORKERS                 the rows of a CSV file, to labels
 *   bench_inference start TIMES PROGRAM...                       how long `PROGRAM version` takes
 *
 * The work is that of images.lua and rows.lua. A worker is a process with one thread, and takes the
 * next piece when it has finished one. A picture goes row by row from libjpeg through our resample
 * into the tensor. A row of numbers is read by a parser for nothing else. ONNX Runtime is the
 * library that TIDEMILL_ONNXRUNTIME names. Nothing is checked that cannot happen in a benchmark.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <jpeglib.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"
#include "data/images/resample.h"
#include "data/tensor/tensor.h"
#include "data/tensor/tensor_types.h"
#include "model/ort_api.h"

enum { AT_ONCE = 8, COLUMNS = 10, PIECE = 1 << 20 };

/* ---- ONNX Runtime ---- */

struct model {
  struct tm_ort api;
  struct tm_ort_session *session;
  struct tm_ort_memory *cpu;
};

static void check(const struct model *m, struct tm_ort_status *status)
{
  if (status) {
    fprintf(stderr, "bench_inference: %s\n", tm_ort_error_message(&m->api)(status));
    exit(1);
  }
}

static void open_library(struct model *m)
{
  setenv("ORT_DISABLE_TELEMETRY", "1", 0);
  const char *path = getenv("TIDEMILL_ONNXRUNTIME");
  void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  const struct tm_ort_base *(*base)(void) = NULL;
  if (library)
    *(void **)&base = dlsym(library, "OrtGetApiBase");
  tm_require(base);
  m->api = (struct tm_ort) { .table = base()->table(TM_ORT_OLDEST), .minor = TM_ORT_OLDEST };
}

static void ignore_log(void *data, int level, const char *category, const char *id,
                       const char *place, const char *message)
{
  (void)data, (void)level, (void)category, (void)id, (void)place, (void)message;
}

/* One thread that does not spin, as each of several workers of tidemill has it. */
static void open_model(struct model *m, const char *path)
{
  struct tm_ort_options *options;
  struct tm_ort_env *env;
  open_library(m);
  check(m, tm_ort_make_env(&m->api)(ignore_log, NULL, TM_ORT_WARNING, "bench", &env));
  check(m, tm_ort_make_options(&m->api)(&options));
  check(m, tm_ort_set_intra_threads(&m->api)(options, 1));
  check(m, tm_ort_set_inter_threads(&m->api)(options, 1));
  check(m, tm_ort_make_session(&m->api)(env, path, options, &m->session));
  check(m, tm_ort_cpu_memory(&m->api)(TM_ORT_DEVICE_ALLOCATOR, TM_ORT_MEMORY_DEFAULT, &m->cpu));
}

/* Runs the model with one input and returns one output; its data are at *data. */
static struct tm_ort_value *run_model(struct model *m, const struct tm_tensor *input,
                                      const char *input_name, const char *output_name, void **data)
{
  struct tm_ort_value *in, *out = NULL;
  check(m, tm_ort_make_tensor_over(&m->api)(
               m->cpu, input->data, (size_t)tm_tensor_count(input) * sizeof(float), input->shape,
               (size_t)input->rank, TM_TENSOR_FLOAT32, &in));
  check(m, tm_ort_run(&m->api)(m->session, NULL, &input_name,
                               (const struct tm_ort_value *const *)&in, 1, &output_name, 1, &out));
  check(m, tm_ort_tensor_data(&m->api)(out, data));
  tm_ort_release_value (&m->api)(in);
  return out;
}

/* ---- workers ---- */

struct work {
  const char *model;
  int out;      /* every worker appends whole pieces */
  char **paths; /* of images */
  size_t paths_len;
  int resize, crop;
  const char *rows; /* of a table, behind its header */
  size_t rows_len;
  atomic_size_t *next; /* shared: the first image, or byte, that no worker has taken */
};

static void write_all(int fd, struct tm_buf *rows)
{
  tm_require(write(fd, rows->data, rows->len) == (ssize_t)rows->len);
  tm_buf_clear(rows);
}

static int run_workers(struct work *w, int n, void (*run)(struct work *))
{
  int status, failed = 0;
  w->next = mmap(NULL, sizeof *w->next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  tm_require(w->next != MAP_FAILED && w->out >= 0);
  for (int i = 0; i < n; i++) {
    pid_t pid = fork();
    tm_require(pid >= 0);
    if (pid == 0) {
      run(w);
      _exit(0);
    }
  }
  while (wait(&status) > 0)
    failed |= status != 0;
  return failed;
}

/* ---- images ---- */

struct scorer {
  const struct work *w;
  float table[3][256]; /* what a value of a channel becomes */
  uint8_t *row, *out;  /* of a picture, and of the result */
  size_t row_len;
  struct tm_buf rows;
};

static void fill_table(float table[3][256])
{
  static const float mean[] = { 0.485F, 0.456F, 0.406F }, std[] = { 0.229F, 0.224F, 0.225F };
  for (int c = 0; c < 3; c++) {
    for (int i = 0; i < 256; i++)
      table[c][i] = ((float)i * (float)(1 / 255.0) - mean[c]) / std[c];
  }
}

/* `size` pixels become `out`, of which the middle is made. */
static struct tm_resample_axis middle(int size, int shorter, const struct work *w)
{
  int out = (int)((int64_t)size * w->resize / shorter);
  return (struct tm_resample_axis) { .size = size,
                                     .to = (float)size,
                                     .out = out,
                                     .first = (int)rint((out - w->crop) / 2.0),
                                     .count = w->crop };
}

static struct tm_resample *open_resample(int width, int height, const struct work *w)
{
  struct tm_resample *r;
  struct tm_err err;
  int shorter = width < height ? width : height;
  struct tm_resample_options o = { .columns = middle(width, shorter, w),
                                   .rows = middle(height, shorter, w),
                                   .channels = 3,
                                   .filter = TM_FILTER_BILINEAR,
                                   .max_memory = 1 << 30 };
  tm_require(tm_resample_open(&r, &o, &err) == 0);
  return r;
}

static void write_pixels(const struct scorer *s, float *plane, int y)
{
  size_t crop = (size_t)s->w->crop;
  for (size_t c = 0; c < 3; c++) {
    float *to = plane + (c * crop + (size_t)y) * crop;
    for (size_t x = 0; x < crop; x++)
      to[x] = s->table[c][s->out[3 * x + c]];
  }
}

static void read_image(struct scorer *s, const char *path, float *to)
{
  struct jpeg_decompress_struct jpeg;
  struct jpeg_error_mgr errors;
  FILE *file = fopen(path, "rb");
  tm_require(file);
  jpeg.err = jpeg_std_error(&errors); /* which ends the program */
  jpeg_create_decompress(&jpeg);
  jpeg_stdio_src(&jpeg, file);
  jpeg_read_header(&jpeg, TRUE);
  jpeg.out_color_space = JCS_RGB;
  jpeg_start_decompress(&jpeg);
  size_t len = (size_t)jpeg.output_width * 3 + TM_RESAMPLE_PADDING;
  if (len > s->row_len) {
    s->row = tm_xrealloc(s->row, len);
    s->row_len = len;
  }
  struct tm_resample *r = open_resample((int)jpeg.output_width, (int)jpeg.output_height, s->w);
  for (int y = 0; jpeg.output_scanline < jpeg.output_height;) {
    jpeg_read_scanlines(&jpeg, &s->row, 1);
    tm_resample_put(r, s->row);
    while (tm_resample_take(r, s->out))
      write_pixels(s, to, y++);
  }
  tm_resample_close(r);
  jpeg_finish_decompress(&jpeg);
  jpeg_destroy_decompress(&jpeg);
  fclose(file);
}

static void add_scores(struct scorer *s, const char *path, const float *scores, size_t classes)
{
  size_t best = 0;
  for (size_t i = 1; i < classes; i++)
    best = scores[i] > scores[best] ? i : best;
  tm_buf_printf(&s->rows, "%s: %zu %.3f\n", strrchr(path, '/') + 1, best, (double)scores[best]);
}

static void score_images(struct work *w)
{
  struct model m;
  struct scorer s = { .w = w };
  void *data;
  size_t elements = 3 * (size_t)w->crop * (size_t)w->crop, first;
  float *batch = aligned_alloc(64, AT_ONCE * elements * sizeof *batch);
  s.out = tm_xmalloc((size_t)w->crop * 3 + TM_RESAMPLE_PADDING);
  fill_table(s.table);
  open_model(&m, w->model);
  while ((first = atomic_fetch_add(w->next, AT_ONCE)) < w->paths_len) {
    size_t n = w->paths_len - first < AT_ONCE ? w->paths_len - first : AT_ONCE;
    for (size_t i = 0; i < n; i++)
      read_image(&s, w->paths[first + i], batch + i * elements);
    struct tm_tensor t = { .data = batch,
                           .rank = 4,
                           .type = TM_TENSOR_FLOAT32,
                           .shape = { (int64_t)n, 3, w->crop, w->crop } };
    struct tm_ort_value *out = run_model(&m, &t, "image", "scores", &data);
    for (size_t i = 0; i < n; i++)
      add_scores(&s, w->paths[first + i], (const float *)data + i * 1000, 1000);
    tm_ort_release_value (&m.api)(out);
    write_all(w->out, &s.rows);
  }
}

static void read_list(struct work *w, const char *path)
{
  FILE *file = fopen(path, "r");
  char *line = NULL;
  size_t cap = 0;
  ssize_t len;
  tm_require(file);
  while ((len = getline(&line, &cap, file)) > 0) {
    line[len - 1] = '\0';
    w->paths = tm_xrealloc(w->paths, (w->paths_len + 1) * sizeof *w->paths);
    w->paths[w->paths_len++] = tm_xstrdup(line);
  }
  free(line);
  fclose(file);
}

/* ---- rows ---- */

struct table_piece {
  struct tm_buf rows;
  float *values; /* COLUMNS for each row */
  int64_t *ids;
  size_t len, cap;
};

/* Returns what is behind the number and its separator. */
static const char *read_number(const char *p, double *out)
{
  static const double powers[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9 };
  bool is_negative = *p == '-';
  int64_t n = 0;
  int decimals = 0;
  p += is_negative;
  for (; *p >= '0' && *p <= '9'; p++)
    n = n * 10 + (*p - '0');
  if (*p == '.') {
    for (p++; *p >= '0' && *p <= '9'; p++, decimals++)
      n = n * 10 + (*p - '0');
  }
  *out = (double)(is_negative ? -n : n) / powers[decimals];
  return p + 1;
}

static void read_rows(struct table_piece *t, const char *p, const char *end)
{
  double value;
  for (t->len = 0; p < end; t->len++) {
    if (t->len == t->cap) {
      t->cap = t->cap ? t->cap * 2 : 1024;
      t->values = tm_xrealloc(t->values, t->cap * COLUMNS * sizeof *t->values);
      t->ids = tm_xrealloc(t->ids, t->cap * sizeof *t->ids);
    }
    p = read_number(p, &value);
    t->ids[t->len] = (int64_t)value;
    for (size_t i = 0; i < COLUMNS; i++) {
      p = read_number(p, &value);
      t->values[t->len * COLUMNS + i] = (float)value;
    }
  }
}

/* The first row that begins at `at` or behind it. */
static const char *row_at(const struct work *w, size_t at)
{
  const char *end = w->rows + w->rows_len;
  if (at == 0 || at >= w->rows_len)
    return at == 0 ? w->rows : end;
  const char *line = memchr(w->rows + at - 1, '\n', w->rows_len - at + 1);
  return line ? line + 1 : end;
}

static void score_rows(struct work *w)
{
  struct model m;
  struct table_piece piece = { 0 };
  void *data;
  size_t at;
  open_model(&m, w->model);
  while ((at = atomic_fetch_add(w->next, PIECE)) < w->rows_len) {
    read_rows(&piece, row_at(w, at), row_at(w, at + PIECE));
    struct tm_tensor t = { .data = piece.values,
                           .rank = 2,
                           .type = TM_TENSOR_FLOAT32,
                           .shape = { (int64_t)piece.len, COLUMNS } };
    struct tm_ort_value *out = run_model(&m, &t, "features", "label", &data);
    for (size_t i = 0; i < piece.len; i++) {
      tm_buf_add_int(&piece.rows, piece.ids[i]);
      tm_buf_add_char(&piece.rows, ',');
      tm_buf_add_int(&piece.rows, ((const int64_t *)data)[i]);
      tm_buf_add_char(&piece.rows, '\n');
    }
    tm_ort_release_value (&m.api)(out);
    write_all(w->out, &piece.rows);
  }
}

static void map_table(struct work *w, const char *path)
{
  struct stat st;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  tm_require(fd >= 0 && fstat(fd, &st) == 0);
  const char *all = mmap(NULL, (size_t)st.st_size + 1, PROT_READ, MAP_PRIVATE, fd, 0);
  tm_require(all != MAP_FAILED);
  w->rows = strchr(all, '\n') + 1;
  w->rows_len = (size_t)st.st_size - (size_t)(w->rows - all);
}

/* ---- the start of a process ---- */

static double run_once(const char *program)
{
  char *arguments[] = { (char *)program, "version", NULL }, *environment[] = { NULL };
  posix_spawn_file_actions_t actions;
  struct timespec from, to;
  pid_t pid;
  int status;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  clock_gettime(CLOCK_MONOTONIC, &from);
  tm_require(posix_spawn(&pid, program, &actions, NULL, arguments, environment) == 0);
  tm_require(waitpid(pid, &status, 0) == pid && status == 0);
  clock_gettime(CLOCK_MONOTONIC, &to);
  posix_spawn_file_actions_destroy(&actions);
  return (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) * 1e-6;
}

static int compare_times(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* The programs take turns. Prints the shortest time and the median of each, in milliseconds. */
static int measure_starts(size_t times, char **programs, size_t n)
{
  double *all = tm_xmalloc(times * n * sizeof *all);
  for (size_t i = 0; i < times * n; i++)
    all[i % n * times + i / n] = run_once(programs[i % n]);
  for (size_t i = 0; i < n; i++) {
    qsort(all + i * times, times, sizeof *all, compare_times);
    printf("%.3f %.3f\n", all[i * times], all[i * times + times / 2]);
  }
  free(all);
  return 0;
}

int main(int argc, char **argv)
{
  struct work w = { 0 };
  const char *what = argc > 3 ? argv[1] : "";
  if (strcmp(what, "start") == 0)
    return measure_starts((size_t)atol(argv[2]), argv + 3, (size_t)argc - 3);
  bool is_images = strcmp(what, "images") == 0 && argc == 8;
  if (!is_images && (strcmp(what, "rows") != 0 || argc != 6)) {
    fprintf(stderr, "usage: see the head of tests/bench/bench_inference.c\n");
    return 2;
  }
  w.model = argv[3];
  w.out = open(argv[4], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  if (is_images) {
    w.resize = atoi(argv[6]);
    w.crop = atoi(argv[7]);
    read_list(&w, argv[2]);
  } else {
    map_table(&w, argv[2]);
  }
  return run_workers(&w, atoi(argv[5]), is_images ? score_images : score_rows);
}
