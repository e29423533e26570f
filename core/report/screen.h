/* screen.h - what people read while a job runs: messages as they come, how far it is, and at the end what came of it.
 *
 * On a terminal one line is redrawn in place, at most ten times a second; a frame that the terminal does not take at once
 * is left out. Elsewhere a line comes about every ten seconds. Where the text goes is the owner's: core prints nothing.
 */
#ifndef TM_REPORT_SCREEN_H
#define TM_REPORT_SCREEN_H

#include "base/level.h"
#include "base/map.h"
#include "report/progress.h"

enum tm_progress_mode { TM_PROGRESS_NONE, TM_PROGRESS_PLAIN, TM_PROGRESS_BAR };

/* Where text goes, usually standard error. */
struct tm_writer {
  void (*write)(void *data, const char *p, size_t n); /* NULL: nothing is shown */
  bool (*is_ready)(void *data); /* a line would be taken without waiting; NULL: always */
  int (*width)(void *data);     /* columns, asked for each frame; NULL: 80 */
  void *data;
};

struct tm_screen {
  struct tm_writer writer;
  enum tm_progress_mode mode;
  bool has_color;
  struct tm_progress progress;
  bool has_bar;              /* there is one on the line */
  int64_t drawn_ns;          /* monotonic: the last frame or line */
  struct tm_buf frame, text; /* what is drawn; scratch */
  struct tm_map said;        /* each text is said once */
};

void tm_screen_init(struct tm_screen *s, const struct tm_writer *writer, enum tm_progress_mode mode,
                    bool has_color);
void tm_screen_release(struct tm_screen *s);
/* A line: "warning: ...", "error: ..."; from TM_INFO down as it is. A text that was said is not said again. */
void tm_screen_say(struct tm_screen *s, enum tm_level level, const char *text);
/* The job has begun; its time goes on. */
void tm_screen_start(struct tm_screen *s, const struct tm_job_view *job, int64_t mono_ns);
void tm_screen_tick(struct tm_screen *s, const struct tm_job_view *job, int64_t mono_ns);
/* The last of the progress, and below it the text, whose first word is a verdict. */
void tm_screen_end(struct tm_screen *s, const struct tm_job_view *job, int64_t mono_ns,
                   const struct tm_buf *text);

#endif
