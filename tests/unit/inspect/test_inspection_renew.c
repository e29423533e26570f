/* test_inspection_renew.c - an inspection that is renewed while the job goes on says what one says
 * that is made at the same moment, and reads only what is new. */
#include "unit.h"

#include <unistd.h>

#include "inspection_fixture.h"
#include "random.h"

#define MINI_BATCHES 50

static void read_inspection(struct tm_inspection *s, const char *dir)
{
  struct tm_err err = TM_ERR_NONE;
  if (tm_inspection_read(s, dir, NOW, &err) < 0)
    fail_msg("%s", err.text);
}

static void renew(struct tm_inspection *s)
{
  struct tm_err err = TM_ERR_NONE;
  if (tm_inspection_renew(s, NOW, &err) < 0)
    fail_msg("%s", err.text);
}

static char *text_of(const struct tm_inspection *s)
{
  struct tm_json *v = tm_inspection_to_json(s);
  char *text = tm_json_text(v);
  tm_json_free(v);
  return text;
}

static void expect_sessions(const struct tm_inspection *s, struct tm_inspection *now)
{
  const struct tm_journal_count *a = &s->steps[0].count, *b = &now->steps[0].count;
  int64_t ended = 0;
  assert_int_equal(a->each.len, b->each.len);
  for (size_t i = 0; i < a->each.len; i++) {
    assert_memory_equal(&a->each.at[i], &b->each.at[i], sizeof a->each.at[i]);
    ended = a->each.at[i].ended;
  }
  assert_int_equal(ended, a->session_ended);
}

static void expect_as_new(const struct tm_inspection *s)
{
  struct tm_inspection now;
  read_inspection(&now, s->dir);
  char *expected = text_of(&now), *found = text_of(s);
  assert_string_equal(found, expected);
  expect_sessions(s, &now);
  free(expected);
  free(found);
  tm_inspection_release(&now);
}

/* As a supervisor writes it: in the file that is there. */
static void write_journal(const char *dir, const struct tm_buf *bytes)
{
  char *path = tm_path_join(dir, "score/state/journal");
  FILE *file = fopen(path, "r+");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes->data, 1, bytes->len, file), bytes->len);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(truncate(path, (off_t)bytes->len), 0);
  free(path);
}

static void begin(struct tm_buf *journal, const char *dir)
{
  put_definition(dir);
  add_session(journal, 1, NOW - 100 * TM_S);
  put_bytes(dir, "score/state/journal", journal->data, journal->len);
}

static void add_random(struct tm_buf *journal, struct random *r)
{
  enum tm_record_kind kind = random_below(r, 3) == 0 ? TM_RECORD_FAILED : TM_RECORD_COMMITTED;
  add_record(journal, (struct tm_record) { .kind = kind,
                                           .index = random_below(r, MINI_BATCHES),
                                           .items = (uint32_t)random_below(r, 4),
                                           .try = 1 });
}

/* The end is lost, as by a power cut, and the next session goes on there. */
static void cut_and_resume(struct tm_buf *journal, struct random *r, uint64_t session)
{
  size_t records = journal->len / TM_RECORD_SIZE;
  journal->len = TM_RECORD_SIZE * (1 + random_below(r, records));
  add_session(journal, session, NOW - (int64_t)(100 - session) * TM_S);
}

static void says_what_a_new_one_says_whatever_happens_to_the_journal(void **state)
{
  struct random r = { 7 };
  struct tm_buf journal = TM_BUF_NONE;
  struct tm_inspection s;
  uint64_t session = 1;
  begin(&journal, *state);
  read_inspection(&s, *state);
  for (int i = 0; i < 2000; i++) {
    size_t whole;
    for (size_t n = random_below(&r, 5); n > 0; n--)
      add_random(&journal, &r);
    if (random_below(&r, 8) == 0)
      cut_and_resume(&journal, &r, ++session % 90);
    whole = journal.len;
    if (random_below(&r, 4) == 0) /* a record that is being written */
      tm_buf_add(&journal, "\2\1half", 6);
    if (random_below(&r, 20) == 0)
      put_bytes(*state, "score/state/journal", journal.data, journal.len); /* another file */
    else
      write_journal(*state, &journal);
    journal.len = whole;
    if (random_below(&r, 3) > 0)
      renew(&s);
    else
      continue;
    expect_as_new(&s);
  }
  tm_inspection_release(&s);
  tm_buf_release(&journal);
}

static void reads_only_what_is_new(void **state)
{
  struct tm_buf journal = TM_BUF_NONE;
  struct tm_inspection s;
  begin(&journal, *state);
  for (uint64_t i = 0; i < 100; i++)
    add_outcome(&journal, TM_RECORD_COMMITTED, i, 3);
  write_journal(*state, &journal);
  read_inspection(&s, *state);
  assert_int_equal(s.steps[0].succeeded, 100);
  memset(journal.data, 'x', 50 * TM_RECORD_SIZE); /* nobody reads this again */
  add_outcome(&journal, TM_RECORD_COMMITTED, 100, 3);
  write_journal(*state, &journal);
  renew(&s);
  assert_int_equal(s.steps[0].succeeded, 101);
  assert_int_equal(s.steps[0].damage_at, -1);
  tm_inspection_release(&s);
  tm_buf_release(&journal);
}

/* A removed step, a damaged definition, and the job as before. */
static void a_job_that_could_not_be_read_is_read_again(void **state)
{
  struct tm_buf journal = TM_BUF_NONE;
  struct tm_inspection s;
  struct tm_err err = TM_ERR_NONE;
  char *path = tm_path_join(*state, "score/state/journal");
  begin(&journal, *state);
  add_outcome(&journal, TM_RECORD_COMMITTED, 0, 3);
  write_journal(*state, &journal);
  read_inspection(&s, *state);
  assert_int_equal(unlink(path), 0);
  renew(&s);
  assert_int_equal(s.steps[0].sessions, 0);
  put(*state, "job.json", "{");
  assert_int_equal(tm_inspection_renew(&s, NOW, &err), TM_EDAMAGE);
  assert_string_equal(s.dir, *state);
  put_definition(*state);
  put_bytes(*state, "score/state/journal", journal.data, journal.len);
  renew(&s);
  assert_int_equal(s.steps[0].succeeded, 1);
  expect_as_new(&s);
  tm_inspection_release(&s);
  tm_buf_release(&journal);
  free(path);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_dir, close_dir)

UNIT_TESTS({
    CASE(says_what_a_new_one_says_whatever_happens_to_the_journal),
    CASE(reads_only_what_is_new),
    CASE(a_job_that_could_not_be_read_is_read_again),
});
