/* screen.h - what people read while a job runs: messages, the progress, and at the end the result.
 *
 * On a terminal one line is redrawn in place, at most ten times a second; a frame that the terminal
 * cannot take at once is dropped. Otherwise a line comes about every ten seconds. The owner decides
 * where the text goes: core prints nothing.
 */
#ifndef TM_REPORT_SCREEN_H
#define TM_REPORT_SCREEN_H

#include "base/level.h"
#include "base/map.h"
#include "report/progress.h"

enum tm_progress_mode { TM_PROGRESS_NONE, TM_PROGRESS_PLAIN, TM_PROGRESS_BAR };

/* Receives the text, usually for standard error. */
struct tm_writer {
  void (*write)(void *data, const char *p, size_t n); /* NULL: shows nothing */
  bool (*is_ready)(void *data); /* a line can be written without waiting; NULL: always */
  int (*width)(void *data);     /* columns, read for each frame; NULL: 80 */
  void *data;
};

struct tm_screen {
  struct tm_writer writer;
  enum tm_progress_mode mode;
  bool has_color;
  struct tm_progress progress;
  bool has_bar;              /* the current line is a bar */
  int64_t drawn_ns;          /* monotonic: the last frame or line */
  struct tm_buf frame, text; /* the current frame; scratch */
  struct tm_map said;        /* each text is shown once */
};

void tm_screen_init(struct tm_screen *s, const struct tm_writer *writer, enum tm_progress_mode mode,
                    bool has_color);
void tm_screen_release(struct tm_screen *s);
/* A line: "warning: ...", "error: ..."; no prefix from TM_INFO down. The same text is not shown
 * again. */
void tm_screen_say(struct tm_screen *s, enum tm_level level, const char *text);
/* The job has begun: starts measuring its time. */
void tm_screen_start(struct tm_screen *s, const struct tm_job_view *job, int64_t mono_ns);
void tm_screen_tick(struct tm_screen *s, const struct tm_job_view *job, int64_t mono_ns);
/* The final progress, then the text, whose first word is a verdict. */
void tm_screen_end(struct tm_screen *s, const struct tm_job_view *job, int64_t mono_ns,
                   const struct tm_buf *text);

#endif
