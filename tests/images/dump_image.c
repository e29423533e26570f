/* dump_image.c - the pixels of images, for a script to compare.
 *
 * Reads lines "CHANNELS SCALE FILL PATH" from stdin. For each it writes "WIDTH HEIGHT CHANNELS
 * ORIENTATION\n" and the rows, or "error: MESSAGE\n".
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/images/image_rows.h"

static void read_file(const char *path, struct tm_image_source *source)
{
  FILE *f = fopen(path, "rb");
  size_t cap = 1 << 24;
  uint8_t *data = tm_xmalloc(cap);
  *source = (struct tm_image_source) { path, data, f == NULL ? 0 : fread(data, 1, cap, f) };
  if (f != NULL)
    fclose(f);
}

static uint8_t *read_rows(struct tm_image_rows *rows, struct tm_err *err)
{
  size_t row = (size_t)rows->width * (size_t)rows->channels;
  uint8_t *all = tm_xmalloc(row * (size_t)rows->height);
  for (int32_t i = 0; i < rows->height; i++) {
    if (tm_image_next(rows, all + row * (size_t)i, err) != 0) {
      free(all);
      return NULL;
    }
  }
  return all;
}

static void dump(const char *path, const struct tm_image_options *options)
{
  struct tm_image_source source;
  struct tm_image_rows rows;
  struct tm_err err = TM_ERR_NONE;
  uint8_t *all = NULL;
  read_file(path, &source);
  if (tm_image_open(&rows, &source, options, &err) == 0) {
    all = read_rows(&rows, &err);
    tm_image_close(&rows);
  }
  if (all == NULL) {
    printf("error: %s\n", err.text);
  } else {
    printf("%d %d %d %d\n", rows.width, rows.height, rows.channels, rows.info.orientation);
    fwrite(all, 1, (size_t)rows.width * (size_t)rows.height * (size_t)rows.channels, stdout);
  }
  fflush(stdout);
  free(all);
  free((void *)(uintptr_t)source.data);
}

int main(void)
{
  static char line[4096];
  while (fgets(line, sizeof(line), stdin) != NULL) {
    struct tm_image_options o = { .max_pixels = 100000000, .max_memory = 1 << 30 };
    int fills = 0, at = 0;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%d %d %d %n", &o.channels, &o.scale, &fills, &at) != 3) {
      fprintf(stderr, "usage: lines of CHANNELS SCALE FILL PATH\n");
      return 2;
    }
    o.fills_missing = fills != 0;
    dump(line + at, &o);
  }
  return 0;
}
