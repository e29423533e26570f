/* cmd_dataset.c - `tidemill dataset list|show|register|unregister`: the registered datasets of the
 * workspace. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/cli.h"
#include "cli/name_table.h"

struct dataset_options {
  const char *version, *description;
  struct tm_words tags;
  bool create_new_version, manifest, null_separated, json;
};

struct dataset {
  const struct tm_cli *cli;
  struct dataset_options o;
  struct tm_words rest; /* [0] is the subcommand */
  struct tidemill_workspace *workspace;
  int64_t version; /* 0: the newest */
};

struct action {
  const char *name;
  size_t least, most; /* words after it */
  const char *missing;
  int (*run)(struct dataset *d, struct tm_err *err);
  const char *options; /* the accepted options besides --json, each between blanks */
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
  { "version", TM_OPTION_VALUE, PLACE(version), "N", NULL, "show, unregister: the version; by default show takes the newest, and unregister all" },
  { "create-new-version", TM_OPTION_FLAG, PLACE(create_new_version), NULL, NULL, "register: makes a new version if the name exists" },
  { "description", TM_OPTION_VALUE, PLACE(description), "TEXT", NULL, "register: a text for readers" },
  { "tag", TM_OPTION_LIST, PLACE(tags), "NAME=VALUE", NULL, "register: a name and a value for readers; may be repeated" },
  { "manifest", TM_OPTION_FLAG, PLACE(manifest), NULL, NULL, "register: PATH is a file that lists paths, one per line" },
  { "null-separated", TM_OPTION_FLAG, PLACE(null_separated), NULL, NULL, "register, with --manifest: the paths in the list end in NUL" },
  { "json", TM_OPTION_FLAG, PLACE(json), NULL, NULL, "prints one JSON object per line" },
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

/* ---- options ---- */

static int find_action(const struct action **out, const struct dataset *d, struct tm_err *err)
{
  const char *names[TM_COUNT_OF(actions)], *nearest;
  if (d->rest.len == 0)
    return tm_err_set(err, TM_EUSAGE,
                      "an action is missing; accepted: list, show, register or "
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
  return tm_err_set(err, TM_EUSAGE, "'--%s' is not an option of 'dataset %s'", name, a->name);
}

static int read_version(int64_t *out, const char *text, struct tm_err *err)
{
  *out = 0;
  if (strcmp(text, "latest") == 0 || (tm_text_int(text, out) && *out >= 1))
    return 0;
  return tm_err_set(err, TM_EUSAGE,
                    "'%s' is not a version; accepted: an integer from 1 on, or 'latest'", text);
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
  return o->version ? read_version(&d->version, o->version, err) : 0;
}

/* ---- text of a version ---- */

static void add_json(struct tm_buf *out, struct tidemill_dataset *d)
{
  tm_buf_printf(out, "%s\n", tidemill_dataset_json(d));
}

static void add_words(struct tm_buf *out, const char *label, const char *text)
{
  if (!*text)
    return;
  tm_buf_printf(out, "%-13s", label);
  tm_text_one_line(out, text, strlen(text), 0);
  tm_buf_add_char(out, '\n');
}

/* list */

struct listing {
  bool json;
  struct tm_name_table table;
  struct tm_buf text;
};

/* Returns the rest of the line, after the name. */
static char *rest_of(const struct tidemill_dataset_info *r)
{
  struct tm_buf out = TM_BUF_NONE;
  tm_buf_printf(&out, "%7" PRId64 "  %10" PRId64 "  %15" PRId64 "  ", r->version, r->files,
                r->bytes);
  tm_time_second(&out, r->registered_ns);
  if (*r->description) {
    tm_buf_add_str(&out, "  ");
    tm_text_one_line(&out, r->description, strlen(r->description), 60);
  }
  tm_buf_add_char(&out, '\n');
  return tm_buf_take(&out);
}

static int on_dataset(struct tidemill_dataset *d, void *data)
{
  struct listing *l = data;
  const struct tidemill_dataset_info *info = tidemill_dataset_info(d);
  if (l->json) {
    add_json(&l->text, d);
    return 0;
  }
  tm_name_table_add(&l->table, info->name, rest_of(info));
  return 0;
}

static char *heading(void)
{
  return tm_xprintf("%7s  %10s  %15s  %-19s  %s", "version", "files", "bytes", "registered (UTC)",
                    "description");
}

static int list(struct dataset *d, struct tm_err *err)
{
  struct listing l = { .json = d->o.json };
  char *columns = heading();
  const char *name = d->rest.len > 1 ? d->rest.at[1] : NULL;
  int rc = tidemill_workspace_datasets(d->workspace, name, on_dataset, &l, err);
  tm_name_table_write(&l.table, columns, &l.text);
  if (rc == 0) {
    if (l.text.len == 0)
      tm_cli_say("no dataset is registered in the workspace '%s' yet",
                 tidemill_workspace_path(d->workspace));
    rc = tm_cli_write(&l.text);
  }
  free(columns);
  tm_buf_release(&l.text);
  return rc;
}

/* show */

static void add_then(struct tm_buf *out, const struct tidemill_dataset_info *r)
{
  tm_text_count(out, r->files, tm_text_counted(r->files, " file, ", " files, "));
  tm_text_count(out, r->bytes, " bytes\n");
}

static void add_registered(struct tm_buf *out, const struct tidemill_dataset *d)
{
  const struct tidemill_dataset_info *r = tidemill_dataset_info(d);
  const char *text;
  tm_buf_printf(out, "%-13s%s\n%-13s%" PRId64 "\n%-13s%s\n", "name:", r->name,
                "version:", r->version, "type:", r->type);
  add_words(out, "description:", r->description);
  for (size_t i = 0; (text = tidemill_dataset_tag(d, i)) != NULL; i++)
    add_words(out, i == 0 ? "tags:" : "", text);
  for (size_t i = 0; (text = tidemill_dataset_path(d, i)) != NULL; i++)
    add_words(out, i == 0 ? "paths:" : "", text);
  tm_buf_printf(out, "%-13s", "registered:");
  tm_time_second(out, r->registered_ns);
  tm_buf_printf(out, " UTC\n%-13s", "then:");
  add_then(out, r);
  add_words(out, "output of:", r->job);
}

static int show(struct dataset *d, struct tm_err *err)
{
  struct tidemill_dataset *found = NULL;
  struct tm_buf text = TM_BUF_NONE;
  const char *changes;
  int rc = tidemill_dataset_open(&found, d->workspace, d->rest.at[1], d->version, err);
  if (rc == 0)
    rc = tidemill_dataset_changes(found, &changes, err);
  if (rc >= 0 && d->o.json) {
    add_json(&text, found);
  } else if (rc >= 0) {
    add_registered(&text, found);
    add_words(&text, "now:", rc == TIDEMILL_COMPARED_CHANGED ? changes : "as then");
  }
  if (rc >= 0)
    rc = tm_cli_write_and_release(&text);
  tidemill_dataset_close(found);
  return rc;
}

/* register */

static int say_added(const struct dataset *d, struct tidemill_dataset *added, bool is_new)
{
  const struct tidemill_dataset_info *r = tidemill_dataset_info(added);
  struct tm_buf text = TM_BUF_NONE;
  if (d->o.json) {
    add_json(&text, added);
  } else {
    tm_buf_printf(&text, "%s version %" PRId64 "%s: ", r->name, r->version,
                  is_new ? "" : ", as it was registered before");
    add_then(&text, r);
  }
  if (r->files == 0)
    tm_cli_say("warning: no file matches now");
  return tm_cli_write_and_release(&text);
}

/* The registry names the option as a definition in Lua does. */
static void name_option(struct tm_err *err)
{
  static const char field[] = " version: create_new_version, ";
  char *text = tm_xstrdup(err->text), *found = strstr(text, field);
  if (found) {
    *found = '\0';
    tm_err_set(err, err->code, "%s version: --create-new-version, %s", text,
               found + sizeof(field) - 1);
  }
  free(text);
}

static int add(struct dataset *d, struct tm_err *err)
{
  struct tidemill_registration r = TIDEMILL_REGISTRATION_INIT;
  struct tidemill_dataset *added = NULL;
  int rc;
  r.name = d->rest.at[1];
  r.paths = d->rest.at + 2;
  r.paths_len = d->rest.len - 2;
  r.is_manifest = d->o.manifest;
  r.is_null_separated = d->o.null_separated;
  r.create_new_version = d->o.create_new_version;
  r.description = d->o.description;
  r.tags = d->o.tags.at;
  r.tags_len = d->o.tags.len;
  rc = tidemill_dataset_register(&added, d->workspace, &r, err);
  if (rc >= 0)
    rc = say_added(d, added, rc == TIDEMILL_REGISTERED_NOW);
  else
    name_option(err);
  tidemill_dataset_close(added);
  return rc;
}

/* unregister */

static int unregister(struct dataset *d, struct tm_err *err)
{
  struct tm_buf text = TM_BUF_NONE;
  int rc = tidemill_dataset_unregister(d->workspace, d->rest.at[1], d->version, err);
  if (rc < 0)
    return rc;
  if (d->o.json)
    tm_buf_printf(&text, "{\"unregistered\":%d}\n", rc);
  else
    tm_buf_printf(&text, "%d %s of %s unregistered; the files stay\n", rc,
                  tm_text_counted(rc, "version", "versions"), d->rest.at[1]);
  return tm_cli_write_and_release(&text);
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
    rc = tm_cli_open_workspace(cli, &d.workspace, a->run == add ? TM_CLI_MAKES : TM_CLI_USES, &err);
    rc = tm_cli_end(rc < 0 ? rc : a->run(&d, &err), &err);
  }
  TM_ARRAY_RELEASE(&d.o.tags);
  TM_ARRAY_RELEASE(&d.rest);
  tidemill_workspace_close(d.workspace);
  return rc;
}
