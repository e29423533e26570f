/* test_cancel_request.c - requests to cancel a job: which are valid, whose request counts and for
 * which session; hostile files. */
#include "unit.h"

#include <sys/stat.h>

#include "folder.h"

#include "base/path.h"
#include "base/time.h"
#include "record/cancel_request.h"
#include "record/job_dir.h"

#define EPOCH 0x00ab12cd34ef5678u
#define GOOD                                                                                       \
  "{\"now\":true,\"user\":\"ada\",\"host\":\"mill\",\"pid\":4711,\"epoch\":\"00ab12cd34ef5678\"}"

static struct tm_cancel_request request(uint64_t epoch, bool now)
{
  return (struct tm_cancel_request) {
    .epoch = epoch, .now = now, .pid = 4711, .user = "ada", .host = "mill"
  };
}

static void a_text_is_read_as_it_was_written(void **state)
{
  struct tm_cancel_request r = request(EPOCH, true), read;
  struct tm_buf text = TM_BUF_NONE;
  tm_cancel_request_write(&text, &r);
  assert_string_equal(text.data, GOOD "\n");
  assert_int_equal(tm_cancel_request_parse(&read, text.data, text.len, NULL), 0);
  assert_true(read.epoch == EPOCH && read.now && read.pid == 4711);
  assert_string_equal(read.user, "ada");
  assert_string_equal(read.host, "mill");
  tm_buf_release(&text);
}

/* GOOD with one part replaced. */
static char *changed(const char *part, const char *with)
{
  const char *at = strstr(GOOD, part);
  struct tm_buf text = TM_BUF_NONE;
  assert_non_null(at);
  tm_buf_printf(&text, "%.*s%s%s", (int)(at - GOOD), GOOD, with, at + strlen(part));
  return tm_buf_take(&text);
}

static void an_invalid_request_is_refused(void **state)
{
  static const struct {
    const char *part, *with;
  } cases[] = {
    { GOOD, "" },
    { GOOD, "[]" },
    { GOOD, "{}" },
    { GOOD, "\"cancel\"" },
    { "}", "" },
    { "}", "}}" },
    { "00ab12cd34ef5678", "00AB12CD34EF5678" },
    { "00ab12cd34ef5678", "ab12cd34ef5678" },
    { "00ab12cd34ef5678", "000ab12cd34ef5678" },
    { "00ab12cd34ef5678", "0x00ab12cd34ef56" },
    { "00ab12cd34ef5678", "00ab12cd34ef567 " },
    { "\"00ab12cd34ef5678\"", "12345678" },
    { "true", "1" },
    { "true", "null" },
    { "\"now\":true,", "" },
    { "4711", "0" },
    { "4711", "-1" },
    { "4711", "2147483648" },
    { "4711", "1.5" },
    { ",\"pid\":4711", "" },
    { "ada", "" },
    { "ada", "a da" },
    { "ada", "a\\u001b[2Jda" },
    { "ada", "a\\nda" },
    { "ada", "\\u00e4da" },
    { "\"ada\"", "[\"ada\"]" },
    { "mill", "" },
    { "mill", "mill\\u007f" },
  };
  struct tm_cancel_request r;
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    char *text = changed(cases[i].part, cases[i].with);
    if (tm_cancel_request_parse(&r, text, strlen(text), NULL) != TM_EDAMAGE)
      fail_msg("accepted: %s", text);
    free(text);
  }
  char long_name[400];
  memset(long_name, 'a', sizeof(long_name) - 1);
  long_name[sizeof(long_name) - 1] = '\0';
  char *text = changed("mill", long_name);
  assert_int_equal(tm_cancel_request_parse(&r, text, strlen(text), NULL), TM_EDAMAGE);
  free(text);
}

static void a_name_becomes_one_that_a_request_may_hold(void **state)
{
  char name[TM_CANCEL_NAME_MAX], text[1000];
  tm_cancel_name_set(name, "a b\n\x1b\xc3\xa4z");
  assert_string_equal(name, "a?b????z");
  memset(text, 'x', sizeof(text) - 1);
  text[sizeof(text) - 1] = '\0';
  tm_cancel_name_set(name, text);
  assert_int_equal(strlen(name), TM_CANCEL_NAME_MAX - 1);
}

static void who_runs_a_job_decides_how_it_is_canceled(void **state)
{
  static const struct {
    struct tm_session session;
    enum tm_cancel_way way;
  } cases[] = {
    { { .is_held = true, .host = "mill" }, TM_CANCEL_BY_REQUEST },
    { { .is_held = true, .host = "other" }, TM_CANCEL_BY_REQUEST },
    { { .is_held = true, .has_result = true, .host = "mill" }, TM_CANCEL_BY_REQUEST },
    { { .is_held = true, .has_result = true, .has_ended = true }, TM_CANCEL_OVER },
    { { .has_result = true, .has_ended = true, .host = "other" }, TM_CANCEL_OVER },
    { { .host = "mill" }, TM_CANCEL_INTERRUPTED },
    { { .host = "" }, TM_CANCEL_INTERRUPTED },
    { { .host = "other" }, TM_CANCEL_ELSEWHERE },
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
    assert_int_equal(tm_cancel_judge(&cases[i].session, "mill"), cases[i].way);
}

/* A supervisor that looks at every call. */
static int look(struct tm_cancel_watch *w, struct folder *f, struct tm_cancel_request *out,
                struct tm_err *err)
{
  err->text[0] = '\0';
  return tm_cancel_watch_look(w, f->path, EPOCH, w->due_ns, out, err);
}

static bool is_there(struct folder *f, const char *name)
{
  struct stat st;
  return lstat(folder_file(f, name), &st) == 0;
}

static int mode_of(const struct folder *f, const char *name)
{
  char *path = tm_path_join(f->path, name);
  struct stat st;
  assert_int_equal(stat(path, &st), 0);
  free(path);
  return (int)(st.st_mode & 07777);
}

static void a_request_is_taken_once(void **state)
{
  struct folder f;
  struct tm_cancel_watch w = { 0 };
  struct tm_cancel_request r = request(EPOCH, false), taken;
  struct tm_err err = TM_ERR_NONE;
  bool is_taken = true;
  folder_init(&f);
  assert_int_equal(look(&w, &f, &taken, &err), 0);
  assert_int_equal(tm_cancel_request_put(f.path, &r, &err), 0);
  assert_int_equal(mode_of(&f, "cancel"), 0600);
  assert_true(tm_cancel_request_find(&taken, f.path, EPOCH, &is_taken) && !is_taken);
  assert_int_equal(tm_cancel_watch_look(&w, f.path, EPOCH, w.due_ns - 1, &taken, &err), 0);
  assert_int_equal(look(&w, &f, &taken, &err), 1);
  assert_true(taken.epoch == EPOCH && !taken.now);
  assert_int_equal(look(&w, &f, &taken, &err), 0);
  assert_true(tm_cancel_request_find(&taken, f.path, EPOCH, &is_taken) && is_taken);
  assert_false(tm_cancel_request_find(&taken, f.path, EPOCH + 1, &is_taken) || is_taken);

  r.now = true;
  assert_int_equal(tm_cancel_request_put(f.path, &r, &err), 0);
  assert_int_equal(look(&w, &f, &taken, &err), 1);
  assert_true(taken.now);
  tm_cancel_request_forget(f.path);
  assert_false(is_there(&f, "cancel") || is_there(&f, "cancel.taken"));
  folder_release(&f);
}

static void a_request_for_another_session_does_nothing(void **state)
{
  struct folder f;
  struct tm_cancel_watch w = { 0 };
  struct tm_cancel_request r = request(EPOCH + 1, true), taken;
  struct tm_err err = TM_ERR_NONE;
  folder_init(&f);
  assert_int_equal(tm_cancel_request_put(f.path, &r, &err), 0);
  assert_int_equal(look(&w, &f, &taken, &err), 0);
  assert_string_equal(err.text, "");
  assert_false(is_there(&f, "cancel") || is_there(&f, "cancel.taken"));
  folder_release(&f);
}

/* A session that was stopped wakes up when another one has the job. */
static void a_request_for_the_session_that_took_over_is_left_to_it(void **state)
{
  struct folder f;
  struct tm_job_dir d;
  struct tm_cancel_watch stopped = { 0 }, owner = { 0 };
  struct tm_cancel_request r, taken;
  struct tm_err err = TM_ERR_NONE;
  folder_init(&f);
  assert_int_equal(tm_job_dir_open(&d, tm_fs_real(), f.path, NULL, &err), 0);
  r = request(d.epoch, true);
  assert_int_equal(tm_cancel_request_put(f.path, &r, &err), 0);
  assert_int_equal(tm_cancel_watch_look(&stopped, f.path, d.epoch + 1, 0, &taken, &err), 0);
  assert_true(is_there(&f, "cancel"));
  assert_int_equal(tm_cancel_watch_look(&owner, f.path, d.epoch, 0, &taken, &err), 1);
  assert_true(taken.now && taken.epoch == d.epoch);
  tm_job_dir_close(&d);
  folder_release(&f);
}

/* What happens while a session waits for the keeper of the one that died. */
struct wait_for_keeper {
  struct folder *f;
  int keeper; /* descriptor of node.lock; -1: it has ended */
  uint64_t asked;
};

static bool ask_to_cancel(void *data)
{
  struct wait_for_keeper *w = data;
  struct tm_session s;
  struct tm_cancel_request r;
  struct tm_err err = TM_ERR_NONE;
  if (w->keeper < 0)
    return false;
  assert_int_equal(tm_session_look(&s, w->f->path, &err), 0);
  assert_true(s.is_held);
  r = request(w->asked = s.epoch, false);
  assert_int_equal(tm_cancel_request_put(w->f->path, &r, &err), 0);
  close(w->keeper);
  w->keeper = -1;
  return false;
}

static void a_request_reaches_a_session_that_waits_for_the_keeper_of_a_dead_one(void **state)
{
  struct folder f;
  struct tm_job_dir dead, d;
  struct wait_for_keeper w = { .f = &f };
  struct tm_job_wait wait = { .is_stopped = ask_to_cancel, .data = &w };
  struct tm_cancel_watch watch = { 0 };
  struct tm_cancel_request taken;
  struct tm_err err = TM_ERR_NONE;
  folder_init(&f);
  assert_int_equal(tm_job_dir_open(&dead, tm_fs_real(), f.path, NULL, &err), 0);
  tm_job_dir_close(&dead);
  w.keeper = open(folder_file(&f, "node.lock"), O_RDWR | O_CLOEXEC);
  assert_int_equal(tm_lock_take(w.keeper, true), 0);
  assert_int_equal(tm_job_dir_open(&d, tm_fs_real(), f.path, &wait, &err), 0);
  assert_true(w.asked == d.epoch);
  assert_int_equal(tm_cancel_watch_look(&watch, f.path, d.epoch, 0, &taken, &err), 1);
  tm_job_dir_close(&d);
  folder_release(&f);
}

static void put_text(struct folder *f, const char *text, size_t len, mode_t mode)
{
  int fd = open(folder_file(f, "cancel"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, len), (ssize_t)len);
  assert_int_equal(fchmod(fd, mode), 0);
  close(fd);
}

/* The supervisor ignores the file `cancel`, and `words` say why. */
static void expect_ignored(struct folder *f, const char *words)
{
  struct tm_cancel_watch w = { 0 };
  struct tm_cancel_request taken;
  struct tm_err err = TM_ERR_NONE;
  assert_true(look(&w, f, &taken, &err) < 0);
  if (!strstr(err.text, words) || !strstr(err.text, "is ignored"))
    fail_msg("'%s' is not in '%s'", words, err.text);
  assert_int_equal(look(&w, f, &taken, &err), 0); /* reported once */
  assert_false(is_there(f, "cancel") || is_there(f, "cancel.taken"));
}

static void a_hostile_file_is_ignored_and_is_not_waited_for(void **state)
{
  static char much[100000];
  struct folder f;
  folder_init(&f);
  put_text(&f, "cancel!", 7, 0600);
  expect_ignored(&f, "its text is not a request");
  memset(much, ' ', sizeof(much));
  memcpy(much, GOOD, strlen(GOOD));
  put_text(&f, much, sizeof(much), 0600);
  expect_ignored(&f, "longer than a request");
  assert_int_equal(mkfifo(folder_file(&f, "cancel"), 0600), 0);
  expect_ignored(&f, "not a regular file");
  assert_int_equal(symlink("/dev/zero", folder_file(&f, "cancel")), 0);
  expect_ignored(&f, "cannot open");
  put_text(&f, GOOD, strlen(GOOD), 0622);
  expect_ignored(&f, "mode 0622");
  if (geteuid() == 0) {
    put_text(&f, GOOD, strlen(GOOD), 0600);
    assert_int_equal(chown(folder_file(&f, "cancel"), 12345, 12345), 0);
    expect_ignored(&f, "belongs to uid 12345");
  }
  assert_int_equal(mkdir(folder_file(&f, "cancel"), 0700), 0);
  expect_ignored(&f, "not a regular file");
  folder_release(&f);
}

static void a_request_replaces_a_link_and_does_not_follow_it(void **state)
{
  struct folder f;
  struct tm_cancel_request r = request(EPOCH, false), found;
  struct tm_err err = TM_ERR_NONE;
  folder_init(&f);
  assert_int_equal(symlink("elsewhere", folder_file(&f, "cancel")), 0);
  assert_int_equal(tm_cancel_request_put(f.path, &r, &err), 0);
  assert_true(tm_cancel_request_find(&found, f.path, EPOCH, NULL));
  assert_false(is_there(&f, "elsewhere"));
  folder_release(&f);
}

static void a_session_is_the_one_that_holds_the_lock(void **state)
{
  struct folder f;
  struct tm_job_dir d;
  struct tm_session s;
  struct tm_stat st;
  struct tm_err err = TM_ERR_NONE;
  const struct tm_fs *fs = tm_fs_real();
  folder_init(&f);
  assert_int_equal(tm_session_look(&s, f.path, &err), 0);
  assert_true(!s.is_held && s.epoch == 0 && s.pid == 0);
  assert_int_equal(tm_job_dir_open(&d, fs, f.path, NULL, &err), 0);
  assert_int_equal(tm_session_look(&s, f.path, &err), 0);
  assert_true(s.is_held && s.epoch == d.epoch && s.pid == getpid() && !s.has_result);

  assert_int_equal(tm_fs_write_file(fs, d.result_file, "{}", 2, 0600, &err), 0);
  assert_int_equal(fs->stat(fs->self, d.owner_file, true, &st), 0);
  assert_int_equal(tm_file_set_mtime(d.result_file, st.mtime_ns - TM_S), 0);
  assert_int_equal(tm_session_look(&s, f.path, &err), 0);
  assert_true(s.has_result && !s.has_ended);
  assert_int_equal(tm_file_set_mtime(d.result_file, st.mtime_ns + TM_S), 0);
  assert_int_equal(tm_session_look(&s, f.path, &err), 0);
  assert_true(s.is_held && s.has_ended);
  tm_job_dir_close(&d);
  assert_int_equal(tm_session_look(&s, f.path, &err), 0);
  assert_false(s.is_held);
  folder_release(&f);
  assert_int_equal(tm_session_look(&s, f.path, &err), -2 /* ENOENT */);
}

/* A message would tell the user to kill all processes. */
static void an_owner_without_a_process_is_no_session(void **state)
{
  static const char *const pids[] = { "-1", "0", "4294967297", "1e99", "\"4711\"" };
  struct folder f;
  struct tm_session s;
  struct tm_err err = TM_ERR_NONE;
  char text[128];
  folder_init(&f);
  for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++) {
    int n = snprintf(text, sizeof(text), "{\"epoch\":\"00ab12cd34ef5678\",\"pid\":%s}", pids[i]);
    const char *path = folder_file(&f, "owner");
    assert_int_equal(tm_fs_write_file(tm_fs_real(), path, text, (size_t)n, 0600, &err), 0);
    assert_int_equal(tm_session_look(&s, f.path, &err), 0);
    assert_true(s.epoch == 0 && s.pid == 0);
  }
  unlink(folder_file(&f, "owner"));
  assert_int_equal(mkfifo(folder_file(&f, "owner"), 0600), 0);
  assert_int_equal(tm_session_look(&s, f.path, &err), TM_EDAMAGE);
  assert_non_null(strstr(err.text, "/owner': it is not a regular file"));
  folder_release(&f);
}

static void a_session_begins_without_the_requests_of_the_one_before(void **state)
{
  struct folder f;
  struct tm_job_dir d;
  struct tm_cancel_request r = request(EPOCH, false);
  struct tm_err err = TM_ERR_NONE;
  folder_init(&f);
  assert_int_equal(tm_cancel_request_put(f.path, &r, &err), 0);
  assert_int_equal(tm_job_dir_open(&d, tm_fs_real(), f.path, NULL, &err), 0);
  assert_false(is_there(&f, "cancel"));
  tm_job_dir_close(&d);
  assert_true(tm_job_dir_is_own_name("cancel") && tm_job_dir_is_own_name("cancel.taken"));
  assert_false(tm_job_dir_is_own_name("cancellation"));
  folder_release(&f);
}

UNIT_TESTS({
    cmocka_unit_test(a_text_is_read_as_it_was_written),
    cmocka_unit_test(an_invalid_request_is_refused),
    cmocka_unit_test(a_name_becomes_one_that_a_request_may_hold),
    cmocka_unit_test(who_runs_a_job_decides_how_it_is_canceled),
    cmocka_unit_test(a_request_is_taken_once),
    cmocka_unit_test(a_request_for_another_session_does_nothing),
    cmocka_unit_test(a_request_for_the_session_that_took_over_is_left_to_it),
    cmocka_unit_test(a_request_reaches_a_session_that_waits_for_the_keeper_of_a_dead_one),
    cmocka_unit_test(a_hostile_file_is_ignored_and_is_not_waited_for),
    cmocka_unit_test(a_request_replaces_a_link_and_does_not_follow_it),
    cmocka_unit_test(a_session_is_the_one_that_holds_the_lock),
    cmocka_unit_test(an_owner_without_a_process_is_no_session),
    cmocka_unit_test(a_session_begins_without_the_requests_of_the_one_before),
});
