/* disk_names.c - names on the simulated disk: which names each folder has, as seen by programs and
 * on the platters.
 *
 * A renamed folder takes its contents along. If a folder did not reach the platters, its contents
 * cannot be found there, even if they were fsynced themselves.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/path.h"
#include "disk_own.h"

bool tm_disk_node_is_dir(const struct tm_disk_node *n)
{
  return S_ISDIR(n->mode);
}

struct tm_disk_node *tm_disk_node_new(struct tm_disk *d, uint32_t mode)
{
  struct tm_disk_node *n = TM_NEW(struct tm_disk_node);
  n->mode = mode;
  n->number = d->nodes.len + 1;
  *TM_ARRAY_ADD(&d->nodes) = n;
  return n;
}

static struct tm_disk_name *names_find(struct tm_disk_names *names, const char *base, size_t len)
{
  for (size_t i = 0; i < names->len; i++)
    if (strncmp(names->at[i].base, base, len) == 0 && !names->at[i].base[len])
      return &names->at[i];
  return NULL;
}

static void names_remove(struct tm_disk_names *names, const char *base)
{
  struct tm_disk_name *n = names_find(names, base, strlen(base));
  if (!n)
    return;
  free(n->base);
  *n = names->at[--names->len];
}

static void names_add(struct tm_disk_names *names, const char *base, struct tm_disk_node *node)
{
  names_remove(names, base);
  *TM_ARRAY_ADD(names) = (struct tm_disk_name) { tm_xstrdup(base), node };
}

static void names_clear(struct tm_disk_names *names)
{
  for (size_t i = 0; i < names->len; i++)
    free(names->at[i].base);
  names->len = 0;
}

struct tm_disk_node *tm_disk_find(struct tm_disk *d, const char *path)
{
  struct tm_disk_node *n = d->nodes.at[0];
  for (path += strspn(path, "/"); n && *path; path += strspn(path, "/")) {
    size_t len = strcspn(path, "/");
    struct tm_disk_name *name = names_find(&n->names, path, len);
    n = name ? name->node : NULL;
    path += len;
  }
  return n;
}

int tm_disk_place(struct tm_disk *d, const char *path, struct tm_disk_place *out)
{
  char *dir = tm_path_dir(path);
  struct tm_disk_node *n = tm_disk_find(d, dir);
  free(dir);
  *out = (struct tm_disk_place) { NULL, NULL };
  if (!n)
    return -ENOENT;
  if (!tm_disk_node_is_dir(n))
    return -ENOTDIR;
  *out = (struct tm_disk_place) { n, tm_xstrdup(tm_path_base(path)) };
  return 0;
}

static void change_apply(const struct tm_disk_change *c, bool is_seen)
{
  if (is_seen && c->from.dir)
    c->from.dir->changed = c->serial + 1;
  if (is_seen && c->to.dir)
    c->to.dir->changed = c->serial + 1;
  if (c->from.dir)
    names_remove(is_seen ? &c->from.dir->names : &c->from.dir->kept_names, c->from.base);
  if (c->to.dir)
    names_add(is_seen ? &c->to.dir->names : &c->to.dir->kept_names, c->to.base, c->node);
  if (c->other)
    names_add(is_seen ? &c->from.dir->names : &c->from.dir->kept_names, c->from.base, c->other);
}

static void change_release(struct tm_disk_change *c)
{
  free(c->from.base);
  free(c->to.base);
}

/* Afterwards `from` names `other`; NULL: it names nothing. This is one change: it reaches the
 * platters completely or not at all. */
static void exchange_add(struct tm_disk *d, struct tm_disk_place from, struct tm_disk_place to,
                         struct tm_disk_node *node, struct tm_disk_node *other)
{
  struct tm_disk_change c = {
    .from = from, .to = to, .node = node, .other = other, .serial = d->serial++
  };
  change_apply(&c, true);
  *TM_ARRAY_ADD(&d->changes) = c;
}

void tm_disk_change_add(struct tm_disk *d, struct tm_disk_place from, struct tm_disk_place to,
                        struct tm_disk_node *node)
{
  exchange_add(d, from, to, node, NULL);
}

/* The node that a rename to this place would replace. */
static int check_replaced(const struct tm_disk_node *n, const struct tm_disk_node *there)
{
  if (!there || there == n)
    return 0;
  if (tm_disk_node_is_dir(n) && !tm_disk_node_is_dir(there))
    return -ENOTDIR;
  if (!tm_disk_node_is_dir(n) && tm_disk_node_is_dir(there))
    return -EISDIR;
  return there->names.len > 0 ? -ENOTEMPTY : 0;
}

int tm_disk_rename(struct tm_disk *d, const char *from, const char *to)
{
  struct tm_disk_place before, after;
  struct tm_disk_node *n = tm_disk_find(d, from);
  int rc = n ? check_replaced(n, tm_disk_find(d, to)) : -ENOENT;
  if (rc < 0 || (rc = tm_disk_place(d, to, &after)) < 0)
    return rc;
  tm_disk_place(d, from, &before);
  tm_disk_change_add(d, before, after, n);
  return 0;
}

int tm_disk_exchange(struct tm_disk *d, const char *a, const char *b)
{
  struct tm_disk_node *n = tm_disk_find(d, a), *other = tm_disk_find(d, b);
  struct tm_disk_place from, to;
  if (d->cannot_exchange || !n || !other)
    return d->cannot_exchange ? -ENOSYS : -ENOENT;
  tm_disk_place(d, a, &from);
  tm_disk_place(d, b, &to);
  exchange_add(d, from, to, n, other);
  return 0;
}

void tm_disk_names_sync(struct tm_disk *d, const struct tm_disk_node *dir, uint64_t mark)
{
  size_t left = 0;
  for (size_t i = 0; i < d->changes.len; i++) {
    struct tm_disk_change *c = &d->changes.at[i];
    if (c->serial < mark && (c->to.dir ? c->to.dir : c->from.dir) == dir) {
      change_apply(c, false);
      change_release(c);
    } else {
      d->changes.at[left++] = *c;
    }
  }
  d->changes.len = left;
}

static bool is_same(const struct tm_disk_place *a, const struct tm_disk_place *b)
{
  return a->dir && a->dir == b->dir && strcmp(a->base, b->base) == 0;
}

/* Whether a change depends on the earlier one: both affect the same name. */
static bool follows(const struct tm_disk_change *later, const struct tm_disk_change *earlier)
{
  return is_same(&earlier->from, &later->from) || is_same(&earlier->from, &later->to) ||
         is_same(&earlier->to, &later->from) || is_same(&earlier->to, &later->to);
}

void tm_disk_names_settle(struct tm_disk *d)
{
  bool *is_lost = tm_xcalloc(d->changes.len + 1, sizeof(*is_lost));
  for (size_t i = 0; i < d->changes.len; i++) {
    const struct tm_disk_change *c = &d->changes.at[i];
    is_lost[i] = tm_disk_random(&d->random, 2) == 0;
    for (size_t k = 0; k < i && !is_lost[i]; k++)
      is_lost[i] = is_lost[k] && follows(c, &d->changes.at[k]);
    if (!is_lost[i])
      change_apply(c, false);
  }
  free(is_lost);
  for (size_t i = 0; i < d->changes.len; i++)
    change_release(&d->changes.at[i]);
  d->changes.len = 0;
  for (size_t i = 0; i < d->nodes.len; i++) {
    struct tm_disk_node *n = d->nodes.at[i];
    names_clear(&n->names);
    for (size_t k = 0; k < n->kept_names.len; k++)
      names_add(&n->names, n->kept_names.at[k].base, n->kept_names.at[k].node);
  }
}

void tm_disk_names_release(struct tm_disk *d)
{
  for (size_t i = 0; i < d->changes.len; i++)
    change_release(&d->changes.at[i]);
  TM_ARRAY_RELEASE(&d->changes);
  for (size_t i = 0; i < d->nodes.len; i++) {
    names_clear(&d->nodes.at[i]->names);
    names_clear(&d->nodes.at[i]->kept_names);
    TM_ARRAY_RELEASE(&d->nodes.at[i]->names);
    TM_ARRAY_RELEASE(&d->nodes.at[i]->kept_names);
  }
}
