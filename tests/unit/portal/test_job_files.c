/* test_job_files.c - what the portal opens beneath a job's directory, and what it does not. */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "folder.h"
#include "portal/job_files.h"

static struct folder folder;

static const char *in(const char *name)
{
  return folder_file(&folder, name);
}

static void put(const char *name, const char *text)
{
  int fd = open(in(name), O_WRONLY | O_CREAT, 0600);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, strlen(text)), strlen(text));
  close(fd);
}

static int setup(void **state)
{
  folder_init(&folder);
  assert_int_equal(mkdir(in("job"), 0700), 0);
  assert_int_equal(mkdir(in("job/logs"), 0700), 0);
  put("outside", "secret");
  put("job/b.txt", "12345");
  put("job/readme.txt", "read me");
  put("job/logs/a.txt", "log");
  assert_int_equal(symlink("../b.txt", in("job/logs/inner")), 0);
  assert_int_equal(symlink("../outside", in("job/leads-out")), 0);
  assert_int_equal(symlink("/etc/passwd", in("job/absolute")), 0);
  assert_int_equal(symlink("..", in("job/up")), 0);
  assert_int_equal(symlink("loop", in("job/loop")), 0);
  assert_int_equal(symlink("nothing", in("job/to-nothing")), 0);
  assert_int_equal(mkfifo(in("job/fifo"), 0600), 0);
  return 0;
}

static int teardown(void **state)
{
  folder_release(&folder);
  return 0;
}

static void files_and_links_within_the_job_are_opened(void **state)
{
  struct tm_job_file f;
  char job[4096], text[10];
  strcpy(job, in("job"));
  assert_int_equal(tm_job_file_open(&f, job, "b.txt", NULL), 0);
  assert_true(!f.is_folder && f.bytes == 5 && f.changed_ns > 0);
  close(f.fd);
  assert_int_equal(tm_job_file_open(&f, job, "logs/inner", NULL), 0);
  assert_int_equal(read(f.fd, text, sizeof text), 5);
  close(f.fd);
  assert_int_equal(tm_job_file_open(&f, job, "", NULL), 0);
  assert_true(f.is_folder);
  close(f.fd);
}

static void nothing_leads_out_of_the_job(void **state)
{
  static const char *const refused[] = {
    "leads-out",  "absolute",           "up",   "up/outside",  "loop",    "to-nothing",
    "../outside", "logs/../../outside", "fifo", "/etc/passwd", "nothing", "b.txt/x"
  };
  struct tm_job_file f;
  struct tm_err err;
  char job[4096];
  strcpy(job, in("job"));
  for (size_t i = 0; i < TM_COUNT_OF(refused); i++) {
    err = (struct tm_err) { 0 };
    assert_int_equal(tm_job_file_open(&f, job, refused[i], &err), -ENOENT);
    assert_int_equal(f.fd, -1);
    assert_true(err.text[0] != '\0');
  }
}

static void a_folder_shows_its_readme_first(void **state)
{
  struct tm_job_entries e;
  char job[4096], names[1000] = "";
  strcpy(job, in("job"));
  assert_int_equal(tm_job_entries_read(&e, job, "", NULL), 0);
  for (size_t i = 0; i < e.at.len; i++) {
    strcat(names, e.at.at[i].name);
    strcat(names, e.at.at[i].is_shown ? " " : "! ");
  }
  assert_string_equal(names, "readme.txt logs absolute! b.txt fifo! leads-out! loop! up! ");
  tm_job_entries_release(&e);
  assert_int_equal(tm_job_entries_read(&e, job, "logs", NULL), 0);
  assert_int_equal(e.at.len, 2);
  assert_true(e.at.at[1].is_shown && e.at.at[1].bytes == 5); /* a link within the job */
  tm_job_entries_release(&e);
  assert_true(tm_job_entries_read(&e, job, "up", NULL) < 0);
  tm_job_entries_release(&e);
}

static void text_is_told_from_other_bytes(void **state)
{
  assert_true(tm_job_file_is_text("", 0));
  assert_true(tm_job_file_is_text("caf\xc3\xa9\n\x1b[1m", 10));
  assert_true(tm_job_file_is_text("cut: \xe2\x82", 7)); /* in the middle of a character */
  assert_false(tm_job_file_is_text("a\0b", 3));
  assert_false(tm_job_file_is_text("\xff\xfe\xff\xfe\xff\xfe\xff\xfe", 8));
}

UNIT_TESTS({
    cmocka_unit_test_setup_teardown(files_and_links_within_the_job_are_opened, setup, teardown),
    cmocka_unit_test_setup_teardown(nothing_leads_out_of_the_job, setup, teardown),
    cmocka_unit_test_setup_teardown(a_folder_shows_its_readme_first, setup, teardown),
    cmocka_unit_test(text_is_told_from_other_bytes),
});
