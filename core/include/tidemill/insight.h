/* tidemill/insight.h - what happened in a job, summed up: the model behind `tidemill report`. */
#ifndef TIDEMILL_INSIGHT_H
#define TIDEMILL_INSIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tidemill/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Insights ----
 *
 *   tidemill_insight_open() -> tidemill_insight_json(), tidemill_insight_html()
 *   -> for a job that runs: tidemill_insight_refresh(), and ask again -> tidemill_insight_close()
 *
 * Reads a job whichever process runs it, as a record does (tidemill/record.h), and sums up its
 * tables. An insight takes at most about 50 MB, for a job of any size. It neither writes a file nor
 * needs a runtime. Any thread may use one, one thread at a time. A file that is missing or damaged
 * costs what it holds, and the rest is shown.
 */

struct tidemill_insight;

struct tidemill_insight_options {
  size_t size;
  int64_t now_ns; /* taken for the time now, in place of the clock; 0: the clock */
};
#define TIDEMILL_INSIGHT_OPTIONS_INIT TIDEMILL_SIZED(struct tidemill_insight_options)

/* Opens a job. `ws` and `job` are as for tidemill_record_open(), and `options` may be NULL. A job
 * that was removed is found by its directory or name, as long as the workspace remembers it.
 * TIDEMILL_EUSAGE: there is no such job. TIDEMILL_EVERSION, TIDEMILL_EDAMAGE, or a system error. */
TIDEMILL_API int tidemill_insight_open(struct tidemill_insight **out, struct tidemill_workspace *ws,
                                       const char *job,
                                       const struct tidemill_insight_options *options,
                                       struct tidemill_error *err);
/* Reads what is new, in time proportional to that. Returns 1: there may be something new, and what
 * the insight has returned is gone. 0: nothing has changed. If the job cannot be read any more, the
 * insight keeps what it has read, and says so in its "fault". */
TIDEMILL_API int tidemill_insight_refresh(struct tidemill_insight *in, struct tidemill_error *err);
/* A descriptor to poll, as tidemill_record_fd(). Negative: none could be had. */
TIDEMILL_API int tidemill_insight_fd(struct tidemill_insight *in, struct tidemill_error *err);
/* All of it as one JSON object, on one line, with "version": 1. Valid until the next call for this
 * insight. */
TIDEMILL_API const char *tidemill_insight_json(struct tidemill_insight *in);

/* What a page shows. */
struct tidemill_html_options {
  size_t size;
  /* One section, without what is around it: a name of tidemill_html_sections(); NULL: the page. */
  const char *section;
  /* The step that the sections about one step show; NULL: the first one that Failed, else the last
   * one that has begun. A page has the other steps behind it. */
  const char *step;
  int64_t from_ns, to_ns; /* the span of the timeline; both 0: all of it */
  int width;              /* of the timeline, px; 0: that of a page */
  bool is_elsewhere;      /* links to files name the job's directory: the page is not in it */
  /* Workers and mini-batches are links, relative to the page's folder: ../workers/STEP/WORKER,
   * ../mini-batches/STEP/NUMBER. For a program that serves these pages. */
  bool is_live;
};
#define TIDEMILL_HTML_OPTIONS_INIT TIDEMILL_SIZED(struct tidemill_html_options)

/* The names of the sections, in the order of the page; ends in NULL. */
TIDEMILL_API const char *const *tidemill_html_sections(void);
/* The page of the job, or a section, as HTML that loads nothing; a section without data is "".
 * `options` may be NULL. `len` gets its bytes, unless it is NULL. Valid until the next call for
 * this insight. NULL: TIDEMILL_EUSAGE: there is no such section or step. */
TIDEMILL_API const char *tidemill_insight_html(struct tidemill_insight *in,
                                               const struct tidemill_html_options *options,
                                               size_t *len, struct tidemill_error *err);
TIDEMILL_API void tidemill_insight_close(struct tidemill_insight *in);

/* ---- Reports ---- */

struct tidemill_report_options {
  size_t size;
  /* The file, relative to the current directory; NULL: report.html in the job's directory, with
   * mode 0600. It gets its name when it is complete. */
  const char *path;
  bool overwrite;   /* replaces any file but one of the job; otherwise only an earlier report */
  const char *step; /* as in struct tidemill_html_options */
  /* Gets the page in place of a file. A number other than 0 ends the call, which returns it. */
  int (*on_text)(const char *text, size_t bytes, void *data);
  void (*on_written)(const char *path, void *data); /* absolute, or as given; NULL: is not called */
  void *data;
};
#define TIDEMILL_REPORT_OPTIONS_INIT TIDEMILL_SIZED(struct tidemill_report_options)

/* Whether tidemill_report_write() may write the file: it reads no job. TIDEMILL_EUSAGE: no. */
TIDEMILL_API int tidemill_report_check(const char *path, bool overwrite,
                                       struct tidemill_error *err);
/* Writes the page of a job, which may run; `ws` and `job` are as for tidemill_record_open().
 * TIDEMILL_EUSAGE: the file must not be replaced, or there is no such job or step. Otherwise a
 * system error. */
TIDEMILL_API int tidemill_report_write(struct tidemill_workspace *ws, const char *job,
                                       const struct tidemill_report_options *options,
                                       struct tidemill_error *err);

#ifdef __cplusplus
}
#endif
#endif
