/* params.c - the one table of keys.
 *
 * A key that is not in this table is refused, with the nearest known one. Checks, did-you-mean,
 * origin, resume and help follow from a line here; core/README.md says how to add a parameter.
 *
 * The table has names and ranges. values.c checks single values, params_check.c whole definitions;
 * read.c checks relations between fields (an entry script within its source_directory, two steps
 * with one name).
 */
#include "params/params.h"

#include <string.h>

#include "base/mem.h"

#define REQUIRED   TM_FIELD_REQUIRED
#define PARAMETER  TM_FIELD_PARAMETER
#define CHANGEABLE TM_FIELD_CHANGEABLE
#define ARGUMENT   TM_FIELD_ARGUMENT
#define AT_FIRST   TM_FIELD_AT_FIRST
#define ANY_CASE   TM_FIELD_ANY_CASE
#define RESULT     TM_FIELD_RESULT
#define FAILS      TM_FIELD_FAILS
#define WORDED     TM_FIELD_WORDED

#define INT_MAX_GIVEN 2147483647.0
/* Bytes: a worker with LuaJIT needs less than half of it to start. */
#define WORKER_MEMORY_MIN 33554432
#define SIZE_MAX_GIVEN    1125899906842624.0 /* 2^50 */

/* clang-format off */
static const struct tm_field config_fields[] = {
  { "entry_script", TM_FIELD_PATH, 0, 0, NULL, NULL, 0,
    "the Lua file with init() and run(mini_batch), relative to source_directory, or else to "
    "the pipeline file; required without model" },
  { "model", TM_FIELD_PATH, 0, 0, NULL, NULL, 0,
    "in place of an entry script: an ONNX model that scores the inputs, rows of tables or images, "
    "relative to the pipeline file; 'arguments' are options of a script that is part of tidemill" },
  { "source_directory", TM_FIELD_PATH, 0, 0, NULL, NULL, 0,
    "the folder with everything that the script needs, copied at submission; by default only "
    "the entry script is copied" },
  { "mini_batch_size", TM_FIELD_AMOUNT, 1, INT_MAX_GIVEN, "10", NULL, PARAMETER,
    "the number of files for one run(); for tables, rows (\"500rows\") or bytes (\"1MB\", the "
    "default for tables)" },
  { "partition_keys", TM_FIELD_NAMES, 0, 0, NULL, NULL, PARAMETER,
    "columns: all items with the same values in them form one mini-batch; excludes "
    "mini_batch_size; as a PipelineParameter, one name or a JSON list: '[\"store\"]'" },
  { "error_threshold", TM_FIELD_INT, -1, INT_MAX_GIVEN, "-1", NULL,
    PARAMETER | CHANGEABLE | FAILS | ARGUMENT,
    "how many items of the whole input may fail; -1: any number. With any value "
    "the job is Failed if nothing succeeds" },
  { "returns", TM_FIELD_CHOICE, 0, 0, "auto", "auto|rows|any", CHANGEABLE | RESULT,
    "what run() returns. rows: one element for each item that succeeded; items without one "
    "count as failed. any: any number of elements; only items given to context:fail() count as "
    "failed. auto: any for rows of tables while error_threshold is -1, else rows" },
  { "allowed_failed_count", TM_FIELD_INT, -1, INT_MAX_GIVEN, NULL, NULL,
    PARAMETER | CHANGEABLE | FAILS | ARGUMENT,
    "how many mini-batches may fail; -1, and by default: any number" },
  { "allowed_failed_percent", TM_FIELD_PERCENT, -1, 100, NULL, NULL,
    PARAMETER | CHANGEABLE | FAILS | ARGUMENT,
    "how many of all mini-batches may fail, in percent; judged once all are created; -1, and by "
    "default: any number" },
  { "output_action", TM_FIELD_CHOICE, 0, 0, "append_row", "append_row|summary_only", 0,
    "append_row: all returned rows go to one file; summary_only: the script stores its own "
    "output" },
  { "append_row_file_name", TM_FIELD_FILE_NAME, 0, 0, "parallel_run_step.txt", NULL, 0,
    "the name of the output file of append_row, in the output folder" },
  { "append_row_line_break", TM_FIELD_CHOICE, 0, 0, "error", "error|escape", 0,
    "a line break in a returned string. error: the try fails (in a data frame the line break "
    "stays, in quotes); escape: it is written as \\n or \\r, and every backslash is doubled" },
  { "append_row_separator", TM_FIELD_SEPARATOR, 0, 0, NULL, NULL, 0,
    "the character between the fields of a returned data frame; by default a comma for *.csv, "
    "a tab for *.tsv, else a blank" },
  { "append_row_header", TM_FIELD_BOOL, 0, 0, NULL, NULL, 0,
    "whether the first line names the columns of a returned data frame; by default only in "
    "*.csv and *.tsv" },
  { "process_count_per_node", TM_FIELD_INT, 1, INT_MAX_GIVEN, NULL, NULL, PARAMETER | CHANGEABLE,
    "the number of workers on each node; by default the number of cores, or 1 if there is a GPU; "
    "with another compute_target than local, each node decides" },
  { "node_count", TM_FIELD_INT, 1, INT_MAX_GIVEN, "1", NULL, PARAMETER | CHANGEABLE,
    "the number of machines that run workers; more than 1 needs another compute_target than local" },
  { "compute_target", TM_FIELD_CHOICE, 0, 0, "local", "local|exec|slurm", CHANGEABLE,
    "where workers run. local: on this machine; exec: on nodes, each of which node_command "
    "starts; slurm: on nodes, each of which is a Slurm job" },
  { "node_command", TM_FIELD_STRINGS, 0, 0, NULL, NULL, CHANGEABLE,
    "the command that starts a node, a list or a string that is split at blanks, such as "
    "\"ssh -T {host} {program} node\"; {host}, {node_id}, {program}, {job_dir} and {processes} "
    "are replaced" },
  { "node_hosts", TM_FIELD_STRINGS, 0, 0, NULL, NULL, CHANGEABLE,
    "the values of {host}: a list of names, or a file with one name per line; names beyond "
    "node_count are spares" },
  { "slurm_options", TM_FIELD_STRINGS, 0, 0, NULL, NULL, CHANGEABLE,
    "options for srun, a list or a string that is split at blanks, such as \"--partition=long "
    "--gres=gpu:2\"; for compute_target = \"slurm\"" },
  { "slurm_allocation", TM_FIELD_CHOICE, 0, 0, "auto", "auto|new", CHANGEABLE,
    "where nodes run with compute_target = \"slurm\". auto: within salloc or sbatch on the hosts of "
    "that allocation, one node on each, otherwise as Slurm jobs of their own; new: always as Slurm "
    "jobs of their own" },
  { "node_timeout", TM_FIELD_SECONDS, 1, 3600, "15", NULL, CHANGEABLE,
    "seconds of silence after which a node is given up, and replaced" },
  { "node_start_timeout", TM_FIELD_SECONDS, 1, 86400, "60", NULL, CHANGEABLE,
    "seconds that a node has to become usable after its command was started; time in which Slurm "
    "has it in the queue, or boots its machine, does not count" },
  { "node_wait", TM_FIELD_SECONDS, 1, 31536000, NULL, NULL, CHANGEABLE,
    "seconds without any node after which the step fails; time in Slurm's queue counts; by default "
    "the step waits for any time" },
  { "ship_source", TM_FIELD_BOOL, 0, 0, "false", NULL, CHANGEABLE,
    "whether the job sends its copy of the script to each node once, so that workers do not load it "
    "from a shared disk; changes nothing on this machine" },
  { "environment", TM_FIELD_ENVIRONMENT, 0, 0, NULL, NULL, CHANGEABLE | RESULT,
    "{ variables, module_paths }: environment variables for the workers, and folders that "
    "require searches after the script's own; a name instead of it is accepted and ignored" },
  { "logging_level", TM_FIELD_CHOICE, 0, 0, "INFO", "WARNING|INFO|DEBUG",
    PARAMETER | CHANGEABLE | ARGUMENT | ANY_CASE,
    "the least severe messages in the script's log, in the system logs (logs/sys) and in "
    "job_progress_overview.txt" },
  { "run_invocation_timeout", TM_FIELD_SECONDS, 0.001, 259200, "60", NULL,
    PARAMETER | CHANGEABLE | FAILS | ARGUMENT, "the time limit of one run(), in seconds" },
  { "run_max_try", TM_FIELD_INT, 1, INT_MAX_GIVEN, "3", NULL, PARAMETER | CHANGEABLE | FAILS,
    "how often a mini-batch is tried before it counts as failed" },
  { "retry_delay", TM_FIELD_SECONDS, 0, 86400, NULL, NULL, CHANGEABLE,
    "seconds to wait before a failed try is repeated, doubled for each further try up to 60, "
    "and shortened by up to a quarter at random; by default 0 after errors and timeouts, and "
    "0.5 after a worker was lost" },
  { "worker_memory_limit", TM_FIELD_SIZE, WORKER_MEMORY_MIN, SIZE_MAX_GIVEN, NULL, NULL,
    CHANGEABLE | FAILS,
    "the memory limit of one worker. Lua gets 16 MB less; beyond that run() fails with 'not "
    "enough memory'. A worker with more memory of its own than the limit is killed; mapped "
    "files do not count" },
  { "init_timeout", TM_FIELD_SECONDS, 0.001, 259200, NULL, NULL, CHANGEABLE | FAILS,
    "the time limit for loading the script and its init(), in seconds; by default none" },
  { "interruptible", TM_FIELD_CHOICE, 0, 0, "auto", "auto|true|false", CHANGEABLE,
    "whether a run() that exceeds its timeout is interrupted in Lua, so that its worker lives "
    "on; auto: from the first such run() of the step on, and always in a model or a picture" },
  { "interrupt_grace", TM_FIELD_SECONDS, 0.001, 3600, "2", NULL, CHANGEABLE,
    "seconds that an interrupted run() has to end before its worker is killed" },
  { "isolate_failures", TM_FIELD_BOOL, 0, 0, "false", NULL, CHANGEABLE | FAILS,
    "whether a mini-batch that has used up its tries is run in halves, again and again, until "
    "the bad items stand alone; the rows of the other items are kept, and context.part says which "
    "items a part has" },
  { "isolation_max_try", TM_FIELD_INT, 1, INT_MAX_GIVEN, "100", NULL, CHANGEABLE | FAILS,
    "the limit of tries for the parts of one mini-batch with isolate_failures; items not "
    "tested by then count as failed" },
  { "max_result_size", TM_FIELD_SIZE, 1, SIZE_MAX_GIVEN, "2GB", NULL, CHANGEABLE | FAILS,
    "the size limit of what one run() may return" },
  { "sync_interval", TM_FIELD_SECONDS, 0.001, 3600, "1", NULL, CHANGEABLE,
    "how many seconds of work a power cut may cost" },
  { "gpu_surplus", TM_FIELD_CHOICE, 0, 0, "unset", "unset|none", CHANGEABLE,
    "CUDA_VISIBLE_DEVICES of workers beyond the number of GPUs. unset: not set; none: -1, no "
    "GPU" },
  { "environment_variables", TM_FIELD_VARIABLES, 0, 0, NULL, NULL, CHANGEABLE | RESULT,
    "environment variables for the workers; they override those of environment" },
  { "overwrite", TM_FIELD_BOOL, 0, 0, "false", NULL, CHANGEABLE,
    "whether an existing output file that is not this job's is replaced" },
  { "description", TM_FIELD_TEXT, 0, 0, NULL, NULL, CHANGEABLE,
    "a text for readers of the definition" },
};

static const struct tm_field argument_fields[] = {
  { "profiling_module", TM_FIELD_CHOICE, 0, 0, NULL, "jit|cProfile|profile",
    CHANGEABLE | RESULT | ARGUMENT,
    "profiles the workers by sampling, whichever name is given; the collapsed stacks are in "
    "logs/sys/node/<node>/<process>.profile" },
  { "task_overhead_timeout", TM_FIELD_SECONDS, 0.001, 259200, "600", NULL,
    CHANGEABLE | FAILS | ARGUMENT,
    "the time limit for loading a mini-batch before its run(), for prefetch(), and for writing its "
    "result afterwards, in seconds" },
  { "progress_update_timeout", TM_FIELD_SECONDS, 0.001, 1e9, NULL, NULL, CHANGEABLE | ARGUMENT,
    "the step fails if no mini-batch is created or ends for this many seconds; by default "
    "computed from the other timeouts" },
  { "append_row_dataframe_header", TM_FIELD_BOOL, 0, 0, NULL, NULL, ARGUMENT,
    "the same as append_row_header; if both are given, this one counts" },
  { "first_task_creation_timeout", TM_FIELD_SECONDS, 0.001, 1e9, "600", NULL, CHANGEABLE | ARGUMENT,
    "the step fails if its first mini-batch is not created within this many seconds" },
  { "resource_monitor_interval", TM_FIELD_SECONDS, 0, INT_MAX_GIVEN, "auto", "auto",
    CHANGEABLE | ARGUMENT,
    "seconds between two measurements of a node's resources, in logs/perf; 0: no measurements; "
    "auto: 1 for two minutes, then 5, after an hour 30" },
  { "resume_from", TM_FIELD_PATH, 0, 0, NULL, NULL, AT_FIRST | ARGUMENT,
    "a job, by its directory, its name or 'latest': a new job takes over what that job "
    "committed in the step of the same name" },
};

static const struct tm_field retry_fields[] = {
  { "max_retries", TM_FIELD_INT, 0, INT_MAX_GIVEN - 1, NULL, NULL, PARAMETER,
    "how often a failed try is repeated: run_max_try - 1" },
  { "timeout", TM_FIELD_SECONDS, 0.001, 259200, NULL, NULL, PARAMETER,
    "another name for run_invocation_timeout" },
};

static const struct tm_field resources_fields[] = {
  { "instance_count", TM_FIELD_INT, 1, INT_MAX_GIVEN, NULL, NULL, PARAMETER,
    "another name for node_count" },
};

static const struct tm_field step_fields[] = {
  { "name", TM_FIELD_NAME, 0, 0, NULL, NULL, REQUIRED,
    "the name of the step, unique in the pipeline" },
  { "parallel_run_config", TM_FIELD_OBJECT, 0, 0, NULL, "ParallelRunConfig", REQUIRED,
    "how the step is run" },
  { "inputs", TM_FIELD_OBJECTS, 0, 0, NULL, "FileDataset|TabularDataset|OutputFileDatasetConfig",
    REQUIRED | PARAMETER | TM_FIELD_OR_ONE,
    "datasets or outputs of other steps, read one after the other; no mini-batch mixes them" },
  { "side_inputs", TM_FIELD_OBJECTS, 0, 0, NULL, "FileDataset|OutputFileDatasetConfig",
    PARAMETER | TM_FIELD_OR_ONE,
    "datasets of files that every worker may read whole; in 'arguments' each becomes the path "
    "where its files are" },
  { "output", TM_FIELD_OBJECTS, 0, 0, NULL, "OutputFileDatasetConfig", TM_FIELD_OR_ONE,
    "the output folders: the first is <step>/output, each further one <step>/output.<name>" },
  { "arguments", TM_FIELD_LIST, 0, 0, NULL, NULL, 0,
    "arguments of the script: strings, numbers, booleans, PipelineParameters; a dataset or an "
    "output becomes its path; the runner takes some of them itself" },
  { "allow_reuse", TM_FIELD_CHOICE, 0, 0, "true", "true|false|content", CHANGEABLE,
    "whether an earlier result of the same work may be used. true: input files are compared by "
    "path, size and time; content: by their bytes; false: the step always runs" },
};

static const struct tm_field pipeline_fields[] = {
  { "name", TM_FIELD_NAME, 0, 0, NULL, NULL, REQUIRED,
    "the name of the pipeline; the names of its jobs begin with it" },
  { "steps", TM_FIELD_OBJECTS, 0, 0, NULL, "ParallelRunStep", REQUIRED, "the steps to run" },
  { "description", TM_FIELD_TEXT, 0, 0, NULL, NULL, CHANGEABLE,
    "a text for readers of the definition" },
};

static const struct tm_field parameter_fields[] = {
  { "name", TM_FIELD_WORD, 0, 0, NULL, NULL, REQUIRED,
    "the name of the parameter, as in --param NAME=VALUE" },
  { "default_value", TM_FIELD_SCALAR, 0, 0, NULL, "FileDataset|TabularDataset", REQUIRED,
    "the value without --param; it also sets the type of the parameter; for an input, a "
    "dataset whose path --param gives" },
};

#define PARTITION_FORMAT \
  { "partition_format", TM_FIELD_TEXT, 0, 0, NULL, NULL, 0, \
    "columns that are read from the end of each path. With \"{store}/{date:yyyy/MM/dd}/*.csv\", " \
    "what is read from /data/north/2024/01/15/a.csv has the columns store, \"north\", and date, a " \
    "datetime. * matches any part of a name; the words of a date are yyyy, MM, dd, HH, mm and " \
    "ss. partition_keys may name these columns" }

static const struct tm_field output_fields[] = {
  { "name", TM_FIELD_WORD, 0, 0, NULL, NULL, REQUIRED, "the name of the output" },
  { "destination", TM_FIELD_PATH, 0, 0, NULL, NULL, 0,
    "the folder that the output is written to, or the file that it is packed into, relative to "
    "the pipeline file. {run-id} in it is the job's name, {output-name} the output's. By "
    "default the output is in the job's directory" },
  { "mode", TM_FIELD_CHOICE, 0, 0, "mount", "mount|upload|archive", 0,
    "mount: files are written to destination while the step runs; upload, set by as_upload(): "
    "the output appears there when the step is Completed; archive, set by as_archive(format): "
    "the output is packed into that file" },
  { "archive_format", TM_FIELD_CHOICE, 0, 0, "zip", "zip|tar|tar.gz|tar.zst", 0,
    "the format of a packed output; as_archive(format) sets it" },
  PARTITION_FORMAT,
  { "register_as", TM_FIELD_TEXT, 0, 0, NULL, NULL, CHANGEABLE,
    "the output is registered as a dataset of this name when the step is Completed, each time "
    "as a new version; output:register_on_complete(name, { description, tags }) sets it" },
  { "description", TM_FIELD_TEXT, 0, 0, NULL, NULL, CHANGEABLE,
    "the description of the dataset that register_as names" },
  { "tags", TM_FIELD_VARIABLES, 0, 0, NULL, NULL, CHANGEABLE,
    "names and values for the dataset that register_as names" },
};

static const struct tm_field mini_batches_fields[] = {
  { "mini_batch_size", TM_FIELD_AMOUNT, 1, INT_MAX_GIVEN, "10", NULL, 0,
    "the number of files in a mini-batch; for tables, rows (\"500rows\") or bytes (\"1MB\", "
    "the default for tables)" },
  { "partition_keys", TM_FIELD_NAMES, 0, 0, NULL, NULL, 0,
    "columns: all items with the same values in them form one mini-batch" },
};

static const struct tm_field load_script_fields[] = {
  { "arguments", TM_FIELD_LIST, 0, 0, NULL, NULL, 0,
    "arguments of the script, which finds them in `arg`" },
  { "logging_level", TM_FIELD_CHOICE, 0, 0, "INFO", "WARNING|INFO|DEBUG", ANY_CASE,
    "the least severe messages that the script's logger writes" },
};

static const struct tm_field register_fields[] = {
  { "create_new_version", TM_FIELD_BOOL, 0, 0, "false", NULL, 0,
    "whether a name that is registered with another definition gets a new version; false: that "
    "is an error" },
  { "description", TM_FIELD_TEXT, 0, 0, NULL, NULL, 0, "a text for readers of the definition" },
  { "tags", TM_FIELD_VARIABLES, 0, 0, NULL, NULL, 0,
    "names and values for readers of the definition" },
};

static const struct tm_field submit_fields[] = {
  { "job_dir", TM_FIELD_PATH, 0, 0, NULL, NULL, 0,
    "the job's directory; by default a new one in the workspace" },
  { "parameters", TM_FIELD_VARIABLES, 0, 0, NULL, NULL, 0,
    "values of PipelineParameters; for one of a dataset another dataset, a path, a list of paths, "
    "or \"dataset:NAME\"" },
  { "resume", TM_FIELD_BOOL, 0, 0, "false", NULL, 0,
    "resumes the job in job_dir, or else this pipeline's newest job that is not Completed" },
  { "keep_failed", TM_FIELD_BOOL, 0, 0, "false", NULL, 0,
    "with resume: failed mini-batches stay failed; by default they get new tries" },
  { "accept_changes", TM_FIELD_BOOL, 0, 0, "false", NULL, 0,
    "with resume: continues even if the script, settings or inputs have changed" },
  { "verify_input", TM_FIELD_BOOL, 0, 0, "false", NULL, 0,
    "with resume: lists the inputs again and compares the whole list" },
  { "verify_output", TM_FIELD_BOOL, 0, 0, "false", NULL, 0,
    "with resume: reads all committed rows and failures and compares them with the journal "
    "before anything runs" },
  { "keep_script", TM_FIELD_BOOL, 0, 0, "false", NULL, 0,
    "with resume: uses the job's own copy of the script, even if the script has changed" },
  { "no_reuse", TM_FIELD_BOOL, 0, 0, "false", NULL, 0,
    "runs every step, even if an earlier job has its result" },
  { "max_workers", TM_FIELD_INT, 1, INT32_MAX, NULL, NULL, 0,
    "the limit of workers for all steps together; by default the number of cores, or the "
    "largest process_count_per_node if that is more, on each node" },
};

static const struct tm_field workspace_fields[] = {
  { "name", TM_FIELD_TEXT, 0, 0, NULL, NULL, 0, "accepted and ignored" },
  { "workspace_name", TM_FIELD_TEXT, 0, 0, NULL, NULL, 0, "accepted and ignored" },
  { "path", TM_FIELD_PATH, 0, 0, NULL, NULL, 0,
    "the folder .tidemill, or the one that holds it; by default the nearest .tidemill, as for "
    "jobs, which must "
    "not be another user's" },
  { "subscription_id", TM_FIELD_TEXT, 0, 0, NULL, NULL, 0, "accepted and ignored" },
  { "resource_group", TM_FIELD_TEXT, 0, 0, NULL, NULL, 0, "accepted and ignored" },
};

static const struct tm_field directory_fields[] = {
  { "overwrite", TM_FIELD_BOOL, 0, 0, "false", NULL, 0,
    "whether an existing datastore of that name gets another directory" },
};

static const struct tm_field copy_fields[] = {
  { "overwrite", TM_FIELD_BOOL, 0, 0, "false", NULL, 0,
    "whether existing files are replaced; false: they are left as they are, and counted" },
};

static const struct tm_field from_files_fields[] = {
  { "on_unreadable", TM_FIELD_CHOICE, 0, 0, "error", "error|skip", 0,
    "a folder that cannot be read. error: the job fails; skip: the folder is left out" },
  PARTITION_FORMAT,
};

static const struct tm_field from_archives_fields[] = {
  { "entries", TM_FIELD_NAMES, 0, 0, NULL, NULL, 0,
    "patterns for names within the archives; by default all entries except those whose names "
    "begin with a dot" },
  { "extract", TM_FIELD_BOOL, 0, 0, "true", NULL, 0,
    "true: run() gets paths of files that exist only for its mini-batch, in memory (/dev/shm) "
    "if they are small; false: run() gets names, which context:open(item) reads" },
  { "max_entries", TM_FIELD_INT, 1, INT_MAX_GIVEN, "10000000", NULL, 0,
    "the limit of entries in an archive; one with more fails from there on" },
  { "max_entry_size", TM_FIELD_SIZE, 1, SIZE_MAX_GIVEN, "4GB", NULL, 0,
    "the size limit of an extracted entry; a larger entry fails" },
  { "max_ratio", TM_FIELD_INT, 1, INT_MAX_GIVEN, "200", NULL, 0,
    "the limit for the ratio of extracted to packed bytes, checked above 16 MB; an entry of a "
    "zip file with a higher ratio fails, and an archive with a higher one fails from there on" },
  { "on_unreadable", TM_FIELD_CHOICE, 0, 0, "error", "error|skip", 0,
    "a folder or an archive that cannot be opened. error: the job fails; skip: it is left out" },
  PARTITION_FORMAT,
};

static const struct tm_field from_manifest_fields[] = {
  { "null_separated", TM_FIELD_BOOL, 0, 0, "false", NULL, 0,
    "whether paths end in NUL, as find -print0 writes them" },
  PARTITION_FORMAT,
};

#define LIMIT_FIELDS \
  { "max_columns", TM_FIELD_INT, 1, TM_MAX_COLUMNS_MOST, "65536", NULL, 0, \
    "the limit of columns; a table with more is refused before it uses memory" }, \
  { "max_record_size", TM_FIELD_SIZE, 1, TM_MAX_RECORD_SIZE_MOST, "64MB", NULL, 0, \
    "the size limit of a row or line. A longer header is refused; a longer row or line fails the " \
    "try, or is left out with invalid_lines = \"drop\"; at most 2GB" }
#define ON_MISFIT \
  { "on_misfit", TM_FIELD_CHOICE, 0, 0, "null", "null|error", 0, \
    "a value that does not fit its column's type. null: it becomes null and is counted; error: " \
    "the try fails" }

#define TABLE_FIELDS \
  { "on_unreadable", TM_FIELD_CHOICE, 0, 0, "error", "error|skip", 0, \
    "a folder that cannot be read. error: the job fails; skip: the folder is left out" }, \
  PARTITION_FORMAT, \
  { "validate", TM_FIELD_BOOL, 0, 0, "true", NULL, 0, \
    "whether the first rows are checked before the first run(); false is only accepted if types " \
    "are not inferred" }, \
  { "include_path", TM_FIELD_BOOL, 0, 0, "false", NULL, 0, \
    "whether to add a column Path with the path of each row's file" }, \
  { "set_column_types", TM_FIELD_TYPES, 0, 0, NULL, NULL, 0, \
    "types of columns by name; they override the inferred types" }, \
  ON_MISFIT, \
  { "encoding", TM_FIELD_CHOICE, 0, 0, "utf8", \
    "utf8|utf8bom|latin1|iso88591|windows1252|ascii|utf16", 0, "the encoding of the files" }

static const struct tm_field from_delimited_files_fields[] = {
  { "separator", TM_FIELD_SEPARATOR, 0, 0, ",", NULL, 0,
    "the character between fields; \"\\t\" for a tab" },
  { "header", TM_FIELD_CHOICE, 0, 0, "true",
    "true|all_files_same|from_first_file|false|none|all_files_different", 0,
    "which files begin with the names of their columns. true, all_files_same: all, with the "
    "same names; from_first_file: the first; false, none: no file (the names are Column1, "
    "Column2, ...); all_files_different: all, with different names" },
  { "infer_column_types", TM_FIELD_BOOL, 0, 0, "true", NULL, 0,
    "whether types are inferred from the first 200 rows of the first file; false: all "
    "columns are strings" },
  { "support_multi_line", TM_FIELD_BOOL, 0, 0, "false", NULL, 0,
    "whether a line break in quotes belongs to the field; false: every line break ends a "
    "row" },
  { "empty_as_string", TM_FIELD_BOOL, 0, 0, "false", NULL, 0,
    "whether an empty field of a string column is \"\"; false: the field is null" },
  { "on_ragged", TM_FIELD_CHOICE, 0, 0, "null", "null|drop|error", 0,
    "a row with too few or too many fields. null: missing fields are null, surplus ones are "
    "left out; drop: the row is left out; error: the try fails" },
  TABLE_FIELDS,
  LIMIT_FIELDS,
};

static const struct tm_field from_json_lines_files_fields[] = {
  { "columns", TM_FIELD_NAMES, 0, 0, NULL, NULL, 0,
    "keys that are columns even if the first 200 objects lack them; strings, unless "
    "set_column_types says otherwise" },
  { "invalid_lines", TM_FIELD_CHOICE, 0, 0, "error", "error|drop", 0,
    "a line that is not a JSON object. error: the try fails; drop: the line is left out and "
    "counted" },
  TABLE_FIELDS,
  LIMIT_FIELDS,
};

#define KEY_MAX_GIVEN 9007199254740991.0 /* 2^53 - 1 */

static const struct tm_field from_sql_query_fields[] = {
  { "query", TM_FIELD_TEXT, 0, 0, NULL, NULL, REQUIRED | PARAMETER,
    "the SELECT that gives the rows" },
  { "key_column", TM_FIELD_TEXT, 0, 0, NULL, NULL, PARAMETER,
    "an integer column of the query that splits it: a mini-batch has the rows of as many keys "
    "as mini_batch_size says, as \"500rows\"; by default all rows are one mini-batch" },
  { "key_from", TM_FIELD_INT, -KEY_MAX_GIVEN, KEY_MAX_GIVEN, NULL, NULL, PARAMETER,
    "the first key; rows before it are left out" },
  { "key_to", TM_FIELD_INT, -KEY_MAX_GIVEN, KEY_MAX_GIVEN, NULL, NULL, PARAMETER,
    "the last key; rows after it are left out" },
  { "query_timeout", TM_FIELD_SECONDS, 0.001, 86400, "30", NULL, PARAMETER,
    "the time limit until the first row, in seconds, including waits for other programs' locks" },
  { "validate", TM_FIELD_BOOL, 0, 0, "true", NULL, 0,
    "whether the query is checked before anything starts" },
  { "set_column_types", TM_FIELD_TYPES, 0, 0, NULL, NULL, 0,
    "types of columns by name; they override the types of the first rows" },
  ON_MISFIT,
};

static const struct tm_field partition_by_fields[] = {
  { "overwrite", TM_FIELD_BOOL, 0, 0, "false", NULL, 0,
    "whether a target that partition_by made from other rows is replaced" },
  { "partition_as_file_dataset", TM_FIELD_BOOL, 0, 0, "false", NULL, 0,
    "whether the new dataset is a FileDataset, whose items are the files" },
};

static const struct tm_field from_failed_items_fields[] = {
  { "step", TM_FIELD_NAME, 0, 0, NULL, NULL, 0, "the step of the job; by default its only one" },
};

/* A dataset as the constructors hand it over: what they all have, and where their options are. */
static const struct tm_field dataset_fields[] = {
  { "kind", TM_FIELD_CHOICE, 0, 0, NULL, "files|manifest|failed|delimited|json_lines|sql|archives",
    REQUIRED, "the constructor" },
  { "paths", TM_FIELD_ANY, 0, 0, NULL, NULL, 0, "a path or pattern, or a list of them" },
  { "base_dir", TM_FIELD_PATH, 0, 0, NULL, NULL, 0, "the folder where relative paths start" },
  { "step", TM_FIELD_NAME, 0, 0, NULL, NULL, 0, "the step that writes it; instead of base_dir" },
  { "name", TM_FIELD_TEXT, 1, 0, NULL, NULL, 0, "given by as_named_input" },
  { "mode", TM_FIELD_CHOICE, 0, 0, "direct", "mount|download|direct", 0, "as_mount, as_download" },
  { "place", TM_FIELD_PATH, 0, 0, NULL, NULL, 0, "given to as_mount or as_download" },
  { "limit", TM_FIELD_INT, 1, KEY_MAX_GIVEN, NULL, NULL, 0, "only so many first items" },
  { "input", TM_FIELD_INT, 0, KEY_MAX_GIVEN, NULL, NULL, 0,
    "of failed items: only those of this input" },
  { "registered", TM_FIELD_TEXT, 0, 0, NULL, NULL, 0, "its name in the registry" },
  { "version", TM_FIELD_INT, 0, KEY_MAX_GIVEN, NULL, NULL, 0, "its version in the registry" },
  { "workspace", TM_FIELD_TEXT, 0, 0, NULL, NULL, 0, "the registry's workspace" },
  { "on_unreadable", TM_FIELD_CHOICE, 0, 0, "error", "error|skip", 0, "an option of its kind" },
  { "null_separated", TM_FIELD_BOOL, 0, 0, "false", NULL, 0, "an option of its kind" },
  PARTITION_FORMAT,
  { "options", TM_FIELD_ANY, 0, 0, NULL, NULL, 0, "the other options of its kind" },
  { "ops", TM_FIELD_LIST, 0, 0, NULL, NULL, 0, "operations on the rows of a table" },
};

/* Operations on the rows of a table, as its methods make them (data/table/table_ops.h). */
#define OP { "op", TM_FIELD_TEXT, 0, 0, NULL, NULL, REQUIRED, "the operation" }
#define COUNT(call) \
  { "count", TM_FIELD_INT, 0, 0, NULL, NULL, REQUIRED | WORDED, \
    call "(count): accepted: an integer from 0 on" }
#define COLUMNS(call) \
  { "columns", TM_FIELD_NAMES, 0, 0, NULL, NULL, REQUIRED | WORDED, \
    call ": accepted: one or more names of columns, each once" }
#define SHARE(name, call) \
  { name, TM_FIELD_PERCENT, 0, 1, NULL, NULL, REQUIRED | WORDED, \
    call "(" name ", seed): accepted: a number from 0 to 1 and a seed, without names" }
#define SEED(call) \
  { "seed", TM_FIELD_INT, (double)INT64_MIN, 0, "0", NULL, WORDED, \
    call ": 'seed': accepted: an integer" }
static const struct tm_field skip_fields[] = { OP, COUNT("skip") };
static const struct tm_field take_fields[] = { OP, COUNT("take") };
static const struct tm_field keep_fields[] = { OP, COLUMNS("keep_columns") };
static const struct tm_field drop_fields[] = { OP, COLUMNS("drop_columns") };
static const struct tm_field sample_fields[] = {
  OP, SHARE("probability", "take_sample"), SEED("take_sample"),
};
static const struct tm_field split_fields[] = {
  OP, SHARE("fraction", "random_split"), SEED("random_split"),
  { "part", TM_FIELD_INT, 1, 2, "1", NULL, 0, "1: the drawn rows; 2: the others" },
};
static const struct tm_field filter_fields[] = {
  OP,
  { "column", TM_FIELD_TEXT, 1, 0, NULL, NULL, REQUIRED | WORDED,
    "filter(column, sign, value): the name of a column comes first" },
  { "is", TM_FIELD_CHOICE, 0, 0, NULL, "==|~=|<|<=|>|>=", REQUIRED | WORDED,
    "filter(column, sign, value): the sign is not a comparison; accepted: \"==\", \"~=\", \"<\", "
    "\"<=\", \">\", \">=\"" },
  { "value", TM_FIELD_SCALAR, 0, 0, NULL, NULL, REQUIRED | WORDED,
    "filter(column, sign, value): the value: accepted: a number, a string or a boolean" },
};

#define INTERNAL_KINDS 10
#define KIND(name, fields) { name, fields, TM_COUNT_OF(fields) }
static const struct kind {
  const char *name;
  const struct tm_field *fields;
  size_t n;
} kinds[] = {
  KIND("ParallelRunConfig", config_fields),
  KIND("ParallelRunStep", step_fields),
  KIND("Pipeline", pipeline_fields),
  KIND("PipelineParameter", parameter_fields),
  KIND("OutputFileDatasetConfig", output_fields),
  KIND("Dataset.File.from_files", from_files_fields),
  KIND("Dataset.File.from_archives", from_archives_fields),
  KIND("Dataset.File.from_manifest", from_manifest_fields),
  KIND("Dataset.File.from_failed_items", from_failed_items_fields),
  KIND("Dataset.Tabular.from_delimited_files", from_delimited_files_fields),
  KIND("Dataset.Tabular.from_json_lines_files", from_json_lines_files_fields),
  KIND("Dataset.Tabular.from_sql_query", from_sql_query_fields),
  KIND("dataset:register", register_fields),
  KIND("dataset:partition_by", partition_by_fields),
  KIND("dataset:mini_batches", mini_batches_fields),
  KIND("load_script", load_script_fields),
  KIND("pipeline:submit", submit_fields),
  KIND("Workspace", workspace_fields),
  KIND("Datastore.register_directory", directory_fields),
  KIND("datastore:upload", copy_fields),
  KIND("datastore:download", copy_fields),
  KIND("arguments", argument_fields),
  /* The last INTERNAL_KINDS are not constructors. */
  KIND("retry_settings", retry_fields), /* aliases.h */
  KIND("resources", resources_fields),
  KIND("dataset", dataset_fields),
  KIND("op:skip", skip_fields),
  KIND("op:take", take_fields),
  KIND("op:keep", keep_fields),
  KIND("op:drop", drop_fields),
  KIND("op:sample", sample_fields),
  KIND("op:split", split_fields),
  KIND("op:filter", filter_fields),
};
/* clang-format on */

const struct tm_field *tm_params_fields(const char *kind, size_t *n)
{
  for (size_t i = 0; i < TM_COUNT_OF(kinds); i++) {
    if (strcmp(kinds[i].name, kind) == 0) {
      *n = kinds[i].n;
      return kinds[i].fields;
    }
  }
  *n = 0;
  return NULL;
}

const char *tm_params_kind(size_t i)
{
  return i < TM_COUNT_OF(kinds) - INTERNAL_KINDS ? kinds[i].name : NULL;
}

const struct tm_field *tm_params_find(const char *kind, const char *name)
{
  size_t n;
  const struct tm_field *fields = tm_params_fields(kind, &n);
  for (size_t i = 0; i < n; i++) {
    if (strcmp(fields[i].name, name) == 0)
      return &fields[i];
  }
  return NULL;
}

int tm_params_locate(const char *kind, const struct tm_json *v, struct tm_err *err)
{
  if (v && v->where)
    return tm_err_wrap(err, "%s: %s", v->where, kind);
  return tm_err_wrap(err, "%s", kind);
}
