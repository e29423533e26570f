/* names.c - see names.h. One line per answer: the owners, the names, and the sentence.
 *
 * lua/manual/migrating.md has the same sentences after "none:"; tests/job/define/migrating_spec.lua
 * tries them.
 */
#include "plan/names.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "plan/aliases.h"
#include "params/params.h"
#include "plan/python.h"

struct answer {
  const char *owners, *names; /* separated by '|' */
  const char *words;
};

#define LISTED_MAX 12 /* keys that a message lists */
#define DATASETS   "FileDataset|TabularDataset"
#define TABLES     "FileDataset|TabularDataset|OutputFileDatasetConfig"
#define FRAME      "a data frame"
#define COLUMN     "a column"
#define FILES      "Dataset.File.from_files|Dataset.File.from_archives|Dataset.File.from_manifest"

static const struct answer answers[] = {
  /* The module. */
  { "tidemill", "Model",
    "a model is a file here: put it into source_directory or side_inputs, or register a dataset of "
    "it" },
  { "tidemill",
    "PipelineData|PipelineDataset|OutputTabularDatasetConfig|LinkFileOutputDatasetConfig|"
    "PipelineOutputFileDataset|"
    "PipelineOutputTabularDataset|HDFSOutputDatasetConfig",
    "write OutputFileDatasetConfig { name, destination }" },
  { "tidemill",
    "Environment|CondaDependencies|DockerSection|PythonSection|RunConfiguration|DEFAULT_CPU_IMAGE|"
    "DEFAULT_GPU_IMAGE",
    "no packages are installed: leave environment out, or write environment = { variables, "
    "module_paths }" },
  { "tidemill", "ComputeTarget|AmlCompute|ComputeInstance|ComputeTargetException",
    "write compute_target = \"slurm\" or \"exec\", or leave it out for this machine" },
  { "tidemill", "Experiment",
    "run the pipeline with 'tidemill run FILE.lua' or pipeline:submit { ... }" },
  { "tidemill", "Run|PipelineRun|StepRun|RunDetails|ParallelRunStepDetails",
    "pipeline:submit { ... } returns the job; an entry script writes require "
    "\"tidemill.entry_script\"" },
  { "tidemill",
    "PublishedPipeline|PipelineEndpoint|Schedule|ScheduleRecurrence|BatchEndpoint|BatchDeployment",
    "run the pipeline with 'tidemill run FILE.lua', from cron or a timer" },
  { "tidemill",
    "ServicePrincipalAuthentication|InteractiveLoginAuthentication|MsiAuthentication|"
    "AzureCliAuthentication|DefaultAzureCredential",
    "a workspace is a folder and needs no credentials: leave auth out" },
  { "tidemill", "MLClient", "write Workspace.from_config()" },
  { "tidemill", "DataReference|DataPath|DataPathComputeBinding",
    "write { datastore, path }, or Dataset.File.from_files(datastore, path)" },
  { "tidemill",
    "parallel_run_function|RunFunction|ParallelTask|load_component|dsl|command|PythonScriptStep|"
    "CommandStep|"
    "StepSequence",
    "write ParallelRunStep { name, parallel_run_config, inputs } and Pipeline { name, steps }; a "
    "step waits for the outputs that it reads" },
  { "tidemill", "RetrySettings|BatchRetrySettings",
    "write run_max_try and run_invocation_timeout into ParallelRunConfig { ... }" },
  { "tidemill", "AssetTypes|InputOutputModes",
    "leave it out: FileDataset and TabularDataset are the types, and as_mount() and as_download() "
    "the modes" },
  { "tidemill", "MLTable|mltable", "write Dataset.Tabular.from_delimited_files(path)" },
  { "tidemill",
    "core|data|pipeline|steps|azureml|azure|widgets|contrib|compute|entities|constants|runconfig",
    "all names are in one module: tidemill.Dataset, tidemill.ParallelRunStep" },
  { "tidemill", "FileDataset|Input", "write Dataset.File.from_files(path)" },
  { "tidemill", "TabularDataset", "write Dataset.Tabular.from_delimited_files(path)" },
  { "tidemill", "Output", "write OutputFileDatasetConfig { name, destination }" },
  { "tidemill", "EntryScript", "write local EntryScript = require \"tidemill.entry_script\"" },
  { "tidemill", "PromoteHeadersBehavior",
    "write header = \"all_files_same\", \"from_first_file\", \"none\" or \"all_files_different\"" },

  /* Datasets. */
  { "Dataset.Tabular", "from_parquet_files|from_delta_lake",
    "Parquet cannot be read: write CSV or JSON lines, and from_delimited_files or "
    "from_json_lines_files" },
  { "Dataset.Tabular", "register_pandas_dataframe|register_dask_dataframe|register_spark_dataframe",
    "write df:write_csv(path), then register the dataset of that path" },
  { "DataType", "to_stream", "write DataType.to_string(): a path is a string" },
  { "Dataset.File", "upload_directory", "write datastore:upload(folder, path)" },
  { "Dataset", "get_by_id", "write Dataset.get_by_name(workspace, name, version)" },
  { "Dataset", "get_all|list", "'tidemill dataset list' lists the registered datasets" },
  { "Dataset",
    "from_files|from_delimited_files|from_json_lines_files|from_parquet_files|from_sql_query|"
    "auto_read_files",
    "datasets are Dataset.File.from_files(path) or Dataset.Tabular.from_delimited_files(path)" },
  { DATASETS, "to_path|download|mount",
    "run() gets the paths of the files themselves; dataset:as_mount(path) and "
    "dataset:as_download(path) put them into one folder" },
  { DATASETS, "to_pandas_dataframe|to_spark_dataframe|to_dask_dataframe",
    "run() gets data frames; elsewhere write frame.read_csv(path) of tidemill.frame" },
  { DATASETS, "to_csv_files|to_parquet_files",
    "return the data frame from run(), with append_row_file_name = \"rows.csv\"" },
  { DATASETS,
    "with_timestamp_columns|time_before|time_after|time_between|time_recent|timestamp_attributes",
    "write table:filter(column, \">=\", \"2026-01-31\")" },
  { DATASETS, "as_hdfs|as_cache", "write dataset:as_named_input(name)" },
  { DATASETS, "add_tags|remove_tags|update",
    "write dataset:register(workspace, name, { create_new_version, description, tags })" },
  { DATASETS, "get_partition_key_values|file_metadata",
    "run() finds the values in context.partition_key_value" },
  { DATASETS, "get_profile|generate_profile|submit_profile|get_profile_runs",
    "'tidemill head PATH' shows columns, types and first rows; df:describe() shows the rest" },
  { DATASETS, "id|data_changed_time", "write dataset.registered, its name, and dataset.version" },
  { DATASETS, "dataset", "as_named_input(name) returns the dataset itself" },
  { DATASETS, "path_on_compute", "dataset:as_mount(path) keeps it as dataset.place" },
  { DATASETS, "unregister", "write dataset:unregister_all_versions()" },
  { FILES, "validate|is_file", "leave it out: paths are looked at when the job begins" },
  { "Dataset.Tabular.from_json_lines_files", "infer_column_types",
    "leave it out, or write set_column_types = { column = \"string\" }" },

  /* Outputs. */
  { "as_upload|as_mount", "overwrite",
    "write overwrite = true into ParallelRunConfig { ... }: it replaces an output that is not this "
    "job's" },
  { "as_upload|as_mount", "source_globs", "leave it out: the whole folder appears" },
  { "as_upload|as_mount", "disable_metadata_cache", "leave it out: the folder is a local one" },
  { TABLES, "read_parquet_files|parse_parquet_files",
    "Parquet cannot be read: write read_delimited_files() or read_json_lines_files()" },
  { TABLES, "parse_delimited_files", "write output:read_delimited_files()" },
  { "FileDataset", "read_delimited_files|read_json_lines_files",
    "write output:read_delimited_files():as_input(name), or "
    "Dataset.Tabular.from_delimited_files(path)" },
  { "OutputFileDatasetConfig", "as_dataset|as_pipelineoutputdataset|as_download|as_hdfs",
    "put the output itself into inputs, or output:as_input(name)" },
  { "OutputFileDatasetConfig", "keep_columns|drop_columns|random_split|take|skip",
    "write output:read_delimited_files():keep_columns(...)" },
  { "OutputFileDatasetConfig", "source|datastore|output_mode|output_overwrite|is_directory",
    "leave it out: output:as_upload() and the destination say where the folder appears" },

  /* Workspaces and datastores. */
  { "Workspace", "create|get|setup|list",
    "a workspace is a folder: write Workspace.from_config() or Workspace { path }" },
  { "workspace", "datasets", "write Dataset.get_by_name(workspace, name)" },
  { "workspace", "datastores", "write Datastore(workspace, name), or workspace:list_datastores()" },
  { "workspace", "experiments|models|environments|compute_targets|webservices|images",
    "a workspace has jobs, datastores and registered datasets alone: 'tidemill jobs', 'tidemill "
    "dataset list'" },
  { "workspace", "submit", "write pipeline:submit { ... }" },
  { "workspace",
    "subscription_id|tenant_id|sku|service_context|linked_services|resource_group|location|get_"
    "details|write_config|get_default_keyvault|"
    "get_default_compute_target|get_mlflow_tracking_uri|delete",
    "a workspace is a folder on this machine, workspace.path" },
  { "Datastore",
    "register_azure_blob_container|register_azure_file_share|register_azure_data_lake|"
    "register_azure_data_lake_gen2|register_azure_sql_database|register_azure_postgre_sql|"
    "register_azure_my_sql|register_dbfs|register_hdfs",
    "a datastore is a directory: write Datastore.register_directory(workspace, name, directory)" },
  { "datastore:upload|datastore:download", "show_progress|relative_root", "leave it out" },
  { "dataset:partition_by", "name",
    "write dataset:partition_by(keys, target):register(workspace, name)" },
  { "dataset:partition_by", "show_progress", "leave it out" },
  { "datastore",
    "account_name|account_key|container_name|sas_token|endpoint|protocol|datastore_type|as_mount|"
    "as_download|as_upload",
    "a datastore is a directory, datastore.path" },

  /* Jobs and entry scripts. */
  { "Job", "wait_for_completion", "write job:wait()" },
  { "Job", "get_status", "write job:status()" },
  { "Job", "get_details|get_metrics|get_details_with_logs|log", "write job:result()" },
  { "Job", "get_file_names|download_file|download_files|get_output_data|get_all_logs",
    "job:output() and job:logs() are paths" },
  { "Job", "find_step_run|get_steps|get_children", "write job:steps()" },
  { "Job", "id",
    "write job.dir, its directory; the last part of it names the job in every command" },
  { "Job", "get_portal_url",
    "run 'tidemill portal': it prints a URL, and while it runs, 'tidemill run' prints the link to "
    "its job" },
  { "pipeline:submit", "pipeline_parameters", "write parameters = { NAME = value }" },
  { "pipeline:submit", "regenerate_outputs", "write no_reuse = true" },
  { "pipeline:submit",
    "experiment_name|tags|kwargs|workspace|credential_passthrough|continue_on_step_failure",
    "leave it out: a job is in the workspace of its pipeline file" },
  { "context", "dataset", "write context.dataset_name or context.source" },
  { "context", "mini_batch_id|minibatch_id|mini_batch_index|task_id|index",
    "write context.minibatch_index" },
  { "context", "partition_key_values|partition_keys", "write context.partition_key_value" },
  { "EntryScript", "process_name", "write EntryScript().agent_name" },
  { "EntryScript", "run|experiment", "no service is asked: an entry script has no run" },
  { "EntryScript",
    "get_logger|get_log_dir|get_working_dir|get_temp_dir|get_log_file_path|get_run|config",
    "write EntryScript().logger, .log_dir, .working_dir or .temp_dir" },
  { "logger", "warn", "write logger:warning(...)" },
  { "logger", "exception|critical|fatal", "write logger:error(...)" },
  { "logger", "setLevel|addHandler|log", "logging_level decides what is written" },

  /* Data frames, with names from pandas. */
  { "tidemill.frame", "DataFrame|Series", "write frame.from_table { column = { ... } }" },
  { "tidemill.frame", "read_parquet|read_excel|read_sql|read_pickle",
    "write frame.read_csv(path) or frame.read_json_lines(path)" },
  { "tidemill.frame", "read_json|read_table",
    "write frame.read_json_lines(path) or "
    "frame.read_csv(path)" },
  { "tidemill.frame", "to_datetime|to_numeric|isnull|isna|merge",
    "write df:cast { column = type }, df:fill_null { ... } or df:join(...)" },
  { FRAME, "iterrows|itertuples", "write for row in df:rows() do ... end" },
  { FRAME, "iloc|loc|at|iat",
    "write df:slice(first, last), df:filter(column, sign, value), or "
    "df.c.NAME[i]" },
  { FRAME, "shape|size|empty", "write #df, the number of rows, and #df.columns" },
  { FRAME, "dtypes", "write df.types" },
  { FRAME, "values|to_numpy|to_dict|to_records|tolist", "write df:to_table()" },
  { FRAME, "groupby|agg|aggregate|pivot_table",
    "write df:group_by(column):agg { total = { \"sum\", column } }" },
  { FRAME, "merge", "write df:join(other, { on = { column }, how = \"left\" })" },
  { FRAME, "sort_values|sort_index|nlargest|nsmallest", "write df:sort(column):head(n)" },
  { FRAME, "reset_index|set_index|index|reindex", "a data frame has no index: leave it out" },
  { FRAME, "apply|applymap|transform", "write df:map(fn)" },
  { FRAME, "assign|insert", "write df:with_column(name, function(row) ... end)" },
  { FRAME, "append|concat", "write frame.concat { df, other }" },
  { FRAME, "drop_duplicates|duplicated|nunique", "write df:unique(column)" },
  { FRAME, "fillna", "write df:fill_null { column = value }" },
  { FRAME, "dropna|isnull|isna|notnull|notna|isin",
    "write df:filter(function(row) return row.NAME ~= nil end)" },
  { FRAME, "astype|convert_dtypes|to_numeric", "write df:cast { column = type }" },
  { FRAME, "query|where|mask", "write df:filter(column, sign, value)" },
  { FRAME, "to_string", "write tostring(df)" },
  { FRAME, "to_json|to_parquet|to_excel|to_pickle",
    "write df:write_csv(path) or df:write_json_lines(path)" },
  { FRAME, "info|plot|memory_usage", "write df:describe()" },
  { FRAME, "drop_columns|keep_columns|pop", "write df:drop(column) or df:select(column)" },
  { FRAME, "sample", "write df:filter(function() return math.random() < 0.1 end)" },
  { COLUMN, "tolist|to_list|values|to_numpy", "write column:to_table()" },
  { COLUMN, "unique|nunique|value_counts|drop_duplicates",
    "write df:unique(column) or df:value_counts(column), with its name" },
  { COLUMN, "apply|map|astype|str|dt|round|abs|fillna|replace",
    "write df:with_column(name, function(row) ... end), df:cast { column = type } or "
    "df:fill_null { column = value }" },
  { COLUMN, "isin|isnull|isna|notnull|notna|dropna|between|query",
    "write df:filter(function(row) return row.NAME ~= nil end)" },
  { COLUMN, "iloc|loc|at|iat|head|tail", "write column[i], or df:head(n)" },
  { COLUMN, "size|shape|index", "write #column" },
  { "group_by()", "mean|sum|min|max|std|var|count|size|median|first|last|nunique",
    "write df:group_by(column):agg { total = { \"sum\", column }, n = \"count\" }" },
  { "group_by()", "apply|transform|filter|get_group|groups",
    "write :agg { name = { fn, column } }, whose function gets the column of a group; "
    "partition_keys "
    "gives run() one group at a time" },
  { FRAME, "mean|sum|min|max|std|count|median|quantile",
    "write df:describe(), or df.c.NAME:sum(), :mean(), :min(), :max(), :std(), :count()" },

  /* Options and methods of the configuration and the step. */
  { "ParallelRunConfig", "load_yaml|save_to_yaml",
    "a pipeline file is Lua: share a configuration between files with require or dofile" },
  { "Pipeline", "load_yaml", "a pipeline file is Lua: tidemill.load(path) reads one" },
  { "Pipeline", "publish|publish_pipeline",
    "run the pipeline with 'tidemill run FILE.lua', from cron or a timer" },
  { "Pipeline", "validate|service_endpoint", "'tidemill run FILE.lua --dry-run' shows it" },
  { "Pipeline", "default_source_directory",
    "write source_directory into ParallelRunConfig { ... }" },
  { "Pipeline", "workspace|default_datastore",
    "leave it out: a job is in the workspace of its pipeline file" },
  { "ParallelRunConfig", "compute_target_name",
    "write compute_target = \"local\", or leave it out" },
  { "ParallelRunConfig", "environment_dir_path",
    "no packages are installed: leave environment out, or write environment = { variables, "
    "module_paths }" },
  { "ParallelRunConfig|ParallelRunStep", "models",
    "a model is a file here: put it into source_directory or side_inputs, or register a dataset of "
    "it" },
  { "ParallelRunConfig|ParallelRunStep", "tags|properties",
    "leave it out: description is the text that is kept" },
  { "ParallelRunConfig|ParallelRunStep", "display_name|experiment_name|version",
    "leave it out: the step has a name, and ParallelRunConfig { ... } a description" },
  { "ParallelRunConfig|ParallelRunStep", "run_after|get_output|add_parallel_run_step_dependencies",
    "a step waits for the outputs that it reads: put them into its inputs" },
  { "Pipeline", "graph", "'tidemill graph FILE.lua' shows it" },
  { "ParallelRunStep", "is_deterministic", "write allow_reuse" },
  { "ParallelRunStep", "input_data", "write inputs; side_inputs are not cut into mini-batches" },
  { "ParallelRunStep", "outputs", "write output: one, or a list" },
  { "ParallelRunStep", "program_arguments", "write arguments" },
  { "ParallelRunStep", "task",
    "write parallel_run_config = ParallelRunConfig { entry_script, source_directory }, and "
    "arguments" },
  { "ParallelRunStep", "compute|runconfig", "workers run on this machine: leave it out" },
  { "ParallelRunStep",
    "retry_settings|resources|instance_count|max_concurrency_per_instance|append_row_to|"
    "mini_batch_error_threshold",
    "write it into ParallelRunConfig { ... }" },
  { "ParallelRunStep", "code", "write source_directory into ParallelRunConfig { ... }" },
  { "ParallelRunConfig", "is_deterministic", "write allow_reuse into ParallelRunStep { ... }" },
  { "ParallelRunConfig", "input_data", "write inputs into ParallelRunStep { ... }" },
  { "ParallelRunConfig", "outputs", "write output into ParallelRunStep { ... }" },
  { "ParallelRunConfig", "program_arguments", "write arguments into ParallelRunStep { ... }" },
  { "ParallelRunConfig", "task",
    "write entry_script and source_directory here, and arguments into ParallelRunStep { ... }" },
  { "ParallelRunConfig", "code", "write source_directory" },
  { "ParallelRunConfig", "compute|identity|docker_args|shm_size|instance_type|runconfig",
    "workers run on this machine: leave it out" },
  { "resources", "instance_type|docker_args|shm_size|properties",
    "workers run on this machine: leave it out" },
};

static const struct argument {
  const char *names, *words;
  bool is_ignored;
} arguments[] = {
  { "copy_logs_to_parent|push_metrics_to_parent|metrics_name_prefix",
    "leave it out: logs and counts are in the job's directory", true },
  { "append_row_safe_output", "leave it out: rows are always written whole", true },
  { "amlbi_async_mode", "leave it out, write run(mini_batch), and start more workers", false },
  { "amlbi_file_format|amlbi_mini_batch_rows|amlbi_pf_enabled|amlbi_pf_run_mode",
    "write Dataset.Tabular.from_json_lines_files(path) and mini_batch_size = \"1rows\"", false },
};

static const struct file {
  const char *ending, *words;
} files[] = {
  { ".py", "it is Python, and scripts are Lua here: 'tidemill help migrating' says what to write" },
  { ".pyc", "it is compiled Python, and scripts are Lua here" },
  { ".ipynb", "it is a notebook of Python; a pipeline is a Lua file that returns "
              "tidemill.Pipeline { name, steps }" },
  { ".yml", "it is YAML; a pipeline is a Lua file that returns tidemill.Pipeline { name, steps }" },
  { ".yaml",
    "it is YAML; a pipeline is a Lua file that returns tidemill.Pipeline { name, steps }" },
  { ".onnx",
    "it is an ONNX model, which takes the place of a script: map --model FILE, or 'model' in "
    "ParallelRunConfig" },
};

const char *tm_names_find(const char *owner, const char *name)
{
  for (size_t i = 0; i < TM_COUNT_OF(answers); i++)
    if (tm_text_has_word(answers[i].owners, owner, strlen(owner)) &&
        tm_text_has_word(answers[i].names, name, strlen(name)))
      return answers[i].words;
  return NULL;
}

static const struct answer *find_anywhere(const char *name)
{
  for (size_t i = 0; i < TM_COUNT_OF(answers); i++)
    if (tm_text_has_word(answers[i].names, name, strlen(name)))
      return &answers[i];
  return NULL;
}

bool tm_names_explain(struct tm_buf *out, const char *name)
{
  bool is_ignored;
  const struct answer *answer = find_anywhere(name);
  const char *argument = tm_names_find_argument(name, strlen(name), &is_ignored);
  const char *python = tm_python_find(name, strlen(name));
  if (tm_aliases_explain(out, name))
    return true;
  if (argument)
    tm_buf_printf(out, "there is no argument '--%s'; %s", name, argument);
  else if (answer)
    tm_buf_printf(out, "there is no '%s' in %.*s; %s", name, (int)strcspn(answer->owners, "|"),
                  answer->owners, answer->words);
  else if (python)
    tm_buf_printf(out, "Python's '%s' is in Lua: %s", name, python);
  return argument || answer || python;
}

const char *tm_names_find_argument(const char *name, size_t len, bool *is_ignored)
{
  for (size_t i = 0; i < TM_COUNT_OF(arguments); i++)
    if (tm_text_has_word(arguments[i].names, name, len)) {
      *is_ignored = arguments[i].is_ignored;
      return arguments[i].words;
    }
  return NULL;
}

const char *tm_names_of_value(const struct tm_json *value)
{
  if (value->type != TM_JSON_STRING || value->tag)
    return NULL;
  for (const char *at = value->string.at; (at = strstr(at, "${{")) != NULL;) {
    at += 3;
    at += strspn(at, " ");
    size_t n = strcspn(at, ".");
    if (at[n] == '.' && tm_text_has_word("inputs|outputs|parent", at, n))
      return "it is an expression of YAML; write the value itself: a dataset, an output, a "
             "PipelineParameter or a string";
  }
  return NULL;
}

const char *tm_names_of_file(const char *path)
{
  size_t n = strlen(path);
  for (size_t i = 0; i < TM_COUNT_OF(files); i++) {
    size_t m = strlen(files[i].ending);
    if (n > m && strcasecmp(path + n - m, files[i].ending) == 0)
      return files[i].words;
  }
  return NULL;
}

/* A key of another constructor. */
static const char *find_elsewhere(const char *kind, const char *key)
{
  bool is_config = strcmp(kind, "ParallelRunConfig") == 0,
       is_step = strcmp(kind, "ParallelRunStep") == 0;
  if (is_config && tm_params_find("ParallelRunStep", key))
    return "write it into ParallelRunStep { ... }";
  if (is_step && (tm_params_find("ParallelRunConfig", key) || tm_alias_has(key)))
    return "write it into ParallelRunConfig { ... }";
  bool is_ignored;
  const char *words =
      is_config || is_step ? tm_names_find_argument(key, strlen(key), &is_ignored) : NULL;
  if (words)
    return words;
  if ((is_config || is_step) && tm_params_find("arguments", key))
    return "write it into arguments of the step: arguments = { \"--NAME\", \"VALUE\" }";
  return NULL;
}

/* The other constructor of a step, if a name of the original has an answer there; else NULL. */
static const char *other_owner(const char *kind, const char *key)
{
  const char *other = strcmp(kind, "ParallelRunConfig") == 0 ? "ParallelRunStep"
                      : strcmp(kind, "ParallelRunStep") == 0 ? "ParallelRunConfig"
                                                             : NULL;
  return other && tm_names_find(other, key) ? other : NULL;
}

int tm_names_refuse_key(const char *kind, const char *key, struct tm_err *err)
{
  const char *names[64];
  size_t n;
  const struct tm_field *fields = tm_params_fields(kind, &n);
  struct tm_buf all = TM_BUF_NONE, given = TM_BUF_NONE;
  for (size_t i = 0; i < n && i < TM_COUNT_OF(names); i++) {
    names[i] = fields[i].name;
    tm_buf_printf(&all, "%s'%s'", i ? ", " : "", names[i]);
  }
  tm_text_one_line(&given, key, strlen(key), 80);
  const char *nearest = tm_text_nearest(key, names, n), *instead = tm_names_find(kind, key);
  if (!instead)
    instead = find_elsewhere(kind, key);
  const char *other = instead ? NULL : other_owner(kind, key);
  if (other)
    tm_err_set(err, TM_EUSAGE, "unknown key '%s'; in %s { ... }: %s", tm_buf_str(&given), other,
               tm_names_find(other, key));
  else if (instead)
    tm_err_set(err, TM_EUSAGE, "unknown key '%s'; %s", tm_buf_str(&given), instead);
  else if (nearest)
    tm_err_set(err, TM_EUSAGE, "unknown key '%s'; did you mean '%s'?", tm_buf_str(&given), nearest);
  else if (n > LISTED_MAX)
    tm_err_set(err, TM_EUSAGE, "unknown key '%s'; 'tidemill help %s' lists the keys",
               tm_buf_str(&given), strrchr(kind, '.') ? strrchr(kind, '.') + 1 : kind);
  else
    tm_err_set(err, TM_EUSAGE, "unknown key '%s'; known: %s", tm_buf_str(&given), tm_buf_str(&all));
  tm_buf_release(&all);
  tm_buf_release(&given);
  return TM_EUSAGE;
}
