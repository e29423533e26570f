/* test_dataset.c - the definition of a FileDataset: what it keeps, what it refuses and the message.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/dataset.h"
#include "tree.h"

static void keeps_its_values(void **state)
{
  struct tm_json *v = tree("FileDataset", "p.lua:4",
                           "{'kind':'files','paths':['a','/b/*'],'base_dir':'/"
                           "home','name':'images','on_unreadable':'skip'}");
  struct tm_err err = TM_ERR_NONE;
  struct tm_dataset *d = tm_dataset_from_json(v, &err);
  assert_non_null(d);
  assert_int_equal(d->kind, TM_DATASET_FILES);
  assert_int_equal(d->paths_len, 2);
  assert_string_equal(d->paths[1], "/b/*");
  assert_string_equal(d->base_dir, "/home");
  assert_string_equal(d->name, "images");
  assert_string_equal(d->where, "p.lua:4");
  assert_true(d->skip_unreadable);
  struct tm_json *back = tm_dataset_to_json(d);
  assert_true(tm_json_is_equal(back, v));
  tm_json_free(back);
  tm_dataset_free(d);
  tm_json_free(v);
}

static void a_manifest_is_one_path(void **state)
{
  struct tm_json *v =
      tree("FileDataset", NULL, "{'kind':'manifest','paths':'/list','null_separated':true}");
  struct tm_dataset *d = tm_dataset_from_json(v, NULL);
  assert_non_null(d);
  assert_int_equal(d->kind, TM_DATASET_MANIFEST);
  assert_int_equal(d->paths_len, 1);
  assert_true(d->null_separated);
  assert_string_equal(d->base_dir, "/");
  tm_dataset_free(d);
  tm_json_free(v);
}

struct refused {
  const char *definition, *words;
};

static void assert_refused(const struct refused *cases, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    struct tm_err err = TM_ERR_NONE;
    struct tm_json *v = tree("FileDataset", "p.lua:4", cases[i].definition);
    assert_null(tm_dataset_from_json(v, &err));
    assert_int_equal(err.code, TM_EUSAGE);
    assert_string_equal(err.text, cases[i].words);
    tm_json_free(v);
  }
}

static void refuses_options(void **state)
{
  static const struct refused cases[] = {
    { "{'kind':'archives','paths':['/a'],'options':7}",
      "p.lua:4: FileDataset: Dataset.File.from_archives: the argument is 7; accepted: a table" },
    { "{'kind':'delimited','paths':['/a'],'options':{'encoding':'utf-8'}}",
      "p.lua:4: FileDataset: 'encoding' is \"utf-8\"; accepted: \"utf8\", \"utf8bom\", \"latin1\", "
      "\"iso88591\", \"windows1252\", \"ascii\" or \"utf16\"" },
    { "{'kind':'delimited','paths':['/a'],'options':{'max_columns':0}}",
      "p.lua:4: FileDataset: 'max_columns' is 0; accepted: an integer from 1 to 16777216" },
    { "{'kind':'delimited','paths':['/a'],'options':{'seperator':','}}",
      "p.lua:4: FileDataset: unknown key 'seperator'; did you mean 'separator'?" },
    { "{'kind':'json_lines','paths':['/a'],'options':{'columns':[7]}}",
      "p.lua:4: FileDataset: 'columns' is a list; accepted: a list of one or more different names, "
      "not empty" },
    { "{'kind':'sql','paths':['/a'],'options':{}}",
      "p.lua:4: FileDataset: 'query' is missing; it is required: a string" },
    { "{'kind':'archives','paths':['/a'],'options':{'max_ratio':0}}",
      "p.lua:4: FileDataset: 'max_ratio' is 0; accepted: an integer from 1 on" },
  };
  assert_refused(cases, sizeof(cases) / sizeof(cases[0]));
}

static void refuses(void **state)
{
  static const struct refused cases[] = {
    { "{'kind':'rows','paths':['/a']}",
      "p.lua:4: FileDataset: 'kind' is \"rows\"; accepted: \"files\", \"manifest\", \"failed\", "
      "\"delimited\", \"json_lines\", \"sql\" or \"archives\"" },
    { "{'kind':'files'}",
      "p.lua:4: FileDataset: the path is missing; accepted: a path or pattern, or a list of them" },
    { "{'kind':'files','paths':[]}",
      "p.lua:4: FileDataset: the list of paths is empty; accepted: one path or more" },
    { "{'kind':'files','paths':['/a','']}",
      "p.lua:4: FileDataset: path 2 is not text, or is empty; accepted: a path or pattern, or a "
      "list of them" },
    { "{'kind':'files','paths':['a']}", "p.lua:4: FileDataset: path 'a' is relative, and there is "
                                        "no 'base_dir' that it is relative to" },
    { "{'kind':'files','paths':['/a'],'base_dir':'b'}",
      "p.lua:4: FileDataset: 'base_dir' is \"b\"; accepted: an absolute path" },
    { "{'kind':'files','paths':['/a'],'nmae':'x'}",
      "p.lua:4: FileDataset: unknown key 'nmae'; did you mean 'name'?" },
    { "{'kind':'files','paths':['/a'],'name':7}",
      "p.lua:4: FileDataset: 'name' is 7; accepted: a string, not empty" },
    { "{'kind':'manifest','paths':['/a','/b']}",
      "p.lua:4: FileDataset: a manifest is one file; accepted: its path" },
    { "{'kind':'files','paths':['/a'],'null_separated':true}",
      "p.lua:4: FileDataset: 'null_separated' is not an option of Dataset.File.from_files" },
    { "{'kind':'manifest','paths':['/a'],'on_unreadable':'skip'}",
      "p.lua:4: FileDataset: 'on_unreadable' is not an option of Dataset.File.from_manifest" },
    { "{'kind':'failed','paths':['/a','/b']}",
      "p.lua:4: FileDataset: failed items are listed in one file; accepted: its path" },
    { "{'kind':'failed','paths':['/a'],'input':-1}",
      "p.lua:4: FileDataset: 'input' is -1; accepted: an integer from 0 on" },
    { "{'kind':'files','paths':['/a'],'input':0}",
      "p.lua:4: FileDataset: 'input' is only for failed items" },
    { "{'kind':'failed','paths':['/a'],'on_unreadable':'skip'}",
      "p.lua:4: FileDataset: 'on_unreadable' is not an option of Dataset.File.from_failed_items" },
    { "[1]", "p.lua:4: FileDataset: is not a dataset; accepted: what Dataset.File.from_files, "
             "from_archives, from_manifest or from_failed_items returns" },
    { "{'kind':'delimited','paths':['/a'],'ops':{}}",
      "p.lua:4: FileDataset: 'ops' is a table of names and values; accepted: a list" },
    { "{'kind':'archives','paths':['/a'],'ops':[]}",
      "p.lua:4: FileDataset: 'options' and 'ops' are only for a table" },
    { "{'kind':'archives','paths':['/a'],'options':{'entries':['*','/x']}}",
      "p.lua:4: FileDataset: 'entries': '/x' begins with '/'; accepted: a pattern of names within "
      "the archive" },
  };
  assert_refused(cases, sizeof(cases) / sizeof(cases[0]));
}

static void addresses_are_not_paths(void **state)
{
  static const char *const urls[] = { "https://h/c.csv", "s3://bucket/x", "azureml:name:1",
                                      "azureml://datastores/x/paths/y" };
  static const char *const paths[] = { "/a://b", "a:b", "azureml/a", "C:/x", "://x", "x", "-" };
  for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]) + sizeof(paths) / sizeof(paths[0]); i++) {
    bool is_url = i < sizeof(urls) / sizeof(urls[0]);
    const char *path = is_url ? urls[i] : paths[i - sizeof(urls) / sizeof(urls[0])];
    char definition[200];
    snprintf(definition, sizeof(definition), "{'kind':'files','paths':['%s'],'base_dir':'/'}",
             path);
    struct tm_err err = TM_ERR_NONE;
    struct tm_json *v = tree("FileDataset", NULL, definition);
    struct tm_dataset *d = tm_dataset_from_json(v, &err);
    assert_int_equal(d == NULL, is_url);
    assert_int_equal(
        strstr(err.text, "and URLs are not read") || strstr(err.text, "write from_files"), is_url);
    tm_dataset_free(d);
    tm_json_free(v);
  }
}

static void failed_items_of_one_input_are_kept(void **state)
{
  struct tm_json *v =
      tree("FileDataset", NULL,
           "{'kind':'failed','paths':['/job/score/failed_items.jsonl'],'base_dir':'/','input':2}");
  struct tm_dataset *d = tm_dataset_from_json(v, NULL);
  assert_non_null(d);
  assert_int_equal(d->kind, TM_DATASET_FAILED);
  assert_int_equal(d->input, 2);
  struct tm_json *back = tm_dataset_to_json(d);
  assert_true(tm_json_is_equal(back, v));
  tm_json_free(back);
  tm_dataset_free(d);
  tm_json_free(v);
}

static void a_limit_is_kept(void **state)
{
  struct tm_json *v =
      tree("FileDataset", NULL,
           "{'kind':'files','paths':['/a'],'base_dir':'/','on_unreadable':'error','limit':3}");
  struct tm_dataset *d = tm_dataset_from_json(v, NULL);
  assert_non_null(d);
  assert_int_equal(d->limit, 3);
  struct tm_json *back = tm_dataset_to_json(d);
  assert_true(tm_json_is_equal(back, v));
  tm_json_free(back);
  tm_dataset_free(d);
  tm_json_set(v, "limit", tm_json_new_int(0));
  struct tm_err err = TM_ERR_NONE;
  assert_null(tm_dataset_from_json(v, &err));
  assert_non_null(strstr(err.text, "'limit' is 0; accepted: an integer from 1 on"));
  tm_json_free(v);
}

static void standard_input_is_a_manifest_named_dash(void **state)
{
  static const struct {
    const char *text;
    bool is_stdin;
  } cases[] = { { "{'kind':'manifest','paths':['-'],'base_dir':'/x'}", true },
                { "{'kind':'manifest','paths':['./-'],'base_dir':'/x'}", false },
                { "{'kind':'files','paths':['-'],'base_dir':'/x'}", false } };
  for (size_t i = 0; i < 3; i++) {
    struct tm_json *v = tree("FileDataset", NULL, cases[i].text);
    struct tm_dataset *d = tm_dataset_from_json(v, NULL);
    assert_non_null(d);
    assert_int_equal(tm_dataset_is_stdin(d), cases[i].is_stdin);
    tm_dataset_free(d);
    tm_json_free(v);
  }
}

UNIT_TESTS({
    cmocka_unit_test(keeps_its_values),
    cmocka_unit_test(a_manifest_is_one_path),
    cmocka_unit_test(refuses),
    cmocka_unit_test(refuses_options),
    cmocka_unit_test(addresses_are_not_paths),
    cmocka_unit_test(failed_items_of_one_input_are_kept),
    cmocka_unit_test(a_limit_is_kept),
    cmocka_unit_test(standard_input_is_a_manifest_named_dash),
});
