/* test_host_hostile.c - foreign files in a job's directory: the host neither waits nor ends because
 * of them. */
#include "host.h"

#include <sys/stat.h>
#include <unistd.h>

static int on_any_job(struct tidemill_record *r, void *data)
{
  return *tidemill_record_info(r)->fault && tidemill_record_json(r);
}

static int on_any_failure(const struct tidemill_failure *failure, void *data)
{
  return 0;
}

static int on_any_line(const struct tidemill_log_line *line, void *data)
{
  return 0;
}

/* Asks everything about a job. If the record cannot be read, the error says why. */
static void ask_all(struct tidemill_workspace *ws, struct host *h)
{
  struct tidemill_clean_options all = TIDEMILL_CLEAN_OPTIONS_INIT;
  struct tidemill_clean *c = NULL;
  struct tidemill_record *r = NULL;
  all.all = true;
  if (tidemill_record_open(&r, ws, "latest", &h->err) == 0) {
    assert_non_null(tidemill_record_json(r));
    tidemill_record_failures(r, NULL, on_any_failure, NULL, NULL);
    tidemill_record_definition(r);
    tidemill_record_result(r);
    tidemill_record_command(r, NULL);
    tidemill_record_close(r);
  } else {
    assert_true(strlen(h->err.text) > 0);
  }
  tidemill_workspace_jobs(ws, true, on_any_job, NULL, NULL);
  tidemill_workspace_logs(ws, "latest", NULL, on_any_line, NULL, NULL);
  if (tidemill_clean_new(&c, ws, &all, NULL) == 0)
    tidemill_clean_free(c);
}

/* Whatever is in the place of a job's file, the library neither waits nor ends because of it. */
static void nothing_in_the_place_of_a_file_holds_a_host_up(void **state)
{
  static const char *const names[] = { "lock",
                                       "owner",
                                       "job.json",
                                       "job_result.json",
                                       "score/state/journal",
                                       "score/state/manifest",
                                       "score/state/failures",
                                       "score/failed_items.jsonl",
                                       "score/step_result.json" };
  struct host h;
  char path[300], kept[310];
  host_setup(&h, "good", 3, NULL);
  host_runtime(&h, NULL);
  host_submit(&h);
  host_wait(&h);
  struct tidemill_workspace *ws = host_workspace(&h, false);
  alarm(120);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "%s/%s", tidemill_job_dir(h.job), names[i]);
    snprintf(kept, sizeof kept, "%s.kept", path);
    bool was_there = rename(path, kept) == 0;
    assert_int_equal(mkfifo(path, 0600), 0);
    ask_all(ws, &h);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    ask_all(ws, &h);
    assert_int_equal(rmdir(path), 0);
    bool is_read_by_lines = strstr(names[i], "failed_items") != NULL; /* other files have limits */
    assert_int_equal(symlink(is_read_by_lines ? "/dev/zero" : "/dev/null", path), 0);
    ask_all(ws, &h);
    assert_int_equal(unlink(path), 0);
    if (was_there)
      assert_int_equal(rename(kept, path), 0);
  }
  alarm(0);
  tidemill_workspace_close(ws);
  host_end(&h);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(nothing_in_the_place_of_a_file_holds_a_host_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
