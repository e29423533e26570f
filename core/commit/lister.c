/* lister.c - see lister.h.
 *
 * The thread owns the cut and the writer's side of the manifest. Shared state is protected by the
 * mutex, or atomic.
 *
 *  (1) Loop and thread own the struct together (errand.h). The thread reads nothing that is not in
 *      it.
 *  (2) The thread uses the manifest only inside the errand's gate, and only while it is not left
 *      behind: from then on the manifest may be freed.
 *
 * Entries become readable when the buffer is large, when the loop is hungry, every 2 ms, or before
 * the thread waits for input: in large pieces while workers are busy, at once while they wait.
 */
#include "commit/lister.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/repeats.h"
#include "base/time.h"
#include "record/input_record.h"
#include "sys/clock.h"
#include "sys/errand.h"
#include "sys/fs.h"
#include "sys/stop.h"

#define FLUSH_BYTES (64 << 10)
#define FLUSH_NS    (2 * TM_MS)
#define WARNINGS    100 /* stored until they are taken; further ones are only counted */
#define SHOWN       20  /* of them have the level of a warning */
#define STOP_NS     (3 * TM_S)

struct tm_lister {
  struct tm_lister_options o;
  struct tm_dataset **inputs; /* its own copies, like all strings in `o` */
  char **keys;
  struct tm_errand errand;
  atomic_bool is_hungry;
  struct tm_stop stop;
  struct tm_schemas schemas; /* of the inputs that are tables */
  struct tm_input_record record;
  struct tm_mutex mutex; /* protects the following fields */
  int state;
  struct tm_err err;
  struct TM_ARRAY(char *) warnings;
  size_t warnings_taken;
  int64_t warnings_lost, warnings_given;
  struct tm_repeats repeats;
};

static void on_warning(void *data, const char *text)
{
  struct tm_lister *l = data;

  tm_mutex_lock(&l->mutex);
  if (l->warnings.len < WARNINGS)
    *TM_ARRAY_ADD(&l->warnings) = tm_xstrdup(text);
  else
    l->warnings_lost++;
  tm_mutex_unlock(&l->mutex);
  tm_errand_wake(&l->errand);
}

static int on_file(void *data, uint32_t input, const struct tm_item *file, struct tm_err *err)
{
  struct tm_lister *l = data;

  return tm_input_record_add(&l->record, input, file, err);
}

/* Without the record, a later job cannot reuse the step; this job needs nothing of it. */
static void write_record(struct tm_lister *l)
{
  struct tm_err ignored = TM_ERR_NONE;

  if (l->o.inputs_file)
    (void)tm_input_record_write(l->record.fs, l->o.inputs_file, &l->record.sum, &ignored);
}

/* Call it inside the gate. */
static int flush(struct tm_lister *l, int64_t *flushed_at, struct tm_err *err)
{
  int rc = tm_manifest_flush(l->o.manifest, err);

  *flushed_at = tm_clock_mono_ns();
  tm_wake_send(&l->errand.wake);
  return rc;
}

/* No input for now: makes everything readable. The next flush will meet an error again. */
static void on_wait(void *data)
{
  struct tm_lister *l = data;
  struct tm_err ignored = TM_ERR_NONE;
  int64_t at;

  if (!tm_errand_enter(&l->errand))
    return;
  if (tm_manifest_pending(l->o.manifest) > 0)
    (void)flush(l, &at, &ignored);
  tm_errand_leave(&l->errand);
}

static bool is_due(struct tm_lister *l, int64_t flushed_at)
{
  return atomic_load_explicit(&l->is_hungry, memory_order_relaxed) ||
         tm_manifest_pending(l->o.manifest) >= FLUSH_BYTES ||
         tm_clock_mono_ns() - flushed_at >= FLUSH_NS;
}

static int add(struct tm_lister *l, const struct tm_mini_batch *mb, int64_t *flushed_at,
               struct tm_err *err)
{
  int rc;

  if (!tm_errand_enter(&l->errand))
    return -ECANCELED;
  rc = tm_manifest_add(l->o.manifest, mb->dataset, mb->items, mb->bytes.data, mb->bytes.len, err);
  if (rc >= 0 && is_due(l, *flushed_at))
    rc = flush(l, flushed_at, err);
  tm_errand_leave(&l->errand);
  return rc;
}

/* Adds all mini-batches: 1 at the end, 0 if stopped, negative on error. */
static int list(struct tm_lister *l, struct tm_splitter *splitter, struct tm_err *err)
{
  struct tm_mini_batch mb = { 0 };
  int64_t flushed_at = 0;
  int rc;

  while ((rc = tm_splitter_next(splitter, &mb, err)) > 0)
    if ((rc = add(l, &mb, &flushed_at, err)) < 0)
      break;
  tm_buf_release(&mb.bytes);
  return rc == -ECANCELED ? 0 : rc < 0 ? rc : 1;
}

/* Inside the gate: finishes the list; `rc` is that of list(). */
static int finish(struct tm_lister *l, const struct tm_splitter *splitter, int rc,
                  struct tm_err *err)
{
  struct tm_err ignored = TM_ERR_NONE;

  if (rc > 0 && tm_manifest_count(l->o.manifest) == 0 && tm_manifest_pending(l->o.manifest) == 0)
    return tm_splitter_no_input(splitter, err); /* no end record: a resumed job lists again */
  if (rc > 0) {
    write_record(l);
    return tm_manifest_end(l->o.manifest, err) < 0 ? err->code : 1;
  }
  if (rc == 0) /* stopped: a resumed job lists the contents of the buffer again */
    (void)tm_manifest_flush(l->o.manifest, &ignored);
  return rc;
}

/* Keeps (1). */
static void free_lister(void *data)
{
  struct tm_lister *l = data;

  for (size_t i = l->warnings_taken; i < l->warnings.len; i++)
    free(l->warnings.at[i]);
  TM_ARRAY_RELEASE(&l->warnings);
  tm_repeats_release(&l->repeats);
  tm_schemas_release(&l->schemas);
  tm_input_record_release(&l->record);
  for (size_t i = 0; i < l->o.splitter.inputs_len; i++)
    tm_dataset_free(l->inputs[i]);
  tm_strings_free(l->keys, l->o.splitter.partition_keys_len);
  free(l->inputs);
  free((char *)l->o.splitter.spill_dir);
  free((char *)l->o.splitter.groups_dir);
  free((char *)l->o.splitter.schema_file);
  free((char *)l->o.splitter.index_dir);
  free((char *)l->o.inputs_file);
  tm_stop_close(&l->stop);
  tm_mutex_release(&l->mutex);
  free(l);
}

static void run(void *data)
{
  struct tm_lister *l = data;
  struct tm_err err = TM_ERR_NONE;
  struct tm_splitter *splitter = tm_splitter_open(&l->o.splitter);
  int rc = l->o.splitter.schema_file
               ? tm_schemas_read(&l->schemas, tm_fs_real(), l->o.splitter.schema_file, &err)
               : 0;

  rc = rc < 0 ? rc : list(l, splitter, &err);
  if (tm_errand_enter(&l->errand)) {
    rc = finish(l, splitter, rc, &err);
    tm_errand_leave(&l->errand);
  }
  tm_splitter_close(splitter);
  tm_mutex_lock(&l->mutex);
  l->state = rc;
  l->err = err;
  tm_mutex_unlock(&l->mutex);
}

static void on_wake(void *data)
{
  struct tm_lister *l = data;

  l->o.on_progress(l->o.data);
}

static char **copy_keys(char *const *keys, size_t n)
{
  char **out = tm_xcalloc(n + 1, sizeof(*out));

  for (size_t i = 0; i < n; i++)
    out[i] = tm_xstrdup(keys[i]);
  return out;
}

/* Keeps (1). */
static void own(struct tm_lister *l, const struct tm_lister_options *options)
{
  const struct tm_splitter_options *splitter = &options->splitter;

  l->o = *options;
  l->inputs = tm_xcalloc(splitter->inputs_len + 1, sizeof(*l->inputs));
  for (size_t i = 0; i < splitter->inputs_len; i++)
    l->inputs[i] = tm_dataset_copy(splitter->inputs[i]);
  l->keys = copy_keys(splitter->partition_keys, splitter->partition_keys_len);
  l->o.splitter.inputs = (const struct tm_dataset *const *)l->inputs;
  l->o.splitter.partition_keys = l->keys;
  l->o.splitter.spill_dir = tm_xstrdup(splitter->spill_dir);
  l->o.splitter.groups_dir = tm_xstrdup(splitter->groups_dir);
  l->o.splitter.schema_file = tm_xstrdup(splitter->schema_file);
  l->o.splitter.index_dir = tm_xstrdup(splitter->index_dir);
  l->o.inputs_file = tm_xstrdup(options->inputs_file);
}

static struct tm_lister *lister_new(const struct tm_lister_options *options, struct tm_err *err)
{
  struct tm_lister *l = TM_NEW(struct tm_lister);

  if (tm_stop_open(&l->stop, err) < 0) {
    free(l);
    return NULL;
  }
  own(l, options);
  l->stop.on_wait = on_wait;
  l->stop.data = l;
  l->o.splitter.stop = &l->stop;
  l->o.splitter.schemas = &l->schemas;
  l->o.splitter.on_warning = on_warning;
  l->o.splitter.data = l;
  l->o.splitter.on_file = l->o.inputs_file ? on_file : NULL;
  tm_schemas_init(&l->schemas, l->o.splitter.inputs_len);
  tm_input_record_init(&l->record, l->o.splitter.fs ? l->o.splitter.fs : tm_fs_real(),
                       l->o.splitter.inputs, l->o.by_content);
  tm_mutex_init(&l->mutex);
  l->errand = (struct tm_errand) {
    .loop = options->loop, .run = run, .on_wake = on_wake, .free_data = free_lister, .data = l
  };
  return l;
}

struct tm_lister *tm_lister_start(const struct tm_lister_options *options, struct tm_err *err)
{
  tm_require(options->loop && options->manifest && options->on_progress);
  struct tm_lister *l = lister_new(options, err);

  return l && tm_errand_start(&l->errand, err) == 0 ? l : NULL;
}

void tm_lister_set_hungry(struct tm_lister *l, bool is_hungry)
{
  atomic_store_explicit(&l->is_hungry, is_hungry, memory_order_relaxed);
}

int tm_lister_state(struct tm_lister *l, struct tm_err *err)
{
  int state;

  tm_mutex_lock(&l->mutex);
  state = l->state;
  if (state < 0 && err)
    *err = l->err;
  tm_mutex_unlock(&l->mutex);
  return state;
}

/* The last one that is shown says where the others are. */
static char *add_where(char *text)
{
  char *out = tm_xprintf("%s (further warnings about the input are in logs/sys/master_role.txt, "
                         "as INFO)",
                         text);

  free(text);
  return out;
}

/* The first of a kind is a warning, if there were few before. */
static char *take_warning(struct tm_lister *l, enum tm_level *level)
{
  char *text = l->warnings.at[l->warnings_taken++];
  bool is_first = tm_repeats_add(&l->repeats, text);

  l->warnings_given += is_first;
  *level = is_first && l->warnings_given <= SHOWN ? TM_WARNING : TM_INFO;
  return is_first && l->warnings_given == SHOWN ? add_where(text) : text;
}

/* At the end of the list: what was not shown. */
static char *take_rest(struct tm_lister *l, enum tm_level *level)
{
  char *rest = l->state != 0 ? tm_repeats_take(&l->repeats) : NULL, *text = NULL;

  *level = TM_WARNING;
  if (l->warnings_lost > 0 && !rest) {
    text = tm_xprintf("%lld further warnings while listing", (long long)l->warnings_lost);
    l->warnings_lost = 0;
  } else if (rest) {
    text = tm_xprintf("%s; logs/sys/master_role.txt has them as INFO", rest);
  }
  free(rest);
  return text;
}

char *tm_lister_take_warning(struct tm_lister *l, enum tm_level *level)
{
  char *text;

  tm_mutex_lock(&l->mutex);
  if (l->warnings_taken < l->warnings.len) {
    text = take_warning(l, level);
  } else {
    l->warnings.len = l->warnings_taken = 0;
    text = take_rest(l, level);
  }
  tm_mutex_unlock(&l->mutex);
  return text;
}

bool tm_lister_stop(struct tm_lister *l)
{
  if (!l)
    return true;
  tm_stop_set(&l->stop);
  return tm_errand_end(&l->errand, STOP_NS);
}
