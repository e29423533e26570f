/* test_launcher_links.c - what started a node, in the logs of a step. */
#include "unit.h"

#include "report_fixture.h"

#include <fcntl.h>

#include "report/launcher_links.h"

static int start_worker(struct tm_launcher_links *l, const struct report_fixture *f,
                        const char *node_id, struct tm_err *err)
{
  struct tm_event e = fixture_event(f, TM_EVENT_WORKER_STARTED);
  e.node_id = node_id;
  return tm_launcher_links_add(l, &e, err);
}

static char *path_of(const struct report_fixture *f, const char *name)
{
  return tm_path_join(f->dir, name);
}

static void put(const struct report_fixture *f, const char *name, const char *text)
{
  char *path = path_of(f, name), *dir = tm_path_dir(path);
  assert_true(tm_fs_make_dirs(tm_fs_real(), dir, 0700, NULL) >= 0);
  int fd = tm_fs_open(tm_fs_real(), path, O_WRONLY | O_CREAT | O_APPEND, 0600, NULL);
  assert_true(fd >= 0 && tm_fd_append(fd, text, strlen(text)) == 0);
  tm_fs_close(tm_fs_real(), fd);
  free(dir);
  free(path);
}

static void the_file_has_a_second_name_in_the_logs(void **state)
{
  struct report_fixture *f = *state;
  struct tm_launcher_links l;
  put(f, "nodes/1.txt", "Welcome\n");
  tm_launcher_links_init(&l, tm_fs_real(), f->logs);
  assert_int_equal(start_worker(&l, f, "1", NULL), 0);
  assert_int_equal(start_worker(&l, f, "1", NULL), 0);
  put(f, "nodes/1.txt", "Good bye\n"); /* later */
  char *text = fixture_read(f, "logs/sys/node/1/launcher.txt");
  assert_string_equal(text, "Welcome\nGood bye\n");
  free(text);
  tm_launcher_links_release(&l);
  tm_launcher_links_init(&l, tm_fs_real(), f->logs); /* as another session does */
  assert_int_equal(start_worker(&l, f, "1", NULL), 0);
  tm_launcher_links_release(&l);
}

/* Nothing has started it. */
static void the_node_of_this_machine_has_none(void **state)
{
  struct report_fixture *f = *state;
  struct tm_launcher_links l;
  tm_launcher_links_init(&l, tm_fs_real(), f->logs);
  assert_int_equal(start_worker(&l, f, "0", NULL), 0);
  char *dir = path_of(f, "logs/sys/node/0");
  assert_false(tm_fs_exists(tm_fs_real(), dir));
  free(dir);
  tm_launcher_links_release(&l);
}

/* As on a file system without second names: a folder has none. */
static void a_link_takes_the_place_of_a_second_name(void **state)
{
  struct report_fixture *f = *state;
  struct tm_launcher_links l;
  char *leads_to = NULL, *path = path_of(f, "logs/sys/node/2/launcher.txt");
  put(f, "nodes/2.txt/x", "");
  tm_launcher_links_init(&l, tm_fs_real(), f->logs);
  assert_int_equal(start_worker(&l, f, "2", NULL), 0);
  assert_int_equal(tm_fs_link_read(tm_fs_real(), path, &leads_to, NULL), 0);
  assert_string_equal(leads_to, "../../../../../nodes/2.txt");
  free(leads_to);
  free(path);
  tm_launcher_links_release(&l);
}

static void a_failure_is_reported_once(void **state)
{
  struct report_fixture *f = *state;
  struct tm_launcher_links l;
  struct tm_err err = TM_ERR_NONE;
  put(f, "nodes/1.txt", "");
  put(f, "logs/sys/node/1", "no folder");
  tm_launcher_links_init(&l, tm_fs_real(), f->logs);
  assert_true(start_worker(&l, f, "1", &err) < 0);
  assert_non_null(strstr(err.text, "logs/sys/node/1"));
  assert_int_equal(start_worker(&l, f, "1", NULL), 0);
  tm_launcher_links_release(&l);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)
UNIT_TESTS({
    CASE(the_file_has_a_second_name_in_the_logs),
    CASE(the_node_of_this_machine_has_none),
    CASE(a_link_takes_the_place_of_a_second_name),
    CASE(a_failure_is_reported_once),
});
