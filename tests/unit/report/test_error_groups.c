/* test_error_groups.c - all errors of a step in groups, from tests/cases/error_groups.txt: in every
 * order of tries and items, and piece by piece; limits. */
#include "unit.h"

#include "report/error_groups.h"

#include "base/text.h"
#include "base/time.h"

#define FIELDS_MAX 12

struct line {
  char *text, *f[FIELDS_MAX]; /* the fields are within the text; "" for '-' */
  size_t len;
};

struct a_case {
  char *name;
  struct TM_ARRAY(struct line) tries, items;
  struct tm_buf expected;
};

static char *trimmed(char *text)
{
  text += strspn(text, " ");
  for (size_t n = strlen(text); n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\n'); n--)
    text[n - 1] = '\0';
  return text;
}

static struct line split(const char *words)
{
  struct line l = { .text = tm_xstrdup(words) };
  char *at = l.text;
  while (at && l.len < FIELDS_MAX) {
    char *bar = strstr(at, " | ");
    if (bar)
      *bar = '\0';
    l.f[l.len] = trimmed(at);
    if (strcmp(l.f[l.len++], "-") == 0)
      l.f[l.len - 1] = (char *)"";
    at = bar ? bar + 3 : NULL;
  }
  return l;
}

static int64_t seconds(const char *text)
{
  return (int64_t)(atof(text) * (double)TM_S);
}

static void add_try(struct tm_error_groups *g, char *const *f)
{
  char *detail = tm_xprintf("dataset= count=1 manifest=0%s%s", *f[9] ? " first=" : "", f[9]);
  bool is_good = strcmp(f[5], "RUN_DONE") == 0, is_canceled = strcmp(f[5], "CANCELED") == 0;
  struct tm_try_row row = { .mini_batch = atoll(f[0]),
                            .picked = atoll(f[1]),
                            .process = f[2],
                            .node = "0",
                            .begin_wall_ns = seconds(f[3]),
                            .elapsed_ns = seconds(f[4]),
                            .status = f[5],
                            .category = is_good       ? ""
                                        : is_canceled ? "canceled"
                                                      : "error",
                            .where = f[6],
                            .message = f[7],
                            .item = f[8],
                            .detail = detail };
  tm_error_groups_add_try(g, &row);
  free(detail);
}

static char *unescaped(const char *text)
{
  char *copy = tm_xstrdup(text), *to = copy;
  for (const char *at = text; *at; at++)
    if (at[0] == '\\' && at[1] == 'n') {
      *to++ = '\n';
      at++;
    } else {
      *to++ = *at;
    }
  *to = '\0';
  return copy;
}

static void add_item(struct tm_error_groups *g, char *const *f)
{
  bool are_rows = strncmp(f[5], "rows:", 5) == 0;
  char *message = unescaped(f[4]);
  tm_error_groups_add_item(g, &(struct tm_error_item) { .mini_batch = atoll(f[0]),
                                                        .try_number = atoll(f[1]),
                                                        .status = *f[2] ? f[2] : NULL,
                                                        .where = *f[3] ? f[3] : NULL,
                                                        .message = message,
                                                        .item = *f[5] ? f[5] + 5 * are_rows : NULL,
                                                        .names = *f[6] ? f[6] : NULL,
                                                        .items = atoll(f[7]),
                                                        .are_rows = are_rows });
  free(message);
}

static const char *or_dash(const char *text)
{
  return *text ? text : "-";
}

static void describe(struct tm_buf *out, struct tm_error_groups *g, bool has_messages)
{
  tm_error_groups_list(g);
  for (size_t i = 0; i < g->list.len; i++) {
    const struct tm_error_group *e = &g->list.at[i];
    tm_buf_printf(out, "group %s | %s | %s | %lld | %lld | %lld | %lld |", or_dash(e->status),
                  or_dash(e->where), e->pattern, (long long)e->tries, (long long)e->items,
                  (long long)(e->first_ns / TM_S), (long long)(e->last_ns / TM_S));
    for (size_t w = 0; w < e->workers_len; w++)
      tm_buf_printf(out, " %s", e->workers[w]);
    tm_buf_printf(out, "%s%s | %lld | %s | %s\n", e->workers_len ? "" : " -",
                  e->has_more_workers ? " and others" : "", (long long)e->mini_batch,
                  or_dash(e->item), e->is_mixed ? "mixed" : "same");
    if (has_messages && strchr(e->message, '\n')) {
      tm_buf_add_str(out, "message ");
      tm_text_one_line(out, e->message, strlen(e->message), 0);
      tm_buf_add_char(out, '\n');
    }
  }
  tm_buf_printf(out, "rest %lld | %lld\n", (long long)g->other_tries, (long long)g->other_items);
}

/* Whether `n` of all lines, in each order of the two files, make what is expected: tries first,
 * items first, or in turns with a list after each. */
static void expect_order(const struct a_case *c, int order)
{
  struct tm_error_groups g = { 0 };
  struct tm_buf found = TM_BUF_NONE;
  for (size_t i = 0; order == 1 && i < c->items.len; i++)
    add_item(&g, c->items.at[i].f);
  for (size_t i = 0; i < c->tries.len; i++) {
    if (order == 2 && i < c->items.len)
      add_item(&g, c->items.at[i].f);
    if (order == 2)
      tm_error_groups_list(&g);
    add_try(&g, c->tries.at[i].f);
  }
  for (size_t i = order == 2 ? c->tries.len : 0; order != 1 && i < c->items.len; i++)
    add_item(&g, c->items.at[i].f);
  describe(&found, &g, true);
  if (strcmp(found.data, tm_buf_str(&c->expected)) != 0)
    fail_msg("%s, order %d\nexpected:\n%s\nfound:\n%s", c->name, order, tm_buf_str(&c->expected),
             found.data);
  tm_buf_release(&found);
  tm_error_groups_release(&g);
}

static void end_case(struct a_case *c)
{
  for (int order = 0; c->name && order < 3; order++)
    expect_order(c, order);
  for (size_t i = 0; i < c->tries.len; i++)
    free(c->tries.at[i].text);
  for (size_t i = 0; i < c->items.len; i++)
    free(c->items.at[i].text);
  TM_ARRAY_RELEASE(&c->tries);
  TM_ARRAY_RELEASE(&c->items);
  tm_buf_release(&c->expected);
  free(c->name);
  *c = (struct a_case) { .name = NULL };
}

static void cases(void **state)
{
  FILE *f = fopen(TM_TESTS_DIR "/cases/error_groups.txt", "r");
  struct a_case c = { .name = NULL };
  char line[1000];
  int n = 0;
  assert_non_null(f);
  while (fgets(line, sizeof line, f)) {
    if (strncmp(line, "case ", 5) == 0) {
      end_case(&c);
      c.name = tm_xstrdup(trimmed(line + 5));
      n++;
    } else if (strncmp(line, "try ", 4) == 0) {
      *TM_ARRAY_ADD(&c.tries) = split(line + 4);
      assert_int_equal(c.tries.at[c.tries.len - 1].len, 10);
    } else if (strncmp(line, "item ", 5) == 0) {
      *TM_ARRAY_ADD(&c.items) = split(line + 5);
      assert_int_equal(c.items.at[c.items.len - 1].len, 8);
    } else if (*line != '#' && *line != '\n') {
      tm_buf_add_str(&c.expected, line);
    }
  }
  end_case(&c);
  fclose(f);
  assert_int_equal(n, 14);
}

static void add_many(struct tm_error_groups *g, int from, int until)
{
  char where[32], worker[32];
  for (int i = from; i < until; i++) {
    snprintf(where, sizeof where, "s.lua:%d", i % 1200);
    snprintf(worker, sizeof worker, "process%03d", i / 1200);
    add_try(g,
            (char *[]) { (char *)"1", (char *)"1", worker, (char *)"1", (char *)"1",
                         (char *)"RUN_EXCEPTION", where, (char *)"bad", (char *)"", (char *)"/a" });
  }
}

static void the_first_groups_and_workers_are_kept(void **state)
{
  struct tm_error_groups g = { 0 };
  add_many(&g, 0, 12 * 1200);
  for (int i = 0; i < 3; i++)
    add_item(&g, (char *[]) { (char *)"1", (char *)"1", (char *)"RUN_EXCEPTION",
                              (char *)(i == 0   ? "s.lua:999"
                                       : i == 1 ? "s.lua:1000"
                                                : "s.lua:1001"),
                              (char *)"bad", (char *)"/a", (char *)"", (char *)"5" });
  tm_error_groups_list(&g);
  assert_int_equal(g.list.len, TM_ERROR_GROUPS_MAX);
  assert_int_equal(g.other_tries, 12 * 200);
  assert_int_equal(g.other_items, 10);
  assert_string_equal(g.list.at[0].where, "s.lua:0");
  assert_string_equal(g.list.at[999].where, "s.lua:999");
  assert_int_equal(g.list.at[999].items, 5);
  assert_int_equal(g.list.at[999].tries, 12);
  assert_int_equal(g.list.at[999].workers_len, TM_ERROR_WORKERS);
  assert_true(g.list.at[999].has_more_workers);
  tm_error_groups_release(&g);
}

static void a_file_that_is_new_begins_again(void **state)
{
  struct tm_error_groups g = { 0 };
  char *item[] = { (char *)"1",       (char *)"1",   (char *)"RUN_EXCEPTION",
                   (char *)"s.lua:0", (char *)"bad", (char *)"/a",
                   (char *)"",        (char *)"5" };
  add_many(&g, 0, 1);
  add_item(&g, item);
  tm_error_groups_list(&g);
  assert_int_equal(g.list.at[0].items, 5);
  tm_error_groups_forget(&g.items);
  add_item(&g, item);
  tm_error_groups_list(&g);
  assert_int_equal(g.list.len, 1);
  assert_int_equal(g.list.at[0].items, 5);
  assert_int_equal(g.list.at[0].tries, 1);
  tm_error_groups_forget(&g.tries);
  tm_error_groups_list(&g);
  assert_int_equal(g.list.at[0].tries, 0);
  tm_error_groups_release(&g);
}

/* A message of any length and any bytes. */
static void long_messages_are_cut(void **state)
{
  struct tm_error_groups g = { 0 };
  char *text = tm_xmalloc(100001);
  memset(text, 'x', 100000);
  text[3999] = '\xc3', text[4000] = '\xa9', text[100000] = '\0';
  for (int i = 0; i < 2; i++)
    tm_error_groups_add_item(&g, &(struct tm_error_item) { .message = text, .items = 1 });
  memset(text, '\xff', 100000);
  tm_error_groups_add_item(&g, &(struct tm_error_item) { .message = text, .items = 1 });
  tm_error_groups_list(&g);
  assert_int_equal(g.list.len, 2);
  assert_int_equal(g.list.at[0].items, 2);
  assert_false(g.list.at[0].is_mixed);
  assert_int_equal(strlen(g.list.at[0].message), 3999 + strlen("..."));
  assert_string_equal(g.list.at[0].message + 3998, "x...");
  assert_true(strlen(g.list.at[1].pattern) <= 1000);
  tm_error_groups_release(&g);
  free(text);
}

static void add_failed(struct tm_error_groups *g, const char *worker, const char *number,
                       const char *where)
{
  add_try(g, (char *[]) { (char *)"1", (char *)number, (char *)worker, (char *)"1", (char *)"1",
                          (char *)"RUN_EXCEPTION", (char *)where, (char *)"bad", (char *)"",
                          (char *)"/a" });
}

/* The item failed for good with the last try, at another worker. */
static void the_log_is_that_of_the_first_try(void **state)
{
  struct tm_error_groups g = { 0 };
  add_failed(&g, "process003", "1", "s.lua:1");
  add_failed(&g, "process000", "2", "s.lua:1");
  struct tm_error_item item = { .status = "RUN_EXCEPTION",
                                .where = "s.lua:1",
                                .message = "bad",
                                .item = "/a",
                                .log = "/job/logs/user/error/0/process000.txt",
                                .mini_batch = 1,
                                .try_number = 2,
                                .items = 1 };
  tm_error_groups_add_item(&g, &item);
  item.status = NULL;
  tm_error_groups_add_item(&g, &item);
  tm_error_groups_list(&g);
  char *first = tm_error_group_log(&g.list.at[0], "/job/logs");
  char *without_try = tm_error_group_log(&g.list.at[1], "/job/logs");
  assert_string_equal(first, "/job/logs/user/error/0/process003.txt");
  assert_string_equal(without_try, item.log);
  free(first);
  free(without_try);
  tm_error_groups_release(&g);
}

static void the_largest_comes_first(void **state)
{
  static const char *const lines[] = { "s.lua:1", "s.lua:2", "s.lua:3", "s.lua:2", "s.lua:2" };
  struct tm_error_groups g = { 0 };
  size_t order[4];
  for (size_t i = 0; i < TM_COUNT_OF(lines); i++)
    add_failed(&g, "process000", "1", lines[i]);
  tm_error_groups_add_item(&g, &(struct tm_error_item) { .message = "left out", .items = 2 });
  tm_error_groups_list(&g);
  tm_error_groups_order(&g, order);
  assert_int_equal(order[0], 1);
  assert_int_equal(order[1], 3);
  assert_int_equal(order[2], 0);
  assert_int_equal(order[3], 2);
  tm_error_groups_release(&g);
}

UNIT_TESTS({
    cmocka_unit_test(cases),
    cmocka_unit_test(the_first_groups_and_workers_are_kept),
    cmocka_unit_test(a_file_that_is_new_begins_again),
    cmocka_unit_test(long_messages_are_cut),
    cmocka_unit_test(the_log_is_that_of_the_first_try),
    cmocka_unit_test(the_largest_comes_first),
});
