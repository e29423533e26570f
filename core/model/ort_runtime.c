/* ort_runtime.c - see ort_runtime.h. */
#include "model/ort_runtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "model/failure_words.h"
#include "model/ort_words.h"
#include "sys/plugin_record.h"
#include "sys/threads.h"

#define TELEMETRY "ORT_DISABLE_TELEMETRY"

static const char *const files[] = { "libonnxruntime.so.1", "libonnxruntime.so", NULL };
static const struct tm_plugin_kind kind = { .name = "ONNX Runtime",
                                            .variable = "TIDEMILL_ONNXRUNTIME",
                                            .files = files,
                                            .package = "onnxruntime-node",
                                            .get = "npm install --ignore-scripts",
                                            .entry = "OrtGetApiBase" };

/* The library has one environment in a process, and calls one logger, so this is one, too. */
static struct {
  struct tm_mutex gate; /* protects the rest until it is open; then nothing changes */
  bool is_open;
  struct tm_plugin plugin;
  struct tm_runtime runtime;
} shared = { .gate = TM_MUTEX_STATIC };

int tm_runtime_minor(const char *version)
{
  int major = 0, minor = 0;
  char dot = 0;

  return sscanf(version, "%d.%d%c", &major, &minor, &dot) == 3 && major == 1 && dot == '.' ? minor
                                                                                           : -1;
}

/* The library's message in one plain line, for a terminal, too: names in it come from models. */
static void add_words(struct tm_buf *out, const char *message)
{
  struct tm_buf words = TM_BUF_NONE;
  tm_ort_words_add(&words, message);
  while (words.len > 0 && words.data[words.len - 1] == '.')
    words.len--;
  tm_text_one_line(out, words.data, words.len, 0);
  tm_buf_release(&words);
}

int tm_runtime_check(const struct tm_runtime *r, struct tm_ort_status *status, struct tm_err *err)
{
  if (!status)
    return 0;
  struct tm_buf words = TM_BUF_NONE;
  add_words(&words, tm_ort_error_message(&r->api)(status));
  bool is_missing = tm_ort_error_code(&r->api)(status) == TM_ORT_NO_SUCH_FILE;
  int code = tm_failure_is_memory(tm_buf_str(&words)) ? TM_ELIMIT
             : is_missing                             ? -ENOENT
                                                      : TM_EINPUT;
  tm_err_set(err, code, "%s", tm_buf_str(&words));
  tm_buf_release(&words);
  tm_ort_release_status (&r->api)(status);
  return code;
}

/* Makes a status and reads it: keeps (3). */
static bool has_our_table(const struct tm_ort *o)
{
  static const char words[] = "a status of tidemill";
  struct tm_ort_status *s = tm_ort_make_status(o)(TM_ORT_FAIL, words);
  bool is_ours =
      s && tm_ort_error_code(o)(s) == TM_ORT_FAIL && strcmp(tm_ort_error_message(o)(s), words) == 0;

  if (s)
    tm_ort_release_status(o)(s);
  return is_ours;
}

static int take_table(struct tm_runtime *r, void *entry, struct tm_err *err)
{
  const struct tm_ort_base *(*get_base)(void) = NULL;

  memcpy(&get_base, &entry, sizeof get_base);
  const struct tm_ort_base *base = get_base();
  r->version = base && base->version ? base->version() : NULL;
  r->api.minor = r->version ? tm_runtime_minor(r->version) : -1;
  if (r->api.minor < 0)
    return tm_err_set(err, TM_EUSAGE,
                      "cannot use '%s': it says that its version is '%s'; accepted: "
                      "ONNX Runtime 1.%d or newer",
                      r->path, r->version ? r->version : "", TM_ORT_OLDEST);
  if (r->api.minor < TM_ORT_OLDEST)
    return tm_err_set(err, TM_EVERSION,
                      "cannot use '%s': it is ONNX Runtime %s; accepted: 1.%d or "
                      "newer; %s",
                      r->path, r->version, TM_ORT_OLDEST, kind.get);
  r->api.table = base->table(TM_ORT_OLDEST);
  if (!r->api.table || !has_our_table(&r->api))
    return tm_err_set(err, TM_EUSAGE,
                      "cannot use '%s': ONNX Runtime %s has another interface than 1.%d, or the "
                      "file is damaged",
                      r->path, r->version, TM_ORT_OLDEST);
  return 0;
}

static int make_env(struct tm_runtime *r, struct tm_err *err)
{
  const struct tm_ort *o = &r->api;
  int rc = tm_runtime_check(
      r, tm_ort_make_env(o)(tm_ort_log_add, &r->log, TM_ORT_WARNING, "tidemill", &r->env), err);

  if (rc == 0)
    rc = tm_runtime_check(r, tm_ort_disable_telemetry(o)(r->env), err);
  if (rc == 0)
    rc = tm_runtime_check(r, tm_ort_allocator(o)(&r->allocator), err);
  if (rc == 0)
    rc = tm_runtime_check(
        r, tm_ort_cpu_memory(o)(TM_ORT_DEVICE_ALLOCATOR, TM_ORT_MEMORY_DEFAULT, &r->cpu), err);
  return rc < 0 ? tm_err_wrap(err, "cannot start ONNX Runtime %s of '%s'", r->version, r->path) : 0;
}

struct opening {
  const char *const *folders;
  struct tm_err *err;
  int rc;
};

static void open_shared(void *data)
{
  struct opening *o = data;
  struct tm_runtime *r = &shared.runtime;

  setenv(TELEMETRY, "1", 0); /* keeps (1) */
  o->rc = tm_plugin_open(&shared.plugin, &kind, o->folders, o->err);
  if (o->rc == 0) {
    *r = (struct tm_runtime) { .path = shared.plugin.path };
    tm_ort_log_init(&r->log);
    o->rc = take_table(r, shared.plugin.entry, o->err);
  }
  if (o->rc == 0)
    o->rc = make_env(r, o->err);
  if (o->rc == 0) {
    struct tm_json *record = tm_plugin_record(&shared.plugin, &kind, o->folders, r->version);
    r->record = tm_json_text(record);
    tm_json_free(record);
    shared.is_open = true;
    return;
  }
  if (r->env) { /* its code may go on: it stays loaded, with its log */
    tm_plugin_leave(&shared.plugin);
    return;
  }
  tm_ort_log_release(&r->log);
  tm_plugin_close(&shared.plugin);
}

int tm_runtime_quietly(void (*f)(void *data), void *data, struct tm_err *err)
{
  struct tm_thread thread;
  int rc = tm_thread_start(&thread, f, data, err);

  if (rc == 0)
    tm_thread_join(&thread);
  return rc;
}

struct tm_runtime *tm_runtime_open(const char *const *folders, struct tm_err *err)
{
  struct opening o = { .folders = folders, .err = TM_ERR_OWN(err) };

  tm_mutex_lock(&shared.gate);
  if (!shared.is_open) {
    int rc = tm_runtime_quietly(open_shared, &o, o.err); /* keeps (2) */
    o.rc = rc < 0 ? rc : o.rc;
  }
  bool is_open = shared.is_open;
  tm_mutex_unlock(&shared.gate);
  return is_open ? &shared.runtime : NULL;
}

struct tm_runtime *tm_runtime_opened(void)
{
  tm_mutex_lock(&shared.gate);
  bool is_open = shared.is_open;
  tm_mutex_unlock(&shared.gate);
  return is_open ? &shared.runtime : NULL;
}

void tm_runtime_add_providers(const struct tm_runtime *r, struct tm_buf *out)
{
  char **names = NULL;
  int n = 0;

  if (tm_runtime_check(r, tm_ort_providers(&r->api)(&names, &n), NULL) < 0)
    return;
  for (int i = 0; i < n; i++)
    tm_buf_printf(out, "%s\n", names[i]);
  (void)tm_runtime_check(r, tm_ort_release_providers(&r->api)(names, n), NULL);
}
