/* ahead.c - see ahead.h.
 *
 *  (1) The mutex guards the queue and `ends`. A picture that has begun belongs to the thread that
 *      began it, until it is counted as ended.
 */
#include "data/images/ahead.h"

#include <errno.h>

#include "base/mem.h"
#include "data/images/image_file.h"
#include "sys/threads.h"
#include "sys/whole_file.h"

#define TICK_NS 50000000 /* a thread that waits for another does not wake at a signal */

struct tm_ahead {
  struct tm_ahead_options options;
  struct tm_pixel_table table;
  atomic_bool is_stopped;

  struct tm_mutex mutex;
  struct tm_cond work, done;
  struct tm_set_queue queue;
  bool ends;

  struct tm_buf file; /* of the thread that takes */
  struct tm_thread *threads;
  int32_t threads_len;
};

static int decode_bytes(struct tm_ahead *a, struct tm_ahead_picture *p,
                        const struct tm_image_source *source, struct tm_err *err)
{
  struct tm_picture picture;
  int rc = tm_picture_open(&picture, source, &a->options.picture, &a->is_stopped, err);
  if (rc < 0)
    return rc;
  rc = tm_picture_read(&picture, &a->table, p->to, err);
  p->mapping = picture.mapping;
  tm_picture_close(&picture);
  return rc;
}

static void decode(struct tm_ahead *a, struct tm_ahead_picture *p, struct tm_buf *file)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_image_source source = { p->name, p->data, p->len };
  int rc = 0;
  if (atomic_load(&a->is_stopped))
    rc = tm_err_set(&err, -ECANCELED, "cannot read '%s': it was stopped", p->name);
  else if (p->data == NULL)
    rc = tm_image_file_read(p->name, a->options.max_bytes, file, &err);
  if (rc >= 0 && p->data == NULL) {
    source.data = (const uint8_t *)tm_buf_str(file);
    source.len = file->len;
  }
  if (rc >= 0)
    rc = decode_bytes(a, p, &source, &err);
  p->code = rc < 0 ? rc : 0;
  p->message = rc < 0 ? tm_xstrdup(err.text) : NULL;
}

/* Without threads, the system reads files while pictures before them are decoded. */
static void announce(const struct tm_ahead *a, struct tm_ahead_set *set)
{
  size_t i;
  while (a->threads_len == 0 && tm_picture_set_announce(&set->queued, &i))
    if (set->pictures[i].data == NULL)
      tm_file_announce(set->pictures[i].name);
}

/* Decodes one picture, if there is one to begin. The mutex is locked before and after. */
static bool decode_next(struct tm_ahead *a, struct tm_buf *file)
{
  struct tm_picture_set *queued;
  size_t i;
  if (!tm_set_queue_begin(&a->queue, &queued, &i))
    return false;
  struct tm_ahead_set *set = TM_LIST_OWNER(queued, struct tm_ahead_set, queued);
  tm_mutex_unlock(&a->mutex);
  announce(a, set);
  decode(a, &set->pictures[i], file);
  tm_mutex_lock(&a->mutex);
  if (tm_set_queue_end(queued))
    tm_cond_signal(&a->done);
  return true;
}

static void run_thread(void *data)
{
  struct tm_ahead *a = data;
  struct tm_buf file = TM_BUF_NONE;
  tm_mutex_lock(&a->mutex);
  while (!a->ends) {
    if (!decode_next(a, &file))
      tm_cond_wait(&a->work, &a->mutex);
  }
  tm_mutex_unlock(&a->mutex);
  tm_buf_release(&file);
}

struct tm_ahead *tm_ahead_open(const struct tm_ahead_options *options, int32_t threads)
{
  struct tm_ahead *a = TM_NEW(struct tm_ahead);
  a->options = *options;
  tm_pixel_table_fill(&a->table, &options->picture.scaling);
  tm_mutex_init(&a->mutex);
  tm_cond_init(&a->work);
  tm_cond_init(&a->done);
  tm_set_queue_init(&a->queue);
  a->threads = tm_xcalloc((size_t)threads + 1, sizeof *a->threads);
  while (a->threads_len < threads &&
         tm_thread_start(&a->threads[a->threads_len], run_thread, a, NULL) >= 0)
    a->threads_len++;
  return a;
}

static void wake_threads(struct tm_ahead *a)
{
  for (int32_t i = 0; i < a->threads_len; i++)
    tm_cond_signal(&a->work);
}

void tm_ahead_add(struct tm_ahead *a, struct tm_ahead_set *set, struct tm_ahead_picture *pictures,
                  size_t n)
{
  set->pictures = pictures;
  tm_mutex_lock(&a->mutex);
  tm_set_queue_add(&a->queue, &set->queued, n);
  wake_threads(a);
  tm_mutex_unlock(&a->mutex);
  announce(a, set);
}

int tm_ahead_take(struct tm_ahead *a, struct tm_ahead_set *set)
{
  struct tm_picture_set *queued = &set->queued;
  tm_mutex_lock(&a->mutex);
  while (!tm_picture_set_is_complete(queued)) {
    if (queued->begun < queued->n)
      decode_next(a, &a->file);
    else
      tm_cond_wait_for(&a->done, &a->mutex, TICK_NS);
  }
  tm_set_queue_remove(&a->queue, queued);
  tm_mutex_unlock(&a->mutex);
  return atomic_load(&a->is_stopped) ? -ECANCELED : 0;
}

void tm_ahead_stop(struct tm_ahead *a)
{
  atomic_store(&a->is_stopped, true);
}

void tm_ahead_close(struct tm_ahead *a)
{
  if (a == NULL)
    return;
  tm_ahead_stop(a);
  tm_mutex_lock(&a->mutex);
  a->ends = true;
  wake_threads(a);
  tm_mutex_unlock(&a->mutex);
  for (int32_t i = 0; i < a->threads_len; i++)
    tm_thread_join(&a->threads[i]);
  free(a->threads);
  tm_buf_release(&a->file);
  tm_cond_release(&a->work);
  tm_cond_release(&a->done);
  tm_mutex_release(&a->mutex);
  free(a);
}
