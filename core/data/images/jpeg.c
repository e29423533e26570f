/* jpeg.c - JPEG, decoded by libjpeg-turbo with the settings of Pillow.
 *
 * libjpeg leaves a call that fails by longjmp(), so each function that calls it has its own
 * setjmp(), changes no local variable behind it, and keeps everything in struct jpeg. Warnings
 * about damaged data are ignored, as in Pillow; a file that ends early is an error.
 *
 * A JPEG of one scan is decoded row by row. One of several scans, progressive or not, is held as
 * coefficients: 2 bytes for each sample, 3 to 6 a pixel.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdio.h> /* before jpeglib.h, which needs it */
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#include "base/mem.h"
#include "data/images/image_own.h"
#include "data/images/jpeg_marks.h"

enum jpeg_failure { FAILED_DAMAGE = 1, FAILED_CUT, FAILED_SCANS, FAILED_STOPPED };

struct jpeg {
  struct tm_image_decoder d;
  struct jpeg_decompress_struct c;
  struct jpeg_error_mgr errors;
  struct jpeg_source_mgr bytes;
  struct jpeg_progress_mgr progress;
  jmp_buf jump;
  enum jpeg_failure failure;
  bool fills_missing, is_at_end; /* behind the end of the file comes a mark of the end, once */
  bool is_filling;               /* the rows that are left are missing */
  char reason[JMSG_LENGTH_MAX];
};

static _Noreturn void leave(j_common_ptr c, enum jpeg_failure failure)
{
  struct jpeg *j = c->client_data;
  j->failure = failure;
  longjmp(j->jump, 1);
}

static void on_error(j_common_ptr c)
{
  struct jpeg *j = c->client_data;
  c->err->format_message(c, j->reason);
  leave(c, FAILED_DAMAGE);
}

static void on_message(j_common_ptr c, int level)
{
}

static void on_output(j_common_ptr c)
{
}

static void on_source(j_decompress_ptr c)
{
}

static boolean on_end_of_file(j_decompress_ptr c)
{
  static const JOCTET end[] = { 0xff, JPEG_EOI };
  struct jpeg *j = c->client_data;
  if (!j->fills_missing || j->is_at_end)
    leave((j_common_ptr)c, FAILED_CUT);
  j->is_at_end = true;
  c->src->next_input_byte = end;
  c->src->bytes_in_buffer = sizeof(end);
  return TRUE;
}

static void on_skip(j_decompress_ptr c, long bytes)
{
  size_t n = bytes < 0 ? 0 : (size_t)bytes;
  if (n > c->src->bytes_in_buffer)
    n = c->src->bytes_in_buffer;
  c->src->next_input_byte += n;
  c->src->bytes_in_buffer -= n;
}

/* libjpeg calls this for each row of blocks of each scan while it reads all scans. */
static void on_progress(j_common_ptr c)
{
  struct jpeg *j = c->client_data;
  if (tm_image_is_stopped(&j->d))
    leave(c, FAILED_STOPPED);
  if (j->c.input_scan_number > TM_IMAGE_MAX_SCANS)
    leave(c, FAILED_SCANS);
}

/* Reads up to the first scan. False: `failure` says why. */
static bool read_header(struct jpeg *j)
{
  j->c.err = jpeg_std_error(&j->errors);
  j->c.client_data = j;
  j->errors.error_exit = on_error;
  j->errors.emit_message = on_message;
  j->errors.output_message = on_output;
  if (setjmp(j->jump))
    return false;
  jpeg_create_decompress(&j->c);
  j->bytes = (struct jpeg_source_mgr) { .next_input_byte = j->d.source.data,
                                        .bytes_in_buffer = j->d.source.len,
                                        .init_source = on_source,
                                        .fill_input_buffer = on_end_of_file,
                                        .skip_input_data = on_skip,
                                        .resync_to_restart = jpeg_resync_to_restart,
                                        .term_source = on_source };
  j->c.src = &j->bytes;
  jpeg_read_header(&j->c, TRUE);
  return true;
}

static int refuse(struct jpeg *j, bool is_header, struct tm_err *err)
{
  const struct tm_image_source *source = &j->d.source;
  switch (j->failure) {
  case FAILED_STOPPED: return tm_image_refuse_stopped(source, err);
  case FAILED_SCANS:
    return tm_image_refuse(source, err, TM_ELIMIT, "the JPEG has more than %d scans, the limit",
                           TM_IMAGE_MAX_SCANS);
  case FAILED_CUT:
    return is_header ? tm_image_refuse_cut_header(source, err) : tm_image_refuse_cut(&j->d, err);
  case FAILED_DAMAGE: break;
  }
  return tm_image_refuse(source, err, TM_EDAMAGE, "the JPEG is damaged: %s", j->reason);
}

static int check_channels(struct jpeg *j, struct tm_err *err)
{
  int n = j->c.num_components;
  if (n == 1 || n == 3 || n == 4)
    return 0;
  return tm_image_refuse(&j->d.source, err, TM_EINPUT,
                         "the JPEG has %d channels; 1 (grey), 3 (colours) and 4 (CMYK) are read",
                         n);
}

static int jpeg_info(const struct tm_image_source *source, struct tm_image_info *info,
                     struct tm_err *err)
{
  struct jpeg *j = TM_NEW(struct jpeg);
  j->d.source = *source;
  int rc = read_header(j) ? check_channels(j, err) : refuse(j, true, err);
  if (rc == 0)
    *info =
        (struct tm_image_info) { .format = TM_IMAGE_JPEG,
                                 .width = (int32_t)j->c.image_width,
                                 .height = (int32_t)j->c.image_height,
                                 .channels = j->c.num_components,
                                 .bits = j->c.data_precision,
                                 .orientation = tm_jpeg_orientation(source->data, source->len) };
  jpeg_destroy_decompress(&j->c);
  free(j);
  return rc;
}

static int64_t rounded_up(int64_t n, int64_t unit)
{
  return (n + unit - 1) / unit * unit;
}

/* What libjpeg holds: for each component twelve rows of blocks of samples at most, and of several
 * scans all coefficients. */
static int64_t memory_of(const struct jpeg *j, bool has_scans)
{
  int64_t bytes = 256 << 10, width = rounded_up(j->c.image_width, 64);
  bytes += width * j->c.num_components * 12 * j->c.max_v_samp_factor;
  for (int i = 0; has_scans && i < j->c.num_components; i++) {
    const jpeg_component_info *part = &j->c.comp_info[i];
    bytes += rounded_up(part->width_in_blocks, part->h_samp_factor) *
             rounded_up(part->height_in_blocks, part->v_samp_factor) * (int64_t)sizeof(JBLOCK);
  }
  return bytes;
}

static int check_limits(struct jpeg *j, struct tm_err *err)
{
  bool has_scans = jpeg_has_multiple_scans(&j->c);
  int rc = tm_image_check_memory(&j->d, memory_of(j, has_scans),
                                 j->c.progressive_mode ? "a progressive JPEG"
                                 : has_scans           ? "a JPEG of several scans"
                                                       : "a JPEG",
                                 err);
  if (rc != 0 || !has_scans)
    return rc;
  if (tm_jpeg_scans(j->d.source.data, j->d.source.len, TM_IMAGE_MAX_SCANS + 1) <=
      TM_IMAGE_MAX_SCANS)
    return 0;
  j->failure = FAILED_SCANS;
  return refuse(j, false, err);
}

static bool start(struct jpeg *j)
{
  if (setjmp(j->jump))
    return false;
  j->c.out_color_space = j->c.num_components == 1   ? JCS_GRAYSCALE
                         : j->c.num_components == 3 ? JCS_RGB
                                                    : JCS_CMYK;
  j->c.scale_num = 1;
  j->c.scale_denom = j->d.options.scale > 1 ? (unsigned)j->d.options.scale : 1;
  j->progress.progress_monitor = on_progress;
  j->c.progress = &j->progress;
  jpeg_calc_output_dimensions(&j->c);
  jpeg_start_decompress(&j->c);
  return true;
}

/* After a failure. What libjpeg can make of a file that is cut, it gives; then there is nothing. */
static bool begins_filling(struct jpeg *j)
{
  j->is_filling = j->is_at_end && (j->failure == FAILED_CUT || j->failure == FAILED_DAMAGE);
  return j->is_filling;
}

static int jpeg_open(struct tm_image_decoder *d, struct tm_err *err)
{
  struct jpeg *j = (struct jpeg *)d;
  if (!read_header(j))
    return refuse(j, true, err);
  int rc = check_limits(j, err);
  if (rc != 0)
    return rc;
  j->fills_missing = d->options.fills_missing;
  if (!start(j) && !begins_filling(j))
    return refuse(j, false, err);
  d->width = (int32_t)j->c.output_width;
  d->height = (int32_t)j->c.output_height;
  d->pixels.layout = d->info.channels == 1   ? TM_PIXELS_GREY
                     : d->info.channels == 3 ? TM_PIXELS_RGB
                                             : TM_PIXELS_CMYK;
  return 0;
}

static bool read_row(struct jpeg *j, uint8_t *row)
{
  if (setjmp(j->jump))
    return false;
  JSAMPROW rows[] = { row };
  jpeg_read_scanlines(&j->c, rows, 1);
  return true;
}

/* Reads up to the mark of the end: a file without it has been cut. */
static bool finish(struct jpeg *j)
{
  if (setjmp(j->jump))
    return false;
  jpeg_finish_decompress(&j->c);
  return true;
}

/* As Pillow leaves them: no light, or no ink. A second header in the file may have changed the
 * numbers of libjpeg, so ours are used. */
static void fill_row(const struct jpeg *j, uint8_t *row)
{
  memset(row, j->d.pixels.layout == TM_PIXELS_CMYK ? 255 : 0,
         (size_t)j->d.width * (size_t)tm_image_layout_bytes(j->d.pixels.layout));
}

static int jpeg_next(struct tm_image_decoder *d, uint8_t *row, struct tm_err *err)
{
  struct jpeg *j = (struct jpeg *)d;
  if (!j->is_filling && !read_row(j, row) && !begins_filling(j))
    return refuse(j, false, err);
  if (j->is_filling)
    fill_row(j, row);
  if (d->row + 1 < d->height || j->is_filling || finish(j) || begins_filling(j))
    return 0;
  d->row++; /* for the message: this row is complete */
  int rc = refuse(j, false, err);
  d->row--;
  return rc;
}

static void jpeg_close(struct tm_image_decoder *d)
{
  jpeg_destroy_decompress(&((struct jpeg *)d)->c);
}

const struct tm_image_format_ops tm_image_jpeg = { sizeof(struct jpeg), jpeg_info, jpeg_open,
                                                   jpeg_next, jpeg_close };
