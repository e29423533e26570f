/* png_marks.h - the chunks of a PNG, found without decoding it. Pure; the bytes may be hostile. */
#ifndef TM_DATA_IMAGES_PNG_MARKS_H
#define TM_DATA_IMAGES_PNG_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tm_png_look {
  int32_t orientation; /* of eXIf, which may come behind the pixels; 1: none */
  bool has_pixels;     /* an IDAT begins */
  bool is_cut;         /* the bytes end before IEND, or before the end of a chunk */
  size_t cut_at;       /* where the chunk begins in which they end */
  size_t largest;      /* bytes of the largest chunk that is not an IDAT */
};

/* `data` begins with the eight bytes of a PNG. */
struct tm_png_look tm_png_look(const uint8_t *data, size_t len);

#endif
