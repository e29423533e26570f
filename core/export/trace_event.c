/* trace_event.c - see trace_event.h. A job may have millions of events, so no printf here. */
#include "export/trace_event.h"

#include <string.h>

#include "base/json.h"

static void add_key(struct tm_buf *out, const char *key)
{
  char last = out->data[out->len - 1];
  if (last != '{')
    tm_buf_add_char(out, ',');
  tm_buf_add_char(out, '"');
  tm_buf_add_str(out, key);
  tm_buf_add(out, "\":", 2);
}

void tm_trace_event_int(struct tm_buf *out, const char *key, int64_t value)
{
  add_key(out, key);
  tm_buf_add_int(out, value);
}

void tm_trace_event_number(struct tm_buf *out, const char *key, double value)
{
  add_key(out, key);
  tm_json_write_number(out, value);
}

void tm_trace_event_raw(struct tm_buf *out, const char *key, const char *raw)
{
  add_key(out, key);
  tm_buf_add_str(out, raw);
}

/* The text is too long: its beginning, between two characters. */
static void add_cut(struct tm_buf *out, const char *text)
{
  struct tm_buf cut = TM_BUF_NONE;
  size_t len = TM_TRACE_TEXT_MAX - 3;
  while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80)
    len--;
  tm_buf_add(&cut, text, len);
  tm_buf_add_str(&cut, "...");
  tm_json_write_string(out, cut.data, cut.len);
  tm_buf_release(&cut);
}

static void add_string(struct tm_buf *out, const char *text)
{
  size_t len = strlen(text);
  if (len <= TM_TRACE_TEXT_MAX)
    tm_json_write_string(out, text, len);
  else
    add_cut(out, text);
}

void tm_trace_event_text(struct tm_buf *out, const char *key, const char *text)
{
  add_key(out, key);
  add_string(out, text);
}

void tm_trace_event_begin(struct tm_buf *out, const char *phase, const char *name,
                          struct tm_trace_thread thread, int64_t ts_us)
{
  tm_buf_add_str(out, "{\"ph\":\"");
  tm_buf_add_str(out, phase);
  tm_buf_add_str(out, "\",\"name\":");
  add_string(out, name);
  tm_trace_event_int(out, "pid", thread.pid);
  tm_trace_event_int(out, "tid", thread.tid);
  tm_trace_event_int(out, "ts", ts_us);
}

void tm_trace_event_args(struct tm_buf *out)
{
  add_key(out, "args");
  tm_buf_add_char(out, '{');
}

void tm_trace_event_end(struct tm_buf *out)
{
  tm_buf_add(out, "}}", 2);
}

void tm_trace_event_name(struct tm_buf *out, const char *what, const char *name, int64_t place,
                         struct tm_trace_thread thread)
{
  char key[32] = { 0 };
  strncat(key, what, sizeof(key) - 16);
  tm_trace_event_begin(out, "M", strcat(key, "_name"), thread, 0);
  tm_trace_event_args(out);
  tm_trace_event_text(out, "name", name);
  tm_trace_event_end(out);
  tm_buf_add_str(out, ",\n");
  key[strlen(what)] = '\0';
  tm_trace_event_begin(out, "M", strcat(key, "_sort_index"), thread, 0);
  tm_trace_event_args(out);
  tm_trace_event_int(out, "sort_index", place);
  tm_trace_event_end(out);
}
