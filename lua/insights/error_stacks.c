/* error_stacks.c - the stack of the first error of each group, from the log of its worker. */
#include "insights/insight.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "report/log_line.h"

#define GROUPS_MAX 100       /* the largest ones of a step */
#define READ_MAX   (4 << 20) /* bytes from the beginning of a log; a later error has no stack */
#define TEXT_MAX   4096      /* bytes of a stack */

static bool is_name(const char *text)
{
  return *text && *text != '.' && !strchr(text, '/');
}

/* Reads the beginning of a regular file into an empty buffer; false: it cannot be read. */
static bool read_beginning(struct tm_buf *out, const char *path)
{
  const struct tm_fs *fs = tm_fs_real();
  int fd = tm_fs_open(fs, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0, NULL);
  struct tm_stat st;
  int64_t n = -1;
  if (fd >= 0 && fs->fstat(fs->self, fd, &st) == 0 && S_ISREG(st.mode)) {
    size_t size = st.size < READ_MAX ? (size_t)st.size : READ_MAX;
    n = tm_fs_read_at(fs, fd, path, tm_buf_extend(out, size), size, 0, NULL);
    out->len = n > 0 ? (size_t)n : 0;
  }
  tm_fs_close(fs, fd);
  return n > 0;
}

/* To free(); NULL: there is none. */
static char *read_stack(const struct tm_error_group *g, const char *logs_dir)
{
  struct tm_log_error entry = { .mini_batch = g->mini_batch, .try_number = g->try_number };
  struct tm_buf text = TM_BUF_NONE;
  char *path = tm_error_group_log(g, logs_dir), *stack = NULL;
  size_t len = 0;
  const char *at =
      read_beginning(&text, path) ? tm_log_error_rest(text.data, text.len, &entry, &len) : NULL;
  if (at && len > 0) {
    size_t shown = len > TEXT_MAX ? tm_text_front(at, TEXT_MAX) : len;
    stack = tm_xprintf("%.*s%s", (int)shown, at, shown < len ? "\n..." : "");
  }
  tm_buf_release(&text);
  free(path);
  return stack;
}

/* The first error of a group stays the first: each is looked for once. */
static const char *stack_of(struct tm_insight_stacks *s, const struct tm_error_group *g,
                            const char *logs_dir)
{
  bool is_new;
  char *key;
  if (!is_name(g->node) || !is_name(g->worker))
    return NULL;
  key = tm_xprintf("%s/%s %" PRId64 " %" PRId64, g->node, g->worker, g->mini_batch, g->try_number);
  uint64_t *place = tm_map_add(&s->known, key, strlen(key), &is_new);
  free(key);
  if (is_new) {
    *TM_ARRAY_ADD(&s->texts) = read_stack(g, logs_dir);
    *place = s->texts.len;
  }
  return s->texts.at[*place - 1];
}

void tm_insight_read_stacks(struct tidemill_insight *in, size_t step)
{
  const struct tm_error_groups *g = tm_insight_groups(in, step);
  const char *logs_dir = in->job.steps.at[step].logs_dir;
  struct tm_insight_stacks *s = &in->steps.at[step].stacks;
  s->shown.len = 0;
  if (!g || g->list.len == 0 || !logs_dir || in->job.is_removed)
    return;
  size_t *order = tm_xmalloc(g->list.len * sizeof(*order));
  tm_error_groups_order(g, order);
  for (size_t i = 0; i < g->list.len; i++)
    *TM_ARRAY_ADD(&s->shown) = NULL;
  for (size_t i = 0; i < g->list.len && i < GROUPS_MAX; i++)
    s->shown.at[order[i]] = stack_of(s, &g->list.at[order[i]], logs_dir);
  free(order);
}

void tm_insight_release_stacks(struct tm_insight_stacks *s)
{
  TM_ARRAY_RELEASE_EACH(&s->texts);
  TM_ARRAY_RELEASE(&s->shown);
  tm_map_release(&s->known);
}
