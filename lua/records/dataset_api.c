/* dataset_api.c - registered datasets of a workspace, for hosts (store/registry.h). */
#include "records/disk.h"

#include <stdlib.h>
#include <string.h>

#include "api/own.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "sys/clock.h"

/* ---- one dataset ---- */

/* Adds texts that the dataset owns: the definition with absolute paths, and its tags. */
static void add_texts(struct tidemill_dataset *d)
{
  const struct tm_registered *r = &d->registered;
  const struct tm_json *paths = tm_json_get(r->definition, "paths");
  const char *base = tm_json_str(r->definition, "base_dir", "/");
  for (size_t i = 0; paths && paths->type == TM_JSON_ARRAY && i < paths->list.len; i++)
    *TM_ARRAY_ADD(&d->paths) = tm_path_absolute(base, paths->list.at[i]->string.at);
  for (size_t i = 0; r->tags && r->tags->type == TM_JSON_OBJECT && i < r->tags->list.len; i++)
    *TM_ARRAY_ADD(&d->tags) =
        tm_xprintf("%s=%s", r->tags->keys[i], tm_json_str(r->tags, r->tags->keys[i], ""));
}

/* Fills the rest; the caller has filled `registered`. */
static void fill(struct tidemill_dataset *d, const struct tm_fs *fs)
{
  const struct tm_registered *r = &d->registered;
  d->fs = fs;
  add_texts(d);
  d->info = (struct tidemill_dataset_info) { .size = sizeof(struct tidemill_dataset_info),
                                             .name = r->name,
                                             .version = r->version,
                                             .type = tm_text_or_empty(r->definition->tag),
                                             .description = tm_text_or_empty(r->description),
                                             .registered_ns = r->registered_ns,
                                             .files = r->identity.files,
                                             .bytes = r->identity.bytes,
                                             .job = tm_text_or_empty(r->job),
                                             .step = tm_text_or_empty(r->step),
                                             .paths_len = d->paths.len,
                                             .tags_len = d->tags.len };
}

/* Frees everything except what the registry gave. */
static void release(struct tidemill_dataset *d)
{
  TM_ARRAY_RELEASE_EACH(&d->paths);
  TM_ARRAY_RELEASE_EACH(&d->tags);
  tm_buf_release(&d->changes);
  free(d->json);
}

void tidemill_dataset_close(struct tidemill_dataset *d)
{
  if (!d || d->is_lent)
    return;
  release(d);
  tm_registered_release(&d->registered);
  free(d);
}

/* ---- search ---- */

int tidemill_workspace_datasets(struct tidemill_workspace *ws, const char *name,
                                int (*on_dataset)(struct tidemill_dataset *d, void *data),
                                void *data, struct tm_err *err)
{
  struct tm_registered_list all = { 0 };
  int rc = tm_need(err, "tidemill_workspace_datasets()", "ws", ws, "on_dataset",
                   on_dataset ? (const void *)ws : NULL, NULL);
  if (rc == 0)
    rc = tm_registry_list(&all, ws->path, name, err);
  for (size_t i = 0; i < all.len && rc == 0; i++) {
    struct tidemill_dataset d = { .is_lent = true, .registered = all.at[i] };
    fill(&d, ws->fs);
    rc = on_dataset(&d, data);
    release(&d);
  }
  tm_registered_list_release(&all);
  return rc;
}

static int check_version(const char *name, int64_t version, const char *zero, struct tm_err *err)
{
  if (version >= 0)
    return 0;
  return tm_err_set(err, TM_EUSAGE,
                    "version %lld of '%s'; accepted: a number from 1 on, or 0 for %s",
                    (long long)version, name, zero);
}

int tidemill_dataset_open(struct tidemill_dataset **out, struct tidemill_workspace *ws,
                          const char *name, int64_t version, struct tm_err *err)
{
  struct tidemill_dataset *d;
  int rc;
  if (out)
    *out = NULL;
  if (tm_need(err, "tidemill_dataset_open()", "out", out, "ws", ws, "name", name, NULL) < 0 ||
      check_version(name, version, "the newest", err) < 0)
    return TM_EUSAGE;
  d = TM_NEW(struct tidemill_dataset);
  rc = tm_registry_find(&d->registered, ws->path, name, version, err);
  if (rc < 0) {
    tidemill_dataset_close(d);
    return rc;
  }
  fill(d, ws->fs);
  *out = d;
  return 0;
}

/* ---- registration ---- */

static struct tm_json *read_tags(const struct tidemill_registration *r, struct tm_err *err)
{
  struct tm_json *tags = tm_json_new(TM_JSON_OBJECT);
  for (size_t i = 0; i < r->tags_len; i++) {
    const char *given = tm_text_or_empty(r->tags[i]), *equal = strchr(given, '=');
    if (!equal || equal == given) {
      tm_err_set(err, TM_EUSAGE, "tag '%s' is not of the form NAME=VALUE", given);
      tm_json_free(tags);
      return NULL;
    }
    char *name = tm_xstrndup(given, (size_t)(equal - given));
    tm_json_set(tags, name, tm_json_new_string(equal + 1));
    free(name);
  }
  return tags;
}

static struct tm_dataset *read_definition(const struct tidemill_registration *r, struct tm_err *err)
{
  char *cwd = tm_api_here(err);
  struct tm_json *v, *paths;
  struct tm_dataset *found;
  if (!cwd)
    return NULL;
  v = tm_json_new(TM_JSON_OBJECT);
  tm_json_set(v, "kind", tm_json_new_string(r->is_manifest ? "manifest" : "files"));
  paths = tm_json_set(v, "paths", tm_json_new(TM_JSON_ARRAY));
  for (size_t i = 0; i < r->paths_len; i++)
    tm_json_add(paths, tm_json_new_string(tm_text_or_empty(r->paths[i])));
  tm_json_set(v, "base_dir", tm_json_new_string(cwd));
  if (r->is_null_separated)
    tm_json_set(v, "null_separated", tm_json_new_bool(true));
  found = tm_dataset_from_json(v, err);
  tm_json_free(v);
  free(cwd);
  return found;
}

static int check(const struct tidemill_registration *given, struct tidemill_registration *r,
                 struct tm_err *err)
{
  static const char call[] = "tidemill_dataset_register()";
  *r = (struct tidemill_registration)TIDEMILL_REGISTRATION_INIT;
  if (tm_take_options(r, sizeof(*r), given, call, "the registration", "TIDEMILL_REGISTRATION_INIT",
                      err) < 0)
    return TM_EUSAGE;
  if (!r->name || !r->paths || r->paths_len == 0 || (r->tags_len > 0 && !r->tags))
    return tm_err_set(err, TM_EUSAGE, "%s: it needs a `name`, and `paths`%s", call,
                      r->tags_len > 0 && !r->tags ? "; `tags` is NULL" : "");
  return 0;
}

int tidemill_dataset_register(struct tidemill_dataset **out, struct tidemill_workspace *ws,
                              const struct tidemill_registration *registration, struct tm_err *err)
{
  struct tidemill_registration r;
  struct tidemill_dataset *d;
  err = TM_ERR_OWN(err);
  if (out)
    *out = NULL;
  if (tm_need(err, "tidemill_dataset_register()", "ws", ws, "registration", registration, NULL) <
          0 ||
      check(registration, &r, err) < 0)
    return TM_EUSAGE;
  struct tm_json *tags = read_tags(&r, err);
  struct tm_dataset *definition = tags ? read_definition(&r, err) : NULL;
  int rc = definition ? 0 : err->code;
  d = TM_NEW(struct tidemill_dataset);
  if (rc == 0)
    rc = tm_registry_add(&d->registered, ws->path,
                         &(struct tm_registration) { .fs = ws->fs,
                                                     .name = r.name,
                                                     .dataset = definition,
                                                     .description = r.description,
                                                     .tags = r.tags_len > 0 ? tags : NULL,
                                                     .create_new_version = r.create_new_version,
                                                     .wall_ns = tm_clock_wall_ns() },
                         err);
  if (rc >= 0 && out) {
    fill(d, ws->fs);
    *out = d;
  } else {
    tidemill_dataset_close(d);
  }
  tm_dataset_free(definition);
  tm_json_free(tags);
  return rc < 0 ? rc : rc > 0 ? TIDEMILL_REGISTERED_NOW : TIDEMILL_REGISTERED_BEFORE;
}

int tidemill_dataset_unregister(struct tidemill_workspace *ws, const char *name, int64_t version,
                                struct tm_err *err)
{
  int rc = tm_need(err, "tidemill_dataset_unregister()", "ws", ws, "name", name, NULL);
  if (rc == 0)
    rc = check_version(name, version, "all", err);
  return rc < 0 ? rc : tm_registry_remove(ws->path, name, version, err);
}

/* ---- questions ---- */

const struct tidemill_dataset_info *tidemill_dataset_info(const struct tidemill_dataset *d)
{
  return d ? &d->info : NULL;
}

const char *tidemill_dataset_path(const struct tidemill_dataset *d, size_t i)
{
  return d && i < d->paths.len ? d->paths.at[i] : NULL;
}

const char *tidemill_dataset_tag(const struct tidemill_dataset *d, size_t i)
{
  return d && i < d->tags.len ? d->tags.at[i] : NULL;
}

static struct tm_json *to_json(const struct tidemill_dataset *d)
{
  const struct tm_registered *r = &d->registered;
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  struct tm_buf at = TM_BUF_NONE;
  tm_time_iso(&at, r->registered_ns);
  tm_json_set(v, "name", tm_json_new_string(r->name));
  tm_json_set(v, "version", tm_json_new_int(r->version));
  tm_json_set(v, "type", tm_json_new_string(r->definition->tag));
  tm_json_set(v, "description", tm_json_new_string(r->description));
  tm_json_set(v, "tags", r->tags ? tm_json_copy(r->tags) : tm_json_new(TM_JSON_OBJECT));
  tm_json_set(v, "registered", tm_json_new_string(at.data));
  tm_json_set(v, "files", tm_json_new_int(r->identity.files));
  tm_json_set(v, "bytes", tm_json_new_int(r->identity.bytes));
  tm_json_set(v, "job_dir", tm_json_new_string(r->job));
  tm_json_set(v, "step", tm_json_new_string(r->step));
  tm_json_set(v, "definition", tm_json_copy(r->definition));
  tm_buf_release(&at);
  return v;
}

const char *tidemill_dataset_json(struct tidemill_dataset *d)
{
  struct tm_json *v;
  if (!d || d->json)
    return d ? d->json : NULL;
  v = to_json(d);
  if (d->has_looked)
    tm_json_set(v, "changed", tm_json_new_string(d->changes.data));
  d->json = tm_json_text(v);
  tm_json_free(v);
  return d->json;
}

int tidemill_dataset_changes(struct tidemill_dataset *d, const char **words, struct tm_err *err)
{
  int rc = tm_need(err, "tidemill_dataset_changes()", "d", d, NULL);
  if (rc < 0)
    return rc;
  tm_buf_release(&d->changes); /* without changes the text is NULL */
  free(d->json);
  d->json = NULL;
  rc = tm_registry_compare(&d->changes, d->fs, &d->registered, err);
  d->has_looked = rc >= 0;
  if (words)
    *words = tm_buf_str(&d->changes);
  return rc < 0 ? rc : rc > 0 ? TIDEMILL_COMPARED_CHANGED : TIDEMILL_COMPARED_SAME;
}
