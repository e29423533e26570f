/* pnm.c - the six kinds of PBM, PGM and PPM, read as Pillow reads them.
 *
 *   P1 P2 P3   as text: black and white, grey, colours
 *   P4 P5 P6   the same in bytes
 *
 * Values from 0 to the maximum of the file become 0 to 255, rounded to even. Grey of more than 8
 * bits keeps its high byte (Pillow has such pictures as numbers of 32 bits).
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "data/images/image_own.h"

enum { MOST_DIGITS = 10, MOST_VALUE = 65535 };

struct pnm_header {
  char kind; /* '1' to '6' */
  int32_t width, height, channels;
  int32_t max;
  size_t at; /* of the pixels */
};

struct pnm {
  struct tm_image_decoder d;
  struct pnm_header h;
  size_t at;
  bool is_cut;
  uint8_t *values; /* the byte for each value of the file; NULL: the same */
};

static bool is_blank(uint8_t c)
{
  return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_comment(const struct tm_image_source *s, size_t *at)
{
  while (*at < s->len && s->data[*at] != '\n' && s->data[*at] != '\r')
    ++*at;
  *at += *at < s->len;
}

/* Reads a number and the blank behind it. A comment may be anywhere, also among the digits. -1: the
 * file ends, -2: not a number. */
static int64_t read_number(const struct tm_image_source *s, size_t *at)
{
  int64_t n = 0;
  int digits = 0;
  while (*at < s->len) {
    uint8_t c = s->data[(*at)++];
    if (c == '#') {
      skip_comment(s, at);
    } else if (is_blank(c)) {
      if (digits > 0)
        return n;
    } else if (c < '0' || c > '9' || digits == MOST_DIGITS) {
      return -2;
    } else {
      n = 10 * n + (c - '0');
      digits++;
    }
  }
  return digits > 0 ? n : -1;
}

static int read_field(const struct tm_image_source *s, size_t *at, const char *what, int64_t most,
                      int32_t *out, struct tm_err *err)
{
  int64_t n = read_number(s, at);
  if (n == -1)
    return tm_image_refuse_cut_header(s, err);
  if (n < 1 || n > most)
    return tm_image_refuse(s, err, TM_EDAMAGE, "the %s of the PNM is not a number from 1 to %lld",
                           what, (long long)most);
  *out = (int32_t)n;
  return 0;
}

static int read_header(const struct tm_image_source *s, struct pnm_header *h, struct tm_err *err)
{
  *h = (struct pnm_header) { .kind = (char)s->data[1], .max = 1, .at = 2 };
  bool is_bits = h->kind == '1' || h->kind == '4';
  h->channels = h->kind == '3' || h->kind == '6' ? 3 : 1;
  int rc = read_field(s, &h->at, "width", INT32_MAX, &h->width, err);
  if (rc == 0)
    rc = read_field(s, &h->at, "height", INT32_MAX, &h->height, err);
  if (rc == 0 && !is_bits)
    rc = read_field(s, &h->at, "maximum", MOST_VALUE, &h->max, err);
  return rc;
}

static int pnm_info(const struct tm_image_source *source, struct tm_image_info *info,
                    struct tm_err *err)
{
  struct pnm_header h;
  int rc = read_header(source, &h, err);
  if (rc != 0)
    return rc;
  *info = (struct tm_image_info) { TM_IMAGE_PNM, h.width, h.height, h.channels, 1, 1 };
  while (h.max >> info->bits > 0)
    info->bits++;
  return 0;
}

static uint8_t *values_of(const struct pnm_header *h)
{
  if (h->max == 1 && (h->kind == '1' || h->kind == '4'))
    return NULL;
  bool is_high_byte = h->max > 255 && h->channels == 1;
  uint8_t *values = tm_xmalloc(MOST_VALUE + 1);
  memset(values, 255, MOST_VALUE + 1); /* larger ones: white */
  for (int32_t i = 0; i <= h->max; i++) {
    double v = nearbyint((double)i / h->max * (is_high_byte ? MOST_VALUE : 255));
    values[i] = (uint8_t)(is_high_byte ? (int)v >> 8 : (int)v);
  }
  return values;
}

static int pnm_open(struct tm_image_decoder *d, struct tm_err *err)
{
  struct pnm *p = (struct pnm *)d;
  int rc = read_header(&d->source, &p->h, err);
  if (rc == 0)
    rc = tm_image_check_memory(d, (int64_t)p->h.width * p->h.channels + MOST_VALUE + 1, "a PNM",
                               err);
  if (rc != 0)
    return rc;
  p->at = p->h.at;
  p->values = values_of(&p->h);
  d->pixels.layout = p->h.channels == 3 ? TM_PIXELS_RGB : TM_PIXELS_GREY;
  return 0;
}

static bool read_bits(struct pnm *p, uint8_t *row)
{
  size_t bytes = ((size_t)p->h.width + 7) / 8;
  if (p->d.source.len - p->at < bytes)
    return false;
  const uint8_t *from = p->d.source.data + p->at;
  for (int32_t i = 0; i < p->h.width; i++)
    row[i] = from[i >> 3] >> (7 - (i & 7)) & 1 ? 0 : 255;
  p->at += bytes;
  return true;
}

static bool read_bytes(struct pnm *p, uint8_t *row)
{
  size_t n = (size_t)p->h.width * (size_t)p->h.channels, each = p->h.max > 255 ? 2 : 1;
  if (p->d.source.len - p->at < n * each)
    return false;
  const uint8_t *from = p->d.source.data + p->at;
  for (size_t i = 0; i < n; i++)
    row[i] = p->values[each == 1 ? from[i] : from[2 * i] << 8 | from[2 * i + 1]];
  p->at += n * each;
  return true;
}

/* One digit for each pixel, with or without blanks. 0: read, -1: the file ends, -2: another one. */
static int read_digits(struct pnm *p, uint8_t *row)
{
  const struct tm_image_source *s = &p->d.source;
  for (int32_t i = 0; i < p->h.width;) {
    if (p->at == s->len)
      return -1;
    uint8_t c = s->data[p->at++];
    if (c == '#')
      skip_comment(s, &p->at);
    else if (c == '0' || c == '1')
      row[i++] = c == '1' ? 0 : 255;
    else if (!is_blank(c))
      return -2;
  }
  return 0;
}

static int read_numbers(struct pnm *p, uint8_t *row)
{
  size_t n = (size_t)p->h.width * (size_t)p->h.channels;
  for (size_t i = 0; i < n; i++) {
    int64_t value = read_number(&p->d.source, &p->at);
    if (value < 0 || value > p->h.max)
      return value == -1 ? -1 : -2;
    row[i] = p->values[value];
  }
  return 0;
}

static int read_row(struct pnm *p, uint8_t *row)
{
  switch (p->h.kind) {
  case '1': return read_digits(p, row);
  case '2':
  case '3': return read_numbers(p, row);
  case '4': return read_bits(p, row) ? 0 : -1;
  default: return read_bytes(p, row) ? 0 : -1;
  }
}

static int pnm_next(struct tm_image_decoder *d, uint8_t *row, struct tm_err *err)
{
  struct pnm *p = (struct pnm *)d;
  int rc = p->is_cut ? -1 : read_row(p, row);
  if (rc == -2)
    return tm_image_refuse(&d->source, err, TM_EDAMAGE,
                           "row %d of the PNM has a value that is not a number from 0 to %d",
                           (int)d->row + 1, (int)p->h.max);
  if (rc == -1 && !d->options.fills_missing)
    return tm_image_refuse_cut(d, err);
  if (rc == -1) {
    p->is_cut = true;
    memset(row, 0, (size_t)p->h.width * (size_t)p->h.channels);
  }
  return 0;
}

static void pnm_close(struct tm_image_decoder *d)
{
  free(((struct pnm *)d)->values);
}

const struct tm_image_format_ops tm_image_pnm = { sizeof(struct pnm), pnm_info, pnm_open, pnm_next,
                                                  pnm_close };
