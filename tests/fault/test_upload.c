/* test_upload.c - the power is cut at every call of an upload (outputs/upload.h), or it is killed,
 * and again while it is repeated. The destination holds its earlier contents or the whole output,
 * never a part, and is never missing if the file system can exchange names. The next session knows
 * from the mark whether the destination is its own and up to date; no other file stays beside it.
 * Then each fsync is left out, to check that its absence is noticed. TM_LONG=1: many more.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/mem.h"
#include "commit/journal.h"
#include "disk.h"
#include "outputs/destinations.h"
#include "outputs/upload.h"

#define JOB "/jobs/job"

/* The kind of upload, and its destination. */
struct way {
  const char *name;
  bool is_archive;
  const char *old;      /* an earlier file at the destination, with `overwrite`; NULL: none */
  bool is_renewed;      /* this job uploaded it before the step had all of its rows */
  bool cannot_exchange; /* the file system */
};

static const struct way ways[] = {
  { "a folder", false, NULL, false, false },
  { "a folder in the place of another", false, "/place/there/old", false, false },
  { "a folder in the place of another, by renames", false, "/place/there/old", false, true },
  { "a folder that is renewed", false, NULL, true, false },
  { "a folder that is renewed by renames", false, NULL, true, true },
  { "an archive", true, NULL, false, false },
  { "an archive in the place of another", true, "/place/there", false, false },
  { "an archive that is renewed", true, NULL, true, false },
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

struct drive {
  struct tm_disk *disk;
  const struct tm_fs *fs;
  const struct way *way;
  struct tm_step step;
  struct tm_step_output output;
  uint64_t random;
  char *before, *after; /* contents of the destination: before, and at the end */
  char words[4000];
};

/* The bytes of an archive are not compared, because it contains the times of files. */
struct look {
  struct tm_buf text;
  bool is_short;
  size_t prefix_len;
};

static void on_node(void *data, const char *path, uint32_t mode, const char *bytes, size_t len)
{
  struct look *l = data;
  if (strncmp(path, "/place/there/", l->prefix_len) != 0 && strcmp(path, "/place/there") != 0)
    return;
  if (l->is_short && len > 100)
    tm_buf_printf(&l->text, "%s: %zu bytes\n", path, len);
  else
    tm_buf_printf(&l->text, "%s%s %.*s\n", path, S_ISDIR(mode) ? "/" : "", (int)len, bytes);
}

static int compare_lines(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The contents of the destination, or with `all` of its folder, in the order of names. The caller
 * frees it. */
static char *look(const struct drive *d, bool all)
{
  struct look l = { .is_short = d->way->is_archive,
                    .prefix_len = strlen(all ? "/place/" : "/place/there/") };
  struct TM_ARRAY(char *) lines = { 0 };
  struct tm_buf out = TM_BUF_NONE;
  tm_disk_walk(d->disk, on_node, &l);
  for (char *rest = l.text.data, *line; rest && (line = strsep(&rest, "\n"));)
    *TM_ARRAY_ADD(&lines) = line;
  if (lines.len > 0)
    qsort(lines.at, lines.len, sizeof(*lines.at), compare_lines);
  for (size_t i = 0; i < lines.len; i++)
    if (*lines.at[i])
      tm_buf_printf(&out, "%s\n", lines.at[i]);
  TM_ARRAY_RELEASE(&lines);
  tm_buf_release(&l.text);
  char *text = tm_xstrdup(tm_buf_str(&out)); /* which may be missing memory */
  tm_buf_release(&out);
  return text;
}

static void put(const struct drive *d, const char *path, const char *text)
{
  assert_int_equal(tm_fs_write_file(d->fs, path, text, strlen(text), 0600, NULL), 0);
}

static void make(const struct drive *d, const char *path)
{
  assert_int_equal(tm_fs_make_dirs(d->fs, path, 0700, NULL), 0);
}

/* Commits a mini-batch and syncs it to disk. */
static void commit(const struct drive *d, uint64_t index)
{
  struct tm_journal j = { .fd = -1 };
  struct tm_record r = { .kind = TM_RECORD_COMMITTED, .index = index, .items = 1, .succeeded = 1 };
  assert_int_equal(tm_journal_open(&j, d->fs, JOB "/step/state/journal", NULL), 0);
  assert_int_equal(tm_journal_make(&j, NULL), 0);
  tm_journal_add(&j, &r);
  assert_int_equal(tm_journal_flush(&j, NULL), 0);
  assert_int_equal(tm_fs_sync(d->fs, j.fd, j.path, NULL), 0);
  tm_journal_close(&j);
  assert_int_equal(tm_fs_sync_dir(d->fs, JOB "/step/state", NULL), 0);
}

/* A session: checks the destination, handles leftovers of an earlier session, then uploads. */
static int upload(struct drive *d, struct tm_err *err)
{
  struct tm_destinations_held held = { 0 };
  int rc = tm_destinations_check(d->fs, &d->step, JOB, err);
  if (rc >= 0)
    rc = tm_destinations_open(d->fs, &d->step, JOB, &held, err);
  tm_destinations_leave(d->fs, &held);
  return rc < 0 ? rc : tm_upload_output(d->fs, &d->step, 0, JOB, NULL, err);
}

/* More rows than fit into the archive of the first ones. */
static void add_rows(const struct drive *d)
{
  char rows[11000];
  memset(rows, 'r', sizeof(rows));
  rows[sizeof(rows) - 1] = '\0';
  put(d, JOB "/step/output/rows.txt", rows);
  commit(d, 1);
}

/* A step whose output is complete and synced to disk. */
static void drive_init(struct drive *d, const struct way *way, uint64_t seed)
{
  memset(d, 0, sizeof(*d));
  d->disk = tm_disk_new(seed);
  d->fs = tm_disk_fs(d->disk);
  d->way = way;
  d->random = seed;
  d->output = (struct tm_step_output) { .name = (char *)"there",
                                        .folder = (char *)"step/output",
                                        .destination = (char *)"/place/there",
                                        .is_upload = true,
                                        .archive_format = way->is_archive ? (char *)"tar" : NULL };
  d->step = (struct tm_step) { .name = (char *)"step",
                               .where = (char *)"pipeline.lua:7",
                               .outputs = &d->output,
                               .outputs_len = 1,
                               .config = { .overwrite = way->old != NULL } };
  make(d, JOB "/step/state");
  make(d, JOB "/step/output/deep");
  make(d, way->old && !way->is_archive ? "/place/there" : "/place");
  put(d, JOB "/step/output/rows.txt", "one, two");
  put(d, JOB "/step/output/deep/more", "three");
  assert_int_equal(d->fs->symlink(d->fs->self, "deep/more", JOB "/step/output/link"), 0);
  assert_int_equal(tm_fs_sync_dir(d->fs, JOB "/step/output", NULL), 0);
  commit(d, 0);
  if (way->old)
    put(d, way->old, "before");
  if (way->cannot_exchange)
    tm_disk_cannot_exchange(d->disk);
  if (way->is_renewed) {
    assert_int_equal(upload(d, NULL), 0);
    add_rows(d);
  }
  d->before = look(d, true);
}

static void drive_release(struct drive *d)
{
  tm_disk_free(d->disk);
  free(d->before);
  free(d->after);
}

static bool bad(struct drive *d, const char *what, const char *text)
{
  snprintf(d->words, sizeof(d->words), "%s: %s: %s", d->way->name, what, text);
  return false;
}

/* After a cut: the earlier contents or the whole output. Nothing is right if nothing was there
 * before, or, with `may_miss`, between two renames. */
static bool check_between(struct drive *d, bool may_miss)
{
  char *now = look(d, false);
  bool ok = (!*now && may_miss) || strcmp(now, d->before) == 0 || strcmp(now, d->after) == 0 ||
            bad(d, *now ? "a part is at the destination" : "nothing is at the destination", now);
  free(now);
  return ok;
}

/* The destination holds the whole output, known as this job's, and nothing else. */
static bool check_end(struct drive *d)
{
  char *now = look(d, true);
  bool ok = (strcmp(now, d->after) == 0 || bad(d, "not what must be there", now)) &&
            (tm_upload_is_done(d->fs, &d->step, 0, JOB, NULL) > 0 ||
             bad(d, "it is not known as ours", ""));
  free(now);
  return ok;
}

/* One session that is cut at call `cut_at`, more that may be cut, then one that is not. */
static bool run_interrupted(struct drive *d, uint64_t cut_at, bool *reached)
{
  struct tm_err err = TM_ERR_NONE;
  for (int session = 0; session < 4; session++) {
    struct tm_disk_plan plan = { .cut_at = cut_at };
    tm_disk_plan(d->disk, &plan);
    int rc = upload(d, &err);
    bool is_cut = tm_disk_is_cut(d->disk);
    *reached = *reached || is_cut;
    if (rc < 0 && !is_cut)
      return bad(d, "refused", err.text);
    tm_disk_restart(d->disk);
    tm_disk_plan(d->disk, &(struct tm_disk_plan) { 0 });
    if ((!is_cut && !check_end(d)) || !check_between(d, d->way->cannot_exchange))
      return false;
    cut_at = tm_disk_random(&d->random, 3) ? 1 + tm_disk_random(&d->random, 60) : 0;
  }
  tm_disk_plan(d->disk, &(struct tm_disk_plan) { 0 });
  if (upload(d, &err) < 0)
    return bad(d, "refused at the end", err.text);
  tm_disk_restart(d->disk);
  return check_end(d);
}

/* What an undisturbed upload leaves. */
static void learn(struct drive *d)
{
  struct drive other;
  drive_init(&other, d->way, 1);
  assert_int_equal(upload(&other, NULL), 0);
  d->after = look(&other, true);
  assert_non_null(strstr(d->after, "/place/there"));
  assert_null(strstr(d->after, ".tidemill"));
  drive_release(&other);
}

static uint64_t times(uint64_t n)
{
  return getenv("TM_LONG") ? n * 50 : n;
}

static void leaves_all_or_nothing_whenever_the_power_goes(void **state)
{
  struct drive d;
  int cuts = 0;
  for (size_t w = 0; w < WAYS; w++)
    for (uint64_t round = 0; round < times(6); round++) {
      bool reached = true;
      for (uint64_t n = 1; reached; n++) {
        reached = false;
        drive_init(&d, &ways[w], round * 100003 + n);
        learn(&d);
        if (!run_interrupted(&d, n, &reached))
          fail_msg("round %d, cut at call %d: %s", (int)round, (int)n, d.words);
        drive_release(&d);
        cuts++;
        reached = reached && n < 400;
      }
    }
  printf("%d sweeps\n", cuts);
  assert_true(cuts > 2000);
}

static void leaves_all_or_nothing_when_it_fails_anywhere(void **state)
{
  static const int codes[] = { -EIO, -ENOSPC };
  struct drive d;
  struct tm_err err = TM_ERR_NONE;
  for (size_t w = 0; w < WAYS; w++) {
    bool reached = true;
    for (uint64_t n = 1; reached; n++) {
      struct tm_disk_plan plan = { .fault_at = n, .fault = TM_DISK_FAIL, .code = codes[n % 2] };
      drive_init(&d, &ways[w], n);
      learn(&d);
      tm_disk_plan(d.disk, &plan);
      int rc = upload(&d, &err);
      reached = tm_disk_has_failed(d.disk);
      assert_true(rc == 0 || err.text[0]);
      if (!check_between(&d, false))
        fail_msg("failed at call %d: %s", (int)n, d.words);
      tm_disk_plan(d.disk, &(struct tm_disk_plan) { 0 });
      if (n % 3 == 0)
        tm_disk_restart(d.disk);
      else
        tm_disk_kill(d.disk);
      if (upload(&d, &err) < 0)
        fail_msg("%s, failed at call %d: %s", ways[w].name, (int)n, err.text);
      if (!check_end(&d))
        fail_msg("failed at call %d: %s", (int)n, d.words);
      drive_release(&d);
    }
  }
}

/* Another job creates its own upload at the destination each time the old one was moved aside. */
static const struct tm_fs *below;
static int others;

static int rename_and_another(void *self, const char *from, const char *to)
{
  int rc = below->rename(self, from, to);
  if (rc == 0 && strcmp(from, "/place/there") == 0 && others > 0) {
    others--;
    assert_int_equal(tm_fs_make_dirs(below, "/place/there", 0700, NULL), 0);
    assert_int_equal(tm_fs_write_file(below, "/place/there/theirs", "x", 1, 0600, NULL), 0);
  }
  return rc;
}

static void replaces_an_upload_that_another_job_made_meanwhile(void **state)
{
  for (size_t w = 0; w < WAYS; w++) {
    struct drive d;
    drive_init(&d, &ways[w], 1);
    learn(&d);
    struct tm_fs fs = *d.fs;
    struct tm_err err = TM_ERR_NONE;
    below = d.fs;
    others = 3;
    fs.rename = rename_and_another;
    int rc = tm_upload_output(&fs, &d.step, 0, JOB, NULL, &err);
    if (ways[w].is_renewed && ways[w].cannot_exchange) { /* it may replace only its own */
      assert_int_equal(rc, TM_EUSAGE);
      assert_true(tm_fs_exists(d.fs, "/place/there/theirs"));
      drive_release(&d);
      continue;
    }
    if (rc < 0)
      fail_msg("%s: %s", ways[w].name, err.text);
    assert_int_equal(others, ways[w].cannot_exchange ? 0 : 3);
    if (!check_end(&d))
      fail_msg("%s", d.words);
    drive_release(&d);
  }
}

/* Another job puts its own archive at the destination at the last moment. */
static void put_theirs(const char *to)
{
  if (strcmp(to, "/place/there") == 0 && others-- > 0)
    assert_int_equal(tm_fs_write_file(below, to, "theirs", 6, 0600, NULL), 0);
}

static int rename_after_another(void *self, const char *from, const char *to)
{
  put_theirs(to);
  return below->rename(self, from, to);
}

static int rename_new_after_another(void *self, const char *from, const char *to)
{
  put_theirs(to);
  return below->rename_new(self, from, to);
}

static void keeps_an_archive_that_another_job_made_at_the_last_moment(void **state)
{
  struct drive d;
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf now = TM_BUF_NONE;
  drive_init(&d, &ways[5], 1);
  assert_true(d.way->is_archive && !d.way->old && !d.way->is_renewed);
  struct tm_fs fs = *d.fs;
  below = d.fs;
  others = 1;
  fs.rename = rename_after_another;
  fs.rename_new = rename_new_after_another;
  assert_int_equal(tm_upload_output(&fs, &d.step, 0, JOB, NULL, &err), TM_EUSAGE);
  assert_non_null(strstr(err.text, "is not free any more"));
  assert_int_equal(tm_disk_read(d.disk, "/place/there", &now), 0);
  assert_string_equal(tm_buf_str(&now), "theirs");
  tm_buf_release(&now);
  drive_release(&d);
}

static char *copy_path(void)
{
  return tm_xprintf(".tidemill-%08x", (unsigned)tm_hash64(JOB, strlen(JOB)));
}

/* An upload is this job's to replace only as the job left it. */
static void refuses_to_replace_a_changed_upload(void **state)
{
  static const char *const files[] = { "/place/there/deep/more", "/place/there/mine" };
  for (size_t w = 0; w < WAYS; w++)
    for (size_t i = 0; ways[w].is_renewed && i < 2; i++) {
      const char *file = ways[w].is_archive ? "/place/there" : files[i];
      struct tm_err err = TM_ERR_NONE;
      struct tm_buf now = TM_BUF_NONE;
      struct drive d;
      drive_init(&d, &ways[w], 1);
      put(&d, file, "THREE"); /* as long as "three" */
      assert_int_equal(upload(&d, &err), TM_EUSAGE);
      assert_non_null(strstr(err.text, "its contents are not this job's"));
      assert_int_equal(tm_upload_output(d.fs, &d.step, 0, JOB, NULL, &err), TM_EUSAGE);
      assert_non_null(strstr(err.text, "is not free any more"));
      assert_int_equal(tm_disk_read(d.disk, file, &now), 0);
      assert_string_equal(tm_buf_str(&now), "THREE");
      tm_buf_release(&now);
      drive_release(&d);
    }
}

static int stat_elsewhere(void *self, const char *path, bool follow, struct tm_stat *out)
{
  int rc = below->stat(self, path, follow, out);
  out->dev = 7;
  return rc;
}

static void knows_its_own_when_device_numbers_have_changed(void **state)
{
  for (size_t w = 0; w < WAYS; w++) {
    struct drive d;
    drive_init(&d, &ways[w], 1);
    assert_int_equal(upload(&d, NULL), 0);
    struct tm_fs fs = *d.fs;
    below = d.fs;
    fs.stat = stat_elsewhere;
    assert_int_equal(tm_upload_is_own(&fs, &d.step, 0, JOB, NULL), 1);
    assert_int_equal(tm_upload_is_done(&fs, &d.step, 0, JOB, NULL), 1);
    commit(&d, 2);
    assert_int_equal(tm_upload_is_own(&fs, &d.step, 0, JOB, NULL), 1);
    assert_int_equal(tm_upload_is_done(&fs, &d.step, 0, JOB, NULL), 0);
    drive_release(&d);
  }
}

/* Renames to the destination that fail; they would succeed again later. */
static int failing_renames;

static int rename_that_fails(void *self, const char *from, const char *to)
{
  if (strcmp(to, "/place/there") == 0 && tm_fs_exists(below, from) &&
      !tm_fs_exists(below, "/place/there") && failing_renames-- > 0)
    return -EIO;
  return below->rename(self, from, to);
}

static void puts_the_old_folder_back_or_says_where_it_is(void **state)
{
  for (int n = 1; n <= 2; n++) {
    struct tm_err err = TM_ERR_NONE;
    struct drive d;
    drive_init(&d, &ways[2], 1);
    assert_true(d.way->cannot_exchange);
    learn(&d);
    struct tm_fs fs = *d.fs;
    below = d.fs;
    fs.rename = rename_that_fails;
    failing_renames = n;
    assert_int_equal(tm_upload_output(&fs, &d.step, 0, JOB, NULL, &err), -EIO);
    assert_int_equal(tm_fs_exists(d.fs, "/place/there/old"), n == 1);
    if (n == 2) {
      char *copy = copy_path(), *in = tm_xprintf("is in '/place/there%s.before' now", copy);
      char *and = tm_xprintf("the new output is in '/place/there%s'", copy);
      assert_non_null(strstr(err.text, in));
      assert_non_null(strstr(err.text, and));
      free(copy);
      free(in);
      free(and);
      /* A session that gets as far as opening the step restores the old folder. */
      assert_int_equal(tm_upload_mend(d.fs, &d.step, 0, JOB, NULL), 0);
      assert_true(tm_fs_exists(d.fs, "/place/there/old"));
    }
    assert_int_equal(upload(&d, NULL), 0);
    assert_true(check_end(&d));
    drive_release(&d);
  }
}

/* Fsyncs of an upload, by the end of the path. */
struct site {
  const char *name, *path_end;
  bool is_of_folder, is_of_archive;
};

static const struct site sites[] = {
  { "a file of the copy", "/rows.txt", true, false },
  { "a file of a folder in it", "/deep/more", true, false },
  { "a folder in it", "/deep", true, false },
  { "the copy itself", NULL, true, true },
  { "the mark", "/state/upload.0.tmp", true, true },
  { "the mark's name", "/state", true, true },
  { "names beside the destination", "/place", true, true },
};
#define SITES (sizeof(sites) / sizeof(sites[0]))

static bool is_noticed(const struct way *way, const char *path_end)
{
  bool noticed = false, reached = false;
  for (uint64_t round = 0; round < 3000 && !noticed; round++) {
    struct drive d;
    drive_init(&d, way, round);
    learn(&d);
    tm_disk_leave_out(d.disk, path_end, 1, UINT64_MAX);
    noticed = !run_interrupted(&d, 1 + round % 60, &reached);
    drive_release(&d);
  }
  return noticed;
}

static void notices_each_fsync_that_is_left_out(void **state)
{
  char *copy = copy_path();
  for (size_t w = 0; w < WAYS; w++)
    for (size_t i = 0; i < SITES; i++) {
      const struct site *s = &sites[i];
      bool is_met = ways[w].is_archive ? s->is_of_archive : s->is_of_folder;
      if (is_met && !is_noticed(&ways[w], s->path_end ? s->path_end : copy))
        fail_msg("%s: nobody misses the fsync of %s", ways[w].name, s->name);
    }
  free(copy);
}

static void on_fsync(void *data, const char *path)
{
  const char **unknown = data;
  char *copy = copy_path();
  bool is_known = false;
  for (size_t i = 0; i < SITES; i++) {
    const char *end = sites[i].path_end ? sites[i].path_end : copy;
    size_t n = strlen(path), m = strlen(end);
    is_known = is_known || (n >= m && strcmp(path + n - m, end) == 0);
  }
  free(copy);
  if (!is_known && !*unknown)
    *unknown = tm_xstrdup(path);
}

static void knows_every_fsync(void **state)
{
  for (size_t w = 0; w < WAYS; w++) {
    struct drive d;
    char *unknown = NULL;
    drive_init(&d, &ways[w], 1);
    tm_disk_watch(d.disk, on_fsync, &unknown);
    assert_int_equal(upload(&d, NULL), 0);
    if (unknown)
      fail_msg("%s: an fsync that is in no list: %s", ways[w].name, unknown);
    drive_release(&d);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(leaves_all_or_nothing_whenever_the_power_goes),
    cmocka_unit_test(leaves_all_or_nothing_when_it_fails_anywhere),
    cmocka_unit_test(replaces_an_upload_that_another_job_made_meanwhile),
    cmocka_unit_test(keeps_an_archive_that_another_job_made_at_the_last_moment),
    cmocka_unit_test(refuses_to_replace_a_changed_upload),
    cmocka_unit_test(knows_its_own_when_device_numbers_have_changed),
    cmocka_unit_test(puts_the_old_folder_back_or_says_where_it_is),
    cmocka_unit_test(knows_every_fsync),
    cmocka_unit_test(notices_each_fsync_that_is_left_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
