/* source_copy.h - unpacks the copy of a script from the supervisor (SOURCE in node/node_report.h).
 *
 *   add ... -> thread: folder, files, links, hash -> on_taken
 *
 * A thread writes the files, because a file system may hang or be slow. It waits for bytes, but the
 * loop never waits for it. The stream delivers at most the bytes that were credited, plus one
 * message.
 */
#ifndef TM_RELAY_SOURCE_COPY_H
#define TM_RELAY_SOURCE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node/node_report.h"
#include "sys/fs.h"
#include "sys/loop.h"
#include "sys/messages/node_stream.h"

/* The most bytes that may have come and not been used. */
#define TM_SOURCE_COPY_LIMIT (TM_STREAM_WORKER_CREDIT + TM_SOURCE_MESSAGE)

struct tm_source_copy;

struct tm_source_copy_options {
  struct tm_loop *loop;
  const struct tm_fs *fs;                    /* tm_fs_real() */
  void (*on_used)(void *data, size_t bytes); /* of those that were added */
  /* Once: "", or what was wrong, one line. */
  void (*on_taken)(void *data, const char *problem);
  void *data;
};

/* Takes over the contents of `s`. Makes its folder for temporary folders if necessary, and holds it
 * until tm_source_copy_end(). NULL with a message. */
struct tm_source_copy *tm_source_copy_begin(const struct tm_source_copy_options *o,
                                            struct tm_node_source *s, struct tm_err *err);
/* The next bytes; after on_taken they are dropped. False: they are more than the limit. */
bool tm_source_copy_add(struct tm_source_copy *source, const char *p, size_t n);
bool tm_source_copy_is_over(const struct tm_source_copy *source); /* on_taken has come */
/* Waits for the thread, or leaves it behind; frees it when the loop turns. NULL: a no-op. */
void tm_source_copy_end(struct tm_source_copy *source, int64_t patience_ns);

#endif
