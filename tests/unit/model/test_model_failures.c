/* test_model_failures.c - sessions of a stand-in for ONNX Runtime: each call of a session's life
 * fails in turn, and nothing leaks; other versions; and a run that only a stop ends. */
#include "unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "model/model_session.h"
#include "onnxruntime/stub.h"
#include "sys/alarm.h"
#include "sys/fs.h"
#include "sys/running_call.h"

/* Our own reader reads it; the stand-in has a model of its own. */
#define MODEL TM_TESTS_DIR "/fuzz/corpus/onnx_file/scale.onnx"

static struct tm_runtime *open_runtime(struct tm_err *err)
{
  static const char *const none[] = { NULL };
  setenv("TIDEMILL_ONNXRUNTIME", TM_ONNXRUNTIME_STUB, 1);
  return tm_runtime_open(none, err);
}

static struct ort_stub *stub_of(void)
{
  void *handle = dlopen(TM_ONNXRUNTIME_STUB, RTLD_NOW | RTLD_NOLOAD);
  assert_non_null(handle);
  struct ort_stub *(*get)(void) = NULL;
  void *symbol = dlsym(handle, "ort_stub");
  assert_non_null(symbol);
  memcpy(&get, &symbol, sizeof get);
  dlclose(handle); /* tidemill keeps it loaded */
  return get();
}

static float numbers[] = { 1, 2, 3, 4 };
static struct tm_tensor_string words[] = { { "one", 3 }, { "", 0 } };

static const struct tm_tensor x = {
  .data = numbers, .shape = { 2, 2 }, .rank = 2, .type = TM_TENSOR_FLOAT32
};
static const struct tm_tensor w = {
  .data = words, .shape = { 2 }, .rank = 1, .type = TM_TENSOR_STRING
};

static struct tm_model_session *open_session(struct tm_runtime *r, struct tm_err *err)
{
  static struct tm_setting setting = { (char *)"gpu_mem_limit", (char *)"1" };
  static struct tm_provider providers[] = { { (char *)"CUDA", { &setting, 1 } },
                                            { (char *)"XNNPACK", { &setting, 1 } } };
  const struct tm_model_options options = { .shown = "m.onnx",
                                            .intra_threads = 3,
                                            .inter_threads = 1,
                                            .arena = TM_ARENA_OFF,
                                            .optimization = TM_OPTIMIZE_ALL,
                                            .providers = providers,
                                            .providers_len = 2 };
  return tm_model_session_open(r, MODEL, &options, NULL, err);
}

static int run(struct tm_model_session *s, struct tm_results *results, struct tm_err *err)
{
  const struct tm_tensor *const inputs[] = { &x, &w };
  const size_t outputs[] = { 0, 1, 2 };
  return tm_model_session_run(s, inputs, outputs, 3, results, err);
}

static void expect_results(const struct tm_results *results)
{
  const struct tm_value *map = &results->at[2].items[1];
  assert_true(((const float *)results->at[0].tensor.data)[3] == 8);
  assert_int_equal(results->at[1].strings[0].len, 3);
  assert_memory_equal(results->at[1].strings[0].bytes, "one", 3);
  assert_int_equal(results->at[1].strings[1].len, 0);
  assert_int_equal(results->at[2].len, 2);
  assert_int_equal(map->kind, TM_VALUE_MAP);
  assert_true(*(const float *)map->items[1].tensor.data == 3);
}

/* A session's whole life. */
static int live(struct tm_runtime *r, struct tm_err *err)
{
  struct tm_results results;
  *err = (struct tm_err)TM_ERR_NONE;
  struct tm_model_session *s = open_session(r, err);
  if (!s)
    return err->code;
  int rc = run(s, &results, err);
  if (rc == 0)
    expect_results(&results);
  tm_results_release(&results);
  tm_model_session_close(s);
  return rc;
}

/* ---- in this process, which has one runtime ---- */

static void a_session_lives_without_leaks(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_runtime *r = open_runtime(&err);
  if (!r)
    fail_msg("%s", err.text);
  struct ort_stub *stub = stub_of();
  int before = stub->live;
  assert_int_equal(live(r, &err), 0);
  assert_int_equal(stub->live, before);
}

static void each_call_fails_in_turn_and_nothing_leaks(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_runtime *r = open_runtime(&err);
  struct ort_stub *stub = stub_of();
  int before = stub->live, n = 1;
  for (;; n++) {
    char words_of_failure[64];
    stub->calls = 0;
    stub->fail_at = n;
    int rc = live(r, &err);
    stub->fail_at = 0;
    if (stub->calls < n)
      break;
    snprintf(words_of_failure, sizeof words_of_failure, "the stub fails in %s", stub->last);
    if (rc == 0 || !strstr(err.text, words_of_failure) || !strstr(err.text, "'m.onnx'"))
      fail_msg("call %d, %s: %d: %s", n, stub->last, rc, err.text);
    if (stub->live != before)
      fail_msg("call %d, %s: %d objects leak", n, stub->last, stub->live - before);
  }
  assert_true(n > 80);
  assert_int_equal(live(r, &err), 0); /* and it works again */
}

static void providers_are_listed_or_none(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_runtime *r = open_runtime(&err);
  struct ort_stub *stub = stub_of();
  size_t len[2];
  int before = stub->live;
  for (int i = 0; i < 2; i++) {
    struct tm_buf names = TM_BUF_NONE;
    stub->fail_name = i == 1 ? "providers" : NULL;
    tm_runtime_add_providers(r, &names);
    len[i] = names.len;
    tm_buf_release(&names);
  }
  stub->fail_name = NULL;
  assert_true(len[0] > 0);
  assert_int_equal(len[1], 0);
  assert_int_equal(stub->live, before);
}

/* All calls of `name` fail; the life ends with the `wanted` message. */
static void expect_end(const char *name, const char *message, int code, const char *wanted)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_runtime *r = open_runtime(&err);
  struct ort_stub *stub = stub_of();
  int before = stub->live;
  stub->fail_name = name;
  stub->message = message;
  assert_int_equal(live(r, &err), code);
  stub->fail_name = stub->message = NULL;
  assert_string_equal(err.text, wanted);
  assert_int_equal(stub->live, before);
}

static void a_lack_of_memory_is_explained(void **state)
{
  static const char message[] =
      "[E] Failed to allocate memory for requested buffer of size 1717986918";
  expect_end("run", message, TM_ELIMIT,
             "cannot run 'm.onnx': not enough memory on the GPU for 1.6 GB; set or lower "
             "'max_batch'; 'nvidia-smi' shows which programs use it");
  expect_end("make_session", message, TM_ELIMIT,
             "cannot load 'm.onnx': not enough memory on the GPU for 1.6 GB; 'nvidia-smi' shows "
             "which programs use it");
}

/* Opens a session; says whether a provider could not be used. */
static bool lacks_provider(const char *fails, const char *message)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_model_loading loading = { .lacks_provider = false };
  struct tm_provider cuda = { .name = (char *)"CUDA" };
  const struct tm_model_options options = { .shown = "m.onnx",
                                            .intra_threads = 1,
                                            .inter_threads = 1,
                                            .providers = &cuda,
                                            .providers_len = 1 };
  struct tm_runtime *r = open_runtime(&err);
  struct ort_stub *stub = stub_of();
  stub->fail_name = fails;
  stub->message = message;
  struct tm_model_session *s = tm_model_session_open(r, MODEL, &options, &loading, &err);
  stub->fail_name = stub->message = NULL;
  assert_true(fails ? !s : s && tm_model_session_model(s)->is_on_device);
  tm_model_session_close(s);
  return loading.lacks_provider;
}

static void a_provider_that_cannot_be_used_is_known(void **state)
{
  assert_true(lacks_provider("append_cuda", "Failed to load shared library"));
  assert_true(lacks_provider("make_session", "CUDA failure 35: CUDA driver version is "
                                             "insufficient for CUDA runtime version ; GPU=0"));
  assert_false(lacks_provider("make_session", "CUDA failure 2: out of memory ; GPU=0"));
  assert_false(lacks_provider("make_session", "a bad model"));
  assert_false(lacks_provider(NULL, NULL));
}

static void a_result_of_2_gb_is_refused(void **state)
{
  static const char wanted[] =
      "cannot run 'm.onnx': output 'y' would be float32 [268435456, 2], 2.0 GB; a tensor has less "
      "than 2 GB: run fewer rows at once ('max_batch' joins the outputs of its pieces)";
  struct tm_err err = TM_ERR_NONE;
  struct tm_results results;
  struct tm_model_session *s = open_session(open_runtime(&err), &err);
  struct tm_tensor large = x, many = w;
  const struct tm_tensor *const inputs[] = { &large, &many };
  const size_t y = 0;
  assert_non_null(s);
  stub_of()->rows = large.shape[0] = many.shape[0] = 1 << 28;
  int calls = stub_of()->calls;
  assert_int_equal(tm_model_session_run(s, inputs, &y, 1, &results, &err), TM_ELIMIT);
  assert_string_equal(err.text, wanted);
  assert_int_equal(stub_of()->calls, calls); /* before the library was called */
  tm_results_release(&results);
  assert_int_equal(run(s, &results, &err), TM_ELIMIT); /* another shape than the model says */
  assert_string_equal(err.text, wanted);
  tm_results_release(&results);
  stub_of()->rows = 0;
  tm_model_session_close(s);
}

static void nodes_that_cuda_leaves_are_counted_or_refused(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_provider cuda = { .name = (char *)"CUDA" };
  struct tm_model_options options = { .shown = "m.onnx",
                                      .intra_threads = 1,
                                      .inter_threads = 1,
                                      .providers = &cuda,
                                      .providers_len = 1 };
  struct tm_runtime *r = open_runtime(&err);
  stub_of()->left_to_cpu = 2;
  assert_null(tm_model_session_open(r, MODEL, &options, NULL, &err));
  assert_string_equal(err.text,
                      "cannot load 'm.onnx': CUDA cannot run 2 of the model's 3 nodes; with "
                      "providers = { \"CUDA\", \"CPU\" } the CPU runs them");
  options.falls_back = true;
  struct tm_model_session *s = tm_model_session_open(r, MODEL, &options, NULL, &err);
  stub_of()->left_to_cpu = 0;
  assert_non_null(s);
  const struct tm_loaded_model *m = tm_model_session_model(s);
  assert_int_equal(m->placed_len, 2);
  assert_string_equal(m->placed[0].provider, "CUDAExecutionProvider");
  assert_int_equal(m->placed[0].nodes, 1);
  assert_int_equal(m->placed[1].nodes, 2);
  tm_model_session_close(s);
}

/* ---- stopped by a signal ---- */

static struct tm_running_call slot;
static atomic_bool is_over;

static void on_alarm(void *data)
{
  tm_running_call_stop(&slot);
}

static void *send_alarms(void *data)
{
  while (!atomic_load(&is_over)) {
    sched_yield();
    tm_alarm_send(getpid());
  }
  return NULL;
}

static void a_run_that_does_not_end_is_stopped_by_a_signal(void **state)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_results results;
  pthread_t sender;
  struct tm_model_session *s = open_session(open_runtime(&err), &err);
  assert_non_null(s);
  stub_of()->waits = true;
  tm_alarm_catch(SIGALRM, on_alarm, NULL);
  tm_running_call_arm(&slot, tm_model_session_stop, s);
  assert_int_equal(pthread_create(&sender, NULL, send_alarms, NULL), 0);
  int rc = run(s, &results, &err);
  tm_running_call_disarm(&slot);
  atomic_store(&is_over, true);
  pthread_join(sender, NULL);
  tm_alarm_release();
  stub_of()->waits = false;
  assert_int_equal(rc, -ECANCELED);
  assert_string_equal(err.text, "cannot run 'm.onnx': interrupted");
  tm_results_release(&results);
  assert_int_equal(run(s, &results, &err), 0); /* and works again */
  expect_results(&results);
  tm_results_release(&results);
  tm_model_session_close(s);
}

/* ---- each in a process of its own ---- */

/* Opens the runtime of a stand-in with this variable in its environment. Expects `wanted` as the
 * message, or a life that succeeds if it is NULL. */
static void expect_runtime(const char *name, const char *value, const char *wanted)
{
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    struct tm_err err = TM_ERR_NONE;
    setenv(name, value, 1);
    struct tm_runtime *r = open_runtime(&err);
    bool is_good = wanted ? !r && strstr(err.text, wanted) : r && live(r, &err) == 0;
    if (!is_good)
      fprintf(stderr, "%s=%s: '%s'\n", name, value, err.text);
    exit(is_good ? 0 : 1); /* not _exit(): leaks are looked for */
  }
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
}

static void the_runtime_starts_or_says_what_failed(void **state)
{
  expect_runtime("TM_STUB_FAIL", "make_env", "the stub fails in make_env");
  expect_runtime("TM_STUB_FAIL", "disable_telemetry", "the stub fails in disable_telemetry");
  expect_runtime("TM_STUB_FAIL", "allocator", "the stub fails in allocator");
  expect_runtime("TM_STUB_FAIL", "cpu_memory", "cannot start ONNX Runtime 1.30.0 of '");
}

static void versions_are_accepted_or_refused(void **state)
{
  expect_runtime("TM_STUB_VERSION", "1.17.0", NULL); /* newer functions would end the process */
  expect_runtime("TM_STUB_VERSION", "1.99.1", NULL);
  expect_runtime("TM_STUB_VERSION", "1.16.3", "it is ONNX Runtime 1.16.3; accepted: 1.17 or newer");
  expect_runtime("TM_STUB_VERSION", "2.0.0", "it says that its version is '2.0.0'");
  expect_runtime("TM_STUB_VERSION", "", "it says that its version is ''");
}

static void settings_reach_the_library(void **state)
{
  struct folder f;
  struct tm_buf text = TM_BUF_NONE;
  static const char *const lines[] = {
    "make_env 2 quiet\n",
    "set_intra_threads 3\n",
    "set_inter_threads 1\n",
    "set_optimization 99\n",
    "disable_arena\n",
    "add_config session.intra_op.allow_spinning 0\n",
    "add_config session.disable_cpu_ep_fallback 1\n",
    "update_cuda\n  gpu_mem_limit=1\nappend_cuda\n",
    "append_provider XNNPACK\n  gpu_mem_limit=1\n",
    "run 2 3\n",
  };
  folder_init(&f);
  const char *log = folder_file(&f, "calls");
  expect_runtime("TM_STUB_LOG", log, NULL);
  assert_int_equal(tm_fs_read_file(tm_fs_real(), log, 1 << 16, &text, NULL), 0);
  folder_release(&f);
  for (size_t i = 0; i < TM_COUNT_OF(lines); i++)
    if (!strstr(tm_buf_str(&text), lines[i]))
      fail_msg("no %s in\n%s", lines[i], tm_buf_str(&text));
  tm_buf_release(&text);
}

/* Those that need a fresh process come first. */
UNIT_TESTS({
    cmocka_unit_test(the_runtime_starts_or_says_what_failed),
    cmocka_unit_test(versions_are_accepted_or_refused),
    cmocka_unit_test(settings_reach_the_library),
    cmocka_unit_test(a_session_lives_without_leaks),
    cmocka_unit_test(each_call_fails_in_turn_and_nothing_leaks),
    cmocka_unit_test(providers_are_listed_or_none),
    cmocka_unit_test(a_lack_of_memory_is_explained),
    cmocka_unit_test(a_provider_that_cannot_be_used_is_known),
    cmocka_unit_test(a_result_of_2_gb_is_refused),
    cmocka_unit_test(nodes_that_cuda_leaves_are_counted_or_refused),
    cmocka_unit_test(a_run_that_does_not_end_is_stopped_by_a_signal),
});
