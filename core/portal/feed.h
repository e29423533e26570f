/* feed.h - what is new, for event streams. Pure.
 *
 * A topic is a job, or the list of jobs ("jobs"). It has a state, as JSON text, and the number of
 * the change that made it. A stream names its topics and the last change that it has sent, and gets
 * the newest state of each topic that has changed since: nothing is queued for a slow reader, which
 * misses the states between.
 *
 * A topic may have sections. Its state then gets "sections":[NAME,...], those that are new since
 * the last change that the stream has sent. Without that, all may be new.
 */
#ifndef TM_PORTAL_FEED_H
#define TM_PORTAL_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/mem.h"

#define TM_FEED_JOBS      "jobs"
#define TM_FEED_TOPICS    32 /* of one stream */
#define TM_FEED_HEART_NS  INT64_C(1000000000)
#define TM_FEED_EPOCH_LEN 16

struct tm_feed_section {
  char *name;
  int64_t change;
  bool is_waiting; /* it is new with the next state */
};

struct tm_feed_topic {
  char *name, *state; /* the state is an object with members */
  int64_t change;
  struct TM_ARRAY(struct tm_feed_section) sections;
};

struct tm_feed {
  char epoch[TM_FEED_EPOCH_LEN +
             1]; /* of this run of the portal: numbers of another one mean nothing */
  int64_t change;
  struct TM_ARRAY(struct tm_feed_topic) topics;
};

/* What one stream has sent. */
struct tm_feed_reader {
  char *topics[TM_FEED_TOPICS];
  size_t topics_len;
  int64_t change;
  int64_t sent_ns; /* when it last sent something */
  bool has_begun;
};

/* Returns whether the state differs from that before. */
bool tm_feed_set(struct tm_feed *f, const char *name, const char *state);
/* Section `section` is new with the next state of the topic, whatever other topics do before. */
void tm_feed_renew(struct tm_feed *f, const char *name, const char *section);
/* It is not known any more which sections are new. */
void tm_feed_forget_sections(struct tm_feed *f, const char *name);
void tm_feed_remove(struct tm_feed *f, const char *name);
void tm_feed_release(struct tm_feed *f);

/* `topics`: separated by commas; more than TM_FEED_TOPICS are left out. `last_id`: the header
 * Last-Event-ID, or NULL. */
void tm_feed_reader_init(struct tm_feed_reader *r, const struct tm_feed *f, const char *topics,
                         const char *last_id);
/* Forgets topic `i`; the ones behind it move up. */
void tm_feed_reader_drop(struct tm_feed_reader *r, size_t i);
void tm_feed_reader_release(struct tm_feed_reader *r);
/* Adds the next message: what is new, or a beat if the last message is 1 s ago, by which a page
 * notices within 3 s that nothing comes any more. Only visible pages have streams. False: nothing
 * is to be sent before that. */
bool tm_feed_next(const struct tm_feed *f, struct tm_feed_reader *r, int64_t now_ns,
                  struct tm_buf *out);

/* When to read a job again that took `cost_ns` to read: four times a second at most, and for a
 * fiftieth of the time, but after 750 ms in any case, so that a page is not later than a second:
 * what a fast job writes takes as long to read later. */
int64_t tm_feed_due(int64_t now_ns, int64_t cost_ns);

#endif
