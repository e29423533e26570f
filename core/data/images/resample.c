/* resample.c - the two passes, and the kernel that works number by number: it defines the results
 * of the other, and is the only one on other machines. */
#include "data/images/resample.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/images/alpha.h"
#include "data/images/resample_own.h"

struct tm_resample {
  const struct tm_resample_kernel *kernel;
  struct tm_weights columns, rows;
  int32_t in_width, channels;
  bool columns_reversed, rows_reversed, rows_first, has_alpha;

  int32_t at, step, rows_left; /* number of the next row, 1 or -1, and how many come */
  int32_t out_at, out_left;    /* the same for the result */

  /* The last rows: number i at i % ring_rows. With rows_first, as they were put in; else after the
   * first pass. */
  uint8_t *ring;
  int32_t ring_rows;
  size_t ring_stride;
  const uint8_t **window; /* the rows below an output row */
  uint8_t *between;       /* with rows_first: the row after the first pass */
};

static inline uint8_t to_byte(uint32_t sum)
{
  int32_t value = (int32_t)(sum + (1U << (TM_WEIGHT_BITS - 1))) >> TM_WEIGHT_BITS;
  return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)value;
}

/* Unsigned, so that what overflows wraps in every kernel. */
static inline uint32_t times(uint8_t pixel, int16_t high, int16_t low)
{
  return pixel * (((uint32_t)(int32_t)high << TM_WEIGHT_LOW) + (uint32_t)low);
}

static void plain_across(const struct tm_weights *w, const uint8_t *row, int32_t channels,
                         uint8_t *out)
{
  for (int32_t i = 0; i < w->count; i++) {
    const int16_t *high = tm_weights_of(w, i), *low = high + w->stride;
    const uint8_t *p = row + (size_t)w->windows[i].from * (size_t)channels;
    for (int32_t c = 0; c < channels; c++) {
      uint32_t sum = 0;
      for (int32_t x = 0; x < w->windows[i].n; x++)
        sum += times(p[(size_t)x * (size_t)channels + (size_t)c], high[x], low[x]);
      *out++ = to_byte(sum);
    }
  }
}

static void plain_down(const uint8_t *const *rows, int32_t n, const int16_t *high,
                       const int16_t *low, size_t bytes, uint8_t *out)
{
  for (size_t x = 0; x < bytes; x++) {
    uint32_t sum = 0;
    for (int32_t y = 0; y < n; y++)
      sum += times(rows[y][x], high[y], low[y]);
    out[x] = to_byte(sum);
  }
}

static const struct tm_resample_kernel plain_kernel = { plain_across, plain_down };

static const struct tm_resample_kernel *find_kernel(enum tm_resample_kind kind)
{
  bool has_avx2 = false;
#if defined(__x86_64__)
  has_avx2 = __builtin_cpu_supports("avx2") && tm_resample_kernel_avx2() != NULL;
#endif
  if (kind == TM_RESAMPLE_AVX2 || (kind == TM_RESAMPLE_BEST && has_avx2))
    return has_avx2 ? tm_resample_kernel_avx2() : NULL;
  return &plain_kernel;
}

/* The most rows that lie below one row of the result. */
static int32_t window_rows(const struct tm_weights *w)
{
  int32_t most = 1;
  for (int32_t i = 0; i < w->count; i++)
    most = w->windows[i].n > most ? w->windows[i].n : most;
  return most;
}

static double ring_row_bytes(const struct tm_resample_options *o)
{
  double pixels = o->rows_first ? o->columns.size : o->columns.count;
  return pixels * o->channels + TM_RESAMPLE_PADDING;
}

static int check_memory(const struct tm_resample_options *o, struct tm_err *err)
{
  double reach = tm_weights_reach(&o->rows, o->filter);
  double need = (double)o->decoding + tm_weights_bytes(&o->columns, o->filter) +
                tm_weights_bytes(&o->rows, o->filter) +
                (reach + 1) * (ring_row_bytes(o) + sizeof(uint8_t *));
  if (need <= (double)o->max_memory)
    return 0;
  struct tm_buf text = TM_BUF_NONE;
  tm_text_bytes(&text, need < 9e18 ? (int64_t)need : INT64_MAX);
  tm_buf_add_str(&text, " of memory; 'max_memory' is ");
  tm_text_bytes(&text, o->max_memory);
  int rc = tm_err_set(err, TM_ELIMIT, "%sresizing it takes %s",
                      o->decoding > 0 ? "decoding and " : "", tm_buf_str(&text));
  tm_buf_release(&text);
  return rc;
}

/* Pillow copies a picture whose size does not change, and so leaves its colours alone. */
static bool changes_alpha(const struct tm_resample_options *o)
{
  return o->channels == 4 && o->filter != TM_FILTER_NEAREST &&
         !(tm_weights_are_copy(&o->columns) && tm_weights_are_copy(&o->rows));
}

static void set_order(struct tm_resample *r, const struct tm_resample_options *o)
{
  r->columns_reversed = o->columns.is_reversed;
  r->rows_reversed = o->rows.is_reversed;
  r->step = r->rows_reversed ? -1 : 1;
  r->at = r->rows_reversed ? o->rows.size - 1 : 0;
  r->rows_left = o->rows.size;
  r->out_at = r->rows_reversed ? o->rows.count - 1 : 0;
  r->out_left = o->rows.count;
}

int tm_resample_open(struct tm_resample **out, const struct tm_resample_options *o,
                     struct tm_err *err)
{
  const struct tm_resample_kernel *kernel = find_kernel(o->kind);
  *out = NULL;
  if (kernel == NULL)
    return TM_EUSAGE;
  int rc = check_memory(o, err);
  if (rc < 0)
    return rc;
  struct tm_resample *r = *out = TM_NEW(struct tm_resample);
  r->kernel = kernel;
  tm_weights_init(&r->columns, &o->columns, o->filter);
  tm_weights_init(&r->rows, &o->rows, o->filter);
  r->in_width = o->columns.size;
  r->channels = o->channels;
  r->rows_first = o->rows_first;
  r->has_alpha = changes_alpha(o);
  set_order(r, o);
  r->ring_rows = window_rows(&r->rows);
  r->ring_stride = (size_t)ring_row_bytes(o);
  r->ring = tm_xcalloc((size_t)r->ring_rows, r->ring_stride);
  r->window = tm_xcalloc((size_t)r->ring_rows + 1, sizeof *r->window);
  r->between = r->rows_first ? tm_xcalloc(1, r->ring_stride) : NULL;
  return 0;
}

void tm_resample_close(struct tm_resample *r)
{
  if (r == NULL)
    return;
  tm_weights_release(&r->columns);
  tm_weights_release(&r->rows);
  free(r->ring);
  free(r->window);
  free(r->between);
  free(r);
}

static void reverse_pixels(uint8_t *row, size_t width, size_t channels)
{
  for (size_t left = 0, right = width - 1; left < right; left++, right--) {
    uint8_t kept[4];
    memcpy(kept, row + left * channels, channels);
    memmove(row + left * channels, row + right * channels, channels);
    memcpy(row + right * channels, kept, channels);
  }
}

static void copy_pixels(const struct tm_weights *w, const uint8_t *row, size_t channels,
                        uint8_t *out)
{
  for (int32_t i = 0; i < w->count; i++, out += channels)
    memcpy(out, row + (size_t)w->windows[i].from * channels, channels);
}

static void pass_across(const struct tm_resample *r, const uint8_t *row, uint8_t *out)
{
  if (r->columns.are_one)
    copy_pixels(&r->columns, row, (size_t)r->channels, out);
  else
    r->kernel->across(&r->columns, row, r->channels, out);
}

static bool is_needed(const struct tm_resample *r)
{
  if (r->out_left == 0)
    return false;
  struct tm_window next = r->rows.windows[r->out_at];
  return r->rows_reversed ? r->at < next.from + next.n : r->at >= next.from;
}

void tm_resample_put(struct tm_resample *r, uint8_t *row)
{
  uint8_t *kept = r->ring + (size_t)(r->at % r->ring_rows) * r->ring_stride;
  size_t width = (size_t)r->in_width;
  if (is_needed(r)) {
    if (r->columns_reversed)
      reverse_pixels(row, width, (size_t)r->channels);
    if (r->has_alpha)
      tm_alpha_multiply(row, width);
    if (r->rows_first)
      memcpy(kept, row, width * (size_t)r->channels);
    else
      pass_across(r, row, kept);
  }
  r->at += r->step;
  r->rows_left--;
}

/* Whether all rows of the window have been put in: the next one to come lies behind it. */
static bool is_complete(const struct tm_resample *r, struct tm_window w)
{
  return r->rows_reversed ? r->at < w.from : r->at >= w.from + w.n;
}

static void pass_down(struct tm_resample *r, struct tm_window w, size_t bytes, uint8_t *out)
{
  for (int32_t i = 0; i <= w.n; i++) {
    int32_t row = w.from + (i < w.n ? i : w.n - 1);
    r->window[i] = r->ring + (size_t)(row % r->ring_rows) * r->ring_stride;
  }
  const int16_t *high = tm_weights_of(&r->rows, r->out_at);
  if (r->rows.are_one)
    memcpy(out, r->window[0], bytes);
  else
    r->kernel->down(r->window, w.n, high, high + r->rows.stride, bytes, out);
}

bool tm_resample_take(struct tm_resample *r, uint8_t *out)
{
  if (r->out_left == 0)
    return false;
  struct tm_window w = r->rows.windows[r->out_at];
  if (!is_complete(r, w))
    return false;
  size_t channels = (size_t)r->channels;
  if (r->rows_first) {
    pass_down(r, w, (size_t)r->in_width * channels, r->between);
    pass_across(r, r->between, out);
  } else {
    pass_down(r, w, (size_t)r->columns.count * channels, out);
  }
  if (r->has_alpha)
    tm_alpha_divide(out, (size_t)r->columns.count);
  r->out_at += r->step;
  r->out_left--;
  return true;
}
