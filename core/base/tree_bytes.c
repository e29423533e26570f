/* tree_bytes.c - see tree_bytes.h. The bytes come from another machine and may be hostile: no
 * length is believed beyond its limit. */
#include "base/tree_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

/* ---- writing ---- */

static void add_name(struct tm_buf *out, char kind, const char *name)
{
  tm_buf_add_char(out, kind);
  tm_buf_add_bytes32(out, name, strlen(name));
}

void tm_tree_add_folder(struct tm_buf *out, const char *name)
{
  add_name(out, 'D', name);
}

void tm_tree_add_file(struct tm_buf *out, const char *name, bool is_program)
{
  add_name(out, 'F', name);
  tm_buf_add_char(out, is_program ? 'x' : '-');
}

void tm_tree_add_piece(struct tm_buf *out, const void *p, size_t n)
{
  tm_require(n <= TM_TREE_PIECE_MAX);
  tm_buf_add_char(out, 'P');
  tm_buf_add_bytes32(out, p, n);
}

void tm_tree_add_link(struct tm_buf *out, const char *name, const char *target)
{
  add_name(out, 'L', name);
  tm_buf_add_bytes32(out, target, strlen(target));
}

void tm_tree_add_end(struct tm_buf *out)
{
  tm_buf_add_char(out, 'E');
}

/* ---- the hash ---- */

void tm_tree_file_facts(char out[TM_TREE_FILE_FACTS], bool is_program, uint64_t contents)
{
  out[0] = is_program ? 'x' : '-';
  tm_put_u64(out + 1, contents);
}

void tm_tree_hash_add(struct tm_hash *all, char kind, const char *name, const void *p, size_t n)
{
  char head[5] = { kind };

  tm_put_u32(head + 1, (uint32_t)strlen(name));
  tm_hash_add(all, head, sizeof(head));
  tm_hash_add(all, name, strlen(name));
  tm_hash_add(all, p, n);
}

void tm_tree_hash_text(char out[17], const struct tm_hash *all)
{
  snprintf(out, 17, "%016llx", (unsigned long long)tm_hash_end(all));
}

/* ---- names ---- */

static bool is_part(const char *p, size_t n)
{
  return n > 0 && !(n == 1 && p[0] == '.') && !(n == 2 && p[0] == '.' && p[1] == '.');
}

static bool is_good_name(const char *name)
{
  for (;;) {
    size_t n = strcspn(name, "/");
    if (!is_part(name, n))
      return false;
    if (!name[n])
      return true;
    name += n + 1;
  }
}

/* Folders above the last part. */
static int depth_of(const char *name)
{
  int depth = 0;

  for (const char *c = name; *c; c++)
    depth += *c == '/';
  return depth;
}

bool tm_tree_link_is_within(const char *name, const char *target)
{
  int depth = depth_of(name);

  if (*target == '/' || !*target)
    return false;
  for (const char *at = target; *at;) {
    size_t n = strcspn(at, "/");
    if (n == 2 && at[0] == '.' && at[1] == '.')
      depth--;
    else if (is_part(at, n))
      depth++;
    if (depth < 0)
      return false;
    at += n;
    at += strspn(at, "/");
  }
  return true;
}

/* ---- reading ---- */

struct reading {
  const struct tm_tree_reader *r;
  struct tm_hash *all, *one; /* over everything, and over the contents of one file */
  char *piece;               /* TM_TREE_PIECE_MAX bytes */
  char name[TM_TREE_NAME_MAX + 1], target[TM_TREE_NAME_MAX + 1];
  int entries;
  uint64_t bytes;
  struct tm_err *err;
};

static int refuse(const struct reading *g, const char *why)
{
  return tm_err_set(g->err, TM_EPROTOCOL, "the bytes of a folder cannot be read: %s", why);
}

static int read_raw(struct reading *g, char *p, size_t n)
{
  return g->r->read(g->r->data, p, n) ? 0 : refuse(g, "they end too early");
}

/* bytes32 of at most `max` bytes. Returns the length. */
static int64_t read_bytes(struct reading *g, char *to, size_t max)
{
  char len[4];
  int rc = read_raw(g, len, sizeof(len));
  uint32_t n;

  if (rc < 0)
    return rc;
  n = tm_get_u32(len);
  if (n > max)
    return refuse(g, "a length is too large");
  rc = n > 0 ? read_raw(g, to, n) : 0;
  return rc < 0 ? rc : (int64_t)n;
}

static int read_text(struct reading *g, char to[TM_TREE_NAME_MAX + 1])
{
  int64_t n = read_bytes(g, to, TM_TREE_NAME_MAX);

  if (n < 0)
    return (int)n;
  to[n] = '\0';
  return strlen(to) == (size_t)n ? 0 : refuse(g, "a name has a NUL");
}

static int read_pieces(struct reading *g)
{
  int64_t n;
  char kind;
  int rc;

  tm_hash_reset(g->one);
  do {
    if ((rc = read_raw(g, &kind, 1)) < 0)
      return rc;
    if (kind != 'P')
      return refuse(g, "a piece of a file is missing");
    if ((n = read_bytes(g, g->piece, TM_TREE_PIECE_MAX)) < 0)
      return (int)n;
    g->bytes += (uint64_t)n;
    if (g->bytes > TM_TREE_BYTES_MAX)
      return refuse(g, "there are too many");
    tm_hash_add(g->one, g->piece, (size_t)n);
    if ((rc = g->r->on_piece(g->r->data, g->piece, (size_t)n, g->err)) < 0)
      return rc;
  } while (n > 0);
  return 0;
}

static int read_file(struct reading *g)
{
  char mode, facts[TM_TREE_FILE_FACTS];
  int rc = read_raw(g, &mode, 1);

  if (rc == 0 && mode != 'x' && mode != '-')
    rc = refuse(g, "a file has no mode");
  if (rc == 0)
    rc = g->r->on_file(g->r->data, g->name, mode == 'x', g->err);
  if (rc == 0)
    rc = read_pieces(g);
  if (rc < 0)
    return rc;
  tm_tree_file_facts(facts, mode == 'x', tm_hash_end(g->one));
  tm_tree_hash_add(g->all, 'F', g->name, facts, sizeof(facts));
  return 0;
}

static int read_link(struct reading *g)
{
  int rc = read_text(g, g->target);

  if (rc == 0)
    rc = g->r->on_link(g->r->data, g->name, g->target, g->err);
  if (rc == 0)
    tm_tree_hash_add(g->all, 'L', g->name, g->target, strlen(g->target));
  return rc;
}

static int read_entry(struct reading *g, char kind)
{
  int rc = read_text(g, g->name);

  if (rc < 0)
    return rc;
  if (!is_good_name(g->name))
    return refuse(g, "a name leads out of the folder");
  if (++g->entries > TM_TREE_ENTRIES_MAX)
    return refuse(g, "there are too many files");
  switch (kind) {
  case 'D':
    tm_tree_hash_add(g->all, 'D', g->name, "", 0);
    return g->r->on_folder(g->r->data, g->name, g->err);
  case 'F': return read_file(g);
  case 'L': return read_link(g);
  default: return refuse(g, "an entry is of an unknown kind");
  }
}

static int read_all(struct reading *g)
{
  for (;;) {
    char kind;
    int rc = read_raw(g, &kind, 1);
    if (rc < 0 || kind == 'E')
      return rc;
    if ((rc = read_entry(g, kind)) < 0)
      return rc;
  }
}

int tm_tree_read(const struct tm_tree_reader *r, char hash[17], struct tm_err *err)
{
  struct reading *g = TM_NEW(struct reading);
  int rc;

  g->r = r;
  g->err = err;
  g->all = tm_hash_new();
  g->one = tm_hash_new();
  g->piece = tm_xmalloc(TM_TREE_PIECE_MAX);
  rc = read_all(g);
  tm_tree_hash_text(hash, g->all);
  tm_hash_free(g->all);
  tm_hash_free(g->one);
  free(g->piece);
  free(g);
  return rc;
}
