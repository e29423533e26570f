/* disk_own.h - what disk.c and disk_names.c share: nodes, and the changes that have not reached the
 * platters.
 *
 * A node is a file, a folder or a link, under whatever names; a name stands in a folder's node,
 * once as seen and once as on the platters. Writes, cuts and changes of names carry a serial number
 * in the order in which they were made.
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
  bool is_lost; /* by a failed fsync */
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
  struct tm_buf seen, kept;   /* a link: what it leads to */
  struct tm_disk_names names; /* of a folder, as seen */
  struct tm_disk_names kept_names;
  struct TM_ARRAY(struct tm_disk_write) ops;
};

struct tm_disk_place {
  struct tm_disk_node *dir; /* NULL: nowhere */
  char *base;
};

struct tm_disk_change {
  struct tm_disk_place from, to; /* from nowhere: added; to nowhere: removed */
  struct tm_disk_node *node;
  struct tm_disk_node *other; /* of an exchange: what stands at `from` afterwards; else NULL */
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
  uint64_t left_out_from, left_out_to, met; /* fsyncs of such paths */
  void (*on_fsync)(void *data, const char *path);
  void *data; /* of on_fsync */
  bool is_cut, has_failed, cannot_exchange;
  struct TM_ARRAY(struct tm_disk_node *) nodes; /* [0]: the root */
  struct TM_ARRAY(struct tm_disk_change) changes;
  struct TM_ARRAY(struct tm_disk_file) files; /* descriptor - 100 */
};

bool tm_disk_node_is_dir(const struct tm_disk_node *n);
struct tm_disk_node *tm_disk_node_new(struct tm_disk *d, uint32_t mode);
/* As seen; or NULL. */
struct tm_disk_node *tm_disk_find(struct tm_disk *d, const char *path);
/* The folder and the name in it; 0, -ENOENT or -ENOTDIR. out->base to free(). */
int tm_disk_place(struct tm_disk *d, const char *path, struct tm_disk_place *out);
/* Takes over the places' names. */
void tm_disk_change_add(struct tm_disk *d, struct tm_disk_place from, struct tm_disk_place to,
                        struct tm_disk_node *node);
/* As the calls of the table, without faults, plans or counts. */
int tm_disk_rename(struct tm_disk *d, const char *from, const char *to);
int tm_disk_exchange(struct tm_disk *d, const char *a, const char *b);
/* Changes of names in the folder with a serial before `mark` reach the platters. */
void tm_disk_names_sync(struct tm_disk *d, const struct tm_disk_node *dir, uint64_t mark);
/* Each of the others does or does not; then what is on the platters is what is seen. */
void tm_disk_names_settle(struct tm_disk *d);
void tm_disk_names_release(struct tm_disk *d);

#endif
