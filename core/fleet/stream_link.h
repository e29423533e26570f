/* stream_link.h - the links to the workers of a node that is reached over a stream: a carrier of
 * worker_link.h.
 *
 * What a worker sends waits in its link while the link is held or not open. It counts as consumed,
 * so that the node may send more, when it was delivered or dropped. What comes for a link that has
 * ended or is closed is dropped.
 *
 * Caller, the connection of the node: zeroed, with the stream; add for each STARTED; take for each
 * message of a worker; end for CLOSED and ENDED; leave when the stream has ended, and before it is
 * closed. The links live on as long as their users like: what they hold can still be delivered, and
 * then their end.
 */
#ifndef TM_FLEET_STREAM_LINK_H
#define TM_FLEET_STREAM_LINK_H

#include "base/mem.h"
#include "fleet/worker_link.h"
#include "sys/messages/node_stream.h"

struct tm_stream_link;

struct tm_stream_links {
  struct tm_node_stream *stream;
  struct TM_ARRAY(struct tm_stream_link_place) places; /* by the worker's number on the node */
};

struct tm_stream_link_place {
  bool was_started;
  struct tm_stream_link *link; /* NULL: closed */
};

/* Each worker once. */
struct tm_worker_link *tm_stream_links_add(struct tm_stream_links *l, uint32_t worker);
/* False: no such worker was started. */
bool tm_stream_links_take(struct tm_stream_links *l, const struct tm_msg *f);
/* The worker sends nothing more. `code`: for on_end. Again: a no-op. False: as above. */
bool tm_stream_links_end(struct tm_stream_links *l, uint32_t worker, int code);
/* Ends all links, which tell their users from the next turn of the loop on, and forgets them.
 * Again: a no-op. */
void tm_stream_links_leave(struct tm_stream_links *l);

#endif
