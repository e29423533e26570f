/* summary.c - see summary.h.
 *
 *  (1) The files are replaced atomically, by a rename: a reader sees the old or the new one.
 *  (2) Rows of earlier sessions are read from process_summary.csv: the rows of nodes are sums of
 *      it. Only their last columns are read from node_summary.csv.
 *
 * Names of workers, nodes and hosts need no quoting in CSV; a host's name that would is sanitized.
 */
#include "report/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "report/log_file.h"
#include "report/pen.h"

#define WRITE_NS (10 * TM_S)
#define READ_MAX (256u << 20) /* bytes */

static const char columns[] = "Node,Node Address,Tries,Total,Succeeded,Failed,"
                              "Elapsed Seconds,Process Seconds,Run Method Seconds"
#define XX(name) "," #name
    TM_STATUS_MAP(XX)
#undef XX
    ;

static struct tm_summary_row *row_of(struct tm_summary *s, const char *process, size_t len,
                                     bool *is_new)
{
  uint64_t *place = tm_map_add(&s->places, process, len, is_new);
  if (*is_new) {
    *TM_ARRAY_ADD(&s->rows) = (struct tm_summary_row) { .process = tm_xstrndup(process, len) };
    *place = s->rows.len;
  }
  return &s->rows.at[*place - 1];
}

void tm_summary_release(struct tm_summary *s)
{
  for (size_t i = 0; i < s->rows.len; i++) {
    free(s->rows.at[i].process);
    free(s->rows.at[i].node);
    free(s->rows.at[i].address);
  }
  TM_ARRAY_RELEASE(&s->rows);
  tm_map_release(&s->places);
  tm_node_uses_release(&s->nodes);
  free(s->process_path);
  free(s->node_path);
  memset(s, 0, sizeof(*s));
}

/* Reading. */

/* The next field of a line; false at the line's end. */
static bool next_field(const char **at, const char *end, const char **field, size_t *len)
{
  const char *stop;
  if (*at > end)
    return false;
  stop = memchr(*at, ',', (size_t)(end - *at));
  *field = *at;
  *len = (size_t)((stop ? stop : end) - *at);
  *at = (stop ? stop : end) + 1;
  return true;
}

static bool read_int(const char **at, const char *end, int64_t *out)
{
  const char *field;
  char text[32];
  size_t len;
  if (!next_field(at, end, &field, &len) || len >= sizeof(text))
    return false;
  memcpy(text, field, len);
  text[len] = '\0';
  return tm_text_int(text, out) && *out >= 0;
}

/* "12.345678" */
static bool read_seconds(const char **at, const char *end, int64_t *ns)
{
  const char *field = *at, *dot;
  int64_t whole, micros;
  const char *whole_at, *micros_at;
  size_t len;
  if (!next_field(at, end, &field, &len) || !(dot = memchr(field, '.', len)) ||
      field + len - dot != 7)
    return false;
  whole_at = field;
  micros_at = dot + 1;
  if (!read_int(&whole_at, dot, &whole) || !read_int(&micros_at, field + len, &micros) ||
      whole > INT64_MAX / TM_S - 1)
    return false;
  *ns = whole * TM_S + micros * 1000;
  return true;
}

static bool read_sums(const char *at, const char *end, struct tm_sums *n)
{
  bool good = read_int(&at, end, &n->tries) && read_int(&at, end, &n->items) &&
              read_int(&at, end, &n->succeeded) && read_int(&at, end, &n->failed) &&
              read_seconds(&at, end, &n->total_ns) && read_seconds(&at, end, &n->cpu_ns) &&
              read_seconds(&at, end, &n->run_ns);
  for (size_t i = 0; good && i < TM_STATUS_COUNT; i++)
    good = read_int(&at, end, &n->by_status[i]);
  return good && at > end;
}

static bool read_row(struct tm_summary *s, const char *at, const char *end)
{
  const char *process, *node, *address;
  size_t process_len, node_len, address_len;
  struct tm_summary_row *row;
  bool is_new;
  if (!next_field(&at, end, &process, &process_len) || !next_field(&at, end, &node, &node_len) ||
      !next_field(&at, end, &address, &address_len))
    return false;
  row = row_of(s, process, process_len, &is_new);
  if (!is_new)
    return false;
  row->node = tm_xstrndup(node, node_len);
  row->address = tm_xstrndup(address, address_len);
  return read_sums(at, end, &row->sums);
}

static bool read_rows(struct tm_summary *s, const struct tm_buf *text)
{
  const char *at = text->data, *end = text->data + text->len, *stop;
  static const char first[] = "Process,";
  size_t header = sizeof(first) - 1 + sizeof(columns) - 1 + 1;
  if (text->len < header || memcmp(at, first, sizeof(first) - 1) != 0 ||
      memcmp(at + sizeof(first) - 1, columns, sizeof(columns) - 1) != 0 || at[header - 1] != '\n')
    return false;
  for (at += header; at < end; at = stop + 1) {
    stop = memchr(at, '\n', (size_t)(end - at));
    if (!stop || !read_row(s, at, stop))
      return false;
  }
  return true;
}

int tm_summary_init(struct tm_summary *s, const struct tm_fs *fs, const char *logs_dir,
                    int64_t mono_ns, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  int rc = 0;
  *s = (struct tm_summary) { .fs = fs, .due.written_ns = mono_ns };
  s->process_path = tm_path_join(logs_dir, "sys/job_report/process_summary.csv");
  s->node_path = tm_path_join(logs_dir, "sys/job_report/node_summary.csv");
  if (tm_fs_exists(fs, s->process_path))
    rc = tm_fs_read_file(fs, s->process_path, READ_MAX, &text, err);
  if (rc >= 0 && text.len > 0 && !read_rows(s, &text)) /* keeps (2) */
    rc = tm_err_set(err, TM_EDAMAGE, "'%s' is not a summary that can be added to", s->process_path);
  tm_buf_clear(&text);
  if (rc >= 0 && tm_fs_exists(fs, s->node_path) &&
      (rc = tm_fs_read_file(fs, s->node_path, READ_MAX, &text, err)) >= 0)
    tm_node_uses_read(&s->nodes, tm_buf_str(&text), text.len);
  s->due.is_given_up = rc < 0;
  tm_buf_release(&text);
  return rc < 0 ? rc : 0;
}

/* Adding. */

static void add_sums(struct tm_sums *to, const struct tm_sums *n)
{
  to->tries += n->tries;
  to->items += n->items;
  to->succeeded += n->succeeded;
  to->failed += n->failed;
  to->total_ns += n->total_ns;
  to->cpu_ns += n->cpu_ns;
  to->run_ns += n->run_ns;
  for (size_t i = 0; i < TM_STATUS_COUNT; i++)
    to->by_status[i] += n->by_status[i];
}

void tm_summary_add(struct tm_summary *s, const struct tm_event *e)
{
  const struct tm_attempt *a = e->attempt;
  bool is_new;
  struct tm_summary_row *row = row_of(s, e->worker, strlen(e->worker), &is_new);
  if (is_new) {
    row->node = tm_node_use_word(e->node_id);
    row->address = tm_node_use_word(e->node_address);
  }
  row->sums.tries++;
  row->sums.items += a->items;
  row->sums.succeeded += a->succeeded;
  row->sums.failed += a->failed;
  row->sums.total_ns += a->total_ns;
  row->sums.cpu_ns += a->cpu_ns;
  row->sums.run_ns += a->run_ns;
  row->sums.by_status[a->status]++;
  s->due.is_changed = true;
}

void tm_summary_add_life(struct tm_summary *s, const struct tm_event *e)
{
  s->due.is_changed = tm_node_uses_add(&s->nodes, e) || s->due.is_changed;
}

/* Writing. */

/* The columns after the first. */
static void add_rest(struct tm_buf *out, const struct tm_summary_row *row)
{
  const struct tm_sums *n = &row->sums;
  const int64_t counts[] = { n->tries, n->items, n->succeeded, n->failed };
  const int64_t times[] = { n->total_ns, n->cpu_ns, n->run_ns };
  struct tm_pen p;
  tm_buf_printf(out, ",%s,%s", row->node, row->address);
  tm_pen_start(&p, out, (TM_COUNT_OF(counts) + TM_COUNT_OF(times) + TM_STATUS_COUNT + 1) * 32);
  for (size_t i = 0; i < TM_COUNT_OF(counts); i++) {
    tm_pen_add_char(&p, ',');
    tm_pen_add_int(&p, counts[i]);
  }
  for (size_t i = 0; i < TM_COUNT_OF(times); i++) {
    tm_pen_add_char(&p, ',');
    tm_pen_add_seconds(&p, times[i]);
  }
  for (size_t i = 0; i < TM_STATUS_COUNT; i++) {
    tm_pen_add_char(&p, ',');
    tm_pen_add_int(&p, n->by_status[i]);
  }
  tm_pen_stop(&p);
}

static void add_processes(struct tm_buf *out, const struct tm_summary *s)
{
  tm_buf_printf(out, "Process,%s\n", columns);
  for (size_t i = 0; i < s->rows.len; i++) {
    tm_buf_add_str(out, s->rows.at[i].process);
    add_rest(out, &s->rows.at[i]);
    tm_buf_add_char(out, '\n');
  }
}

struct node_sums {
  struct tm_summary_row row; /* its texts are those of the first worker */
  int64_t processes;
};

struct node_list TM_ARRAY(struct node_sums);

static struct node_sums *sums_of(struct node_list *nodes, struct tm_map *places, char *node,
                                 char *address)
{
  bool is_new;
  uint64_t *place = tm_map_add(places, node, strlen(node), &is_new);
  if (is_new) {
    *TM_ARRAY_ADD(nodes) = (struct node_sums) { .row = { .node = node, .address = address } };
    *place = nodes->len;
  }
  return &nodes->at[*place - 1];
}

static void add_nodes(struct tm_buf *out, const struct tm_summary *s, int64_t mono_ns)
{
  struct node_list nodes = { 0 };
  struct tm_map places = { 0 };
  for (size_t i = 0; i < s->rows.len; i++) {
    const struct tm_summary_row *row = &s->rows.at[i];
    struct node_sums *n = sums_of(&nodes, &places, row->node, row->address);
    add_sums(&n->row.sums, &row->sums);
    n->processes++;
  }
  for (size_t i = 0; i < s->nodes.list.len; i++)
    (void)sums_of(&nodes, &places, s->nodes.list.at[i].node, s->nodes.list.at[i].address);
  tm_buf_printf(out, "Processes,%s%s\n", columns, TM_NODE_USE_COLUMNS);
  for (size_t i = 0; i < nodes.len; i++) {
    tm_buf_add_int(out, nodes.at[i].processes);
    add_rest(out, &nodes.at[i].row);
    tm_node_uses_add_columns(out, &s->nodes, nodes.at[i].row.node, nodes.at[i].row.sums.run_ns,
                             mono_ns);
    tm_buf_add_char(out, '\n');
  }
  tm_map_release(&places);
  TM_ARRAY_RELEASE(&nodes);
}

int tm_summary_write(struct tm_summary *s, int64_t mono_ns, bool now, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  int rc;
  if (!tm_log_due_begin(&s->due, WRITE_NS, mono_ns, now))
    return 0;
  add_processes(&text, s);
  rc = tm_log_replace(s->fs, s->process_path, &text, err); /* keeps (1) */
  tm_buf_clear(&text);
  add_nodes(&text, s, mono_ns);
  if (rc >= 0)
    rc = tm_log_replace(s->fs, s->node_path, &text, err);
  s->due.is_given_up = rc < 0;
  tm_buf_release(&text);
  return rc;
}
