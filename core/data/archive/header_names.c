/* header_names.c - see header_names.h. libarchive refuses or ignores headers that cannot be parsed
 * here. */
#include "data/archive/header_names.h"

#include <stdint.h>
#include <string.h>

#define BLOCK ((size_t)512)

/* Digits in this base, after blanks or tabs. */
static size_t number_of(const char *p, size_t n, unsigned base)
{
  size_t value = 0, i = 0;
  while (i < n && (p[i] == ' ' || p[i] == '\t'))
    i++;
  for (; i < n; i++) {
    unsigned digit = p[i] >= '0' && p[i] <= '9'   ? (unsigned)(p[i] - '0')
                     : p[i] >= 'a' && p[i] <= 'f' ? (unsigned)(p[i] - 'a') + 10
                     : p[i] >= 'A' && p[i] <= 'F' ? (unsigned)(p[i] - 'A') + 10
                                                  : base;
    if (digit >= base || value > SIZE_MAX / 16 - 16)
      break;
    value = value * base + digit;
  }
  return value;
}

/* Whether a text of n bytes, perhaps padded with NULs, continues after a NUL. */
static bool goes_on(const char *p, size_t n)
{
  const char *nul = memchr(p, '\0', n);
  for (; nul != NULL && nul < p + n; nul++)
    if (*nul != '\0')
      return true;
  return false;
}

/* ---- tar ---- */

static bool is_name(const char *key, size_t n)
{
  static const char *const keys[] = { "path", "linkpath", "GNU.sparse.name" };
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    size_t len = strlen(keys[i]);
    if (n > len && memcmp(key, keys[i], len) == 0 && (key[len] == '=' || key[len] == '\0'))
      return true;
  }
  return false;
}

/* Records: "<length> <key>=<value>\n". */
static bool pax_hides_name(const char *p, size_t n)
{
  while (n > 0) {
    const char *blank = memchr(p, ' ', n);
    size_t len = number_of(p, n, 10), head = blank ? (size_t)(blank - p) + 1 : n;
    if (len <= head || len > n)
      return false;
    if (is_name(p + head, len - head) && memchr(p + head, '\0', len - head) != NULL)
      return true;
    p += len;
    n -= len;
  }
  return false;
}

/* The size of a header's body, also as a 64-bit binary number. */
static size_t body_size(const char *header)
{
  const unsigned char *p = (const unsigned char *)header + 124;
  size_t value = 0;
  if (!(p[0] & 0x80))
    return number_of(header + 124, 12, 8);
  for (int i = 4; i < 12; i++)
    value = value << 8 | p[i];
  return value;
}

bool tm_tar_hides_name(const char *p, size_t n)
{
  while (n >= BLOCK) {
    char type = p[156];
    size_t size = type == 'V' ? 0 : body_size(p), room = n - BLOCK;
    if (type == '\0' || strchr("xXgLKAV", type) == NULL || size > room)
      return false; /* the entry's own header */
    if ((type == 'x' || type == 'X') && pax_hides_name(p + BLOCK, size))
      return true;
    if ((type == 'L' || type == 'K') && goes_on(p + BLOCK, size))
      return true;
    size = (size + BLOCK - 1) / BLOCK * BLOCK;
    p += BLOCK + (size < room ? size : room);
    n = room - (size < room ? size : room);
  }
  return false;
}

/* ---- cpio ---- */

/* S_ISDIR(), for the mode in archives. */
static bool is_folder(size_t mode)
{
  return (mode & 0170000) == 0040000;
}

void tm_cpio_ease_folder(char *p, size_t n)
{
  unsigned char *u = (unsigned char *)p;
  if (n >= 110 && (memcmp(p, "070701", 6) == 0 || memcmp(p, "070702", 6) == 0)) {
    if (is_folder(number_of(p + 14, 8, 16)))
      memcpy(p + 38, "00000001", 8);
  } else if (n >= 76 && memcmp(p, "070707", 6) == 0) {
    if (is_folder(number_of(p + 18, 6, 8)))
      memcpy(p + 36, "000001", 6);
  } else if (n >= 26 && u[0] == 0xc7 && u[1] == 0x71) {
    if (is_folder(u[6] | (size_t)u[7] << 8))
      memcpy(p + 12, "\1\0", 2);
  } else if (n >= 26 && u[0] == 0x71 && u[1] == 0xc7) {
    if (is_folder(u[7] | (size_t)u[6] << 8))
      memcpy(p + 12, "\0\1", 2);
  }
}

bool tm_cpio_hides_name(const char *p, size_t n)
{
  const unsigned char *u = (const unsigned char *)p;
  size_t head = 0, name = 0;
  if (n >= 110 && (memcmp(p, "070701", 6) == 0 || memcmp(p, "070702", 6) == 0)) {
    head = 110;
    name = number_of(p + 94, 8, 16);
  } else if (n >= 76 && memcmp(p, "070707", 6) == 0) {
    head = 76;
    name = number_of(p + 59, 6, 8);
  } else if (n >= 26 && u[0] == 0xc7 && u[1] == 0x71) {
    head = 26;
    name = u[20] | (size_t)u[21] << 8;
  } else if (n >= 26 && u[0] == 0x71 && u[1] == 0xc7) {
    head = 26;
    name = u[21] | (size_t)u[20] << 8;
  }
  return head > 0 && goes_on(p + head, name < n - head ? name : n - head);
}
