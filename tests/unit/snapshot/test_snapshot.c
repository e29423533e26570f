/* test_snapshot.c - the copy of a script and its files: complete or absent, and its hash. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include "snapshot/snapshot.h"
#include "tree.h"

struct world {
  char *dir, *to, *job;
  struct tm_config config;
};

static void setup(struct world *w, bool has_folder)
{
  w->dir = folder_make();
  w->job = tm_path_join(w->dir, "src/job");
  w->to = tm_path_join(w->job, "script/predict");
  file_put(w->dir, "src/score.lua", "function run() end", 0644);
  file_put(w->dir, "src/lib/tool", "#!/bin/sh\n", 0755);
  file_put(w->dir, "src/lib/empty", "", 0600);
  memset(&w->config, 0, sizeof(w->config));
  w->config.entry_script = tm_path_join(w->dir, "src/score.lua");
  w->config.source_directory = has_folder ? tm_path_join(w->dir, "src") : NULL;
}

static void teardown(struct world *w)
{
  free(w->config.entry_script);
  free(w->config.source_directory);
  free(w->to);
  free(w->job);
  folder_remove(w->dir);
}

static struct tm_snapshot taken(struct world *w)
{
  struct tm_snapshot s;
  struct tm_err err = TM_ERR_NONE;
  if (tm_snapshot_take(tm_fs_real(), &w->config, w->job, w->to, &s, &err) < 0)
    fail_msg("%s", err.text);
  return s;
}

static void has_text(const char *dir, const char *name, const char *text)
{
  char *found = file_text(dir, name);
  assert_non_null(found);
  assert_string_equal(found, text);
  free(found);
}

static void is_absent(const char *dir, const char *name)
{
  struct tm_stat st;
  char *path = tm_path_join(dir, name);
  assert_true(tm_fs_real()->stat(NULL, path, false, &st) < 0);
  free(path);
}

static void link_to(struct world *w, const char *target, const char *name)
{
  char *path = tm_path_join(w->dir, name);
  assert_int_equal(symlink(target, path), 0);
  free(path);
}

static void the_script_alone(void **state)
{
  struct world w;
  setup(&w, false);
  struct tm_snapshot s = taken(&w);
  has_text(w.to, "score.lua", "function run() end");
  is_absent(w.to, "lib");
  assert_string_equal(s.dir, w.to);
  assert_true(strcmp(tm_path_base(s.script), "score.lua") == 0);
  assert_int_equal(s.files, 1);
  assert_int_equal(s.bytes, 18);
  assert_int_equal(strlen(s.hash), 16);
  tm_snapshot_release(&s);
  teardown(&w);
}

static void the_whole_folder(void **state)
{
  struct world w;
  setup(&w, true);
  file_put(w.dir, "src/.git/config", "x", 0600);
  file_put(w.dir, "src/.tidemill/jobs/a", "x", 0600);
  file_put(w.dir, "src/old-job/job.json", "{}", 0600);
  file_put(w.dir, "src/old-job/lock", "", 0600);
  file_put(w.dir, "src/ours/workspace.db", "x", 0600);
  file_put(w.dir, "src/ours/jobs/a", "x", 0600);
  struct tm_snapshot s = taken(&w);
  has_text(w.to, "lib/tool", "#!/bin/sh\n");
  has_text(w.to, "lib/empty", "");
  has_text(w.to, "score.lua", "function run() end");
  const char *const left_out[] = { ".git", ".tidemill", "old-job", "job", "ours" };
  for (size_t i = 0; i < TM_COUNT_OF(left_out); i++)
    is_absent(w.to, left_out[i]);
  struct tm_stat st;
  char *tool = tm_path_join(w.to, "lib/tool");
  assert_int_equal(tm_fs_real()->stat(NULL, tool, true, &st), 0);
  assert_true(st.mode & S_IXUSR);
  free(tool);
  assert_int_equal(s.files, 4);
  tm_snapshot_release(&s);
  teardown(&w);
}

static void without_a_job_directory_the_copy_is_not_copied(void **state)
{
  struct world w;
  setup(&w, true);
  struct tm_snapshot s;
  assert_int_equal(tm_snapshot_take(tm_fs_real(), &w.config, NULL, w.to, &s, NULL), 0);
  has_text(w.to, "score.lua", "function run() end");
  is_absent(w.to, "job/script/predict.tmp");
  tm_snapshot_release(&s);
  teardown(&w);
}

static void links_keep_their_meaning(void **state)
{
  struct world w;
  setup(&w, true);
  file_put(w.dir, "outside/file", "text", 0600);
  link_to(&w, "lib/tool", "src/within");
  link_to(&w, "../outside/file", "src/file");
  link_to(&w, "../outside", "src/folder");
  struct tm_snapshot s = taken(&w);
  char target[512] = "";
  char *within = tm_path_join(w.to, "within"), *file = tm_path_join(w.to, "file"),
       *folder = tm_path_join(w.to, "folder");
  assert_true(readlink(within, target, sizeof(target) - 1) > 0);
  assert_string_equal(target, "lib/tool");
  assert_true(readlink(file, target, sizeof(target) - 1) < 0); /* its contents, not a link */
  has_text(w.to, "file", "text");
  assert_true(readlink(folder, target, sizeof(target) - 1) < 0); /* with everything in it */
  has_text(w.to, "folder/file", "text");
  char copied[17];
  assert_int_equal(tm_snapshot_hash_dir(tm_fs_real(), w.to, copied, NULL), 0);
  assert_string_equal(copied, s.hash);
  free(within);
  free(file);
  free(folder);
  tm_snapshot_release(&s);
  teardown(&w);
}

static void link_is(struct world *w, const char *name, const char *target)
{
  char found[512] = "", *path = tm_path_join(w->to, name);
  assert_true(readlink(path, found, sizeof(found) - 1) > 0);
  assert_string_equal(found, target);
  free(path);
}

/* Nothing in the copy leads out of it, and cyclic links stay within it. */
static void linked_folders_are_copied_once(void **state)
{
  struct world w;
  setup(&w, true);
  char *source = tm_path_join(w.dir, "src"), *lib = tm_path_join(w.dir, "src/lib");
  file_put(w.dir, "outside/deep/a.lua", "return 1", 0600);
  file_put(w.dir, "other/b.lua", "return 2", 0600);
  link_to(&w, "../outside", "src/folder");
  link_to(&w, "../../outside/deep", "src/lib/deep");
  link_to(&w, "../other", "outside/other"); /* a link to a link */
  link_to(&w, ".", "outside/self");         /* itself */
  link_to(&w, "../outside", "other/back");  /* two link to each other */
  link_to(&w, source, "outside/source");    /* and to the start of the walk */
  link_to(&w, lib, "src/absolute");
  link_to(&w, "../nowhere", "src/dangling");
  struct tm_snapshot s = taken(&w);
  has_text(w.to, "folder/deep/a.lua", "return 1");
  has_text(w.to, "folder/other/b.lua", "return 2");
  link_is(&w, "folder/self", "../folder");
  link_is(&w, "folder/other/back", "../../folder");
  link_is(&w, "folder/source", "..");
  link_is(&w, "absolute", "lib");
  link_is(&w, "lib/deep", "../folder/deep");
  is_absent(w.to, "dangling/x");
  char hash[17];
  assert_int_equal(tm_snapshot_hash_dir(tm_fs_real(), w.to, hash, NULL), 0);
  assert_string_equal(hash, s.hash);
  file_put(w.dir, "other/b.lua", "return 3", 0600);
  assert_int_equal(tm_snapshot_hash(tm_fs_real(), &w.config, w.job, hash, NULL), 0);
  assert_string_not_equal(hash, s.hash);
  has_text(w.to, "folder/other/b.lua", "return 2");
  tm_snapshot_release(&s);
  free(source);
  free(lib);
  teardown(&w);
}

/* The copy has what require() may find in a folder of module_paths, and nothing else from there. */
static void modules_are_copied(void **state)
{
  struct world w;
  setup(&w, false);
  char *lib = tm_path_join(w.dir, "modules"), *first[] = { lib, NULL };
  char *environment[] = { NULL, NULL, (char *)"OTHER=LUA_PATH=", NULL };
  environment[0] = tm_xprintf("LUA_PATH=%s/?.lua;%s/?/init.lua;;", lib, lib);
  environment[1] = tm_xprintf("LUA_CPATH=%s/?.so;/usr/x/?.so", lib);
  file_put(w.dir, "modules/helper.lua", "return 1", 0600);
  file_put(w.dir, "modules/deep/c.so", "so", 0600);
  file_put(w.dir, "modules/deep/libc.so.1", "library", 0600);
  file_put(w.dir, "modules/notes.txt", "x", 0600);
  file_put(w.dir, "modules/.hidden.lua", "x", 0600);
  char before[17], hash[17];
  assert_int_equal(tm_snapshot_hash(tm_fs_real(), &w.config, w.job, before, NULL), 0);
  w.config.module_paths = first;
  w.config.environment = environment;
  struct tm_snapshot s = taken(&w);
  assert_string_not_equal(s.hash, before);
  has_text(w.to, TM_SNAPSHOT_MODULES "/1/helper.lua", "return 1");
  has_text(w.to, TM_SNAPSHOT_MODULES "/1/deep/c.so", "so");
  has_text(w.to, TM_SNAPSHOT_MODULES "/1/deep/libc.so.1", "library");
  is_absent(w.to, TM_SNAPSHOT_MODULES "/1/notes.txt");
  is_absent(w.to, TM_SNAPSHOT_MODULES "/1/.hidden.lua");
  assert_int_equal(tm_snapshot_hash_dir(tm_fs_real(), w.to, hash, NULL), 0);
  assert_string_equal(hash, s.hash);
  char **found = tm_snapshot_environment(&w.config, w.to), wanted[2000];
  snprintf(wanted, sizeof(wanted), "LUA_PATH=%s/%s/1/?.lua;%s/%s/1/?/init.lua;;", w.to,
           TM_SNAPSHOT_MODULES, w.to, TM_SNAPSHOT_MODULES);
  assert_string_equal(found[0], wanted);
  snprintf(wanted, sizeof(wanted), "LUA_CPATH=%s/%s/1/?.so;/usr/x/?.so", w.to, TM_SNAPSHOT_MODULES);
  assert_string_equal(found[1], wanted);
  assert_string_equal(found[2], "OTHER=LUA_PATH=");
  assert_null(found[3]);
  tm_snapshot_free_environment(found);
  found = tm_snapshot_environment(&w.config, w.dir); /* a copy from before copies held modules */
  assert_string_equal(found[0], environment[0]);
  tm_snapshot_free_environment(found);
  file_put(w.dir, "modules/notes.txt", "another", 0600);
  assert_int_equal(tm_snapshot_hash(tm_fs_real(), &w.config, w.job, hash, NULL), 0);
  assert_string_equal(hash, s.hash);
  file_put(w.dir, "modules/helper.lua", "return 2", 0600);
  assert_int_equal(tm_snapshot_hash(tm_fs_real(), &w.config, w.job, hash, NULL), 0);
  assert_string_not_equal(hash, s.hash);
  struct tm_config other = w.config;
  other.module_paths = NULL;
  assert_false(tm_snapshot_is_same(&w.config, &other));
  assert_true(tm_snapshot_is_same(&w.config, &w.config));
  tm_snapshot_release(&s);
  free(environment[0]);
  free(environment[1]);
  free(lib);
  teardown(&w);
}

static void the_hash_covers_everything_that_matters(void **state)
{
  struct world w;
  char now[17], copied[17];
  setup(&w, true);
  struct tm_snapshot s = taken(&w);
  assert_int_equal(tm_snapshot_hash(tm_fs_real(), &w.config, w.job, now, NULL), 0);
  assert_string_equal(now, s.hash);
  assert_int_equal(tm_snapshot_hash_dir(tm_fs_real(), w.to, copied, NULL), 0);
  assert_string_equal(copied, s.hash);

  file_put(w.dir, "src/score.lua", "function run() end", 0600); /* other modes do not count ... */
  assert_int_equal(tm_snapshot_hash(tm_fs_real(), &w.config, w.job, now, NULL), 0);
  assert_string_equal(now, s.hash);
  file_put(w.dir, "src/score.lua", "function run() end", 0700); /* ... but this one does */
  assert_int_equal(tm_snapshot_hash(tm_fs_real(), &w.config, w.job, now, NULL), 0);
  assert_string_not_equal(now, s.hash);
  file_put(w.dir, "src/score.lua", "function run() end ", 0600);
  assert_int_equal(tm_snapshot_hash(tm_fs_real(), &w.config, w.job, now, NULL), 0);
  assert_string_not_equal(now, s.hash);
  tm_snapshot_release(&s);
  teardown(&w);
}

static void an_existing_copy_is_replaced(void **state)
{
  struct world w;
  setup(&w, true);
  struct tm_snapshot s = taken(&w);
  tm_snapshot_release(&s);
  file_put(w.to, "left-over", "x", 0600);
  file_put(w.dir, "src/score.lua", "new", 0600);
  s = taken(&w);
  is_absent(w.to, "left-over");
  has_text(w.to, "score.lua", "new");
  tm_snapshot_release(&s);
  teardown(&w);
}

static void a_pipe_is_refused_and_nothing_is_left(void **state)
{
  struct world w;
  setup(&w, true);
  struct tm_snapshot s;
  struct tm_err err = TM_ERR_NONE;
  char *fifo = tm_path_join(w.dir, "src/fifo"), *temporary = tm_xprintf("%s.tmp", w.to);
  assert_int_equal(mkfifo(fifo, 0600), 0);
  assert_int_equal(tm_snapshot_take(tm_fs_real(), &w.config, w.job, w.to, &s, &err), TM_EUSAGE);
  assert_non_null(strstr(err.text, "it is a device, a socket or a pipe"));
  assert_false(tm_fs_exists(tm_fs_real(), w.to));
  assert_false(tm_fs_exists(tm_fs_real(), temporary));
  free(fifo);
  free(temporary);
  teardown(&w);
}

/* The real files; call number `at` fails. */
struct faulty {
  struct tm_fs fs;
  int calls, at;
};

static bool is_due(void *self)
{
  struct faulty *f = self;
  return ++f->calls == f->at;
}

static int faulty_open(void *self, const char *path, int flags, int mode)
{
  return is_due(self) ? -EIO : tm_fs_real()->open(NULL, path, flags, mode);
}

static int64_t faulty_pread(void *self, int fd, void *p, size_t n, int64_t at)
{
  return is_due(self) ? -EIO : tm_fs_real()->pread(NULL, fd, p, n, at);
}

static int64_t faulty_pwrite(void *self, int fd, const void *p, size_t n, int64_t at)
{
  return is_due(self) ? -ENOSPC : tm_fs_real()->pwrite(NULL, fd, p, n, at);
}

static int faulty_mkdir(void *self, const char *path, int mode)
{
  return is_due(self) ? -EACCES : tm_fs_real()->mkdir(NULL, path, mode);
}

static int faulty_rename(void *self, const char *from, const char *to)
{
  return is_due(self) ? -EIO : tm_fs_real()->rename(NULL, from, to);
}

static int faulty_fsync(void *self, int fd)
{
  return is_due(self) ? -EIO : tm_fs_real()->fsync(NULL, fd);
}

static int faulty_symlink(void *self, const char *target, const char *path)
{
  return is_due(self) ? -EIO : tm_fs_real()->symlink(NULL, target, path);
}

static void after_any_fault_it_is_complete_or_absent(void **state)
{
  struct world w;
  char expected[17], copied[17];
  int rc = -1, faults = 0;
  setup(&w, true);
  link_to(&w, "lib/tool", "src/within");
  assert_int_equal(tm_snapshot_hash(tm_fs_real(), &w.config, w.job, expected, NULL), 0);
  for (int at = 1; rc < 0; at++) {
    struct faulty f = { *tm_fs_real(), 0, at };
    struct tm_snapshot s = { 0 };
    struct tm_err err = TM_ERR_NONE;
    f.fs.self = &f;
    f.fs.open = faulty_open;
    f.fs.pread = faulty_pread;
    f.fs.pwrite = faulty_pwrite;
    f.fs.mkdir = faulty_mkdir;
    f.fs.rename = faulty_rename;
    f.fs.fsync = faulty_fsync;
    f.fs.symlink = faulty_symlink;
    assert_int_equal(tm_tree_remove(w.job, NULL), 0);
    rc = tm_snapshot_take(&f.fs, &w.config, w.job, w.to, &s, &err);
    if (rc < 0) {
      faults++;
      assert_true(err.code < 0 && *err.text);
      if (tm_fs_exists(tm_fs_real(), w.to)) {
        assert_int_equal(tm_snapshot_hash_dir(tm_fs_real(), w.to, copied, NULL), 0);
        assert_string_equal(copied, expected);
      }
    } else {
      assert_string_equal(s.hash, expected);
    }
    tm_snapshot_release(&s);
  }
  assert_true(faults > 15);
  teardown(&w);
}

/* Somebody edits during the copy: src/a.lua, then src/b.lua, at the first reads of the script. */
struct editor {
  struct tm_fs fs;
  struct world *w;
  int edits, most;
};

static int64_t edit_and_pread(void *self, int fd, void *p, size_t n, int64_t at)
{
  struct editor *e = self;
  char text[40];
  if (e->edits < e->most) {
    snprintf(text, sizeof(text), "return %0*d", ++e->edits, 7); /* a different length each time */
    file_put(e->w->dir, "src/a.lua", text, 0600);
    file_put(e->w->dir, "src/b.lua", text, 0600);
  }
  return tm_fs_real()->pread(NULL, fd, p, n, at);
}

static void is_taken_again_when_something_was_edited_meanwhile(void **state)
{
  char expected[17];
  for (int most = 1; most <= 100; most += 99) {
    struct world w;
    setup(&w, true);
    file_put(w.dir, "src/a.lua", "return 0", 0600);
    file_put(w.dir, "src/b.lua", "return 0", 0600);
    struct editor e = { .fs = *tm_fs_real(), .w = &w, .most = most };
    struct tm_snapshot s = { 0 };
    struct tm_err err = TM_ERR_NONE;
    e.fs.self = &e;
    e.fs.pread = edit_and_pread;
    assert_int_equal(tm_snapshot_take(&e.fs, &w.config, w.job, w.to, &s, &err), 0);
    assert_int_equal(tm_snapshot_hash(tm_fs_real(), &w.config, w.job, expected, NULL), 0);
    if (most == 1) { /* the current version, complete */
      assert_string_equal(s.hash, expected);
      assert_null(s.changed);
    } else { /* the edits never ended, and the message says so */
      assert_true(e.edits > 4 && e.edits < most);
      assert_non_null(strstr(s.changed, "/src"));
    }
    tm_snapshot_release(&s);
    teardown(&w);
  }
}

static void too_many_files_are_refused(void **state)
{
  struct world w;
  setup(&w, true);
  struct tm_snapshot s;
  struct tm_err err = TM_ERR_NONE;
  char name[64];
  for (int i = 0; i < (int)TM_SNAPSHOT_FILES_MAX; i++) {
    snprintf(name, sizeof(name), "src/link%d", i);
    link_to(&w, "score.lua", name);
  }
  assert_int_equal(tm_snapshot_take(tm_fs_real(), &w.config, w.job, w.to, &s, &err), TM_ELIMIT);
  assert_non_null(strstr(err.text, "holds more than 10000 files"));
  assert_false(tm_fs_exists(tm_fs_real(), w.to));
  teardown(&w);
}

/* Packed copies. */

static void a_copy_comes_back_from_the_store(void **state)
{
  struct world w;
  setup(&w, true);
  struct tm_snapshot s = taken(&w);
  char *store = tm_path_join(w.dir, "store"), hash[17];
  assert_int_equal(tm_snapshot_keep(tm_fs_real(), &s, store, NULL), 0);
  assert_int_equal(tm_snapshot_keep(tm_fs_real(), &s, store, NULL), 0); /* again */
  file_put(w.to, "score.lua", "function run() os.exit() end", 0600);
  file_put(w.to, "more.txt", "x", 0600);
  assert_int_equal(tm_snapshot_restore(tm_fs_real(), store, s.hash, w.to, NULL), 0);
  has_text(w.to, "score.lua", "function run() end");
  is_absent(w.to, "more.txt");
  assert_int_equal(tm_snapshot_hash_dir(tm_fs_real(), w.to, hash, NULL), 0);
  assert_string_equal(hash, s.hash);
  assert_int_equal(tm_snapshot_restore(tm_fs_real(), store, "0123456789abcdef", w.to, NULL),
                   -ENOENT);
  has_text(w.to, "score.lua", "function run() end");
  free(store);
  tm_snapshot_release(&s);
  teardown(&w);
}

static void contents_that_contradict_the_name_are_damage(void **state)
{
  struct world w;
  setup(&w, true);
  struct tm_snapshot s = taken(&w);
  struct tm_err err = TM_ERR_NONE;
  char *store = tm_path_join(w.dir, "store");
  char *packed = tm_xprintf("%s/%s.tar.zst", store, s.hash);
  char *other = tm_path_join(store, "ffffffffffffffff.tar.zst");
  assert_int_equal(tm_snapshot_keep(tm_fs_real(), &s, store, NULL), 0);
  assert_int_equal(rename(packed, other), 0);
  assert_int_equal(tm_snapshot_restore(tm_fs_real(), store, "ffffffffffffffff", w.to, &err),
                   TM_EDAMAGE);
  assert_non_null(strstr(err.text, "ffffffffffffffff.tar.zst"));
  has_text(w.to, "score.lua", "function run() end");
  is_absent(w.to, "job/script/predict.tmp");
  free(store);
  free(packed);
  free(other);
  tm_snapshot_release(&s);
  teardown(&w);
}

static void steps_of_one_source_share_a_copy(void **state)
{
  struct world w;
  setup(&w, true);
  struct tm_snapshot s = taken(&w), second;
  struct tm_config other = w.config;
  char *to = tm_path_join(w.job, "script/join");
  other.entry_script = tm_path_join(w.dir, "src/lib/tool");
  assert_true(tm_snapshot_is_same(&w.config, &other));
  assert_int_equal(tm_snapshot_share(tm_fs_real(), &other, &s, to, &second, NULL), 0);
  has_text(to, "score.lua", "function run() end");
  assert_string_equal(second.hash, s.hash);
  assert_non_null(strstr(second.script, "script/join/lib/tool"));
  other.source_directory = NULL;
  assert_false(tm_snapshot_is_same(&w.config, &other));
  free(other.entry_script);
  free(to);
  tm_snapshot_release(&second);
  tm_snapshot_release(&s);
  teardown(&w);
}

static void ignored_files_are_neither_copied_nor_counted(void **state)
{
  struct world w;
  char before[17], after[17];
  setup(&w, true);
  file_put(w.dir, "src/.tidemillignore", "*.log\n/data/\n", 0600);
  assert_int_equal(tm_snapshot_hash(tm_fs_real(), &w.config, w.job, before, NULL), 0);
  file_put(w.dir, "src/data/big.csv", "1", 0600);
  file_put(w.dir, "src/lib/out.log", "1", 0600);
  assert_int_equal(tm_snapshot_hash(tm_fs_real(), &w.config, w.job, after, NULL), 0);
  assert_string_equal(before, after);
  struct tm_snapshot s = taken(&w);
  is_absent(w.to, "data");
  is_absent(w.to, "lib/out.log");
  has_text(w.to, "lib/tool", "#!/bin/sh\n");
  tm_snapshot_release(&s);
  teardown(&w);
}

static void a_script_that_is_left_out_is_refused(void **state)
{
  struct world w;
  struct tm_err err = TM_ERR_NONE;
  setup(&w, true);
  assert_int_equal(tm_snapshot_check(tm_fs_real(), &w.config, &err), 0);
  file_put(w.dir, "src/.tidemillignore", "# text\nlib/\n", 0600);
  assert_int_equal(tm_snapshot_check(tm_fs_real(), &w.config, &err), 0);
  free(w.config.entry_script);
  w.config.entry_script = tm_path_join(w.dir, "src/lib/tool");
  assert_int_equal(tm_snapshot_check(tm_fs_real(), &w.config, &err), TM_EUSAGE);
  assert_non_null(strstr(err.text, "/src/.tidemillignore:2: the entry script 'lib/tool'"));
  teardown(&w);
}

UNIT_TESTS({
    cmocka_unit_test(the_script_alone),
    cmocka_unit_test(the_whole_folder),
    cmocka_unit_test(without_a_job_directory_the_copy_is_not_copied),
    cmocka_unit_test(links_keep_their_meaning),
    cmocka_unit_test(linked_folders_are_copied_once),
    cmocka_unit_test(modules_are_copied),
    cmocka_unit_test(the_hash_covers_everything_that_matters),
    cmocka_unit_test(an_existing_copy_is_replaced),
    cmocka_unit_test(a_pipe_is_refused_and_nothing_is_left),
    cmocka_unit_test(after_any_fault_it_is_complete_or_absent),
    cmocka_unit_test(is_taken_again_when_something_was_edited_meanwhile),
    cmocka_unit_test(too_many_files_are_refused),
    cmocka_unit_test(a_copy_comes_back_from_the_store),
    cmocka_unit_test(contents_that_contradict_the_name_are_damage),
    cmocka_unit_test(steps_of_one_source_share_a_copy),
    cmocka_unit_test(ignored_files_are_neither_copied_nor_counted),
    cmocka_unit_test(a_script_that_is_left_out_is_refused),
});
