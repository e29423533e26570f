/* datastores.c - see datastores.h. The first datastore is not in a table, so it survives the
 * removal of the database. */
#include "store/datastores.h"

#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/path.h"
#include "base/text.h"
#include "store/db.h"

static char *first_path(const char *workspace)
{
  return tm_path_join(workspace, "datastores/" TM_DATASTORE_FIRST);
}

/* The same rule as in the original. */
static int check_name(const char *name, struct tm_err *err)
{
  size_t n = strlen(name);
  bool is_good = n > 0 && n <= 255;
  for (size_t i = 0; i < n && is_good; i++)
    is_good = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
              (name[i] >= '0' && name[i] <= '9') || name[i] == '_';
  if (is_good)
    return 0;
  return tm_err_set(err, TM_EUSAGE,
                    "'%s' is not a name of a datastore; accepted: 1 to 255 letters, digits and '_'",
                    name);
}

/* The name of the default datastore, to free(); NULL with a message. */
static char *read_default(struct tm_db *db, struct tm_err *err)
{
  struct tm_query *q =
      tm_db_ask(db, err, "SELECT value FROM setting WHERE name = 'default_datastore'", "");
  int rc = q ? tm_query_next(q, err) : err->code;
  const char *found = rc > 0 ? tm_query_str(q, 0) : NULL;
  char *name = rc < 0 ? NULL : tm_xstrdup(found ? found : TM_DATASTORE_FIRST);
  tm_query_close(q);
  return name;
}

int tm_datastore_list(struct tm_datastore_list *out, const char *workspace, struct tm_err *err)
{
  struct tm_db *db = NULL;
  struct tm_query *q = NULL;
  char *chosen = NULL;
  int rc = tm_db_open(&db, workspace, TM_DB_READ, err);
  if (rc > 0 &&
      (!(chosen = read_default(db, err)) ||
       !(q = tm_db_ask(db, err,
                       "SELECT name, path FROM datastore UNION ALL SELECT ?, ? ORDER BY name", "ss",
                       TM_DATASTORE_FIRST, ""))))
    rc = err->code;
  while (q && (rc = tm_query_next(q, err)) > 0) {
    const char *name = tm_query_str(q, 0), *path = tm_query_str(q, 1);
    *TM_ARRAY_ADD(out) =
        (struct tm_datastore) { .name = tm_xstrdup(name),
                                .path = *path ? tm_xstrdup(path) : first_path(workspace),
                                .is_default = strcmp(name, chosen) == 0 };
  }
  if (rc == 0 && !db)
    *TM_ARRAY_ADD(out) = (struct tm_datastore) { .name = tm_xstrdup(TM_DATASTORE_FIRST),
                                                 .path = first_path(workspace),
                                                 .is_default = true };
  tm_query_close(q);
  tm_db_close(db);
  free(chosen);
  return rc;
}

static int refuse_name(const struct tm_datastore_list *all, const char *workspace, const char *name,
                       struct tm_err *err)
{
  const char **names = tm_xcalloc(all->len, sizeof(*names)), *nearest;
  struct tm_buf known = TM_BUF_NONE;
  for (size_t i = 0; i < all->len; i++) {
    names[i] = all->at[i].name;
    tm_buf_printf(&known, "%s'%s'", i ? ", " : "", names[i]);
  }
  nearest = tm_text_nearest(name, names, all->len);
  if (nearest)
    tm_err_set(err, TM_EUSAGE, "no datastore '%s' is in the workspace '%s'; did you mean '%s'?",
               name, workspace, nearest);
  else
    tm_err_set(err, TM_EUSAGE, "no datastore '%s' is in the workspace '%s'; there are %s", name,
               workspace, known.data);
  tm_buf_release(&known);
  free(names);
  return TM_EUSAGE;
}

int tm_datastore_find(struct tm_datastore *out, const struct tm_fs *fs, const char *workspace,
                      const char *name, struct tm_err *err)
{
  struct tm_datastore_list all = { 0 };
  int rc = tm_datastore_list(&all, workspace, err);
  *out = (struct tm_datastore) { 0 };
  for (size_t i = 0; i < all.len && !out->name && rc == 0; i++)
    if (name ? strcmp(all.at[i].name, name) == 0 : all.at[i].is_default) {
      *out = all.at[i];
      all.at[i] = (struct tm_datastore) { 0 };
    }
  if (rc == 0 && !out->name)
    rc = refuse_name(&all, workspace, name ? name : "", err);
  if (rc == 0 && strcmp(out->name, TM_DATASTORE_FIRST) == 0)
    rc = tm_fs_make_dirs(fs, out->path, 0700, err);
  tm_datastore_list_release(&all);
  return rc;
}

static int check_folder(const struct tm_fs *fs, const char *name, const char *path,
                        struct tm_err *err)
{
  struct tm_stat st;
  int rc = fs->stat(fs->self, path, true, &st);
  if (rc < 0)
    return tm_err_set(err, TM_EUSAGE,
                      "datastore '%s': cannot use '%s': %s; accepted: an existing directory", name,
                      path, tm_code_text(rc));
  if (!S_ISDIR(st.mode))
    return tm_err_set(err, TM_EUSAGE, "datastore '%s': '%s' is not a directory", name, path);
  if (!tm_text_is_utf8(path, strlen(path)))
    return tm_err_set(err, TM_EUSAGE, "datastore '%s': its path is not UTF-8", name);
  return 0;
}

/* Called within the transaction. */
static int add(struct tm_db *db, const char *name, const char *path, bool overwrite,
               int64_t wall_ns, struct tm_err *err)
{
  struct tm_query *q = tm_db_ask(db, err, "SELECT path FROM datastore WHERE name = ?", "s", name);
  int rc = q ? tm_query_next(q, err) : err->code;
  if (rc > 0 && strcmp(tm_query_str(q, 0), path) != 0 && !overwrite)
    rc = tm_err_set(
        err, TM_EUSAGE,
        "a datastore '%s' is registered already, for '%s'; to give it another directory: "
        "overwrite, else choose another name",
        name, tm_query_str(q, 0));
  tm_query_close(q);
  return rc < 0 ? rc
                : tm_db_do(db, err, "INSERT OR REPLACE INTO datastore VALUES (?, ?, ?)", "ssi",
                           name, path, wall_ns);
}

int tm_datastore_add(const struct tm_fs *fs, const char *workspace, const char *name,
                     const char *path, bool overwrite, int64_t wall_ns, struct tm_err *err)
{
  struct tm_db *db = NULL;
  int rc = check_name(name, err);
  if (rc == 0)
    rc = check_folder(fs, name, path, err);
  if (rc == 0 && strcmp(name, TM_DATASTORE_FIRST) == 0)
    rc = tm_err_set(err, TM_EUSAGE,
                    "'%s' is the workspace's own datastore, and stays where it is; choose another "
                    "name",
                    name);
  if (rc == 0)
    rc = tm_db_open(&db, workspace, TM_DB_WRITE, err);
  if (rc > 0)
    rc = tm_db_begin(db, err);
  if (rc == 0)
    rc = add(db, name, path, overwrite, wall_ns, err);
  if (rc == 0)
    rc = tm_db_commit(db, err);
  tm_db_close(db);
  return rc;
}

/* One transaction of one or two statements about an existing datastore. */
static int change(const char *workspace, const char *name, const char *first, const char *second,
                  struct tm_err *err)
{
  struct tm_db *db = NULL;
  int rc = tm_db_open(&db, workspace, TM_DB_WRITE, err);
  if (rc > 0)
    rc = tm_db_begin(db, err);
  if (rc == 0)
    rc = tm_db_do(db, err, first, "s", name);
  if (rc == 0 && second)
    rc = tm_db_do(db, err, second, "s", name);
  if (rc == 0)
    rc = tm_db_commit(db, err);
  tm_db_close(db);
  return rc;
}

int tm_datastore_remove(const char *workspace, const char *name, struct tm_err *err)
{
  struct tm_datastore there;
  int rc;
  if (strcmp(name, TM_DATASTORE_FIRST) == 0)
    return tm_err_set(err, TM_EUSAGE, "'%s' is the workspace's own datastore, and stays", name);
  rc = tm_datastore_find(&there, tm_fs_real(), workspace, name, err);
  tm_datastore_release(&there);
  return rc < 0 ? rc
                : change(workspace, name, "DELETE FROM datastore WHERE name = ?",
                         "DELETE FROM setting WHERE name = 'default_datastore' AND value = ?", err);
}

int tm_datastore_set_default(const struct tm_fs *fs, const char *workspace, const char *name,
                             struct tm_err *err)
{
  struct tm_datastore there;
  int rc = tm_datastore_find(&there, fs, workspace, name, err);
  tm_datastore_release(&there);
  return rc < 0
             ? rc
             : change(workspace, name,
                      "INSERT OR REPLACE INTO setting VALUES ('default_datastore', ?)", NULL, err);
}

void tm_datastore_release(struct tm_datastore *d)
{
  free(d->name);
  free(d->path);
  *d = (struct tm_datastore) { 0 };
}

void tm_datastore_list_release(struct tm_datastore_list *list)
{
  for (size_t i = 0; i < list->len; i++)
    tm_datastore_release(&list->at[i]);
  TM_ARRAY_RELEASE(list);
}
