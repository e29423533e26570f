/* test_host_errors.c - a host gets all errors of a step in groups, while the job runs and later. */
#include "host.h"

#define LIMIT_MS 60000

static void open_record(struct host *h, struct tidemill_record **r)
{
  host_must(h, tidemill_record_open(r, NULL, tidemill_job_dir(h->job), &h->err));
}

struct errors {
  int groups;
  int64_t tries, items;
};

static int on_group(const struct tidemill_error_group *g, void *data)
{
  struct errors *all = data;
  char again[500];
  assert_int_equal(g->size, sizeof(*g));
  assert_false(g->is_rest);
  assert_string_equal(g->status, "RUN_EXCEPTION");
  assert_string_equal(g->pattern, "no good: <item>");
  assert_non_null(strstr(g->where, "score.lua:"));
  assert_non_null(strstr(g->message, "no good: bad.00"));
  assert_non_null(strstr(g->item, "/in/bad.00"));
  assert_true(g->first_ns > 0 && g->first_ns <= g->last_ns && g->mini_batch >= 0);
  assert_true(g->workers_len >= 1 && strncmp(g->workers[0], "process", 7) == 0);
  assert_string_equal(g->workers[0], g->worker);
  assert_true(access(g->log, R_OK) == 0 && strcmp(g->node_id, "0") == 0);
  snprintf(again, sizeof again, " --mini-batch %d", (int)g->mini_batch);
  assert_non_null(strstr(g->again, again));
  all->groups++;
  all->tries += g->tries;
  all->items += g->items;
  return all->groups == 3 ? 7 : 0;
}

static int count_group(const struct tidemill_error_group *g, void *data)
{
  struct errors *all = data;
  all->tries += g->tries;
  all->items += g->items;
  return 0;
}

/* Three bad files, two tries each, are one error. */
static void errors_come_in_groups(void **state)
{
  struct host h;
  struct errors all = { 0 }, then = { 0 };
  struct tidemill_record *r = NULL;
  host_setup(&h, "bad", 3, "good", 1, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  open_record(&h, &r);
  host_must(&h, tidemill_record_error_groups(r, 0, on_group, &all, &h.err));
  assert_int_equal(all.groups, 0);
  for (int i = 0; h.given_up < 3; i++) {
    int64_t tries = then.tries;
    assert_true(i < LIMIT_MS / 10);
    then = (struct errors) { 0 };
    (void)tidemill_job_wait(h.job, 10, &h.err);
    host_must(&h, tidemill_record_error_groups(r, 0, count_group, &then, &h.err));
    assert_true(then.tries >= tries && then.tries <= 6);
  }
  host_wait(&h);
  host_must(&h, tidemill_record_refresh(r, &h.err));
  host_must(&h, tidemill_record_error_groups(r, 0, on_group, &all, &h.err));
  assert_true(all.groups == 1 && all.tries == 6 && all.items == 3);
  host_must(&h, tidemill_record_error_groups(r, 0, on_group, &all, &h.err));
  assert_true(all.groups == 2 && all.tries == 12 && all.items == 6);
  assert_int_equal(tidemill_record_error_groups(r, 0, on_group, &all, &h.err), 7);
  host_expect(&h, tidemill_record_error_groups(r, 3, on_group, &all, &h.err), TIDEMILL_EUSAGE,
              "there is no step 3; there are 1");
  host_expect(&h, tidemill_record_error_groups(r, 0, NULL, &all, &h.err), TIDEMILL_EUSAGE,
              "`on_group`");
  tidemill_record_close(r);
  host_end(&h);
}

static int on_joint_group(const struct tidemill_error_group *g, void *data)
{
  struct errors *all = data;
  assert_string_equal(g->pattern, "no good: <item>");
  assert_string_equal(g->message, all->groups == 0 ? "no good: bad.000" : "");
  assert_true(g->is_mixed && g->mini_batch == 0 && g->try_number == 1);
  all->groups++;
  all->tries += g->tries;
  all->items += g->items;
  return 0;
}

/* Two mini-batches of three files fail, the first because of its last file, the second because of
 * its first one. */
static void all_items_of_a_mini_batch_are_in_its_group(void **state)
{
  struct host h;
  struct errors all = { 0 };
  struct tidemill_record *r = NULL;
  char text[1200], *size;
  host_setup(&h, "also", 2, "bad", 4, NULL);
  snprintf(text, sizeof text, host_text, h.dir);
  assert_non_null(size = strstr(text, "size = 1"));
  size[strlen("size = ")] = '3';
  host_put(&h, "pipeline.lua", text);
  host_runtime(&h, NULL);
  host_submit(&h);
  host_wait(&h);
  open_record(&h, &r);
  host_must(&h, tidemill_record_error_groups(r, 0, on_joint_group, &all, &h.err));
  assert_true(all.groups == 1 && all.tries == 4 && all.items == 6);
  tidemill_record_close(r);
  host_end(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(errors_come_in_groups),
    cmocka_unit_test(all_items_of_a_mini_batch_are_in_its_group),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
