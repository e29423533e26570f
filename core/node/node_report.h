/* node_report.h - a node's report about its machine, and the questions to it before it gets work.
 * Only for nodes over a stream: the relay answers, not the keeper.
 *
 *   supervisor                        relay
 *                      <-------         REPORT            struct tm_node_report; once, first of all
 *     PROBE            ------->                           struct tm_node_probe; once
 *                      <-------         PROBED            struct tm_node_probed
 *     SOURCE           ------->                           struct tm_node_source; then its bytes:
 *     SOURCE_DATA ...  ------->
 *                      <-------         SOURCE_TAKEN      string: "", or what was wrong, one line
 *
 * The probe shows that both see the same job directory, and that the node can use the paths of its
 * steps. The supervisor makes <job>/nodes/<id>.asked with a nonce. The node reads it, and makes
 * <job>/nodes/<id>.answered with the same nonce. It returns the sizes and times of both files as it
 * sees them: two mounts of one file system may show different times.
 *
 * With ship_source, the supervisor then sends the scripts of the node's steps, one after another,
 * each as the bytes of a tree (base/tree_bytes.h). These messages need credit, like those of a
 * worker, and have a number that no worker has. So they delay no control message.
 */
#ifndef TM_NODE_NODE_REPORT_H
#define TM_NODE_NODE_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "node/worker_mark.h"

#define TM_MSG_SOURCE_DATA 48
#define TM_SOURCE_WORKER   UINT32_MAX         /* in the header of SOURCE_DATA */
#define TM_SOURCE_MESSAGE  ((size_t)64 << 10) /* bytes of one SOURCE_DATA, at most */

#define TM_NODE_CPUS_MAX (1 << 20)

/* In the message: the strings in this order, u32 uid, u32 pid, u32 cpus, u32 gpus, u64 memory.
 * After decoding, the struct owns its strings. */
struct tm_node_report {
  char *host;
  char *boot_id;    /* two nodes with one boot id share a kernel; "": not known */
  char *cpus_why;   /* what limits `cpus`, for messages: "the affinity" */
  char *slurm_job;  /* its id, decimal; "": none */
  char *temp_dir;   /* where temporary folders go: TMPDIR, or /tmp; absolute */
  char *memory_dir; /* likewise for the memory of archive entries; "": none */
  uint32_t uid, pid;
  uint32_t cpus;   /* that it may use; 1 ... TM_NODE_CPUS_MAX */
  uint32_t gpus;   /* that it may use */
  uint64_t memory; /* bytes that it may use */
};
void tm_node_report_encode(struct tm_buf *out, const struct tm_node_report *r);
/* Release `out` with tm_node_report_release(). */
int tm_node_report_decode(struct tm_node_report *out, const char *p, size_t n, struct tm_err *err);
void tm_node_report_release(struct tm_node_report *r);

/* In the message: the strings, then the lists, in this order. */
struct tm_node_probe {
  char *job_dir;
  char *asked, *answered; /* paths of the two files */
  char *nonce;            /* decimal or hexadecimal digits */
  char **reads;           /* paths that the node must be able to read; NULL-ended */
  size_t reads_len;
  char **writes; /* folders that it must be able to write to; NULL-ended */
  size_t writes_len;
};
void tm_node_probe_encode(struct tm_buf *out, const struct tm_node_probe *p);
/* Release `out` with tm_node_probe_release(). */
int tm_node_probe_decode(struct tm_node_probe *out, const char *p, size_t n, struct tm_err *err);
void tm_node_probe_release(struct tm_node_probe *p);

/* How one side sees a file. */
struct tm_node_file {
  int64_t size;
  int64_t time_ns; /* of its last change, by the file system */
};

/* In the message: the string, and for each file u64 size, u64 time_ns. */
struct tm_node_probed {
  char *problem; /* "": none. Else what the node cannot do, one line: "cannot read '/d': ..." */
  struct tm_node_file asked, answered; /* with a problem: zeros */
};
void tm_node_probed_encode(struct tm_buf *out, const struct tm_node_probed *p);
/* Release `out` with tm_node_probed_release(). */
int tm_node_probed_decode(struct tm_node_probed *out, const char *p, size_t n, struct tm_err *err);
void tm_node_probed_release(struct tm_node_probed *p);

/* A copy of a script, which the node makes. In the message: the strings in this order, u64 epoch,
 * u32 node, u32 number. */
struct tm_node_source {
  char *job_dir;
  char *dir;  /* where it goes: a new folder within a folder for temporary folders (temp_left.h) */
  char *hash; /* of the tree: 16 hexadecimal digits */
  struct tm_incarnation incarnation; /* whose folder that is; tm_node_send_source() sets it */
};
void tm_node_source_encode(struct tm_buf *out, const struct tm_node_source *s);
/* Release `out` with tm_node_source_release(). */
int tm_node_source_decode(struct tm_node_source *out, const char *p, size_t n, struct tm_err *err);
void tm_node_source_release(struct tm_node_source *s);

#endif
