/* disk_own.h - what disk.c and disk_names.c share: nodes, and the changes that have not reached the
 * platters.
 *
 * A node is a file, a folder or a link and can have several names. The node of a folder holds its
 * names twice: as seen by programs and as on the platters. Writes, cuts and changes of names have a
 * serial number in the order in which they were made.
 */
#ifndef TM_TESTS_DISK_OWN_H
#define TM_TESTS_DISK_OWN_H

#include "base/mem.h"
#include "disk.h"

struct tm_disk_write {
  int64_t at;
  char *bytes;
  size_t len;
  uint64_t serial;
  bool is_cut;  /* to `at` */
  bool is_lost; /* cleaned by a failed fsync */
};

struct tm_disk_node;
struct tm_disk_name {
  char *base;
  struct tm_disk_node *node;
};
struct tm_disk_names TM_ARRAY(struct tm_disk_name);

struct tm_disk_node {
  uint32_t mode;   /* as st_mode */
  uint64_t number; /* as st_ino */
  uint64_t changed,
      kept_changed; /* as st_mtim: serial of the last change, as seen, and on the platters */
  struct tm_buf seen, kept;   /* the target of a link */
  struct tm_disk_names names; /* names in a folder, as programs see them */
  struct tm_disk_names kept_names;
  struct TM_ARRAY(struct tm_disk_write) ops;
};

struct tm_disk_place {
  struct tm_disk_node *dir; /* NULL: nowhere */
  char *base;
};

struct tm_disk_change {
  struct tm_disk_place from, to; /* added, if it comes from nowhere; removed, if it goes nowhere */
  struct tm_disk_node *node;
  struct tm_disk_node *other; /* of an exchange: the node at `from` afterwards; else NULL */
  uint64_t serial;
};

struct tm_disk_file {
  struct tm_disk_node *node;
  char *path;
};

struct tm_disk {
  struct tm_fs fs;
  struct tm_disk_plan plan;
  uint64_t calls, random, serial;
  const char *left_out;                     /* end of a path, or NULL */
  uint64_t left_out_from, left_out_to, met; /* fsyncs of paths with this end */
  void (*on_fsync)(void *data, const char *path);
  void *data; /* for on_fsync */
  bool is_cut, has_failed, cannot_exchange;
  struct TM_ARRAY(struct tm_disk_node *) nodes; /* [0]: the root */
  struct TM_ARRAY(struct tm_disk_change) changes;
  struct TM_ARRAY(struct tm_disk_file) files; /* descriptor - 100 */
};

bool tm_disk_node_is_dir(const struct tm_disk_node *n);
struct tm_disk_node *tm_disk_node_new(struct tm_disk *d, uint32_t mode);
/* What programs see at the path; or NULL. */
struct tm_disk_node *tm_disk_find(struct tm_disk *d, const char *path);
/* Finds the folder and the name in it; returns 0, -ENOENT or -ENOTDIR. The caller frees out->base.
 */
int tm_disk_place(struct tm_disk *d, const char *path, struct tm_disk_place *out);
/* Takes ownership of the names in the places. */
void tm_disk_change_add(struct tm_disk *d, struct tm_disk_place from, struct tm_disk_place to,
                        struct tm_disk_node *node);
/* Like the calls of the table, but without faults, plans or counts. */
int tm_disk_rename(struct tm_disk *d, const char *from, const char *to);
int tm_disk_exchange(struct tm_disk *d, const char *a, const char *b);
/* The changes of names in the folder with a serial below `mark` reach the platters. */
void tm_disk_names_sync(struct tm_disk *d, const struct tm_disk_node *dir, uint64_t mark);
/* Decides for each remaining change whether it reaches the platters; afterwards programs see what
 * is on the platters. */
void tm_disk_names_settle(struct tm_disk *d);
void tm_disk_names_release(struct tm_disk *d);

#endif
