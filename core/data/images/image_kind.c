/* image_kind.c - what kind of file some bytes are, by the first of them. */
#include "data/images/image_kind.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

static const char how_to_convert[] = "convert it to JPEG, PNG, WebP or PNM";
static const char how_to_look[] = "the download may have failed; look into the file";

struct mark {
  uint8_t at, len;
  const char *bytes, *kind, *hint;
};

#define MARK(at, bytes, kind, hint)                                                                \
  {                                                                                                \
    at, sizeof(bytes) - 1, bytes, kind, hint                                                       \
  }

static const struct mark marks[] = {
  MARK(0, "GIF8", "a GIF file", how_to_convert),
  MARK(0, "II*\0", "a TIFF file", how_to_convert),
  MARK(0, "MM\0*", "a TIFF file", how_to_convert),
  MARK(0, "II+\0", "a TIFF file", how_to_convert),
  MARK(0, "MM\0+", "a TIFF file", how_to_convert),
  MARK(0, "BM", "a BMP file", how_to_convert),
  MARK(4, "ftypavif", "an AVIF file", how_to_convert),
  MARK(4, "ftypavis", "an AVIF file", how_to_convert),
  MARK(4, "ftyphei", "a HEIC file", how_to_convert),
  MARK(4, "ftyphev", "a HEIC file", how_to_convert),
  MARK(4, "ftypmif1", "a HEIC file", how_to_convert),
  MARK(4, "ftypmsf1", "a HEIC file", how_to_convert),
  MARK(4, "ftyp", "a video file", "take its pictures out of it first"),
  MARK(0, "\0\0\0\x0cjP  ", "a JPEG 2000 file", how_to_convert),
  MARK(0, "\xff\x4f\xff\x51", "a JPEG 2000 file", how_to_convert),
  MARK(0, "\0\0\0\x0cJXL ", "a JPEG XL file", how_to_convert),
  MARK(0, "\xff\x0a", "a JPEG XL file", how_to_convert),
  MARK(0, "\0\0\1\0", "an ICO file", how_to_convert),
  MARK(0, "8BPS", "a Photoshop file", how_to_convert),
  MARK(0, "%PDF", "a PDF file", how_to_convert),
  MARK(0, "PK\3\4", "a zip file", "give its entries as items of their own"),
  MARK(0, "\x1f\x8b", "a gzip file", "unpack it first"),
  MARK(0, "version https://git-lfs.github.com/spec/", "a Git LFS pointer", "run 'git lfs pull'"),
};

static bool is_at(const uint8_t *data, size_t len, size_t at, const char *bytes, size_t n)
{
  return len >= at + n && memcmp(data + at, bytes, n) == 0;
}

enum tm_image_format tm_image_format_of(const uint8_t *data, size_t len)
{
  if (is_at(data, len, 0, "\xff\xd8\xff", 3))
    return TM_IMAGE_JPEG;
  if (is_at(data, len, 0, "\x89PNG\r\n\x1a\n", 8))
    return TM_IMAGE_PNG;
  if (is_at(data, len, 0, "RIFF", 4) && is_at(data, len, 8, "WEBP", 4))
    return TM_IMAGE_WEBP;
  if (len >= 3 && data[0] == 'P' && data[1] >= '1' && data[1] <= '6' &&
      memchr(" \t\n\v\f\r", data[2], 6) != NULL)
    return TM_IMAGE_PNM;
  return 0;
}

/* Whether the text has `<word` as its first element. */
static bool has_element(const char *text, size_t len, const char *word)
{
  for (size_t i = 0; i + 1 + strlen(word) <= len; i++) {
    if (text[i] == '<' && strncasecmp(text + i + 1, word, strlen(word)) == 0)
      return true;
  }
  return false;
}

/* SVG and HTML, behind blanks, a byte order mark, a declaration, comments. */
static const char *kind_of_text(const uint8_t *data, size_t len, const char **hint)
{
  const char *text = (const char *)data;
  size_t at = is_at(data, len, 0, "\xef\xbb\xbf", 3) ? 3 : 0;
  while (at < len && memchr(" \t\r\n", text[at], 4) != NULL)
    at++;
  if (at == len || text[at] != '<')
    return NULL;
  size_t n = len - at < 1024 ? len - at : 1024;
  bool is_page = has_element(text + at, n, "!doctype html") || has_element(text + at, n, "html");
  *hint = is_page ? how_to_look : how_to_convert;
  if (is_page)
    return "an HTML page";
  if (has_element(text + at, n, "svg"))
    return "an SVG file";
  *hint = how_to_look;
  return "an XML file";
}

const char *tm_image_other_kind(const uint8_t *data, size_t len, const char **hint)
{
  for (size_t i = 0; i < TM_COUNT_OF(marks); i++) {
    if (is_at(data, len, marks[i].at, marks[i].bytes, marks[i].len)) {
      *hint = marks[i].hint;
      return marks[i].kind;
    }
  }
  return kind_of_text(data, len, hint);
}
