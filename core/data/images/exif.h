/* exif.h - how a picture is to be turned, from its EXIF data. Pure; the bytes may be hostile. */
#ifndef TM_DATA_IMAGES_EXIF_H
#define TM_DATA_IMAGES_EXIF_H

#include <stddef.h>
#include <stdint.h>

/* The orientation, 1 to 8; 1 as well if there is none, or if it cannot be read. `data` begins with
 * the header of TIFF, or with "Exif\0\0" before it. */
int32_t tm_exif_orientation(const uint8_t *data, size_t len);

#endif
