/* cmd_version.c - `tidemill version`: the versions of the program and its libraries; with
 * --libraries also of those that are searched for when a script first needs them. */
#include "base/hash.h"
#include "base/json.h"
#include "cli/cli.h"
#include "data/text/unicode.h"
#include "model/ort_runtime.h"
#include "node/node_msg.h"
#include "runtime.h"
#include "store/db.h"
#include "sys/loop.h"

struct version_options {
  bool libraries;
};

/* clang-format off */
static const struct tm_option options[] = {
  { "libraries", TM_OPTION_FLAG, offsetof(struct version_options, libraries), NULL, NULL, "also searches for the libraries that are loaded when a script needs them" },
};
/* clang-format on */

static int version(const struct tm_cli *cli, int argc, char **argv);

const struct tm_command tm_command_version = {
  .name = "version",
  .run = version,
  .usage = "[--libraries]",
  .summary = "prints the versions of tidemill and its libraries",
  .options = options,
  .options_len = TM_COUNT_OF(options),
  .help = "--libraries searches for ONNX Runtime as a script would that has no folder of its\n"
          "own, and loads it: it prints the version and the file, or why it cannot be used.\n"
          "Scripts also look in their own folder and in module_paths. It also loads\n"
          "libutf8proc, which tidemill.tokenizer needs.\n\n"
          "Exit status: 0, also if a library is missing; 2 a wrong option.\n",
};

static void add_onnxruntime(struct tm_buf *out)
{
  static const char *const none[] = { NULL };
  struct tm_err err = TM_ERR_NONE;
  const struct tm_runtime *r = tm_runtime_open(none, &err);

  if (r)
    tm_buf_printf(out, "ONNX Runtime %s of '%s'\n", r->version, r->path);
  else
    tm_buf_printf(out, "no ONNX Runtime: %s\n", err.text);
}

static void add_utf8proc(struct tm_buf *out)
{
  struct tm_err err = TM_ERR_NONE;
  const struct tm_utf8proc *u = tm_utf8proc(&err);

  if (u)
    tm_buf_printf(out, "libutf8proc %s, Unicode %s\n", u->version(), u->unicode_version());
  else
    tm_buf_printf(out, "no libutf8proc: %s\n", err.text);
}

static int version(const struct tm_cli *cli, int argc, char **argv)
{
  struct version_options o = { 0 };
  struct tm_words rest = { 0 };
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf text = TM_BUF_NONE;
  int rc = tm_options_read(options, TM_COUNT_OF(options), argc, argv, &o, &rest, &err);

  if (rc >= 0 && rest.len > 0)
    rc = tm_err_set(&err, TM_EUSAGE, "'%s' is one word too many", rest.at[0]);
  TM_ARRAY_RELEASE(&rest);
  if (rc < 0)
    return tm_cli_fail_usage(&tm_command_version, &err);
  tm_buf_printf(&text, "tidemill %s\n", tidemill_version());
  tm_lua_version(&text);
  tm_buf_printf(&text, ", libuv %s, ", tm_loop_library());
  tm_json_library(&text);
  tm_buf_add_str(&text, ", ");
  tm_hash_library(&text);
  tm_buf_add_str(&text, ", ");
  tm_db_library(&text);
  tm_buf_printf(&text, "\nbuild %s\n", tm_build_id());
  if (o.libraries) {
    add_onnxruntime(&text);
    add_utf8proc(&text);
  }
  return tm_cli_write_and_release(&text);
}
