/* image_kind.h - what kind of file some bytes are, by how they begin. Pure. */
#ifndef TM_DATA_IMAGES_IMAGE_KIND_H
#define TM_DATA_IMAGES_IMAGE_KIND_H

#include <stddef.h>
#include <stdint.h>

enum tm_image_format { TM_IMAGE_JPEG = 1, TM_IMAGE_PNG, TM_IMAGE_WEBP, TM_IMAGE_PNM };

/* 0: none of the formats that are read here. */
enum tm_image_format tm_image_format_of(const uint8_t *data, size_t len);

/* Of other files: "a GIF file", "an HTML page", "a Git LFS pointer", or NULL. *hint gets what the
 * user can do, or NULL. */
const char *tm_image_other_kind(const uint8_t *data, size_t len, const char **hint);

#endif
