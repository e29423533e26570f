/* dataset.c - `tidemill dataset list|show|register|unregister`: the registered datasets of the workspace (store/registry.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/cli.h"
#include "store/registry.h"
#include "store/workspace.h"
#include "sys/clock.h"

struct dataset_options {
  const char *version, *description;
  struct tm_words tags;
  bool create_new_version, manifest, null_separated, json;
};

struct dataset {
  const struct tm_cli *cli;
  struct dataset_options o;
  struct tm_words rest; /* [0] is what is to be done */
  char *workspace;
  int64_t version; /* 0: the newest */
};

struct action {
  const char *name;
  size_t least, most; /* words behind it */
  const char *missing;
  int (*run)(struct dataset *d, struct tm_err *err);
  const char *options; /* those that it takes, beside --json: blanks around each */
};

static int list(struct dataset *d, struct tm_err *err);
static int show(struct dataset *d, struct tm_err *err);
static int add(struct dataset *d, struct tm_err *err);
static int unregister(struct dataset *d, struct tm_err *err);

static const struct action actions[] = {
  { "list", 0, 1, "", list, "" },
  { "show", 1, 1, "the name of a dataset", show, " version " },
  { "register", 2, SIZE_MAX, "a name, and a path or pattern, or several", add,
    " create-new-version description tag manifest null-separated " },
  { "unregister", 1, 1, "the name of a dataset", unregister, " version " },
};

#define PLACE(field) offsetof(struct dataset_options, field)
/* clang-format off */
static const struct tm_option options[] = {
  { "version", TM_OPTION_VALUE, PLACE(version), "N", NULL, "show, unregister: of this version; show without it the newest, unregister all" },
  { "create-new-version", TM_OPTION_FLAG, PLACE(create_new_version), NULL, NULL, "register: where the name is there, this is its next version" },
  { "description", TM_OPTION_VALUE, PLACE(description), "TEXT", NULL, "register: for people" },
  { "tag", TM_OPTION_LIST, PLACE(tags), "NAME=VALUE", NULL, "register: for people; as often as needed" },
  { "manifest", TM_OPTION_FLAG, PLACE(manifest), NULL, NULL, "register: the path is a list of paths, one a line" },
  { "null-separated", TM_OPTION_FLAG, PLACE(null_separated), NULL, NULL, "register: with --manifest, paths end in NUL" },
  { "json", TM_OPTION_FLAG, PLACE(json), NULL, NULL, "one JSON object a line" },
};
/* clang-format on */

static int run(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_dataset = {
  .name = "dataset",
  .run = run,
  .usage =
      "list [NAME] | show NAME [--version N] | register NAME PATH... [--create-new-version] "
      "[--description TEXT] [--tag NAME=VALUE]... [--manifest [--null-separated]] | unregister "
      "NAME [--version N]  [--json]",
  .summary = "lists, shows, registers and unregisters datasets of the workspace",
  .options = options,
  .options_len = TM_COUNT_OF(options),
};

/* What was asked for. */

static int find_action(const struct action **out, const struct dataset *d, struct tm_err *err)
{
  const char *names[TM_COUNT_OF(actions)], *nearest;
  if (d->rest.len == 0)
    return tm_err_set(err, TM_EUSAGE,
                      "what is to be done is missing: list, show, register or "
                      "unregister");
  for (size_t i = 0; i < TM_COUNT_OF(actions); i++) {
    names[i] = actions[i].name;
    if (strcmp(names[i], d->rest.at[0]) == 0) {
      *out = &actions[i];
      return 0;
    }
  }
  nearest = tm_text_nearest(d->rest.at[0], names, TM_COUNT_OF(names));
  return tm_err_set(err, TM_EUSAGE,
                    "'dataset %s' is not known%s%s%s are list, show, register and unregister",
                    d->rest.at[0], nearest ? "; did you mean '" : "", nearest ? nearest : "",
                    nearest ? "'? There" : "; there");
}

static int check_option(const struct action *a, bool is_given, const char *name, struct tm_err *err)
{
  char *word = tm_xprintf(" %s ", name);
  bool is_taken = strstr(a->options, word) != NULL;
  free(word);
  if (!is_given || is_taken)
    return 0;
  return tm_err_set(err, TM_EUSAGE, "'--%s' is no option of 'dataset %s'", name, a->name);
}

static int check_words(struct dataset *d, const struct action *a, struct tm_err *err)
{
  const struct dataset_options *o = &d->o;
  size_t n = d->rest.len - 1;
  if (n < a->least)
    return tm_err_set(err, TM_EUSAGE, "'dataset %s' needs %s", a->name, a->missing);
  if (n > a->most)
    return tm_err_set(err, TM_EUSAGE, "'%s' is one word too many", d->rest.at[a->most + 1]);
  if (check_option(a, o->version, "version", err) < 0 ||
      check_option(a, o->create_new_version, "create-new-version", err) < 0 ||
      check_option(a, o->description, "description", err) < 0 ||
      check_option(a, o->tags.len > 0, "tag", err) < 0 ||
      check_option(a, o->manifest, "manifest", err) < 0 ||
      check_option(a, o->null_separated, "null-separated", err) < 0)
    return TM_EUSAGE;
  return o->version ? tm_registry_read_version(&d->version, o->version, err) : 0;
}

/* Words for a version. */

static void add_moment(struct tm_buf *out, int64_t wall_ns)
{
  struct tm_buf text = TM_BUF_NONE;
  tm_time_log(&text, wall_ns);
  tm_buf_add(out, text.data, strcspn(text.data, ",")); /* without milliseconds */
  tm_buf_release(&text);
}

static struct tm_json *to_json(const struct tm_registered *r)
{
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

static void add_json(struct tm_buf *out, struct tm_json *v)
{
  tm_json_write(out, v, (struct tm_json_style) { 0 });
  tm_buf_add_char(out, '\n');
  tm_json_free(v);
}

static void add_number(struct tm_buf *out, const char *before, int64_t n, const char *behind)
{
  tm_buf_add_str(out, before);
  tm_text_grouped(out, n);
  tm_buf_add_str(out, behind);
}

static void add_words(struct tm_buf *out, const char *label, const char *text)
{
  if (!text)
    return;
  tm_buf_printf(out, "%-13s", label);
  tm_text_one_line(out, text, strlen(text), 0);
  tm_buf_add_char(out, '\n');
}

/* list */

static void add_row(struct tm_buf *out, const struct tm_registered *r, int width)
{
  tm_buf_printf(out, "%-*s  %7" PRId64 "  %10" PRId64 "  %15" PRId64 "  ", width, r->name,
                r->version, r->identity.files, r->identity.bytes);
  add_moment(out, r->registered_ns);
  if (r->description) {
    tm_buf_add_str(out, "  ");
    tm_text_one_line(out, r->description, strlen(r->description), 60);
  }
  tm_buf_add_char(out, '\n');
}

static int list(struct dataset *d, struct tm_err *err)
{
  struct tm_registered_list all = { 0 };
  struct tm_buf text = TM_BUF_NONE;
  size_t width = strlen("name");
  int rc = tm_registry_list(&all, d->workspace, d->rest.len > 1 ? d->rest.at[1] : NULL, err);
  for (size_t i = 0; i < all.len; i++)
    width = strlen(all.at[i].name) > width ? strlen(all.at[i].name) : width;
  if (rc == 0 && all.len == 0)
    tm_cli_say("no dataset is registered in the workspace '%s' yet", d->workspace);
  if (all.len > 0 && !d->o.json)
    tm_buf_printf(&text, "%-*s  %7s  %10s  %15s  %-19s  %s\n", (int)width, "name", "version",
                  "files", "bytes", "registered (UTC)", "description");
  for (size_t i = 0; i < all.len && rc == 0; i++)
    if (d->o.json)
      add_json(&text, to_json(&all.at[i]));
    else
      add_row(&text, &all.at[i], (int)width);
  if (rc == 0)
    rc = tm_cli_write(&text);
  tm_buf_release(&text);
  tm_registered_list_release(&all);
  return rc;
}

/* show */

static void add_paths(struct tm_buf *out, const struct tm_registered *r)
{
  const struct tm_json *paths = tm_json_get(r->definition, "paths");
  const char *base = tm_json_str(r->definition, "base_dir", "/");
  for (size_t i = 0; paths && paths->type == TM_JSON_ARRAY && i < paths->list.len; i++) {
    char *path = tm_path_absolute(base, paths->list.at[i]->string.at);
    add_words(out, i == 0 ? "paths:" : "", path);
    free(path);
  }
}

static void add_registered(struct tm_buf *out, const struct tm_registered *r)
{
  tm_buf_printf(out, "%-13s%s\n%-13s%" PRId64 "\n%-13s%s\n", "name:", r->name,
                "version:", r->version, "type:", r->definition->tag);
  add_words(out, "description:", r->description);
  for (size_t i = 0; r->tags && r->tags->type == TM_JSON_OBJECT && i < r->tags->list.len; i++) {
    char *tag = tm_xprintf("%s=%s", r->tags->keys[i], tm_json_str(r->tags, r->tags->keys[i], ""));
    add_words(out, i == 0 ? "tags:" : "", tag);
    free(tag);
  }
  add_paths(out, r);
  tm_buf_printf(out, "%-13s", "registered:");
  add_moment(out, r->registered_ns);
  tm_buf_add_str(out, " UTC\n");
  tm_buf_printf(out, "%-13s", "then:");
  add_number(out, "", r->identity.files, tm_text_counted(r->identity.files, " file, ", " files, "));
  add_number(out, "", r->identity.bytes, " bytes\n");
  add_words(out, "output of:", r->job);
}

static int show(struct dataset *d, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE, changes = TM_BUF_NONE;
  struct tm_registered r;
  int rc = tm_registry_find(&r, d->workspace, d->rest.at[1], d->version, err);
  if (rc == 0)
    rc = tm_registry_compare(&changes, d->cli->fs, &r, err);
  if (rc >= 0 && d->o.json) {
    struct tm_json *v = to_json(&r);
    tm_json_set(v, "changed", tm_json_new_string(changes.data));
    add_json(&text, v);
  } else if (rc >= 0) {
    add_registered(&text, &r);
    add_words(&text, "now:", rc > 0 ? changes.data : "as then");
  }
  if (rc >= 0)
    rc = tm_cli_write(&text);
  tm_buf_release(&text);
  tm_buf_release(&changes);
  tm_registered_release(&r);
  return rc;
}

/* register */

static struct tm_json *read_tags(const struct dataset *d, struct tm_err *err)
{
  struct tm_json *tags = tm_json_new(TM_JSON_OBJECT);
  for (size_t i = 0; i < d->o.tags.len; i++) {
    const char *given = d->o.tags.at[i], *equal = strchr(given, '=');
    if (!equal || equal == given) {
      tm_err_set(err, TM_EUSAGE, "'--tag %s' is not of the form NAME=VALUE", given);
      tm_json_free(tags);
      return NULL;
    }
    char *name = tm_xstrndup(given, (size_t)(equal - given));
    tm_json_set(tags, name, tm_json_new_string(equal + 1));
    free(name);
  }
  return tags;
}

static struct tm_dataset *read_definition(const struct dataset *d, const char *cwd,
                                          struct tm_err *err)
{
  struct tm_json *v = tm_json_new(TM_JSON_OBJECT);
  struct tm_json *paths = tm_json_new(TM_JSON_ARRAY);
  struct tm_dataset *found;
  tm_json_set(v, "kind", tm_json_new_string(d->o.manifest ? "manifest" : "files"));
  for (size_t i = 2; i < d->rest.len; i++)
    tm_json_add(paths, tm_json_new_string(d->rest.at[i]));
  tm_json_set(v, "paths", paths);
  tm_json_set(v, "base_dir", tm_json_new_string(cwd));
  if (d->o.null_separated)
    tm_json_set(v, "null_separated", tm_json_new_bool(true));
  found = tm_dataset_from_json(v, err);
  tm_json_free(v);
  return found;
}

static int say_added(const struct dataset *d, const struct tm_registered *r, bool is_new)
{
  struct tm_buf text = TM_BUF_NONE;
  int rc;
  if (d->o.json) {
    add_json(&text, to_json(r));
  } else {
    tm_buf_printf(&text, "%s version %" PRId64 "%s: ", r->name, r->version,
                  is_new ? "" : ", as it was registered before");
    add_number(&text, "", r->identity.files,
               tm_text_counted(r->identity.files, " file, ", " files, "));
    add_number(&text, "", r->identity.bytes, " bytes\n");
  }
  if (r->identity.files == 0)
    tm_cli_say("warning: no file matches now");
  rc = tm_cli_write(&text);
  tm_buf_release(&text);
  return rc;
}

static int add(struct dataset *d, struct tm_err *err)
{
  char *cwd = getcwd(NULL, 0); /* it is there: the workspace was looked for from it */
  struct tm_json *tags = read_tags(d, err);
  struct tm_dataset *definition = tags ? read_definition(d, cwd, err) : NULL;
  struct tm_registered out = { 0 };
  int rc = definition ? 0 : err->code;
  if (rc == 0)
    rc = tm_registry_add(&out, d->workspace,
                         &(struct tm_registration) { .fs = d->cli->fs,
                                                     .name = d->rest.at[1],
                                                     .dataset = definition,
                                                     .description = d->o.description,
                                                     .tags = d->o.tags.len > 0 ? tags : NULL,
                                                     .create_new_version = d->o.create_new_version,
                                                     .wall_ns = tm_clock_wall_ns() },
                         err);
  if (rc >= 0)
    rc = say_added(d, &out, rc > 0);
  tm_registered_release(&out);
  tm_dataset_free(definition);
  tm_json_free(tags);
  free(cwd);
  return rc;
}

/* unregister */

static int unregister(struct dataset *d, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  int rc = tm_registry_remove(d->workspace, d->rest.at[1], d->version, err);
  if (rc < 0)
    return rc;
  if (d->o.json)
    tm_buf_printf(&text, "{\"unregistered\":%d}\n", rc);
  else
    tm_buf_printf(&text, "%d %s of %s unregistered; the files stay\n", rc,
                  tm_text_counted(rc, "version", "versions"), d->rest.at[1]);
  rc = tm_cli_write(&text);
  tm_buf_release(&text);
  return rc;
}

/* The workspace that is here; for register also a new one. */
static char *find_workspace(const struct dataset *d, const struct action *a, struct tm_err *err)
{
  char *cwd, *file, *found;
  if (a->run != add)
    return tm_cli_workspace(d->cli, err);
  if (!(cwd = getcwd(NULL, 0))) {
    tm_err_set(err, TM_EUSAGE, "the current directory is gone; go to another one");
    return NULL;
  }
  file = tm_path_join(cwd, "file");
  found = tm_workspace_find(d->cli->fs, file, getenv(TM_WORKSPACE_VARIABLE), cwd, err);
  free(file);
  free(cwd);
  return found;
}

static int run(const struct tm_cli *cli, int argc, char **argv)
{
  struct dataset d = { .cli = cli };
  struct tm_err err = TM_ERR_NONE;
  const struct action *a = NULL;
  int rc = tm_options_read(options, TM_COUNT_OF(options), argc, argv, &d.o, &d.rest, &err);
  if (rc == 0)
    rc = find_action(&a, &d, &err);
  if (rc == 0)
    rc = check_words(&d, a, &err);
  if (rc < 0) {
    rc = tm_cli_fail_usage(&tm_command_dataset, &err);
  } else {
    d.workspace = find_workspace(&d, a, &err);
    rc = tm_cli_end(d.workspace ? a->run(&d, &err) : err.code, &err);
  }
  TM_ARRAY_RELEASE(&d.o.tags);
  TM_ARRAY_RELEASE(&d.rest);
  free(d.workspace);
  return rc;
}
