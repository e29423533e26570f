/* webp_codes.c - see webp_codes.h; "WebP Lossless Bitstream" (RFC 9649) describes the format.
 *
 *  (1) Behind the end of the bytes all bits are 0, and `is_cut` is set. Each loop ends then.
 */
#include "data/images/webp_codes.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

enum {
  GREEN,
  RED,
  BLUE,
  ALPHA,
  DISTANCE,
  CODES,
  LITERALS = 256,
  LENGTHS = 24, /* of copies: symbols behind the literals; then come those of the cache */
  DISTANCES = 40,
  CACHE_BITS_MAX = 11,
  SYMBOLS_MAX = LITERALS + LENGTHS + (1 << CACHE_BITS_MAX),
  BITS_MAX = 15,        /* of a symbol */
  LENGTH_SYMBOLS = 19,  /* in which the lengths of a code are coded */
  NEAR_DISTANCES = 120, /* which name a pixel above or to the left */
  GROUPS_MAX = 1 << 16,
  MAPPED_GROUPS = 1000 /* with more, libwebp keeps those alone that are used */
};

struct code {
  uint16_t count[BITS_MAX + 1];  /* symbols with a length */
  uint16_t symbols[SYMBOLS_MAX]; /* by length, then in their order */
  int32_t used;
};

struct reader {
  const uint8_t *data;
  size_t len, at; /* bytes; the next bit */
  bool is_cut;
  uint8_t lengths[SYMBOLS_MAX];
  struct code codes[CODES];
  uint32_t cache[1 << CACHE_BITS_MAX];
};

static uint32_t peek(const struct reader *r)
{
  size_t byte = r->at / 8;
  uint64_t bits = 0;
  for (size_t i = 0; i < 5 && byte + i < r->len; i++)
    bits |= (uint64_t)r->data[byte + i] << 8 * i;
  return (uint32_t)(bits >> r->at % 8);
}

static void skip(struct reader *r, uint32_t n)
{
  r->at += n;
  r->is_cut = r->is_cut || r->at > r->len * 8;
}

/* Up to 24 bits, the lowest first. */
static uint32_t take(struct reader *r, uint32_t n)
{
  uint32_t bits = peek(r) & ((1U << n) - 1);
  skip(r, n);
  return bits;
}

/* ---- codes ---- */

/* From the lengths of n symbols. False: no code has these. */
static bool build(struct code *c, const uint8_t *lengths, int32_t n)
{
  uint16_t next[BITS_MAX + 2] = { 0 };
  int32_t left = 1;
  memset(c->count, 0, sizeof c->count);
  for (int32_t i = 0; i < n; i++)
    c->count[lengths[i]]++;
  c->used = n - c->count[0];
  c->count[0] = 0;
  for (int i = 1; i <= BITS_MAX; i++) {
    left = 2 * left - c->count[i];
    if (left < 0)
      return false;
    next[i + 1] = (uint16_t)(next[i] + c->count[i]);
  }
  for (int32_t i = 0; i < n; i++)
    if (lengths[i] > 0)
      c->symbols[next[lengths[i]]++] = (uint16_t)i;
  return c->used == 1 || (c->used > 1 && left == 0);
}

static uint32_t read_symbol(struct reader *r, const struct code *c)
{
  uint32_t bits = peek(r), value = 0, first = 0, index = 0;
  for (uint32_t n = 1; c->used > 1 && n <= BITS_MAX; n++, bits >>= 1) {
    value = value << 1 | (bits & 1);
    if (value - first < c->count[n]) {
      skip(r, n);
      return c->symbols[index + value - first];
    }
    index += c->count[n];
    first = (first + c->count[n]) << 1;
  }
  return c->symbols[0]; /* the only one, which takes no bits */
}

/* The lengths of n symbols: runs of equal ones, themselves in a code. */
static bool read_lengths(struct reader *r, const struct code *c, int32_t n)
{
  static const uint8_t bits[] = { 2, 3, 7 }, least[] = { 3, 3, 11 };
  uint32_t left = (uint32_t)n;
  uint8_t last = 8;
  if (take(r, 1)) {
    left = take(r, 2 + 2 * take(r, 3)) + 2;
    if (left > (uint32_t)n)
      return false;
  }
  for (int32_t i = 0; i < n && left > 0; left--) {
    uint32_t symbol = read_symbol(r, c);
    if (symbol < 16) {
      r->lengths[i++] = (uint8_t)symbol;
      last = symbol > 0 ? (uint8_t)symbol : last;
      continue;
    }
    int32_t times = (int32_t)take(r, bits[symbol - 16]) + least[symbol - 16];
    if (times > n - i)
      return false;
    memset(r->lengths + i, symbol == 16 ? last : 0, (size_t)times);
    i += times;
  }
  return true;
}

static bool read_code(struct reader *r, struct code *c, int32_t n)
{
  static const uint8_t order[LENGTH_SYMBOLS] = { 17, 18, 0, 1,  2,  3,  4,  5,  16, 6,
                                                 7,  8,  9, 10, 11, 12, 13, 14, 15 };
  uint8_t lengths[LENGTH_SYMBOLS] = { 0 };
  memset(r->lengths, 0, sizeof r->lengths);
  if (take(r, 1)) { /* one symbol or two */
    bool has_second = take(r, 1), is_wide = take(r, 1);
    r->lengths[take(r, is_wide ? 8 : 1)] = 1;
    if (has_second)
      r->lengths[take(r, 8)] = 1;
    return build(c, r->lengths, n);
  }
  uint32_t coded = take(r, 4) + 4;
  for (uint32_t i = 0; i < coded; i++)
    lengths[order[i]] = (uint8_t)take(r, 3);
  return build(c, lengths, LENGTH_SYMBOLS) && read_lengths(r, c, n) && build(c, r->lengths, n);
}

static bool read_group(struct reader *r, uint32_t cache_bits)
{
  int32_t greens = LITERALS + LENGTHS + (cache_bits > 0 ? 1 << cache_bits : 0);
  for (int i = 0; i < CODES; i++)
    if (!read_code(r, &r->codes[i], i == GREEN ? greens : i == DISTANCE ? DISTANCES : LITERALS))
      return false;
  return !r->is_cut;
}

/* ---- images before the pixels ---- */

/* Of a length, or of a distance. */
static uint32_t read_number(struct reader *r, uint32_t symbol)
{
  if (symbol < 4)
    return symbol + 1;
  uint32_t bits = (symbol - 2) / 2;
  return ((2 + symbol % 2) << bits) + take(r, bits) + 1;
}

/* How many pixels before this one. */
static int64_t distance_of(uint32_t number, int32_t width)
{
  static const uint8_t near[NEAR_DISTANCES] = {
    0x18, 0x07, 0x17, 0x19, 0x28, 0x06, 0x27, 0x29, 0x16, 0x1a, 0x26, 0x2a, 0x38, 0x05, 0x37,
    0x39, 0x15, 0x1b, 0x36, 0x3a, 0x25, 0x2b, 0x48, 0x04, 0x47, 0x49, 0x14, 0x1c, 0x35, 0x3b,
    0x46, 0x4a, 0x24, 0x2c, 0x58, 0x45, 0x4b, 0x34, 0x3c, 0x03, 0x57, 0x59, 0x13, 0x1d, 0x56,
    0x5a, 0x23, 0x2d, 0x44, 0x4c, 0x55, 0x5b, 0x33, 0x3d, 0x68, 0x02, 0x67, 0x69, 0x12, 0x1e,
    0x66, 0x6a, 0x22, 0x2e, 0x54, 0x5c, 0x43, 0x4d, 0x65, 0x6b, 0x32, 0x3e, 0x78, 0x01, 0x77,
    0x79, 0x53, 0x5d, 0x11, 0x1f, 0x64, 0x6c, 0x42, 0x4e, 0x76, 0x7a, 0x21, 0x2f, 0x75, 0x7b,
    0x31, 0x3f, 0x63, 0x6d, 0x52, 0x5e, 0x00, 0x74, 0x7c, 0x41, 0x4f, 0x10, 0x20, 0x62, 0x6e,
    0x30, 0x73, 0x7d, 0x51, 0x5f, 0x40, 0x72, 0x7e, 0x61, 0x6f, 0x50, 0x71, 0x7f, 0x60, 0x70,
  };
  if (number > NEAR_DISTANCES)
    return (int64_t)number - NEAR_DISTANCES;
  uint8_t of = near[number - 1];
  int64_t pixels = (int64_t)(of >> 4) * width + 8 - (of & 15);
  return pixels < 1 ? 1 : pixels;
}

static void keep(struct reader *r, uint32_t cache_bits, uint32_t *out, uint32_t pixel)
{
  *out = pixel;
  if (cache_bits > 0)
    r->cache[0x1e35a7bdU * pixel >> (32 - cache_bits)] = pixel;
}

/* Copies pixels that came before. Returns how many; 0: there are not as many. */
static int64_t copy(struct reader *r, uint32_t cache_bits, uint32_t symbol, int32_t width,
                    uint32_t *out, int64_t at, int64_t n)
{
  int64_t len = read_number(r, symbol - LITERALS);
  uint32_t number = read_number(r, read_symbol(r, &r->codes[DISTANCE]));
  int64_t back = distance_of(number, width);
  if (len > n - at || back > at)
    return 0;
  for (int64_t i = at; i < at + len; i++)
    keep(r, cache_bits, &out[i], out[i - back]);
  return len;
}

static bool read_pixels(struct reader *r, uint32_t cache_bits, int32_t width, uint32_t *out,
                        int64_t n)
{
  for (int64_t at = 0; at < n && !r->is_cut;) {
    uint32_t symbol = read_symbol(r, &r->codes[GREEN]);
    if (symbol >= LITERALS && symbol < LITERALS + LENGTHS) {
      int64_t copied = copy(r, cache_bits, symbol, width, out, at, n);
      if (copied == 0)
        return false;
      at += copied;
      continue;
    }
    uint32_t pixel = symbol < LITERALS ? symbol << 8 : r->cache[symbol - LITERALS - LENGTHS];
    if (symbol < LITERALS) {
      pixel |= read_symbol(r, &r->codes[RED]) << 16;
      pixel |= read_symbol(r, &r->codes[BLUE]);
      pixel |= read_symbol(r, &r->codes[ALPHA]) << 24;
    }
    keep(r, cache_bits, &out[at++], pixel);
  }
  return !r->is_cut;
}

static bool read_cache_bits(struct reader *r, uint32_t *bits)
{
  *bits = take(r, 1) ? take(r, 4) : 0;
  return *bits <= CACHE_BITS_MAX;
}

static int32_t parts_of(int32_t pixels, uint32_t bits)
{
  return (pixels + (1 << bits) - 1) >> bits;
}

/* Its pixels, to free(); NULL: it is cut or damaged. Adds their bytes to `memory`. */
static uint32_t *read_image(struct reader *r, int32_t width, int32_t height, int64_t *memory)
{
  uint32_t cache_bits;
  int64_t n = (int64_t)width * height;
  if (!read_cache_bits(r, &cache_bits) || !read_group(r, cache_bits))
    return NULL;
  uint32_t *pixels = tm_xcalloc((size_t)n, sizeof *pixels);
  memset(r->cache, 0, sizeof r->cache);
  *memory += n * (int64_t)sizeof *pixels;
  if (read_pixels(r, cache_bits, width, pixels, n))
    return pixels;
  free(pixels);
  return NULL;
}

/* What was done to the pixels: each may have an image. A palette may make the width smaller. */
static bool read_transforms(struct reader *r, int32_t *width, int32_t height, int64_t *memory)
{
  enum { PREDICTOR, COLOURS, SUBTRACT_GREEN, PALETTE };
  for (uint32_t seen = 0; take(r, 1);) {
    uint32_t kind = take(r, 2), *pixels;
    if (seen & 1U << kind)
      return false;
    seen |= 1U << kind;
    if (kind == SUBTRACT_GREEN)
      continue;
    if (kind == PALETTE) {
      int32_t colours = (int32_t)take(r, 8) + 1;
      pixels = read_image(r, colours, 1, memory);
      *width = parts_of(*width, colours > 16 ? 0 : colours > 4 ? 1 : colours > 2 ? 2 : 3);
    } else {
      uint32_t bits = take(r, 3) + 2;
      pixels = read_image(r, parts_of(*width, bits), parts_of(height, bits), memory);
    }
    if (pixels == NULL)
      return false;
    free(pixels);
  }
  return true;
}

/* ---- groups ---- */

/* The groups up to the last that the image of parts names. *kept: how many libwebp keeps. */
static int32_t count_groups(const uint32_t *parts, int64_t n, int64_t pixels, int32_t *kept)
{
  uint8_t *is_used = tm_xcalloc(GROUPS_MAX, 1);
  int32_t groups = 0, used = 0;
  for (int64_t i = 0; i < n; i++) {
    int32_t group = (int32_t)(parts[i] >> 8 & 0xffff);
    used += !is_used[group];
    is_used[group] = 1;
    groups = group >= groups ? group + 1 : groups;
  }
  free(is_used);
  *kept = groups > MAPPED_GROUPS || groups > pixels ? used : groups;
  return groups;
}

/* libwebp's tables for one group, at their largest, and its struct. */
static int64_t group_bytes(uint32_t cache_bits)
{
  static const int16_t greens[] = { 654, 656, 658, 662, 670, 686, 718, 782, 912, 1168, 1680, 2704 };
  return (3 * 630 + 410 + greens[cache_bits]) * 4 + 600;
}

static bool read_all(struct reader *r, int32_t width, int32_t height, struct tm_webp_codes *out)
{
  uint32_t cache_bits;
  int32_t kept = 1;
  if (!read_transforms(r, &width, height, &out->memory) || !read_cache_bits(r, &cache_bits))
    return false;
  out->groups = 1;
  if (take(r, 1)) {
    uint32_t bits = take(r, 3) + 2;
    int32_t across = parts_of(width, bits), down = parts_of(height, bits);
    uint32_t *parts = read_image(r, across, down, &out->memory);
    if (parts == NULL)
      return false;
    out->groups = count_groups(parts, (int64_t)across * down, (int64_t)width * height, &kept);
    free(parts);
  }
  out->memory += kept * group_bytes(cache_bits) + out->groups * (int64_t)sizeof(int);
  return !r->is_cut;
}

struct tm_webp_codes tm_webp_codes(const uint8_t *data, size_t len, int32_t width, int32_t height)
{
  struct tm_webp_codes codes = { 0 };
  struct reader *r = TM_NEW(struct reader);
  r->data = data;
  r->len = len;
  if (!read_all(r, width, height, &codes))
    codes = (struct tm_webp_codes) { 0 };
  free(r);
  return codes;
}
