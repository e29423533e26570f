/* test_prepared.c - copies of models with repacked weights, made by a real library:
 * y = x * w * v, of x [n, 513], w [513, 520] and v [520, 5]. w has more than 1 MB, but not a
 * multiple of 64 bytes; v is smaller. */
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/time.h"
#include "folder.h"
#include "model/prepared.h"
#include "model/prepared_copies.h"
#include "model/prepared_key.h"
#include "model/prepared_mark.h"
#include "onnx_rig.h"
#include "onnxruntime/versions.h"

enum { ROWS = 513, COLUMNS = 520, OUTPUTS = 5 };

static struct folder f;

static int setup(void **state)
{
  folder_init(&f);
  return 0;
}

static int teardown(void **state)
{
  folder_release(&f);
  return 0;
}

/* ---- the model ---- */

/* Of floats, [n, columns]; or of integers, [k]. */
static void add_value(struct tm_buf *graph, unsigned field, const char *name, int64_t columns)
{
  struct tm_buf value = TM_BUF_NONE, type = TM_BUF_NONE, tensor = TM_BUF_NONE, shape = TM_BUF_NONE;
  struct tm_buf axis = TM_BUF_NONE;
  put_text(&axis, 2, columns ? "n" : "k");
  put_inner(&shape, 1, &axis);
  put_number(&axis, 1, (uint64_t)columns);
  if (columns)
    put_inner(&shape, 1, &axis);
  tm_buf_release(&axis);
  put_number(&tensor, 1, columns ? TM_TENSOR_FLOAT32 : TM_TENSOR_INT64);
  put_inner(&tensor, 2, &shape);
  put_inner(&type, 1, &tensor);
  put_text(&value, 1, name);
  put_inner(&value, 2, &type);
  put_inner(graph, field, &value);
}

static void add_node(struct tm_buf *graph, const char *operator, const char * a, const char *b,
                     const char *out)
{
  struct tm_buf node = TM_BUF_NONE;
  put_text(&node, 1, a);
  put_text(&node, 1, b);
  put_text(&node, 2, out);
  put_text(&node, 4, operator);
  put_inner(graph, 1, &node);
}

/* y = the rows of product + noise that `rows` counts from 0. A session makes other noise each
 * time. The sample has one row and counts from 1 first, which fails, so that the
 * plain model makes noise twice. */
static void add_noise(struct tm_buf *graph)
{
  struct tm_buf node = TM_BUF_NONE;
  put_text(&node, 1, "product");
  put_text(&node, 2, "noise");
  put_text(&node, 4, "RandomNormalLike");
  put_inner(graph, 1, &node);
  add_node(graph, "Add", "product", "noise", "sum");
  add_node(graph, "Gather", "sum", "rows", "y");
  add_value(graph, 11, "rows", 0);
}

static void add_weights(struct tm_buf *graph, const char *name, int rows, int columns, float first)
{
  static float weights[ROWS * COLUMNS];
  struct tm_buf w = TM_BUF_NONE;
  for (int i = 0; i < rows * columns; i++)
    weights[i] = (float)(i * 7 % 31) / 31;
  weights[0] = first;
  put_number(&w, 1, (uint64_t)rows);
  put_number(&w, 1, (uint64_t)columns);
  put_number(&w, 2, TM_TENSOR_FLOAT32);
  put_text(&w, 8, name);
  put_bytes(&w, 9, (const char *)weights, sizeof *weights * (size_t)(rows * columns));
  put_inner(graph, 5, &w);
}

static void write_model(float first, bool is_noisy)
{
  struct tm_buf model = TM_BUF_NONE, graph = TM_BUF_NONE;
  add_node(&graph, "MatMul", "x", "w", "h");
  add_node(&graph, "MatMul", "h", "v", is_noisy ? "product" : "y");
  if (is_noisy)
    add_noise(&graph);
  put_text(&graph, 2, "g");
  add_weights(&graph, "w", ROWS, COLUMNS, first);
  add_weights(&graph, "v", COLUMNS, OUTPUTS, 1);
  add_value(&graph, 11, "x", ROWS);
  add_value(&graph, 12, "y", OUTPUTS);
  model_begin(&model);
  put_inner(&model, 7, &graph);
  folder_put(&f, "m.onnx", 0, model.data, model.len);
  folder_cut(&f, "m.onnx", (int64_t)model.len);
  tm_buf_release(&model);
}

/* ---- a call ---- */

static const struct tm_model_options options = {
  .shown = "m.onnx", .intra_threads = 1, .inter_threads = 1, .optimization = TM_OPTIMIZE_ALL
};
static struct tm_fs fs;
static struct tm_prepared found;
static struct tm_preparing *current;
static const char *session;
static bool is_limited;

/* With the file calls in `fs`. */
static int find(const char *library, int64_t wait_ns, bool is_stopped)
{
  static const char *const none[] = { NULL };
  struct tm_err err = TM_ERR_NONE;
  char folder[128], path[128];
  snprintf(path, sizeof path, "%s", folder_file(&f, "m.onnx"));
  snprintf(folder, sizeof folder, "%s", folder_file(&f, "models"));
  setenv("TIDEMILL_ONNXRUNTIME", library, 1);
  struct tm_runtime *r = tm_runtime_open(none, &err);
  if (!r)
    fail_msg("%s", err.text);
  struct tm_preparing p = {
    .fs = &fs, .folder = folder, .wait_ns = wait_ns, .session = session, .is_limited = is_limited
  };
  current = &p;
  if (is_stopped)
    tm_preparing_stop(&p);
  tm_prepared_release(&found);
  int rc = tm_prepared_find(&found, r, path, &options, &p, &err);
  assert_true(tm_ort_log_is_empty(&r->log));
  return rc;
}

static void gives(const char *library, enum tm_prepared_state state, const char *why)
{
  assert_int_equal(find(library, 0, false), 0);
  if (found.state != state || (why && !strstr(found.why, why)))
    fail_msg("state %d: %s", (int)found.state, found.why ? found.why : "");
  if (state == TM_PREPARED_MADE || state == TM_PREPARED_READY)
    assert_true(folder_size(&f, found.path + strlen(f.path) + 1) > 0);
}

struct names {
  int copies, parts;
};

static int count_name(void *data, const char *name, int type)
{
  struct names *n = data;
  n->copies += strchr(name, '.') == NULL;
  n->parts += strstr(name, ".part") != NULL;
  return 0;
}

static void has_names(int copies, int parts)
{
  struct names n = { 0 };
  assert_int_equal(tm_dir_read(folder_file(&f, "models"), count_name, &n), 0);
  assert_int_equal(n.copies, copies);
  assert_int_equal(n.parts, parts);
}

/* "models/<key>SUFFIX" of the last copy. */
static const char *below(const char *suffix)
{
  static char name[100];
  snprintf(name, sizeof name, "models/%.16s%s", found.path + strlen(f.path) + strlen("/models/"),
           suffix);
  return name;
}

/* ---- the cases ---- */

static void begin(void)
{
  fs = *tm_fs_real();
  session = "1";
  is_limited = false;
  (void)tm_tree_remove(folder_file(&f, "models"), NULL);
  write_model(1, false);
}

static void a_copy_is_made_once(const char *library)
{
  struct stat st;
  begin();
  gives(library, TM_PREPARED_MADE, NULL);
  has_names(1, 0);
  assert_int_equal(stat(folder_file(&f, "models"), &st), 0);
  assert_int_equal(st.st_mode & 0777, 0700);
  assert_int_equal(stat(folder_file(&f, below("")), &st), 0);
  assert_int_equal(st.st_mode & 0777, 0700);
  gives(library, TM_PREPARED_READY, NULL);
  has_names(1, 0);
  write_model(2, false); /* another model */
  gives(library, TM_PREPARED_MADE, NULL);
  has_names(2, 0);
}

static void a_damaged_copy_is_made_again(const char *library)
{
  begin();
  gives(library, TM_PREPARED_MADE, NULL);
  folder_flip(&f, below("/model.onnx"), 40);
  gives(library, TM_PREPARED_MADE, NULL);
  folder_cut(&f, below("/model.onnx"), 40);
  gives(library, TM_PREPARED_MADE, NULL);
  folder_cut(&f, below("/weights.bin"), 40);
  gives(library, TM_PREPARED_MADE, NULL);
  folder_cut(&f, below("/made.json"), 40);
  gives(library, TM_PREPARED_MADE, NULL);
  assert_int_equal(unlink(folder_file(&f, below("/weights.bin"))), 0);
  gives(library, TM_PREPARED_MADE, NULL);
  gives(library, TM_PREPARED_READY, NULL);
  has_names(1, 0);
}

static void another_maker_is_waited_for(const char *library)
{
  begin();
  gives(library, TM_PREPARED_MADE, NULL);
  folder_cut(&f, below("/made.json"), 0);
  int fd = open(folder_file(&f, below(".lock")), O_RDWR);
  assert_int_equal(tm_lock_take(fd, false), 0);
  assert_int_equal(find(library, 0, false), 0);
  assert_int_equal(found.state, TM_PREPARED_BUSY);
  assert_int_equal(find(library, 1, false), 0);
  assert_int_equal(found.state, TM_PREPARED_BUSY);
  close(fd);
  gives(library, TM_PREPARED_MADE, NULL);
}

static int die(void *self, const char *from, const char *to)
{
  raise(SIGKILL);
  return 0;
}

static void kill_one(const char *library)
{
  int status;
  pid_t child = fork();
  if (child == 0) {
    fs.rename = die; /* when it has written everything */
    (void)find(library, 0, false);
    _exit(0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Forks before the library is loaded. */
static void killed_makers_are_followed_by_others(const char *library)
{
  begin();
  kill_one(library);
  has_names(0, 1);
  gives(library, TM_PREPARED_MADE, NULL);
  has_names(1, 0);
  gives(library, TM_PREPARED_READY, NULL);
}

static void after_two_deaths_there_is_none(const char *library)
{
  begin();
  kill_one(library);
  kill_one(library);
  gives(library, TM_PREPARED_PLAIN, "2 workers of this job have died");
  has_names(0, 0);
}

/* As when jobs are canceled: nobody knows why their makers died. */
static void deaths_of_other_sessions_do_not_count(const char *library)
{
  begin();
  for (session = "1"; *session < '4'; session = *session == '1' ? "2" : *session == '2' ? "3" : "4")
    kill_one(library);
  has_names(0, 1);
  gives(library, TM_PREPARED_MADE, NULL);
}

static void what_dead_makers_left_goes_with_the_next_copy(const char *library)
{
  begin();
  kill_one(library);
  write_model(2, false);
  has_names(0, 1);
  gives(library, TM_PREPARED_MADE, NULL);
  has_names(1, 0);
}

static void a_maker_with_limited_time_has_one_try(const char *library)
{
  begin();
  is_limited = true;
  kill_one(library);
  gives(library, TM_PREPARED_PLAIN, "its time was limited (init_timeout)");
  has_names(0, 0);
  is_limited = false; /* nor does another step of this job try */
  gives(library, TM_PREPARED_PLAIN, "its time was limited (init_timeout)");
  session = "2";
  is_limited = true;
  gives(library, TM_PREPARED_MADE, NULL);
}

static void copies_can_be_removed(const char *library)
{
  struct tm_prepared_copies copies;
  struct tm_err err;
  char folder[128];
  begin();
  gives(library, TM_PREPARED_MADE, NULL);
  snprintf(folder, sizeof folder, "%s", folder_file(&f, "models"));
  folder_put(&f, "models/other.txt", 0, "x", 1);
  int fd = open(folder_file(&f, below(".lock")), O_RDWR);
  assert_int_equal(tm_lock_take(fd, false), 0);
  tm_prepared_copies_find(&copies, &fs, folder, INT64_MAX);
  assert_int_equal(copies.paths.len, 0); /* it is being made */
  close(fd);
  tm_prepared_copies_release(&copies);
  struct tm_stat st;
  assert_int_equal(fs.stat(NULL, folder_file(&f, below("")), false, &st), 0);
  tm_prepared_copies_find(&copies, &fs, folder, st.mtime_ns - TM_S);
  assert_int_equal(copies.paths.len, 0); /* too new */
  tm_prepared_copies_release(&copies);
  tm_prepared_copies_find(&copies, &fs, folder, st.mtime_ns + TM_S);
  assert_int_equal(copies.paths.len, 1);
  assert_true(copies.bytes > ROWS * COLUMNS * 4);
  assert_int_equal(tm_prepared_copies_remove(&copies, &fs, &err), 0);
  tm_prepared_copies_release(&copies);
  has_names(0, 0);
  assert_int_equal(folder_size(&f, below(".lock")), -1);
  assert_int_equal(folder_size(&f, "models/other.txt"), 1);
  gives(library, TM_PREPARED_MADE, NULL);
}

static void other_values_are_refused_for_good(const char *library)
{
  begin();
  write_model(1, true);
  gives(library, TM_PREPARED_REFUSED, "output 'y' differs: ");
  has_names(1, 0);
  gives(library, TM_PREPARED_REFUSED, "output 'y' differs: ");
}

static int volume_is_full(void *self, const char *path, struct tm_volume *out)
{
  *out = (struct tm_volume) { .free_bytes = 4096 };
  return 0;
}

static int no_right(void *self, const char *path, int mode)
{
  return -EACCES;
}

static void without_room_or_right_there_is_none(const char *library)
{
  begin();
  fs.volume = volume_is_full;
  gives(library, TM_PREPARED_PLAIN, "/models': a copy takes up to 18.1 MB, and 4.0 KB are free");
  has_names(0, 0);
  begin();
  fs.mkdir = no_right;
  gives(library, TM_PREPARED_PLAIN, "permission denied");
}

static int volume_stops(void *self, const char *path, struct tm_volume *out)
{
  tm_preparing_stop(current);
  *out = (struct tm_volume) { .free_bytes = INT64_MAX };
  return 0;
}

static void a_stop_leaves_nothing(const char *library)
{
  begin();
  assert_int_equal(find(library, 0, true), -ECANCELED);
  assert_int_equal(folder_size(&f, "models"), -1);
  fs.volume = volume_stops; /* while it makes the copy */
  assert_int_equal(find(library, 0, false), -ECANCELED);
  has_names(0, 0);
  fs = *tm_fs_real(); /* it would be stopped again */
  gives(library, TM_PREPARED_PLAIN, "was interrupted");
  session = "2";
  gives(library, TM_PREPARED_MADE, NULL);
  assert_int_equal(folder_size(&f, below(".lock")), 0);
}

static bool is_lying_about_copies; /* else about their folder */

static int stat_of_another_user(void *self, const char *path, bool follow, struct tm_stat *out)
{
  int rc = tm_fs_real()->stat(self, path, follow, out);
  const char *name = strrchr(path, '/');
  if (strcmp(name, "/models") == 0 ? !is_lying_about_copies : is_lying_about_copies)
    out->uid += 1;
  return rc;
}

static void folders_of_others_are_not_trusted(const char *library)
{
  char copy[128], elsewhere[128];
  begin();
  gives(library, TM_PREPARED_MADE, NULL);
  snprintf(copy, sizeof copy, "%s", folder_file(&f, below("")));
  fs.stat = stat_of_another_user;
  for (int i = 0; i < 2; i++) {
    is_lying_about_copies = i;
    gives(library, TM_PREPARED_PLAIN, "belongs to another user");
  }
  fs = *tm_fs_real();
  assert_int_equal(chmod(folder_file(&f, "models"), 0777), 0);
  gives(library, TM_PREPARED_PLAIN, "other users may write to '");
  assert_int_equal(chmod(folder_file(&f, "models"), 0700), 0);
  assert_int_equal(chmod(copy, 0770), 0);
  gives(library, TM_PREPARED_PLAIN, "other users may write to '");
  assert_int_equal(chmod(copy, 0700), 0);
  snprintf(elsewhere, sizeof elsewhere, "%s", folder_file(&f, "elsewhere"));
  assert_int_equal(rename(copy, elsewhere), 0);
  assert_int_equal(symlink(elsewhere, copy), 0);
  gives(library, TM_PREPARED_PLAIN, "is not a folder");
  assert_int_equal(unlink(copy), 0);
  assert_int_equal(rename(elsewhere, copy), 0);
  gives(library, TM_PREPARED_READY, NULL);
}

static void replace_by_link(const char *name)
{
  char from[128], to[128];
  snprintf(from, sizeof from, "%s", folder_file(&f, below(name)));
  snprintf(to, sizeof to, "%s", folder_file(&f, "elsewhere"));
  assert_int_equal(rename(from, to), 0);
  assert_int_equal(symlink(to, from), 0);
}

static void links_are_not_followed(const char *library)
{
  static const char *const names[] = { "/made.json", "/model.onnx", "/weights.bin" };
  begin();
  gives(library, TM_PREPARED_MADE, NULL);
  for (int i = 0; i < 3; i++) {
    replace_by_link(names[i]);
    gives(library, TM_PREPARED_MADE, NULL);
  }
}

/* Another model with the same name takes the place of the first one, as `mv` does it. */
static int (*real_open)(void *self, const char *path, int flags, int mode);
static int opens; /* of the model, until it is replaced */

static int replace_at_open(void *self, const char *path, int flags, int mode)
{
  if (strstr(path, "/m.onnx") && opens-- == 0)
    assert_int_equal(rename(folder_file(&f, "new.onnx"), path), 0);
  return real_open(self, path, flags, mode);
}

static int replace_at_volume(void *self, const char *path, struct tm_volume *out)
{
  char to[128];
  snprintf(to, sizeof to, "%s", folder_file(&f, "m.onnx"));
  assert_int_equal(rename(folder_file(&f, "new.onnx"), to), 0);
  return tm_fs_real()->volume(self, path, out);
}

static void put_new_model(void)
{
  char to[128];
  write_model(2, false);
  snprintf(to, sizeof to, "%s", folder_file(&f, "new.onnx"));
  assert_int_equal(rename(folder_file(&f, "m.onnx"), to), 0);
  write_model(1, false);
}

static void a_model_that_is_replaced_has_no_copy(const char *library)
{
  for (int at = 0; at < 2; at++) { /* before it is read, and before it is hashed */
    opens = at;
    begin();
    put_new_model();
    real_open = fs.open;
    fs.open = replace_at_open;
    gives(library, TM_PREPARED_PLAIN, "replaced");
    has_names(0, 0);
  }
  begin();
  put_new_model();
  fs.volume = replace_at_volume; /* before the library opens it */
  gives(library, TM_PREPARED_PLAIN, "replaced");
  has_names(0, 0);
  begin(); /* the first one again */
  gives(library, TM_PREPARED_MADE, NULL);
}

/* ---- the versions ---- */

static void refuses_the_version(const char *library)
{
  begin();
  gives(library, TM_PREPARED_PLAIN, "ONNX Runtime 1.17.0 cannot do that; 1.21 or newer can");
}

static void an_old_version_makes_none(void **state)
{
  const char *library;
  NEED_ONNXRUNTIME(library, "1_17");
  run_in_child(refuses_the_version, library);
}

static void a_new_version_makes_copies(void **state)
{
  const char *library;
  NEED_ONNXRUNTIME(library, "1_30");
  after_two_deaths_there_is_none(library); /* these fork, before the library is loaded for good */
  deaths_of_other_sessions_do_not_count(library);
  what_dead_makers_left_goes_with_the_next_copy(library);
  a_maker_with_limited_time_has_one_try(library);
  killed_makers_are_followed_by_others(library);
  a_copy_is_made_once(library);
  a_damaged_copy_is_made_again(library);
  another_maker_is_waited_for(library);
  other_values_are_refused_for_good(library);
  without_room_or_right_there_is_none(library);
  a_stop_leaves_nothing(library);
  folders_of_others_are_not_trusted(library);
  links_are_not_followed(library);
  a_model_that_is_replaced_has_no_copy(library);
  copies_can_be_removed(library);
  tm_prepared_release(&found);
}

/* ---- the key ---- */

static void key_of(char out[TM_PREPARED_KEY_SIZE], const char *version,
                   const struct tm_model_options *o)
{
  struct tm_onnx_file file;
  atomic_bool is_stopped = false;
  const char *path = folder_file(&f, "m.onnx");
  assert_int_equal(tm_onnx_file_read(&file, tm_fs_real(), path, NULL), 0);
  assert_int_equal(tm_prepared_key(out, tm_fs_real(), path, &file, version, o, &is_stopped, NULL),
                   0);
  tm_onnx_file_release(&file);
}

static void the_key_covers_model_version_and_options(void **state)
{
  char key[5][TM_PREPARED_KEY_SIZE], again[TM_PREPARED_KEY_SIZE];
  struct tm_setting entry = { (char *)"session.disable_prepacking", (char *)"1" };
  struct tm_model_options other = options, threads = options;
  write_model(1, false);
  key_of(key[0], "1.30.0", &options);
  key_of(key[1], "1.30.1", &options);
  other.config = (struct tm_settings) { &entry, 1 };
  key_of(key[2], "1.30.0", &other);
  other = options;
  other.optimization = TM_OPTIMIZE_BASIC;
  key_of(key[3], "1.30.0", &other);
  threads.intra_threads = 2;
  threads.allows_spinning = true;
  key_of(again, "1.30.0", &threads);
  assert_string_equal(again, key[0]);
  write_model(2, false);
  key_of(key[4], "1.30.0", &options);
  for (int i = 0; i < 5; i++)
    for (int k = 0; k < i; k++)
      assert_string_not_equal(key[i], key[k]);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS({
    CASE(an_old_version_makes_none),
    CASE(a_new_version_makes_copies),
    CASE(the_key_covers_model_version_and_options),
});
