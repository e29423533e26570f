/* webp_codes.h - how many codes a WebP without loss has, and what memory libwebp takes for them.
 *
 * Such a picture may have many groups of Huffman codes, one for each part of it, and libwebp has
 * tables of up to 20 KB for each: 1.3 GB for a file of 300 KB. How many there are is coded in an
 * image of its own, with the parts as pixels. This reads what the file has before its pixels, up to
 * that image. Pure; the bytes may be hostile.
 */
#ifndef TM_DATA_IMAGES_WEBP_CODES_H
#define TM_DATA_IMAGES_WEBP_CODES_H

#include <stddef.h>
#include <stdint.h>

struct tm_webp_codes {
  int32_t groups; /* 0: the bytes are cut or damaged, which libwebp notices, too */
  int64_t memory; /* bytes */
};

/* `data`: behind the signature and the size. Takes a quarter of a byte for each pixel meanwhile. */
struct tm_webp_codes tm_webp_codes(const uint8_t *data, size_t len, int32_t width, int32_t height);

#endif
