/* screen.c - see screen.h.
 *
 *  (1) Only the last line can be a bar: any other text erases it first, in the same write.
 *  (2) Texts come from scripts and file names. Terminal control characters are escaped before they
 *      are written.
 *  (3) The writer may cause another message: the text passed to it stays unchanged until it
 *      returns.
 */
#include "report/screen.h"

#include <string.h>

#include "base/text.h"
#include "base/time.h"

#define FRAME_NS  (100 * TM_MS)
#define LINE_NS   (10 * TM_S)
#define SAID_MAX  10000 /* distinct texts to remember; later ones are not shown */
#define ERASE     "\r\x1b[K"
#define COLOR_OFF "\x1b[0m"

void tm_screen_init(struct tm_screen *s, const struct tm_writer *writer, enum tm_progress_mode mode,
                    bool has_color)
{
  memset(s, 0, sizeof(*s));
  s->writer = *writer;
  s->mode = mode;
  s->has_color = has_color;
}

void tm_screen_release(struct tm_screen *s)
{
  tm_buf_release(&s->frame);
  tm_buf_release(&s->text);
  tm_map_release(&s->said);
}

static void write_text(struct tm_screen *s) /* keeps (3) */
{
  struct tm_buf text = s->text;
  if (!s->writer.write || text.len == 0)
    return;
  s->text = (struct tm_buf)TM_BUF_NONE;
  s->writer.write(s->writer.data, text.data, text.len);
  tm_buf_release(&s->text);
  s->text = text;
}

static void begin_text(struct tm_screen *s) /* keeps (1) */
{
  tm_buf_clear(&s->text);
  if (s->has_bar)
    tm_buf_add_str(&s->text, ERASE);
  s->has_bar = false;
  tm_buf_clear(&s->frame);
}

static void add_colored(struct tm_screen *s, const char *color, const char *p, size_t n)
{
  if (s->has_color)
    tm_buf_add_str(&s->text, color);
  tm_buf_add(&s->text, p, n);
  if (s->has_color)
    tm_buf_add_str(&s->text, COLOR_OFF);
}

void tm_screen_say(struct tm_screen *s, enum tm_level level, const char *text)
{
  bool is_new = false;
  if (s->said.len < SAID_MAX)
    tm_map_add(&s->said, text, strlen(text), &is_new);
  if (!is_new)
    return;
  begin_text(s);
  if (level == TM_ERROR)
    add_colored(s, "\x1b[31m", "error: ", 7);
  else if (level == TM_WARNING)
    add_colored(s, "\x1b[33m", "warning: ", 9);
  tm_text_one_line(&s->text, text, strlen(text), 0); /* keeps (2) */
  tm_buf_add_char(&s->text, '\n');
  write_text(s);
}

static void sample(struct tm_screen *s, const struct tm_job_view *job, int64_t mono_ns)
{
  struct tm_counts counts;
  s->progress.name = tm_progress_sum(&counts, job);
  tm_progress_set_steps(&s->progress, job);
  tm_progress_set_slow(&s->progress, job->steps, job->steps_len);
  tm_progress_set_nodes(&s->progress, job->nodes ? &job->nodes->now : NULL);
  tm_progress_sample(&s->progress, &counts, mono_ns);
}

void tm_screen_start(struct tm_screen *s, const struct tm_job_view *job, int64_t mono_ns)
{
  tm_progress_init(&s->progress, job->name);
  sample(s, job, mono_ns);
  s->drawn_ns = mono_ns;
}

static void draw(struct tm_screen *s)
{
  int width = s->writer.width ? s->writer.width(s->writer.data) : 80;
  tm_buf_clear(&s->text);
  tm_buf_add_char(&s->text, '\r');
  tm_progress_add_bar(&s->text, &s->progress, width - 1); /* the last column would wrap */
  tm_buf_add_str(&s->text, "\x1b[K");
  if (s->frame.len == s->text.len && memcmp(s->frame.data, s->text.data, s->text.len) == 0)
    return;
  if (s->writer.is_ready && !s->writer.is_ready(s->writer.data))
    return;
  write_text(s);
  tm_buf_clear(&s->frame);
  tm_buf_add(&s->frame, s->text.data, s->text.len);
  s->has_bar = true;
}

static void write_line(struct tm_screen *s)
{
  begin_text(s);
  tm_progress_add_line(&s->text, &s->progress);
  tm_buf_add_char(&s->text, '\n');
  write_text(s);
}

void tm_screen_tick(struct tm_screen *s, const struct tm_job_view *job, int64_t mono_ns)
{
  int64_t every = s->mode == TM_PROGRESS_BAR ? FRAME_NS : LINE_NS;
  if (s->mode == TM_PROGRESS_NONE || !s->writer.write)
    return;
  if (s->mode == TM_PROGRESS_BAR && mono_ns - s->drawn_ns < every)
    return;
  sample(s, job, mono_ns);
  if (mono_ns - s->drawn_ns < every)
    return;
  s->drawn_ns = mono_ns;
  if (s->mode == TM_PROGRESS_BAR)
    draw(s);
  else
    write_line(s);
}

void tm_screen_end(struct tm_screen *s, const struct tm_job_view *job, int64_t mono_ns,
                   const struct tm_buf *text)
{
  size_t word = strcspn(tm_buf_str(text), ":");
  const char *color = job->verdict == TM_COMPLETED ? "\x1b[32m" : "\x1b[31m";
  sample(s, job, mono_ns);
  tm_progress_set_nodes(&s->progress, NULL); /* the result says more of them */
  if (s->mode == TM_PROGRESS_PLAIN && job->steps_len > 0)
    write_line(s);
  begin_text(s);
  add_colored(s, color, tm_buf_str(text), word);
  tm_buf_add(&s->text, tm_buf_str(text) + word, text->len - word);
  write_text(s);
}
