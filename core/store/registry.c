/* registry.c - see registry.h.
 *
 * The files are listed before the database is locked: a listing may take long, a transaction must
 * not. Decisions (is it the newest already, which number is next) are made within the transaction,
 * so that of two processes that register at once, the second sees the version of the first.
 */
#include "store/registry.h"

#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "base/path.h"
#include "base/text.h"
#include "store/db.h"

#define COLUMNS                                                                                    \
  "id, name, version, definition, description, tags, registered_ns, files, bytes, hash, "          \
  "is_listed, job, step"

enum column {
  C_ID,
  C_NAME,
  C_VERSION,
  C_DEFINITION,
  C_DESCRIPTION,
  C_TAGS,
  C_REGISTERED,
  C_FILES,
  C_BYTES,
  C_HASH,
  C_LISTED,
  C_JOB,
  C_STEP
};

/* Rows. */

/* Definitions are stored as JSON, which can only hold UTF-8. */
static int check_bytes(const struct tm_dataset *d, struct tm_err *err)
{
  const char *bad = tm_text_is_utf8(d->base_dir, strlen(d->base_dir)) ? NULL : d->base_dir;
  struct tm_buf said = TM_BUF_NONE;
  for (size_t i = 0; i < d->paths_len && !bad; i++)
    bad = tm_text_is_utf8(d->paths[i], strlen(d->paths[i])) ? NULL : d->paths[i];
  if (!bad)
    return 0;
  tm_text_one_line(&said, bad, strlen(bad), 0);
  tm_err_set(err, TM_EUSAGE,
             "the path '%s' is not UTF-8, and cannot be registered; a pattern that fits it can",
             tm_buf_str(&said));
  tm_buf_release(&said);
  return TM_EUSAGE;
}

/* {"type": tag, "definition": …}: a tree as text has no tags. */
static char *definition_text(const struct tm_dataset *d)
{
  struct tm_dataset plain = *d; /* without its names */
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT), *definition;
  char *text;
  plain.name = plain.registered = NULL;
  definition = tm_json_set(v, "definition", tm_dataset_to_json(&plain));
  tm_json_set(v, "type", tm_json_new_string(definition->tag));
  text = tm_json_text(v);
  tm_json_free(v);
  return text;
}

static struct tm_json *read_definition(const char *text, struct tm_err *err)
{
  struct tm_json *v = tm_json_of(text), *definition = tm_json_get(v, "definition"), *found = NULL;
  if (definition) {
    found = tm_json_copy(definition);
    found->tag = tm_xstrdup(tm_json_str(v, "type", ""));
  } else {
    tm_err_set(err, TM_EDAMAGE, "the definition of a registered dataset cannot be read: '%s'",
               text);
  }
  tm_json_free(v);
  return found;
}

/* Reads the current row of the query; returns its id. */
static int64_t read_row(struct tm_registered *out, const struct tm_query *q, struct tm_err *err)
{
  *out = (struct tm_registered) {
    .name = tm_xstrdup(tm_query_str(q, C_NAME)),
    .version = tm_query_int(q, C_VERSION),
    .definition = read_definition(tm_query_str(q, C_DEFINITION), err),
    .description = tm_xstrdup(tm_query_str(q, C_DESCRIPTION)),
    .tags = tm_json_of(tm_query_str(q, C_TAGS)),
    .registered_ns = tm_query_int(q, C_REGISTERED),
    .identity = { .files = tm_query_int(q, C_FILES),
                  .bytes = tm_query_int(q, C_BYTES),
                  .hash = (uint64_t)tm_query_int(q, C_HASH),
                  .is_listed = tm_query_int(q, C_LISTED) != 0 },
    .job = tm_xstrdup(tm_query_str(q, C_JOB)),
    .step = tm_xstrdup(tm_query_str(q, C_STEP)),
  };
  return out->definition ? tm_query_int(q, C_ID) : TM_EDAMAGE;
}

static int read_list(struct tm_registered *r, struct tm_db *db, int64_t id, struct tm_err *err)
{
  struct tm_query *q = tm_db_ask(
      db, err, "SELECT path, size, mtime_ns FROM file WHERE version_id = ? ORDER BY at", "i", id);
  int rc = q ? 0 : err->code;
  while (q && (rc = tm_query_next(q, err)) > 0) {
    size_t len;
    const void *path = tm_query_bytes(q, 0, &len);
    tm_identity_add(&r->identity, path, len, tm_query_int(q, 1), tm_query_int(q, 2));
  }
  tm_query_close(q);
  return rc;
}

/* The first row of the query, with its files: its id, or 0 if there is none. */
static int64_t take_first(struct tm_registered *out, struct tm_db *db, struct tm_query *q,
                          struct tm_err *err)
{
  int64_t id = q ? tm_query_next(q, err) : err->code;
  if (id > 0)
    id = read_row(out, q, err);
  tm_query_close(q);
  if (id > 0 && read_list(out, db, id, err) < 0)
    return err->code;
  return id;
}

/* `version` 0: the newest. */
static int64_t find_row(struct tm_registered *out, struct tm_db *db, const char *name,
                        int64_t version, struct tm_err *err)
{
  return take_first(out, db,
                    tm_db_ask(db, err,
                              "SELECT " COLUMNS " FROM version WHERE name = ?1 AND (?2 = 0 OR "
                              "version = ?2) ORDER BY version DESC LIMIT 1",
                              "si", name, version),
                    err);
}

/* Adding. */

/* The version that this job has made of its source, or the newest version if it has the same
 * source. */
static int64_t find_source(struct tm_registered *out, struct tm_db *db,
                           const struct tm_registration *r, struct tm_err *err)
{
  return take_first(out, db,
                    tm_db_ask(db, err,
                              "SELECT " COLUMNS " FROM version WHERE name = ?1 AND (source = ?2 OR "
                              "substr(source, 1, length(?2) + 1) = ?2 || '#') AND (job IS ?3 OR "
                              "version = (SELECT max(version) FROM version WHERE name = ?1)) "
                              "ORDER BY version DESC LIMIT 1",
                              "sss", r->name, r->source, r->job),
                    err);
}

static int next_number(struct tm_db *db, const char *sql, const char *name, int64_t *out,
                       struct tm_err *err)
{
  struct tm_query *q = tm_db_ask(db, err, sql, name ? "s" : "", name);
  int rc = q ? tm_query_next(q, err) : err->code;
  *out = rc > 0 ? tm_query_int(q, 0) : 1;
  tm_query_close(q);
  return rc < 0 ? rc : 0;
}

static int write_list(struct tm_db *db, int64_t id, const struct tm_identity *identity,
                      struct tm_err *err)
{
  struct tm_query *q = NULL;
  int rc = 0;
  for (size_t i = 0; i < identity->list.len && rc == 0; i++) {
    const struct tm_identity_file *f = &identity->list.at[i];
    const void *path = f->path;
    size_t len = strlen(f->path);
    int64_t at = (int64_t)i;
    if (!q) {
      q = tm_db_ask(db, err, "INSERT INTO file VALUES (?, ?, ?, ?, ?)", "iibii", id, at, path, len,
                    f->size, f->mtime_ns);
      rc = q ? 0 : err->code;
    } else {
      rc = tm_query_again(q, err, "iibii", id, at, path, len, f->size, f->mtime_ns);
    }
    if (rc == 0)
      rc = tm_query_next(q, err);
  }
  tm_query_close(q);
  return rc;
}

/* The column is unique, but one source may have several versions. To free(); NULL without a
 * source. */
static char *source_text(const struct tm_registration *r)
{
  return r->source ? tm_xprintf("%s#%s#%s%s%s", r->source, r->name, r->job ? r->job : "",
                                r->contents ? "#" : "", r->contents ? r->contents : "")
                   : NULL;
}

static int write_version(struct tm_db *db, const struct tm_registration *r,
                         const struct tm_registered *before, const char *definition,
                         const struct tm_identity *now, struct tm_err *err)
{
  char *tags = tm_json_text(r->tags ? r->tags : before->tags);
  const char *description = r->description ? r->description : before->description;
  char *source = source_text(r);
  int64_t id, version = 0;
  int rc = next_number(db, "SELECT coalesce(max(id), 0) + 1 FROM version", NULL, &id, err);
  if (rc == 0)
    rc = next_number(db, "SELECT coalesce(max(version), 0) + 1 FROM version WHERE name = ?",
                     r->name, &version, err);
  if (rc == 0)
    rc = tm_db_do(db, err, "INSERT INTO version VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                  "isisssiiiiisss", id, r->name, version, definition, description, tags, r->wall_ns,
                  now->files, now->bytes, (int64_t)now->hash, (int64_t)now->is_listed, source,
                  r->job, r->step);
  free(source);
  if (rc == 0)
    rc = write_list(db, id, now, err);
  free(tags);
  return rc;
}

/* Updates the description and tags of an existing version. */
static int write_words(struct tm_db *db, int64_t id, const struct tm_registration *r,
                       struct tm_err *err)
{
  char *tags = tm_json_text(r->tags);
  int rc = tm_db_do(db, err,
                    "UPDATE version SET description = coalesce(?2, description), tags = "
                    "coalesce(?3, tags) WHERE id = ?1",
                    "iss", id, r->description, tags);
  free(tags);
  return rc;
}

/* Updates the version that this job has made of the source, whose data have changed. */
static int renew_version(struct tm_db *db, int64_t id, const struct tm_registration *r,
                         const struct tm_identity *now, struct tm_err *err)
{
  char *source = source_text(r);
  int rc = tm_db_do(db, err,
                    "UPDATE version SET files = ?2, bytes = ?3, hash = ?4, is_listed = ?5, "
                    "source = ?6 WHERE id = ?1",
                    "iiiiis", id, now->files, now->bytes, (int64_t)now->hash,
                    (int64_t)now->is_listed, source);
  free(source);
  if (rc == 0)
    rc = tm_db_do(db, err, "DELETE FROM file WHERE version_id = ?", "i", id);
  return rc < 0 ? rc : write_list(db, id, now, err);
}

/* 1: `before` was made by this job, with other contents. */
static int is_outdated(struct tm_db *db, int64_t id, const struct tm_registration *r,
                       const struct tm_registered *before, struct tm_err *err)
{
  bool is_own = before->job && r->job && strcmp(before->job, r->job) == 0;
  char *source = source_text(r);
  struct tm_query *q;
  int rc = 0;
  if (is_own && r->contents) {
    q = tm_db_ask(db, err, "SELECT 1 FROM version WHERE id = ?1 AND source IS NOT ?2", "is", id,
                  source);
    rc = q ? tm_query_next(q, err) : err->code;
    tm_query_close(q);
  }
  free(source);
  return rc;
}

/* Whether the newest version is the same. If files of a definition have changed, it is a new
 * version with create_new_version; otherwise it stays the same, and the change is reported when it
 * is used. */
static bool is_same(const struct tm_registered *before, const struct tm_registration *r,
                    const char *definition, const struct tm_identity *now)
{
  struct tm_json *v = tm_json_of(definition);
  bool yes = tm_json_is_equal(tm_json_get(v, "definition"), before->definition) &&
             (!r->create_new_version || tm_identity_is_equal(&before->identity, now));
  tm_json_free(v);
  return yes;
}

/* Called within the transaction. 1: made; 0: it existed. */
static int add(struct tm_db *db, const struct tm_registration *r, const char *definition,
               const struct tm_identity *now, struct tm_registered *before, struct tm_err *err)
{
  int64_t id = 0;
  int rc;
  if (r->source)
    id = find_source(before, db, r, err);
  if (id > 0) {
    rc = is_outdated(db, id, r, before, err);
    return rc > 0 ? renew_version(db, id, r, now, err) : rc;
  }
  if (id == 0)
    id = find_row(before, db, r->name, 0, err);
  if (id < 0)
    return (int)id;
  if (id > 0 && !r->source && is_same(before, r, definition, now)) {
    rc = write_words(db, id, r, err);
    return rc;
  }
  if (id > 0 && !r->create_new_version)
    return tm_err_set(
        err, TM_EUSAGE,
        "it is registered already, by another definition (version %" PRId64
        "); to register this one as its next version: create_new_version, else choose "
        "another name",
        before->version);
  rc = write_version(db, r, before, definition, now, err);
  return rc < 0 ? rc : 1;
}

/* Reads the resulting version back from the database. */
static int read_back(struct tm_registered *out, struct tm_db *db, const struct tm_registration *r,
                     const struct tm_registered *before, bool is_new, struct tm_err *err)
{
  int64_t id =
      find_row(out, db, is_new ? r->name : before->name, is_new ? 0 : before->version, err);
  return id < 0 ? (int)id : 0;
}

static int add_listed(struct tm_registered *out, const char *workspace,
                      const struct tm_registration *r, const struct tm_identity *now,
                      struct tm_err *err)
{
  struct tm_registered before = { 0 };
  char *definition = definition_text(r->dataset);
  struct tm_db *db = NULL;
  int rc = tm_db_open(&db, workspace, TM_DB_WRITE, err), made = 0;
  if (rc > 0)
    rc = tm_db_begin(db, err);
  if (rc == 0)
    rc = made = add(db, r, definition, now, &before, err);
  if (rc >= 0)
    rc = read_back(out, db, r, &before, made > 0, err);
  if (rc == 0)
    rc = tm_db_commit(db, err);
  tm_db_close(db);
  tm_registered_release(&before);
  free(definition);
  return rc < 0 ? rc : made;
}

int tm_registry_add(struct tm_registered *out, const char *workspace,
                    const struct tm_registration *r, struct tm_err *err)
{
  tm_require(r->name);
  struct tm_identity now = { 0 };
  int rc;
  *out = (struct tm_registered) { 0 };
  if ((rc = tm_registry_check_name(r->name, err)) == 0 &&
      (rc = check_bytes(r->dataset, err)) == 0 &&
      (rc = tm_identity_read(&now, r->fs, r->dataset, err)) == 0)
    rc = add_listed(out, workspace, r, &now, err);
  tm_identity_release(&now);
  return rc < 0 ? tm_err_wrap(err, "cannot register dataset '%s'", r->name) : rc;
}

/* Finding. */

static int refuse_name(struct tm_db *db, const char *workspace, const char *name,
                       struct tm_err *err)
{
  struct tm_query *q =
      db ? tm_db_ask(db, err, "SELECT DISTINCT name FROM version ORDER BY name", "") : NULL;
  struct TM_ARRAY(char *) names = { 0 };
  struct tm_err ignored = TM_ERR_NONE;
  const char *nearest;
  while (q && tm_query_next(q, &ignored) > 0)
    *TM_ARRAY_ADD(&names) = tm_xstrdup(tm_query_str(q, 0));
  tm_query_close(q);
  nearest = tm_text_nearest(name, (const char *const *)names.at, names.len);
  tm_err_set(err, TM_EUSAGE, "no dataset '%s' is registered in the workspace '%s'%s%s%s", name,
             workspace,
             nearest ? "; did you mean '" : "; 'tidemill dataset list' lists those that are",
             nearest ? nearest : "", nearest ? "'?" : "");
  TM_ARRAY_RELEASE_EACH(&names);
  return TM_EUSAGE;
}

static int refuse_version(struct tm_db *db, const char *name, int64_t version, struct tm_err *err)
{
  struct tm_query *q =
      tm_db_ask(db, err, "SELECT min(version), max(version), count(*) FROM version WHERE name = ?",
                "s", name);
  struct tm_buf which = TM_BUF_NONE;
  int rc = q ? tm_query_next(q, err) : err->code;
  if (rc > 0) {
    int64_t first = tm_query_int(q, 0), last = tm_query_int(q, 1), n = tm_query_int(q, 2);
    if (n == 1)
      tm_buf_printf(&which, "it has version %" PRId64 " alone", first);
    else if (n == last - first + 1)
      tm_buf_printf(&which, "it has versions %" PRId64 " to %" PRId64, first, last);
    else
      tm_buf_printf(&which, "it has %" PRId64 " versions from %" PRId64 " to %" PRId64, n, first,
                    last);
    rc = tm_err_set(err, TM_EUSAGE, "dataset '%s' has no version %" PRId64 "; %s", name, version,
                    which.data);
  }
  tm_buf_release(&which);
  tm_query_close(q);
  return rc;
}

/* The message for a version that does not exist. */
static int refuse(struct tm_db *db, const char *workspace, const char *name, int64_t version,
                  struct tm_err *err)
{
  struct tm_registered newest = { 0 };
  int64_t id = db && version > 0 ? find_row(&newest, db, name, 0, err) : 0;
  tm_registered_release(&newest);
  if (id < 0)
    return (int)id;
  return id > 0 ? refuse_version(db, name, version, err) : refuse_name(db, workspace, name, err);
}

int tm_registry_find(struct tm_registered *out, const char *workspace, const char *name,
                     int64_t version, struct tm_err *err)
{
  struct tm_db *db = NULL;
  int rc = tm_db_open(&db, workspace, TM_DB_READ, err);
  int64_t id = 0;
  *out = (struct tm_registered) { 0 };
  if (rc > 0)
    id = find_row(out, db, name, version, err);
  if (rc >= 0 && id == 0)
    rc = refuse(db, workspace, name, version, err);
  tm_db_close(db);
  return rc < 0 ? rc : id < 0 ? (int)id : 0;
}

static int list(struct tm_registered_list *out, const char *workspace, const char *name,
                const char *sql, struct tm_err *err)
{
  struct tm_db *db = NULL;
  struct tm_query *q = NULL;
  int rc = tm_db_open(&db, workspace, TM_DB_READ, err);
  if (rc > 0)
    q = tm_db_ask(db, err, sql, name ? "s" : "", name);
  if (rc > 0 && !q)
    rc = err->code;
  while (q && (rc = tm_query_next(q, err)) > 0) {
    if (read_row(TM_ARRAY_ADD(out), q, err) < 0) {
      rc = err->code;
      break;
    }
  }
  tm_query_close(q);
  if (rc == 0 && name && out->len == 0)
    rc = refuse_name(db, workspace, name, err);
  tm_db_close(db);
  return rc;
}

int tm_registry_list(struct tm_registered_list *out, const char *workspace, const char *name,
                     struct tm_err *err)
{
  return list(out, workspace, name,
              name ? "SELECT " COLUMNS " FROM version WHERE name = ?1 ORDER BY version DESC"
                   : "SELECT " COLUMNS " FROM version AS v WHERE version = (SELECT max(version) "
                     "FROM version WHERE name = v.name) ORDER BY name",
              err);
}

/* Other operations. */

static int remove_rows(struct tm_db *db, const char *name, int64_t version, struct tm_err *err)
{
  struct tm_query *q;
  int rc = tm_db_do(db, err,
                    "DELETE FROM file WHERE version_id IN (SELECT id FROM version WHERE name = ?1 "
                    "AND (?2 = 0 OR version = ?2))",
                    "si", name, version);
  if (rc == 0)
    rc = tm_db_do(db, err, "DELETE FROM version WHERE name = ?1 AND (?2 = 0 OR version = ?2)", "si",
                  name, version);
  if (rc < 0)
    return rc;
  q = tm_db_ask(db, err, "SELECT changes()", "");
  rc = q ? tm_query_next(q, err) : err->code;
  if (rc > 0)
    rc = (int)tm_query_int(q, 0);
  tm_query_close(q);
  return rc;
}

int tm_registry_remove(const char *workspace, const char *name, int64_t version, struct tm_err *err)
{
  tm_require(name && version >= 0);
  struct tm_registered there;
  struct tm_db *db = NULL;
  int rc = tm_registry_find(&there, workspace, name, version, err), removed = 0;
  tm_registered_release(&there);
  if (rc == 0)
    rc = tm_db_open(&db, workspace, TM_DB_WRITE, err);
  if (rc > 0)
    rc = tm_db_begin(db, err);
  if (rc == 0)
    rc = removed = remove_rows(db, name, version, err);
  if (rc >= 0)
    rc = tm_db_commit(db, err);
  tm_db_close(db);
  return rc < 0 ? rc : removed;
}

int tm_registry_compare(struct tm_buf *out, const struct tm_fs *fs, const struct tm_registered *r,
                        struct tm_err *err)
{
  struct tm_dataset *d = tm_dataset_from_json(r->definition, err);
  struct tm_identity now = { 0 };
  int rc = d ? tm_identity_read(&now, fs, d, err) : err->code;
  if (rc == 0 && !tm_identity_is_equal(&r->identity, &now)) {
    tm_identity_compare(out, &r->identity, &now, d->base_dir);
    rc = 1;
  }
  tm_identity_release(&now);
  tm_dataset_free(d);
  return rc < 0 ? tm_err_wrap(err, "dataset '%s' version %" PRId64, r->name, r->version) : rc;
}

/* Follows the links of `path`, where they lead somewhere; `dir` has no links. */
static bool is_within(const char *path, const char *dir)
{
  char *led = realpath(path, NULL);
  const char *p = led ? led : path;
  size_t n = strlen(dir);
  bool yes = strncmp(p, dir, n) == 0 && (p[n] == '/' || p[n] == '\0');
  free(led);
  return yes;
}

/* Whether it is the output of the job, or a dataset over files in its directory. */
static bool is_of_job(const struct tm_registered *r, const char *job)
{
  const struct tm_json *paths = tm_json_get(r->definition, "paths");
  const char *base = tm_json_str(r->definition, "base_dir", "/");
  bool yes = r->job && is_within(r->job, job);
  for (size_t i = 0; paths && paths->type == TM_JSON_ARRAY && i < paths->list.len && !yes; i++) {
    char *path = tm_path_absolute(base, paths->list.at[i]->string.at);
    yes = is_within(path, job);
    free(path);
  }
  return yes;
}

int tm_registry_list_all(struct tm_registered_list *out, const char *workspace, struct tm_err *err)
{
  return list(out, workspace, NULL, "SELECT " COLUMNS " FROM version ORDER BY id", err);
}

const char *tm_registry_name_of_job(const struct tm_registered_list *list, const char *job)
{
  char *led = list->len > 0 ? realpath(job, NULL) : NULL;
  const char *name = NULL;
  for (size_t i = 0; i < list->len && !name; i++)
    if (is_of_job(&list->at[i], led ? led : job))
      name = list->at[i].name;
  free(led);
  return name;
}

void tm_registered_release(struct tm_registered *r)
{
  free(r->name);
  tm_json_free(r->definition);
  free(r->description);
  tm_json_free(r->tags);
  tm_identity_release(&r->identity);
  free(r->job);
  free(r->step);
  *r = (struct tm_registered) { 0 };
}

void tm_registered_list_release(struct tm_registered_list *list)
{
  for (size_t i = 0; i < list->len; i++)
    tm_registered_release(&list->at[i]);
  TM_ARRAY_RELEASE(list);
}
