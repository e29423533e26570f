/* log_set.c - see log_set.h.
 *
 *  (1) The source with the earliest line is read until another one has an earlier line. So related
 *      lines stay together, and a source is not compared with all others for each line.
 *  (2) A source at the end of its file is not read again before it is touched.
 */
#include "report/log_set.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"

#define PIECE    (16u << 10) /* bytes of one read */
#define LINE_MAX (1u << 20)  /* bytes; a longer line is returned in parts */
/* after a try; its worker's end is reported within this time */
#define SLACK_NS INT64_C(2000000000)

struct source {
  char *path, *label;
  enum tm_log_kind kind;
  int64_t at;         /* bytes of the file that were read */
  struct tm_buf text; /* read but not returned */
  size_t begin;       /* of the next line in `text` */
  size_t line_len;
  bool has_line, is_idle, is_taken; /* the last line with a moment was */
  int64_t key_ns;
};

struct names { /* without duplicates */
  struct TM_ARRAY(char *) list;
  struct tm_map known;
};

struct tm_log_set {
  char *dir;
  struct tm_log_choice choice;
  void (*on_folder)(void *data, const char *path);
  void *data;
  struct TM_ARRAY(struct source *) sources;
  struct tm_map by_path, folders;
  struct names workers, nodes;
  struct source *current;
  int64_t until_ns; /* `current` is read up to this moment */
  bool is_finished;
};

/* ---- which files ---- */

static const struct place {
  const char *folder; /* followed by <node>; NULL: only the path */
  const char *suffix;
  enum tm_log_kind kind;
} places[] = {
  { "sys/node/", ".txt", TM_LOG_TRIES },
  { "user/error/", ".txt", TM_LOG_ERRORS },
  { "user/entry_script_log/", ".log.txt", TM_LOG_LOGGER },
  { "user/stdout/", ".stdout.txt", TM_LOG_STDOUT },
  { "user/stderr/", ".stderr.txt", TM_LOG_STDERR },
};

static const char *const folders[] = {
  "", "sys", "sys/node", "user", "user/error", "user/stdout", "user/stderr", "user/entry_script_log"
};

static bool has_end(const char *name, size_t len, const char *end)
{
  size_t n = strlen(end);
  return len > n && memcmp(name + len - n, end, n) == 0;
}

/* The length of "process012" at the beginning of `name`; 0: it begins with another word. */
static size_t worker_in(const char *name)
{
  static const char process[] = "process";
  size_t n = sizeof(process) - 1;
  size_t digits = strncmp(name, process, n) == 0 ? strspn(name + n, "0123456789") : 0;
  return digits > 0 ? n + digits : 0;
}

/* A file that the script wrote into its log_dir, with the worker that its name begins with. */
static bool is_own(const char *path, char *worker, size_t worker_len)
{
  static const char folder[] = "user/entry_script_log/";
  size_t n = sizeof(folder) - 1;
  const char *name = strncmp(path, folder, n) == 0 ? strchr(path + n, '/') : NULL;
  if (!name || strchr(++name, '/'))
    return false;
  size_t len = strlen(name), of_worker = worker_in(name);
  if (of_worker < worker_len)
    memcpy(worker, name, of_worker);
  worker[of_worker < worker_len ? of_worker : 0] = '\0';
  return has_end(name, len, ".txt") || has_end(name, len, ".log");
}

bool tm_log_kind_of(const char *path, enum tm_log_kind *kind, char *worker, size_t worker_len)
{
  tm_require(worker_len > 0);
  worker[0] = '\0';
  if (strcmp(path, "sys/master_role.txt") == 0) {
    *kind = TM_LOG_MASTER;
    return true;
  }
  for (size_t i = 0; i < TM_COUNT_OF(places); i++) {
    size_t folder = strlen(places[i].folder), suffix = strlen(places[i].suffix);
    const char *name =
        strncmp(path, places[i].folder, folder) == 0 ? strchr(path + folder, '/') : NULL;
    size_t len = name ? strlen(++name) : 0;
    if (len <= suffix || strchr(name, '/') || strcmp(name + len - suffix, places[i].suffix) != 0)
      continue;
    len -= suffix;
    *kind = places[i].kind;
    if (*kind == TM_LOG_LOGGER && worker_in(name) != len)
      break;
    if (*kind == TM_LOG_TRIES && strncmp(name, "_main", len) == 0) {
      *kind = TM_LOG_NODE;
      return len == 5;
    }
    if (*kind == TM_LOG_TRIES && len == 8 && strncmp(name, "launcher", len) == 0) {
      *kind = TM_LOG_LAUNCHER;
      return true;
    }
    if (memchr(name, '.', len) || len >= worker_len) /* in sys/node: a link to the printed output */
      return false;
    memcpy(worker, name, len);
    worker[len] = '\0';
    return true;
  }
  *kind = TM_LOG_OWN;
  return is_own(path, worker, worker_len);
}

bool tm_log_choice_opens(const struct tm_log_choice *c, enum tm_log_kind kind, const char *worker)
{
  if (c->worker && worker && strcmp(c->worker, worker) != 0)
    return false;
  switch (kind) {
  case TM_LOG_MASTER: return c->mini_batch < 0;
  case TM_LOG_NODE: return c->worker || c->node;
  case TM_LOG_TRIES: return c->worker && c->mini_batch < 0;
  case TM_LOG_ERRORS: return true;
  case TM_LOG_LOGGER: return !c->errors;
  case TM_LOG_LAUNCHER: return !c->errors && c->mini_batch < 0 && !c->worker;
  case TM_LOG_OWN: return !c->errors && c->mini_batch < 0 && (!c->worker || worker);
  default: return !c->errors && c->mini_batch < 0;
  }
}

static bool is_in_time(const struct tm_log_choice *c, enum tm_log_kind kind,
                       const struct tm_log_line *line)
{
  int64_t slack_ns = kind == TM_LOG_LOGGER ? 0 : SLACK_NS;
  int64_t about = kind == TM_LOG_LOGGER ? tm_log_mini_batch(line->message, line->message_len)
                                        : tm_log_try_of(line->message, line->message_len);
  return line->wall_ns >= c->from_ns && line->wall_ns <= c->until_ns + slack_ns &&
         (about < 0 || about == c->mini_batch);
}

/* "node 3 (cn09) is ready", "process007 (node 3, pid 4711) started" */
static bool names_node(const struct tm_log_line *line, const char *node)
{
  char *words = tm_xprintf("node %s", node);
  bool names = tm_log_has_word(line->message, line->message_len, words);
  free(words);
  return names;
}

bool tm_log_choice_takes(const struct tm_log_choice *c, enum tm_log_kind kind,
                         const struct tm_log_line *line)
{
  bool is_system = kind == TM_LOG_MASTER || kind == TM_LOG_NODE;
  bool is_bad = line->level >= TM_WARNING;
  if (c->mini_batch >= 0 && !is_in_time(c, kind, line))
    return false;
  if (is_system && c->worker && !tm_log_has_word(line->message, line->message_len, c->worker))
    return false;
  if (kind == TM_LOG_MASTER && c->node && !names_node(line, c->node))
    return false;
  if (kind == TM_LOG_NODE && c->mini_batch >= 0)
    return is_bad;
  return !c->errors || kind == TM_LOG_ERRORS || is_bad;
}

/* ---- finding them ---- */

struct tm_log_set *tm_log_set_new(const char *logs_dir, const struct tm_log_choice *choice,
                                  void (*on_folder)(void *data, const char *path), void *data)
{
  tm_require(logs_dir && choice);
  struct tm_log_set *s = TM_NEW(struct tm_log_set);
  s->dir = tm_xstrdup(logs_dir);
  s->choice = *choice;
  s->on_folder = on_folder;
  s->data = data;
  return s;
}

static void release_names(struct names *n)
{
  TM_ARRAY_RELEASE_EACH(&n->list);
  tm_map_release(&n->known);
}

void tm_log_set_free(struct tm_log_set *s)
{
  if (!s)
    return;
  for (size_t i = 0; i < s->sources.len; i++) {
    free(s->sources.at[i]->path);
    free(s->sources.at[i]->label);
    tm_buf_release(&s->sources.at[i]->text);
    free(s->sources.at[i]);
  }
  TM_ARRAY_RELEASE(&s->sources);
  release_names(&s->workers);
  release_names(&s->nodes);
  tm_map_release(&s->by_path);
  tm_map_release(&s->folders);
  free(s->dir);
  free(s);
}

static void add_name(struct names *n, const char *name)
{
  bool is_new;
  tm_map_add(&n->known, name, strlen(name), &is_new);
  if (is_new)
    *TM_ARRAY_ADD(&n->list) = tm_xstrdup(name);
}

/* Notes the node of a file that is in a folder of one. Whether the node is chosen. */
static bool take_node(struct tm_log_set *s, enum tm_log_kind kind, const char *name)
{
  char *dir = tm_path_dir(name);
  const char *node = tm_path_base(dir);
  bool is_chosen = kind == TM_LOG_MASTER || !s->choice.node || strcmp(node, s->choice.node) == 0;
  if (kind != TM_LOG_MASTER)
    add_name(&s->nodes, node);
  free(dir);
  return is_chosen;
}

/* "launcher of node 1", for sys/node/1/launcher.txt. */
static char *label_of_node(const char *name)
{
  char *dir = tm_path_dir(name), *label = tm_xprintf("launcher of node %s", tm_path_base(dir));
  free(dir);
  return label;
}

/* `name`: relative to the folder. */
static void add_source(struct tm_log_set *s, const char *path, const char *name)
{
  enum tm_log_kind kind;
  char worker[64];
  bool is_new;
  if (!tm_log_kind_of(name, &kind, worker, sizeof(worker)))
    return;
  if (*worker)
    add_name(&s->workers, worker);
  if (!take_node(s, kind, name) || !tm_log_choice_opens(&s->choice, kind, *worker ? worker : NULL))
    return;
  uint64_t *place = tm_map_add(&s->by_path, path, strlen(path), &is_new);
  if (!is_new) {
    s->sources.at[*place]->is_idle = false;
    return;
  }
  *place = s->sources.len;
  struct source *n = TM_NEW(struct source);
  n->path = tm_xstrdup(path);
  n->kind = kind;
  if (kind == TM_LOG_OWN)
    n->label = tm_xstrdup(tm_path_base(path));
  else if (kind == TM_LOG_STDOUT || kind == TM_LOG_STDERR)
    n->label = tm_xprintf("%s.%s", worker, kind == TM_LOG_STDOUT ? "stdout" : "stderr");
  else if (kind == TM_LOG_LAUNCHER)
    n->label = label_of_node(name);
  *TM_ARRAY_ADD(&s->sources) = n;
}

static void look_in(struct tm_log_set *s, const char *path);

/* Handles wanted files, and the folders of nodes. */
void tm_log_set_touch(struct tm_log_set *s, const char *path)
{
  size_t n = strlen(s->dir);
  struct tm_stat st;
  if (strncmp(path, s->dir, n) != 0 || (path[n] && path[n] != '/'))
    return;
  const char *name = path + n + (path[n] == '/');
  bool is_folder = false;
  for (size_t i = 0; i < TM_COUNT_OF(folders) && !is_folder; i++)
    is_folder = strcmp(name, folders[i]) == 0;
  for (size_t i = 0; i < TM_COUNT_OF(places) && !is_folder; i++) {
    size_t len = strlen(places[i].folder);
    is_folder = strncmp(name, places[i].folder, len) == 0 && name[len] && !strchr(name + len, '/');
  }
  if (!is_folder && tm_fs_real()->stat(tm_fs_real()->self, path, true, &st) == 0 &&
      !S_ISREG(st.mode))
    return; /* a pipe of the script's would block */
  if (!is_folder)
    add_source(s, path, name);
  else if (tm_fs_real()->stat(tm_fs_real()->self, path, true, &st) == 0 && S_ISDIR(st.mode))
    look_in(s, path);
}

struct looking {
  struct tm_log_set *s;
  const char *path;
};

static int on_name(void *data, const char *name, int type)
{
  struct looking *l = data;
  char *path = tm_path_join(l->path, name);
  tm_log_set_touch(l->s, path);
  free(path);
  return 0;
}

static void look_in(struct tm_log_set *s, const char *path)
{
  struct looking l = { .s = s, .path = path };
  bool is_new;
  tm_map_add(&s->folders, path, strlen(path), &is_new);
  if (is_new && s->on_folder)
    s->on_folder(s->data, path); /* before its names are read, so that none is missed */
  tm_dir_read(path, on_name, &l);
}

void tm_log_set_look(struct tm_log_set *s)
{
  tm_log_set_touch(s, s->dir);
}

void tm_log_set_finish(struct tm_log_set *s)
{
  s->is_finished = true;
  for (size_t i = 0; i < s->sources.len; i++)
    s->sources.at[i]->is_idle = false;
  tm_log_set_look(s);
}

size_t tm_log_set_count(const struct tm_log_set *s)
{
  return s->sources.len;
}

size_t tm_log_set_workers(const struct tm_log_set *s, const char *const **names)
{
  *names = (const char *const *)s->workers.list.at;
  return s->workers.list.len;
}

size_t tm_log_set_nodes(const struct tm_log_set *s, const char *const **names)
{
  *names = (const char *const *)s->nodes.list.at;
  return s->nodes.list.len;
}

/* ---- reading ---- */

/* Whether the file is shorter than what was read of it: somebody has cut it, or another one has its
 * name. What it has now is new. An incomplete line of before ends here. */
static bool was_cut(struct source *n, const struct tm_stat *st)
{
  if (st->size >= n->at)
    return false;
  n->at = 0;
  if (n->text.len > n->begin)
    tm_buf_add_char(&n->text, '\n');
  return true;
}

/* Appends more of the file; false: there is none now. */
static bool read_more(struct source *n)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st;
  int64_t got = -1;
  int fd = tm_fs_open(fs, n->path, O_RDONLY, 0, NULL);
  if (fd < 0)
    return false;
  tm_buf_remove_front(&n->text, n->begin);
  n->begin = 0;
  size_t have = n->text.len;
  bool is_known = fs->fstat(fs->self, fd, &st) == 0;
  if (n->label && is_known)
    n->key_ns = st.mtime_ns + TM_LOG_TICK_NS;
  if (is_known && was_cut(n, &st))
    have = n->text.len;
  char *room = tm_buf_extend(&n->text, PIECE);
  got = tm_fs_read_at(fs, fd, n->path, room, PIECE, n->at, NULL);
  n->text.len = have + (got > 0 ? (size_t)got : 0);
  n->at += got > 0 ? got : 0;
  tm_fs_close(fs, fd);
  return got > 0;
}

/* The length of the next line, at n->begin; false: it is incomplete. */
static bool find_line(struct tm_log_set *s, struct source *n, size_t *len)
{
  size_t searched = 0;
  for (;;) {
    const char *begin = tm_buf_str(&n->text) + n->begin;
    size_t have = n->text.len - n->begin;
    const char *end = have > searched ? memchr(begin + searched, '\n', have - searched) : NULL;
    *len = end ? (size_t)(end - begin) : have;
    if (end || have >= LINE_MAX)
      return true;
    searched = have;
    if (n->is_idle || !read_more(n)) {
      n->is_idle = true; /* keeps (2) */
      return s->is_finished && n->text.len > n->begin;
    }
  }
}

static void skip_line(struct source *n)
{
  n->begin += n->line_len;
  n->begin += n->begin < n->text.len && n->text.data[n->begin] == '\n';
  n->has_line = false;
}

/* Moves to the next wanted line; false: there is none now. */
static bool load_line(struct tm_log_set *s, struct source *n)
{
  struct tm_log_line line;
  while (!n->has_line) {
    if (!find_line(s, n, &n->line_len))
      return false;
    if (!n->label && tm_log_line_read(n->text.data + n->begin, n->line_len, &line)) {
      n->key_ns = line.wall_ns;
      n->is_taken = tm_log_choice_takes(&s->choice, n->kind, &line);
    }
    n->has_line = n->label || n->is_taken;
    if (!n->has_line)
      skip_line(n);
  }
  return true;
}

/* Of lines with the same moment, the supervisor's come first, the script's last, independent of the
 * order in the folder. */
static bool is_before(const struct source *a, const struct source *b)
{
  if (a->key_ns != b->key_ns)
    return a->key_ns < b->key_ns;
  return a->kind != b->kind ? a->kind < b->kind : strcmp(a->path, b->path) < 0;
}

/* Keeps (1). */
static void choose(struct tm_log_set *s)
{
  s->current = NULL;
  s->until_ns = INT64_MAX;
  for (size_t i = 0; i < s->sources.len; i++) {
    struct source *n = s->sources.at[i];
    if (!load_line(s, n))
      continue;
    if (!s->current || is_before(n, s->current)) {
      s->until_ns = s->current ? s->current->key_ns : INT64_MAX;
      s->current = n;
    } else if (n->key_ns < s->until_ns) {
      s->until_ns = n->key_ns;
    }
  }
}

bool tm_log_set_peek(struct tm_log_set *s, int64_t *wall_ns)
{
  struct source *n = s->current;
  if (!n || !load_line(s, n) || n->key_ns > s->until_ns)
    choose(s);
  if (s->current)
    *wall_ns = s->current->key_ns;
  return s->current != NULL;
}

bool tm_log_set_next(struct tm_log_set *s, struct tm_log_piece *out)
{
  int64_t wall_ns;
  if (!tm_log_set_peek(s, &wall_ns))
    return false;
  struct source *n = s->current;
  *out = (struct tm_log_piece) { .text = n->text.data + n->begin,
                                 .len = n->line_len,
                                 .source = n->label };
  skip_line(n);
  return true;
}
