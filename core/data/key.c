/* key.c - see key.h. Bytes to read may be hostile: they come from a file or a frame. */
#include "data/key.h"

#include <inttypes.h>
#include <math.h>

#include "base/check.h"
#include "base/json.h"
#include "base/text.h"
#include "base/time.h"

#define KEYS_MAX  0xffffffu /* bytes of a record: its length has 24 bits beside the type */
#define SECOND_US INT64_C(1000000)
#define DAY_US    (86400 * SECOND_US)
#define VALUE_MAX 200 /* bytes shown in messages */

static void add_value(struct tm_buf *out, const struct tm_key *k)
{
  char bytes[8];
  uint64_t bits = (uint64_t)k->integer;
  switch (k->type) {
  case TM_KEY_NULL: tm_buf_add_u32(out, 0); return;
  case TM_KEY_STRING: tm_buf_add_bytes32(out, k->string.at, k->string.len); return;
  case TM_KEY_BOOL: bytes[0] = k->integer != 0; break;
  case TM_KEY_DOUBLE: memcpy(&bits, &k->number, sizeof(bits)); /* fall through */
  case TM_KEY_LONG:
  case TM_KEY_DATETIME: tm_put_u64(bytes, bits); break;
  }
  tm_buf_add_bytes32(out, bytes, k->type == TM_KEY_BOOL ? 1 : 8);
}

void tm_keys_add(struct tm_buf *out, const struct tm_key *keys, size_t n)
{
  size_t begin = out->len;
  tm_buf_add_u32(out, 0); /* filled below */
  for (size_t i = 0; i < n; i++) {
    tm_buf_add_bytes32(out, keys[i].name, keys[i].name_len);
    tm_buf_add_u32(out, keys[i].type);
    add_value(out, &keys[i]);
  }
  size_t len = out->len - begin - 4;
  tm_require(len <= KEYS_MAX);
  tm_put_u32(out->data + begin, TM_KEYS_RECORD << 24 | (uint32_t)len);
}

bool tm_keys_find(const char *bytes, size_t len, struct tm_reader *out)
{
  uint32_t head = len >= 4 ? tm_get_u32(bytes) : 0;
  size_t n = head & KEYS_MAX;
  if (head >> 24 != TM_KEYS_RECORD || n > len - 4)
    return false;
  tm_reader_init(out, bytes + 4, n);
  return true;
}

static bool read_value(struct tm_key *k, const char *p, size_t n)
{
  uint64_t bits;
  switch (k->type) {
  case TM_KEY_NULL: k->integer = 0; return n == 0;
  case TM_KEY_STRING:
    k->string.at = p;
    k->string.len = n;
    return p != NULL;
  case TM_KEY_BOOL: k->integer = n == 1 && p[0] == 1; return n == 1 && (p[0] == 0 || p[0] == 1);
  case TM_KEY_LONG:
  case TM_KEY_DATETIME:
  case TM_KEY_DOUBLE:
    if (n != 8)
      return false;
    bits = tm_get_u64(p);
    if (k->type == TM_KEY_DOUBLE)
      memcpy(&k->number, &bits, sizeof(bits));
    else
      k->integer = (int64_t)bits;
    return true;
  }
  return false;
}

bool tm_key_next(struct tm_reader *r, struct tm_key *out)
{
  size_t n = 0;
  if (r->bad || r->at == r->end)
    return false;
  out->name = tm_read_bytes32(r, &out->name_len);
  uint32_t type = tm_read_u32(r);
  const char *value = tm_read_bytes32(r, &n);
  out->type = type <= TM_KEY_STRING ? (enum tm_key_type)type : TM_KEY_NULL;
  if (type > TM_KEY_STRING || r->bad || !read_value(out, value, n))
    r->bad = true;
  return !r->bad;
}

static void add_big_endian(struct tm_buf *out, uint64_t v)
{
  unsigned char bytes[8];
  for (int i = 0; i < 8; i++)
    bytes[i] = (unsigned char)(v >> (56 - 8 * i));
  tm_buf_add(out, bytes, sizeof(bytes));
}

/* -0 equals 0, and all NaNs are equal. */
static uint64_t order_of_double(double v)
{
  uint64_t bits;
  if (isnan(v))
    return UINT64_MAX;
  if (v == 0)
    v = 0;
  memcpy(&bits, &v, sizeof(bits));
  return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

void tm_key_add_order(struct tm_buf *out, const struct tm_key *key)
{
  tm_buf_add_char(out, (char)key->type);
  switch (key->type) {
  case TM_KEY_NULL: break;
  case TM_KEY_BOOL: tm_buf_add_char(out, (char)key->integer); break;
  case TM_KEY_LONG:
  case TM_KEY_DATETIME: add_big_endian(out, (uint64_t)key->integer ^ UINT64_C(1) << 63); break;
  case TM_KEY_DOUBLE: add_big_endian(out, order_of_double(key->number)); break;
  /* 0 within as 0 1, and 0 0 at the end: no encoded string is a prefix of another */
  case TM_KEY_STRING:
    for (size_t i = 0; i < key->string.len; i++) {
      tm_buf_add_char(out, key->string.at[i]);
      if (key->string.at[i] == 0)
        tm_buf_add_char(out, 1);
    }
    tm_buf_add(out, "\0", 2);
    break;
  }
}

static void describe_datetime(struct tm_buf *out, int64_t us)
{
  struct tm_buf iso = TM_BUF_NONE;
  if (us > INT64_MAX / 1000 || us < INT64_MIN / 1000) {
    tm_buf_add_int(out, us);
    return;
  }
  tm_time_iso(&iso, us * 1000); /* 2026-01-31T23:59:58.123456Z */
  if (us % DAY_US == 0)
    tm_buf_add(out, iso.data, 10);
  else if (us % SECOND_US == 0)
    tm_buf_add(out, iso.data, 19);
  else
    tm_buf_add(out, iso.data, iso.len);
  tm_buf_release(&iso);
}

void tm_key_describe(struct tm_buf *out, const struct tm_key *key)
{
  switch (key->type) {
  case TM_KEY_NULL: tm_buf_add_str(out, "null"); break;
  case TM_KEY_BOOL: tm_buf_add_str(out, key->integer ? "true" : "false"); break;
  case TM_KEY_LONG: tm_buf_add_int(out, key->integer); break;
  case TM_KEY_DATETIME: describe_datetime(out, key->integer); break;
  case TM_KEY_DOUBLE:
    if (isfinite(key->number))
      tm_json_write_number(out, key->number);
    else
      tm_buf_add_str(out, isnan(key->number) ? "nan" : key->number > 0 ? "inf" : "-inf");
    break;
  case TM_KEY_STRING: tm_text_one_line(out, key->string.at, key->string.len, VALUE_MAX); break;
  }
}

void tm_keys_describe(struct tm_buf *out, struct tm_reader r)
{
  struct tm_key key;
  for (bool is_first = true; tm_key_next(&r, &key); is_first = false) {
    tm_buf_add_str(out, is_first ? "" : ", ");
    tm_text_one_line(out, key.name, key.name_len, VALUE_MAX);
    tm_buf_add_char(out, '=');
    tm_key_describe(out, &key);
  }
}
