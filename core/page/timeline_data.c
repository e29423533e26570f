/* timeline_data.c - see timeline_data.h. */
#include "page/timeline_data.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"
#include "page/lane_cells.h"
#include "page/lane_picture.h"

void tm_base64(struct tm_buf *text, const void *bytes, size_t n)
{
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const unsigned char *p = bytes;
  char *to = tm_buf_extend(text, (n + 2) / 3 * 4);
  for (size_t i = 0; i < n; i += 3, to += 4) {
    uint32_t v = (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) |
                 (i + 2 < n ? (uint32_t)p[i + 2] : 0);
    to[0] = digits[v >> 18];
    to[1] = digits[v >> 12 & 63];
    to[2] = i + 1 < n ? digits[v >> 6 & 63] : '=';
    to[3] = i + 2 < n ? digits[v & 63] : '=';
  }
}

static void add_f32(struct tm_buf *bytes, double v)
{
  float f = (float)v;
  uint32_t bits;
  memcpy(&bits, &f, sizeof(bits));
  tm_buf_add_u32(bytes, bits);
}

static void add_f64(struct tm_buf *bytes, double v)
{
  uint64_t bits;
  memcpy(&bits, &v, sizeof(bits));
  tm_buf_add_u64(bytes, bits);
}

/* A string without any character that changes the direction of text or breaks a line invisibly
 * (U+2028 to U+202E, U+2066 to U+2069): they are written as escapes, and the script makes them
 * visible. */
static void add_string(struct tm_buf *json, const char *s)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_json_write_string(&text, s, strlen(s));
  for (size_t i = 0; i < text.len; i++) {
    const unsigned char *c = (const unsigned char *)text.data + i;
    bool is_first =
        i + 2 < text.len && c[0] == 0xE2 && c[1] == 0x80 && c[2] >= 0xA8 && c[2] <= 0xAE;
    bool is_second =
        i + 2 < text.len && c[0] == 0xE2 && c[1] == 0x81 && c[2] >= 0xA6 && c[2] <= 0xA9;
    if (is_first || is_second) {
      tm_buf_printf(json, "\\u20%02x", (is_first ? 0 : 0x40) + (c[2] - 0x80));
      i += 2;
    } else {
      tm_buf_add_char(json, (char)*c);
    }
  }
  tm_buf_release(&text);
}

/* "name":"base64 of the bytes", which are emptied. */
static void add_array(struct tm_buf *json, const char *name, struct tm_buf *bytes)
{
  tm_buf_printf(json, "\"%s\":\"", name);
  tm_base64(json, tm_buf_str(bytes), bytes->len);
  tm_buf_add_char(json, '"');
  tm_buf_clear(bytes);
}

static double seconds(int64_t ns)
{
  return (double)ns / (double)TM_S;
}

static void add_series(struct tm_buf *json, const char *name, const struct tm_series *s)
{
  struct tm_buf bytes = TM_BUF_NONE;
  for (size_t i = 0; i < s->len; i++)
    add_f32(&bytes, s->at[i]);
  add_array(json, name, &bytes);
  tm_buf_release(&bytes);
}

static void add_rows(struct tm_buf *json, const struct tm_timeline *t)
{
  tm_buf_add_str(json, "\"rows\":[");
  for (size_t i = 0; i < t->len; i++) {
    const struct tm_timeline_row *r = &t->rows[i];
    tm_buf_printf(json,
                  "%s{\"id\":\"%s\",\"from\":%.9g,\"width\":%.12g,\"top\":%.9g,\"height\":%g,",
                  i > 0 ? "," : "", r->id, seconds(r->series.from_ns - t->axis.origin_ns),
                  seconds(r->series.width_ns), r->top, r->height);
    tm_buf_printf(json, "\"form\":%d,", (int)r->form);
    add_series(json, "values", &r->series);
    if (r->second.len > 0) {
      tm_buf_add_char(json, ',');
      add_series(json, "second", &r->second);
    }
    tm_buf_add_char(json, '}');
  }
  tm_buf_add_char(json, ']');
}

static void add_pieces(struct tm_buf *json, const struct tm_axis *a)
{
  tm_buf_printf(json, "\"origin\":%.6f,\"total\":%.9f,\"pieces\":[", seconds(a->origin_ns),
                seconds(a->to_ns - a->origin_ns));
  for (size_t i = 0; i < a->pieces.len; i++) {
    const struct tm_axis_piece *p = &a->pieces.at[i];
    tm_buf_printf(json, "%s[%.9f,%.9f,%.9f,%.9f,%d]", i > 0 ? "," : "",
                  seconds(p->from_ns - a->origin_ns), seconds(p->to_ns - a->origin_ns), p->from,
                  p->to, p->is_folded);
  }
  tm_buf_add_str(json, "],");
}

/* ---- lanes ---- */

struct boxes TM_ARRAY(struct tm_box);

static void add_cells(struct tm_buf *json, const struct tm_lanes *l, size_t max)
{
  size_t len = 0, joined = 1, *slots = tm_lane_slots(l);
  struct tm_buf bytes = TM_BUF_NONE;
  for (size_t i = 0; i < l->list.len; i++)
    len = l->list.at[i].bins.len > len ? l->list.at[i].bins.len : len;
  while (len / joined * l->list.len > max)
    joined *= 2;
  len = (len + joined - 1) / joined;
  char *cell = tm_buf_extend(&bytes, len * l->list.len);
  for (size_t i = 0; i < l->list.len; i++)
    for (size_t k = 0; k < len; k++)
      *cell++ = (char)tm_lane_cell(&l->list.at[i].bins, k * joined, (k + 1) * joined, slots[i]);
  tm_buf_printf(json, ",\"cells\":{\"width\":%.12g,\"count\":%zu,",
                seconds(tm_lanes_width_ns(l) * (int64_t)joined), len);
  add_array(json, "data", &bytes);
  tm_buf_add_char(json, '}');
  tm_buf_release(&bytes);
  free(slots);
}

#define EACH_BOX(json, boxes, len, name, add)                                                      \
  do {                                                                                             \
    for (size_t each = 0; each < (len); each++) {                                                  \
      const struct tm_box *b = &(boxes)[each];                                                     \
      add;                                                                                         \
    }                                                                                              \
    add_array(json, name, &bytes);                                                                 \
    tm_buf_add_char(json, ',');                                                                    \
  } while (0)

static void add_boxes(struct tm_buf *json, const char *name, const struct tm_box *at, size_t n,
                      int64_t origin_ns)
{
  struct tm_buf bytes = TM_BUF_NONE;
  tm_buf_printf(json, ",\"%s\":{", name);
  EACH_BOX(json, at, n, "lane", {
    tm_buf_add_char(&bytes, (char)(b->lane & 255));
    tm_buf_add_char(&bytes, (char)(b->lane >> 8));
  });
  EACH_BOX(json, at, n, "from", add_f64(&bytes, seconds(b->begin_ns - origin_ns)));
  EACH_BOX(json, at, n, "elapsed", add_f32(&bytes, seconds(b->elapsed_ns)));
  EACH_BOX(json, at, n, "mini", add_f64(&bytes, (double)b->mini_batch));
  EACH_BOX(json, at, n, "tries",
           tm_buf_add_char(&bytes, (char)(b->try_number > 255 ? 255 : b->try_number)));
  EACH_BOX(json, at, n, "category", tm_buf_add_char(&bytes, (char)b->category));
  tm_buf_printf(json, "\"count\":%zu}", n);
  tm_buf_release(&bytes);
}

/* Tries that run, or were cut off, also where tries are not shown one by one. */
static void add_open(struct tm_buf *json, const struct tm_step_model *m)
{
  struct boxes boxes = { 0 };
  for (size_t i = 0; i < m->workers.list.len && boxes.len < TM_LIVES_SHOWN; i++) {
    struct tm_box box;
    if (tm_lane_open_box(&box, m, &m->workers.list.at[i]))
      *TM_ARRAY_ADD(&boxes) = box;
  }
  if (boxes.len > 0)
    add_boxes(json, "open", boxes.at, boxes.len, m->origin_ns);
  TM_ARRAY_RELEASE(&boxes);
}

static void add_lives(struct tm_buf *json, const struct tm_step_model *m, int64_t now_ns)
{
  tm_buf_add_str(json, ",\"lives\":[");
  for (size_t i = 0; i < m->workers.list.len && m->workers.list.len <= TM_LIVES_SHOWN; i++) {
    const struct tm_worker_life *w = &m->workers.list.at[i];
    if (w->slot >= m->lanes.of_slot.len)
      continue;
    int64_t end = w->ended_ns > 0 ? w->ended_ns : w->last_ns > now_ns ? w->last_ns : now_ns;
    tm_buf_add_str(json, json->data[json->len - 1] == '[' ? "[" : ",[");
    add_string(json, w->name);
    tm_buf_printf(json, ",%u,%.3f,%.3f,%d]", m->lanes.of_slot.at[w->slot],
                  seconds(w->started_ns - m->origin_ns), seconds(end - m->origin_ns),
                  w->has_died || w->was_killed);
  }
  tm_buf_add_char(json, ']');
}

static void add_lanes(struct tm_buf *json, const struct tm_timeline *t,
                      const struct tm_step_model *m, struct tm_timeline_detail detail)
{
  const struct tm_lanes *l = &m->lanes;
  tm_buf_printf(json, ",\"lanes\":{\"count\":%zu,\"nodes\":%d,\"height\":%d", l->list.len,
                l->are_nodes, tm_lane_height(l->list.len));
  tm_buf_add_str(json, ",\"names\":[");
  for (size_t i = 0; i < l->list.len; i++) {
    tm_buf_add_str(json, i > 0 ? "," : "");
    add_string(json, l->list.at[i].name);
  }
  tm_buf_add_char(json, ']');
  add_lives(json, m, t->end_ns);
  add_cells(json, l, detail.cells);
  if (detail.has_boxes)
    add_boxes(json, "boxes", l->boxes.at, l->boxes.len, l->origin_ns);
  add_open(json, m);
  tm_buf_add_char(json, '}');
}

void tm_timeline_data(struct tm_buf *json, const struct tm_timeline *t,
                      const struct tm_step_model *m, struct tm_timeline_detail detail)
{
  tm_buf_add_char(json, '{');
  add_pieces(json, &t->axis);
  add_rows(json, t);
  if (m->lanes.list.len > 0)
    add_lanes(json, t, m, detail);
  tm_buf_add_char(json, '}');
}
