/* test_plugin.c - a library is searched for in one order of places. It is refused where others
 * could have changed it, and where it is not a library for this machine. */
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "folder.h"
#include "sys/library.h"
#include "sys/plugin.h"

#define VARIABLE "TM_TEST_PLUGIN"
#define FIRST    "libtidemill_answer.so.1"

#if defined(__x86_64__)
#define MACHINE "x64"
#else
#define MACHINE "arm64"
#endif

static const char *const files[] = { FIRST, "libtidemill_answer.so", NULL };
static const struct tm_plugin_kind kind = { .name = "Answer",
                                            .variable = VARIABLE,
                                            .files = files,
                                            .package = "answer-node",
                                            .get = "npm install --ignore-scripts",
                                            .entry = "tidemill_plugin_answer" };

static struct folder f;
static struct tm_buf library; /* the bytes of a good one */

static int setup_all(void **state)
{
  return tm_fs_read_file(tm_fs_real(), TM_PLUGIN_LIBRARY, 64u << 20, &library, NULL);
}

static int teardown_all(void **state)
{
  tm_buf_release(&library);
  return 0;
}

UNIT_HOOKS(.setup = setup_all, .teardown = teardown_all);

static int setup(void **state)
{
  char data[100];
  folder_init(&f);
  snprintf(data, sizeof data, "%s/data", f.path);
  setenv("XDG_DATA_HOME", data, 1);
  unsetenv("LD_LIBRARY_PATH");
  unsetenv(VARIABLE);
  return 0;
}

static int teardown(void **state)
{
  assert_int_equal(chdir("/"), 0);
  folder_release(&f);
  return 0;
}

static const char *folder(const char *name)
{
  assert_int_equal(tm_fs_make_dirs(tm_fs_real(), folder_file(&f, name), 0700, NULL), 0);
  return f.name;
}

/* Puts a library into a folder, which is made. */
static void put_library(const char *dir, const char *name)
{
  char path[150];
  folder(dir);
  snprintf(path, sizeof path, "%s/%s", dir, name);
  folder_put(&f, path, 0, library.data, library.len);
}

/* Opens it, with f/script as the folder of the script. */
static int open_plugin(struct tm_plugin *p, struct tm_err *err)
{
  char script[100];
  snprintf(script, sizeof script, "%s/script", f.path);
  const char *const folders[] = { script, NULL };
  return tm_plugin_open(p, &kind, folders, err);
}

/* `real`: what is loaded. */
static void is_found_as(const char *name, const char *real)
{
  struct tm_plugin p;
  struct tm_err err = TM_ERR_NONE;
  if (open_plugin(&p, &err) < 0)
    fail_msg("%s", err.text);
  assert_string_equal(p.path, folder_file(&f, name));
  char *loaded = realpath(folder_file(&f, real), NULL);
  assert_string_equal(tm_library_path(p.handle), loaded);
  free(loaded);
  assert_int_equal(((int (*)(void))p.entry)(), 42);
  tm_plugin_close(&p);
}

static void is_found_at(const char *name)
{
  is_found_as(name, name);
}

static void is_refused(int code, const char *const words[])
{
  struct tm_plugin p;
  struct tm_err err = TM_ERR_NONE;
  assert_int_equal(open_plugin(&p, &err), code);
  for (size_t i = 0; words[i]; i++)
    if (!strstr(err.text, words[i]))
      fail_msg("'%s' lacks '%s'", err.text, words[i]);
  tm_plugin_close(&p);
}
#define IS_REFUSED(code, ...) is_refused(code, (const char *const[]) { __VA_ARGS__, NULL })

/* From the last place to the first: each one that is added wins. */
static void the_first_place_wins(void **state)
{
  put_library("loader", FIRST);
  setenv("LD_LIBRARY_PATH", folder_file(&f, "loader"), 1);
  is_found_at("loader/" FIRST);
  put_library("data/tidemill/node_modules/answer-node/bin/napi-v3/linux/" MACHINE, FIRST);
  is_found_at("data/tidemill/node_modules/answer-node/bin/napi-v3/linux/" MACHINE "/" FIRST);
  put_library("data/tidemill", FIRST);
  is_found_at("data/tidemill/" FIRST);
  put_library("node_modules/answer-node/bin/napi-v3/linux/" MACHINE, FIRST);
  is_found_at("node_modules/answer-node/bin/napi-v3/linux/" MACHINE "/" FIRST);
  put_library("node_modules/answer-node/bin/napi-v10/linux/" MACHINE, FIRST);
  is_found_at("node_modules/answer-node/bin/napi-v10/linux/" MACHINE "/" FIRST);
  put_library("script", FIRST ".17.0");
  is_found_at("script/" FIRST ".17.0");
  put_library("script", FIRST ".20.0");
  is_found_at("script/" FIRST ".20.0");
  put_library("script", files[1]);
  is_found_at("script/libtidemill_answer.so");
  put_library("script", FIRST);
  is_found_at("script/" FIRST);
  put_library("named", FIRST);
  setenv(VARIABLE, folder_file(&f, "named"), 1);
  is_found_at("named/" FIRST);
  put_library("named", "any_name.so");
  setenv(VARIABLE, folder_file(&f, "named/any_name.so"), 1);
  is_found_at("named/any_name.so");
}

static void a_wrong_variable_ends_the_search(void **state)
{
  put_library("script", FIRST);
  setenv(VARIABLE, folder_file(&f, "nothing.so"), 1);
  IS_REFUSED(TM_EUSAGE, VARIABLE, f.name, "no such file or directory", "unset it");
  setenv(VARIABLE, folder("empty"), 1);
  IS_REFUSED(TM_EUSAGE, VARIABLE, f.name, "the folder contains no " FIRST);
  setenv(VARIABLE, FIRST, 1);
  IS_REFUSED(TM_EUSAGE, VARIABLE, "it is not an absolute path");
}

static void the_current_folder_is_not_searched(void **state)
{
  put_library("here", FIRST);
  assert_int_equal(chdir(folder_file(&f, "here")), 0);
  IS_REFUSED(-ENOENT, "cannot find Answer");
  setenv("LD_LIBRARY_PATH", "", 1);
  IS_REFUSED(-ENOENT, "cannot find Answer");
  setenv("LD_LIBRARY_PATH", "/nowhere:", 1);
  IS_REFUSED(-ENOENT, "cannot find Answer");
  setenv("LD_LIBRARY_PATH", ".:/nowhere", 1);
  IS_REFUSED(-ENOENT, "cannot find Answer");
}

static void the_message_lists_the_places(void **state)
{
  char script[150], data[100], command[200];
  snprintf(command, sizeof command,
           "; install it: npm install --ignore-scripts --prefix %s/data/tidemill answer-node; or "
           "set ",
           f.path);
  snprintf(script, sizeof script, "%s/script", f.path);
  snprintf(data, sizeof data, "%s/data/tidemill", f.path);
  IS_REFUSED(-ENOENT, command, VARIABLE, FIRST, script, data, "node_modules/answer-node in",
             "and the folders above it", "the system's libraries");
}

static void what_others_may_change_is_refused(void **state)
{
  put_library("script", FIRST);
  assert_int_equal(chmod(folder_file(&f, "script/" FIRST), 0602), 0);
  IS_REFUSED(TM_EUSAGE, "script/" FIRST, "may be written by other users", "chmod go-w");
  assert_int_equal(chmod(f.name, 0600), 0);
  assert_int_equal(chmod(folder_file(&f, "script"), 0777), 0);
  IS_REFUSED(TM_EUSAGE, "script/" FIRST, "in a folder that other users may write");
  assert_int_equal(chmod(f.name, 01777), 0);
  is_found_at("script/" FIRST);
}

/* Only root can give a file away. */
static void a_file_of_another_user_is_refused(void **state)
{
  put_library("script", FIRST);
  if (chown(folder_file(&f, "script/" FIRST), 12345, (gid_t)-1) < 0)
    skip();
  IS_REFUSED(TM_EUSAGE, "script/" FIRST, "belongs to neither this user nor root");
}

static void a_file_that_is_no_library_is_refused(void **state)
{
  folder("script");
  folder_put(&f, "script/" FIRST, 0, "version https://git-lfs.github.com/spec/v1", 42);
  IS_REFUSED(TM_EUSAGE, "script/" FIRST, "is not a shared library");
  folder_cut(&f, "script/" FIRST, 0);
  IS_REFUSED(TM_EUSAGE, "script/" FIRST, "is not a shared library");
  assert_int_equal(unlink(f.name), 0);
  folder("script/" FIRST);
  IS_REFUSED(TM_EUSAGE, "script/" FIRST, "is not a file");
}

static void a_library_of_another_machine_is_refused(void **state)
{
  const uint16_t machine = EM_S390;
  put_library("script", FIRST);
  folder_put(&f, "script/" FIRST, offsetof(Elf64_Ehdr, e_machine), &machine, sizeof machine);
  IS_REFUSED(TM_EUSAGE, "script/" FIRST, "is for another architecture (s390)");
}

/* The loader would map it, and end the process where the file ends. */
static void a_cut_library_is_refused(void **state)
{
  const int64_t sizes[] = { 100, 200, 1000 };
  for (size_t i = 0; i < TM_COUNT_OF(sizes); i++) {
    put_library("script", FIRST);
    folder_cut(&f, "script/" FIRST, sizes[i]);
    IS_REFUSED(TM_EUSAGE, "script/" FIRST, "is cut; install or copy it again");
  }
}

/* Only root can give a folder away. */
static void a_folder_of_another_user_is_refused(void **state)
{
  put_library("script", FIRST);
  if (chown(folder_file(&f, "script"), 12345, (gid_t)-1) < 0)
    skip();
  IS_REFUSED(TM_EUSAGE, "script/" FIRST, "in a folder of another user");
}

/* Whoever may change the link could lead it elsewhere after the check. */
static void a_link_is_followed_once(void **state)
{
  char target[150];
  put_library("real", "answer.so");
  snprintf(target, sizeof target, "%s", folder_file(&f, "real/answer.so"));
  folder("script");
  assert_int_equal(symlink(target, folder_file(&f, "script/" FIRST)), 0);
  is_found_as("script/" FIRST, "real/answer.so");
}

static void another_library_is_refused(void **state)
{
  struct tm_plugin_kind other = kind;
  struct tm_plugin p;
  struct tm_err err = TM_ERR_NONE;
  put_library("script", FIRST);
  const char *const folders[] = { folder_file(&f, "script"), NULL };
  other.entry = "another_function";
  assert_int_equal(tm_plugin_open(&p, &other, folders, &err), TM_EUSAGE);
  assert_non_null(strstr(err.text, "is another library: it has no function 'another_function'"));
  tm_plugin_close(&p);
}

static void the_prefix_is_above_bin_or_lib(void **state)
{
  const char *const cases[][2] = { { "/usr/bin/tidemill", "/usr" },
                                   { "/opt/t/lib/x86_64-linux-gnu/libtidemill.so.1", "/opt/t" },
                                   { "/opt/t/lib/lua/5.1/tidemill.so", "/opt/t" },
                                   { "/srv/build/tidemill", NULL },
                                   { "tidemill", NULL } };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    char *prefix = tm_plugin_prefix(cases[i][0]);
    if (cases[i][1])
      assert_string_equal(prefix, cases[i][1]);
    else
      assert_null(prefix);
    free(prefix);
  }
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS({
    CASE(the_first_place_wins),
    CASE(a_wrong_variable_ends_the_search),
    CASE(the_current_folder_is_not_searched),
    CASE(the_message_lists_the_places),
    CASE(what_others_may_change_is_refused),
    CASE(a_file_of_another_user_is_refused),
    CASE(a_file_that_is_no_library_is_refused),
    CASE(a_library_of_another_machine_is_refused),
    CASE(a_cut_library_is_refused),
    CASE(a_folder_of_another_user_is_refused),
    CASE(a_link_is_followed_once),
    CASE(another_library_is_refused),
    cmocka_unit_test(the_prefix_is_above_bin_or_lib),
});
