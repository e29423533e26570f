/* trace_lives.h - nodes, worker slots and the lives of workers in a trace: processes, threads, and
 * the slices before the first try. For trace.h. */
#ifndef TM_EXPORT_TRACE_LIVES_H
#define TM_EXPORT_TRACE_LIVES_H

#include "export/trace_state.h"

/* The process of a node. `address`: "" or NULL: not known. */
int64_t tm_trace_node(struct tm_trace *t, const char *node, const char *address);
/* A worker, of which an event said how long init() took. */
void tm_trace_note_init(struct tm_trace *t, const struct tm_worker_life *w, int64_t init_ns);
/* Writes the lives that are known. Later ones are known by their tries alone. */
void tm_trace_write_lives(struct tm_trace *t);
/* The thread of a worker, and its life in the trace. Both valid until the next call. */
struct tm_trace_life *tm_trace_life_of(struct tm_trace *t, const struct tm_worker_life *w,
                                       struct tm_trace_thread *thread);
/* A slice with a name of ours, for a worker. */
struct tm_buf *tm_trace_begin_slice(struct tm_trace *t, const char *name,
                                    struct tm_trace_thread thread, int64_t from_us, int64_t to_us);

#endif
