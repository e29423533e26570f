/* node_state.h - the state of a node, for its own files only:
 *
 *   node.c        what a keeper may say of workers and launches, and the end of the node
 *   node_ready.c  from its first message until it can be used
 */
#ifndef TM_FLEET_NODE_STATE_H
#define TM_FLEET_NODE_STATE_H

#include "base/mem.h"
#include "fleet/launches.h"
#include "fleet/node.h"
#include "fleet/node_connection.h"
#include "fleet/node_probe.h"
#include "sched/silence.h"

enum tm_node_phase { TM_NODE_WORKER_ASKED, TM_NODE_WORKER_LIVES, TM_NODE_WORKER_GONE };

/* There may be 100,000 in a job: without padding. */
struct tm_node_worker {
  uint32_t step, number; /* number: the step's */
  enum tm_node_phase phase : 2;
  uint32_t take_backs : 30; /* not answered yet */
};

struct tm_node {
  struct tm_node_options o;
  struct tm_node_connection *connection;
  char name[12], address[256];
  char *job_dir; /* NULL before the first step */
  bool is_stream, is_lost, is_closed, has_hello;
  bool is_other_build;
  bool has_ended;  /* nothing more can come */
  bool is_reached; /* the preface of a stream has come */
  bool has_sizes_alone;
  bool drains;                        /* its relay says that it will end soon */
  struct tm_node_admission admission; /* of a stream */
  struct tm_silence silence;
  int64_t keeper_silent_ns; /* of a stream: as its relay says; 0: it answers */
  int64_t asked;            /* ASK_DOING messages without an answer */
  int64_t late;             /* messages after the loss */
  void (*on_quiet)(void *data);
  void (*on_gone)(void *data);
  struct TM_ARRAY(struct tm_node_user) users;     /* by step */
  struct TM_ARRAY(struct tm_node_worker) workers; /* by number */
  struct tm_launches launches;
};

/* node.c */
void tm_node_send(struct tm_node *n, const struct tm_msg *f);
void tm_node_lose(struct tm_node *n, const char *text); /* again: a no-op */
void tm_node_lose_impossible(struct tm_node *n);
/* KEEPER_SILENT of its relay. */
void tm_node_on_keeper_silent(struct tm_node *n, const struct tm_msg *f);

/* node_ready.c */
void tm_node_on_hello(struct tm_node *n, const struct tm_msg *f);
/* Whether the message is from the relay itself, or comes before its report. */
bool tm_node_is_of_relay(const struct tm_node *n, const struct tm_msg *f);
void tm_node_on_relay_news(struct tm_node *n, const struct tm_msg *f);

#endif
