/* watched_jobs.h - the records of the jobs that somebody looks at, and nothing else.
 *
 * A record is opened for the first page about its job, and closed when nobody has asked for a page
 * of it for half a minute and no stream has it as a topic; if it cannot be read any more, as when
 * the job was removed, when no stream has it. For streams, a record is refreshed when
 * its descriptor says so, but no more often than tm_feed_due() says; its state becomes a topic of
 * the feed. The topic TM_FEED_JOBS is the list of jobs, which is read again every two seconds.
 */
#ifndef TM_PORTAL_WATCH_H
#define TM_PORTAL_WATCH_H

#include <poll.h>
#include <tidemill.h>

#include "base/err.h"
#include "base/mem.h"
#include "portal/feed.h"

#define TM_WATCH_POLLS 64
#define TM_WATCH_KEPT  16 /* records that no stream has, at most */

struct tm_watched {
  char *key;
  struct tidemill_record *record;
  int fd;              /* its descriptor, when a stream has it as a topic; -1: none */
  size_t streams;      /* that have it as a topic */
  int64_t used_ns;     /* when a page last used it */
  int64_t due_ns;      /* when it may be read again */
  int64_t version;     /* how often it has changed */
  bool must_look;      /* the next turn sets its topic */
  struct tm_err fault; /* why it cannot be read; code 0: it can */
  /* When its topic was last set, and what the portal had computed until then: what it computes
   * afterwards is the cost of showing the news, which decides when there may be more. */
  int64_t looked_ns, spent_ns;
};

struct tm_watch {
  char *jobs_dir;
  struct TM_ARRAY(struct tm_watched *) jobs;
  size_t list_streams; /* that have the list of jobs as a topic */
  int64_t list_due_ns;
};

void tm_watch_open(struct tm_watch *w, const char *workspace);
void tm_watch_close(struct tm_watch *w);

/* The record of the job in folder `key` of the workspace, as it is now, or was a moment ago. It is
 * valid until the next turn. NULL and an error. */
struct tidemill_record *tm_watch_record(struct tm_watch *w, const char *key, int64_t now_ns,
                                        struct tm_err *err);
/* How often the record has changed, as the feed says it; 0: it is not open. */
int64_t tm_watch_version(const struct tm_watch *w, const char *key);
/* The directory of the job; to free(). NULL: `key` cannot be the name of a job. */
char *tm_watch_dir(const struct tm_watch *w, const char *key);
/* A stream has a topic from now on, or no longer. False: there is no such job, or it cannot be
 * read; the stream does not have it. */
bool tm_watch_hold(struct tm_watch *w, const char *topic);
void tm_watch_let_go(struct tm_watch *w, const char *topic);

/* What to wait for: adds at most `max` entries and returns how many. */
size_t tm_watch_polls(struct tm_watch *w, struct pollfd *polls, size_t max, int64_t now_ns);
int tm_watch_timeout_ms(const struct tm_watch *w, int64_t now_ns); /* -1: none */
struct tm_watch_hooks {
  /* Reads the list of jobs, and sets its topic. Returns whether the feed has changed. */
  bool (*on_list)(void *data, int64_t now_ns, int64_t *due_ns);
  /* The topic of a job is about to get news: says which sections are new. */
  void (*on_news)(void *data, const char *key);
  void *data;
};

/* Reads what is due, and closes what nobody looks at. Returns whether the feed has changed. */
bool tm_watch_turn(struct tm_watch *w, struct tm_feed *feed, int64_t now_ns,
                   const struct tm_watch_hooks *hooks);

/* The state of a job for a stream, as JSON: what the head of its page shows. A job whose files are
 * gone is Removed, and one that cannot be read is Unreadable. Pure. */
void tm_watch_state(struct tm_buf *out, const struct tidemill_record_info *job, int64_t version);
/* "41% scans", "✓ scans": with the symbol of its state. */
void tm_watch_title(struct tm_buf *out, const struct tidemill_record_info *job);

#endif
