/* registered.c - see registered.h. */
#include "snapshot/registered.h"

#include <inttypes.h>

#include "store/registry.h"

/* Returns true if it has added a message. */
static int look(struct tm_buf *out, const struct tm_dataset *d, const struct tm_fs *fs)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_registered r = { 0 };
  int rc = tm_registry_find(&r, d->workspace, d->registered, d->version, &err);
  if (rc == 0)
    rc = tm_registry_compare(out, fs, &r, &err);
  else if (rc == TM_EUSAGE)
    tm_buf_add_str(out, err.text);
  tm_registered_release(&r);
  return out->len > 0;
}

static void check(const struct tm_step *s, const struct tm_dataset *d, const struct tm_fs *fs,
                  void (*on_changed)(void *data, const char *words), void *data)
{
  struct tm_buf changes = TM_BUF_NONE, words = TM_BUF_NONE;
  if (d->registered && d->workspace && look(&changes, d, fs)) {
    tm_buf_printf(&words,
                  "step '%s': dataset '%s' version %" PRId64
                  " has changed since it was registered: %s",
                  s->name, d->registered, d->version, changes.data);
    on_changed(data, words.data);
  }
  tm_buf_release(&changes);
  tm_buf_release(&words);
}

void tm_registered_check(const struct tm_pipeline *p, const struct tm_fs *fs,
                         void (*on_changed)(void *data, const char *words), void *data)
{
  for (size_t i = 0; i < p->steps_len; i++) {
    const struct tm_step *s = p->steps[i];
    for (size_t j = 0; j < s->inputs_len; j++)
      check(s, s->inputs[j], fs, on_changed, data);
    for (size_t j = 0; j < s->side_inputs_len; j++)
      check(s, s->side_inputs[j], fs, on_changed, data);
  }
}
