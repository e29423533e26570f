/* power_case.c - see power_case.h. Compares rows and failed items as multisets of lines; of a
 * failed item only the parts that do not depend on its worker. */
#include "power_case.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/json.h"
#include "base/mem.h"
#include "outputs/upload_mark.h"

#define ITEMS   20
#define LIMIT_S 30 /* for one run */
#define OUTPUT  "output/parallel_run_step.txt"

extern char **environ;

static const char pipeline[] =
    "local tm = require 'tidemill'\n"
    "local steps = {}\n"
    "for i, name in ipairs { 'alpha', 'beta' } do\n"
    "  local config = tm.ParallelRunConfig { entry_script = name .. '.lua', mini_batch_size = 1,\n"
    "    run_max_try = 1, process_count_per_node = 1, sync_interval = 0.005,\n"
    "    error_threshold = os.getenv 'POWER_STRICT' and 0 or -1 }\n"
    "  local up = i == 1 and tm.OutputFileDatasetConfig { name = 'up',\n"
    "    destination = 'root/" POWER_UPLOAD "' }:as_upload() or nil\n"
    "  steps[i] = tm.ParallelRunStep { name = name, parallel_run_config = config, output = up,\n"
    "    inputs = { tm.Dataset.File.from_files('in/*'):as_named_input('in') } }\n"
    "end\n"
    "return tm.Pipeline { name = 'power', steps = steps }\n";

static const char script[] = "local is_slow = os.getenv 'POWER_SLOW'\n"
                             "function run(mini_batch)\n"
                             "  local rows, until_s = {}, os.clock() + 0.003\n"
                             "  while is_slow and os.clock() < until_s do end\n"
                             "  for i, path in ipairs(mini_batch) do\n"
                             "    local n = tonumber(path:match '(%d+)$')\n"
                             "    if n % 6 == 0 then error('number ' .. n) end\n"
                             "    rows[i] = n .. ':' .. ('x'):rep(n * 7 % 90) .. ':end'\n"
                             "  end\n"
                             "  return IS_FRAME and #rows > 0 and\n"
                             "    require 'tidemill.frame'.from_table { row = rows } or rows\n"
                             "end\n";

static bool bad(struct power_case *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool bad(struct power_case *c, const char *fmt, ...)
{
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(c->words, sizeof(c->words), fmt, ap);
  va_end(ap);
  return false;
}

static void write_file(const char *path, const char *bytes, size_t len, uint32_t mode)
{
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode & 0777);
  tm_require(fd >= 0);
  tm_require(tm_fd_append(fd, bytes, len) == 0);
  close(fd);
}

static void write_in(struct power_case *c, const char *name, const char *text)
{
  char *path = tm_xprintf("%s/%s", c->dir, name);
  write_file(path, text, strlen(text), 0600);
  free(path);
}

/* In memory, if there is such a folder, because the simulated disk is what loses power. The long
 * test uses a real disk, where an fsync takes time and others write meanwhile. */
static const char *base_dir(void)
{
  const char *named = getenv("TMPDIR");
  if (named)
    return named;
  return !getenv("TM_LONG") && access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
}

void power_case_init(struct power_case *c, const char *program, const char *traced)
{
  const char *base = base_dir();
  char name[40], number[20];
  sigset_t child;
  memset(c, 0, sizeof(*c));
  c->program = program;
  c->traced = traced;
  c->dir = tm_xprintf("%s/tidemill-power-XXXXXX", base);
  tm_require(mkdtemp(c->dir) != NULL);
  c->root = tm_xprintf("%s/root", c->dir);
  c->job_dir = tm_xprintf("%s/job", c->root);
  c->trace_file = tm_xprintf("%s/trace", c->dir);
  write_in(c, "pipeline.lua", pipeline);
  for (int i = 0; i < POWER_STEPS; i++) {
    snprintf(name, sizeof(name), "%s.lua", power_steps[i]);
    char *text = tm_xprintf("local IS_FRAME = %s\n%s", i == 1 ? "true" : "false", script);
    write_in(c, name, text);
    free(text);
  }
  char *in = tm_xprintf("%s/in", c->dir);
  tm_require(mkdir(in, 0700) == 0);
  free(in);
  for (int i = 1; i <= ITEMS; i++) {
    snprintf(name, sizeof(name), "in/%03d", i);
    snprintf(number, sizeof(number), "%d\n", i);
    write_in(c, name, number);
  }
  tm_require(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, NULL); /* already waited for */
}

void power_case_clear(struct power_case *c)
{
  tm_require(tm_tree_remove(c->root, NULL) == 0);
  tm_require(mkdir(c->root, 0700) == 0);
  unlink(c->trace_file);
}

void power_case_release(struct power_case *c)
{
  if (!getenv("TM_KEEP_CASES"))
    tm_tree_remove(c->dir, NULL);
  for (int i = 0; i < POWER_STEPS; i++) {
    free(c->rows[i]);
    free(c->failed[i]);
    for (int k = 0; k < 4; k++)
      tm_buf_release(&c->promised[i][k]);
  }
  free(c->dir);
  free(c->root);
  free(c->job_dir);
  free(c->trace_file);
}

/* Running. */

static double now_s(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Reaps children until `pid` has ended, or with -1 until there are none. Returns its status; -1:
 * timeout. */
static int wait_for(pid_t pid, double until_s)
{
  sigset_t child;
  int status;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  for (;;) {
    pid_t got = waitpid(-1, &status, WNOHANG);
    if (got > 0 && got == pid)
      return status;
    if (got < 0)
      return pid < 0 && errno == ECHILD ? 0 : -1;
    if (got > 0)
      continue;
    double left = until_s - now_s();
    if (left <= 0)
      return -1;
    struct timespec t = { (time_t)left, (long)((left - (double)(time_t)left) * 1e9) };
    sigtimedwait(&child, NULL, &t);
  }
}

static pid_t start(struct power_case *c, const char *program, int flags)
{
  char *err = tm_xprintf("%s/err", c->dir), *file = tm_xprintf("%s/pipeline.lua", c->dir);
  const char *argv[] = { program,    "run",        file,   "--job-dir",
                         c->job_dir, "--progress", "none", flags & POWER_RESUME ? "--resume" : NULL,
                         NULL };
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none;
  pid_t pid;
  if (flags & POWER_SLOW)
    setenv("POWER_SLOW", "1", 1);
  else
    unsetenv("POWER_SLOW");
  if (flags & POWER_STRICT)
    setenv("POWER_STRICT", "1", 1);
  else
    unsetenv("POWER_STRICT");
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawnattr_init(&attributes);
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  tm_require(posix_spawn(&pid, program, &actions, &attributes, (char **)(uintptr_t)argv, environ) ==
             0);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  free(err);
  free(file);
  return pid;
}

static void read_in(const struct power_case *c, const char *dir, const char *name,
                    struct tm_buf *out)
{
  char *path = tm_xprintf("%s/%s", dir, name);
  tm_buf_clear(out);
  tm_fs_read_file(tm_fs_real(), path, 64u << 20, out, NULL); /* no effect if it is missing */
  free(path);
}

static int run(struct power_case *c, const char *program, int flags)
{
  pid_t pid = start(c, program, flags);
  int status = wait_for(pid, now_s() + LIMIT_S);
  if (status < 0) {
    kill(pid, SIGKILL);
    wait_for(-1, now_s() + LIMIT_S);
    bad(c, "it did not end within %d s", LIMIT_S);
    return -1;
  }
  if (wait_for(-1, now_s() + LIMIT_S) < 0) {
    bad(c, "a process is left");
    return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int power_case_trace(struct power_case *c, int flags, uint64_t kill_at)
{
  char *plan = kill_at
                   ? tm_xprintf("trace:%s,kill@%llu", c->trace_file, (unsigned long long)kill_at)
                   : tm_xprintf("trace:%s", c->trace_file);
  setenv("TM_FAULTS", plan, 1);
  free(plan);
  int status = run(c, c->traced, flags);
  unsetenv("TM_FAULTS");
  return status;
}

/* Checking. */

static int compare_lines(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The sorted lines, each cut at `stop` if it contains that. The caller frees them. */
static char *sorted_lines(const struct tm_buf *text, const char *stop)
{
  struct TM_ARRAY(char *) lines = { 0 };
  struct tm_buf out = TM_BUF_NONE;
  char *copy = tm_xstrdup(tm_buf_str(text)), *rest = copy, *line;
  while ((line = strsep(&rest, "\n")))
    *TM_ARRAY_ADD(&lines) = line;
  for (size_t i = 0; stop && i < lines.len; i++)
    if ((line = strstr(lines.at[i], stop)))
      *line = '\0';
  qsort(lines.at, lines.len, sizeof(*lines.at), compare_lines);
  for (size_t i = 0; i < lines.len; i++)
    tm_buf_printf(&out, "%s\n", lines.at[i]);
  TM_ARRAY_RELEASE(&lines);
  free(copy);
  return tm_buf_take(&out);
}

static char *lines_of(struct power_case *c, int step, const char *name, const char *stop)
{
  struct tm_buf text = TM_BUF_NONE;
  char *dir = tm_xprintf("%s/%s", c->job_dir, power_steps[step]);
  read_in(c, dir, name, &text);
  char *lines = sorted_lines(&text, stop);
  tm_buf_release(&text);
  free(dir);
  return lines;
}

bool power_case_learn(struct power_case *c)
{
  for (int i = 0; i < POWER_STEPS; i++) {
    free(c->rows[i]);
    free(c->failed[i]);
    c->rows[i] = lines_of(c, i, OUTPUT, NULL);
    c->failed[i] = lines_of(c, i, "failed_items.jsonl", ",\"try\"");
    if (!strstr(c->rows[i], ":end\n") || !strstr(c->failed[i], "in/006"))
      return bad(c, "an undisturbed run has not given what it must");
  }
  return true;
}

static bool has(struct power_case *c, const char *name)
{
  struct stat st;
  char *path = tm_xprintf("%s/%s", c->job_dir, name);
  int rc = lstat(path, &st);
  free(path);
  return rc == 0;
}

static void read_status(struct power_case *c, char out[40])
{
  struct tm_buf text = TM_BUF_NONE;
  read_in(c, c->job_dir, "job_result.json", &text);
  struct tm_json *result = text.len > 0 ? tm_json_parse(text.data, text.len, NULL) : NULL;
  snprintf(out, 40, "%s", result ? tm_json_str(result, "status", "") : "");
  tm_json_free(result);
  tm_buf_release(&text);
}

static bool is_same(struct power_case *c, int step, const char *name, const char *stop,
                    const char *expected)
{
  char *lines = lines_of(c, step, name, stop);
  bool ok = strcmp(lines, expected) == 0;
  if (!ok)
    bad(c, "%s/%s is not that of an undisturbed run: %zu bytes, not %zu", power_steps[step], name,
        strlen(lines), strlen(expected));
  free(lines);
  return ok;
}

static int on_root_name(void *data, const char *name, int type)
{
  bool is_left =
      strncmp(name, POWER_UPLOAD, strlen(POWER_UPLOAD)) == 0 && name[strlen(POWER_UPLOAD)];
  return is_left ? -EEXIST : 0;
}

/* The upload is complete; with `is_over` there is also nothing beside it. */
static bool check_upload(struct power_case *c, bool is_over)
{
  char *dir = tm_xprintf("%s/" POWER_UPLOAD, c->root), *lines;
  struct tm_buf text = TM_BUF_NONE;
  read_in(c, dir, "parallel_run_step.txt", &text);
  lines = sorted_lines(&text, NULL);
  bool ok = strcmp(lines, c->rows[0]) == 0 || bad(c, "%zu bytes are at the destination", text.len);
  if (ok && is_over && tm_dir_read(c->root, on_root_name, NULL) < 0)
    ok = bad(c, "something is left beside the destination");
  tm_buf_release(&text);
  free(lines);
  free(dir);
  return ok;
}

/* The job is Completed, and all its results exist. */
static bool check_result(struct power_case *c)
{
  char status[40];
  read_status(c, status);
  if (strcmp(status, "Completed") != 0)
    return bad(c, "job_result.json says '%s'", status);
  for (int i = 0; i < POWER_STEPS; i++) {
    char *partial = tm_xprintf("%s/" OUTPUT ".partial", power_steps[i]);
    bool is_partial = has(c, partial);
    free(partial);
    if (is_partial)
      return bad(c, "%s: the output is there as .partial", power_steps[i]);
    if (!is_same(c, i, OUTPUT, NULL, c->rows[i]) ||
        !is_same(c, i, "failed_items.jsonl", ",\"try\"", c->failed[i]))
      return false;
  }
  return check_upload(c, true);
}

/* Power cuts. */

static const char *const promised_names[] = { "state/journal", "state/manifest", "state/failures",
                                              OUTPUT ".partial" };

static void keep_promises(struct power_case *c, const struct power_replay *r)
{
  for (int i = 0; i < POWER_STEPS; i++) {
    const struct power_promise *p = &r->promised[i];
    const int64_t lengths[] = { p->journal, p->manifest, p->failures, p->output };
    for (int k = 0; k < 4; k++) {
      struct tm_buf *b = &c->promised[i][k];
      char *path = tm_xprintf("/job/%s/%s", power_steps[i], promised_names[k]);
      tm_buf_clear(b);
      if (tm_disk_read(r->disk, path, b) < 0) {
        path[strlen(path) - strlen(".partial")] = '\0';
        tm_disk_read(r->disk, path, b);
      }
      free(path);
      tm_require((int64_t)b->len >= lengths[k]);
      b->len = (size_t)lengths[k];
    }
  }
}

static bool check_promises(struct power_case *c)
{
  struct tm_buf text = TM_BUF_NONE;
  bool ok = true;
  for (int i = 0; i < POWER_STEPS && ok; i++) {
    char *dir = tm_xprintf("%s/%s", c->job_dir, power_steps[i]);
    for (int k = 0; k < 4 && ok; k++) {
      const struct tm_buf *b = &c->promised[i][k];
      read_in(c, dir, k == 3 ? OUTPUT : promised_names[k], &text);
      ok = text.len >= b->len && (b->len == 0 || memcmp(text.data, b->data, b->len) == 0);
      if (!ok)
        bad(c, "%s/%s: %zu bytes had been synced, and are not there", power_steps[i],
            promised_names[k], b->len);
    }
    free(dir);
  }
  tm_buf_release(&text);
  return ok;
}

static void put_node(void *data, const char *path, uint32_t mode, const char *bytes, size_t len)
{
  struct power_case *c = data;
  char *to = tm_xprintf("%s%s", c->root, path);
  if (S_ISDIR(mode))
    tm_require(mkdir(to, 0700) == 0);
  else if (S_ISLNK(mode))
    tm_require(symlink(bytes, to) == 0);
  else
    write_file(to, bytes, len, mode);
  free(to);
}

/* Replaces the look in a mark, which is that of the simulated folder, by the look of the restored
 * folder. */
static void put_look(struct power_case *c, struct tm_disk *disk, struct tm_json *v,
                     const struct tm_upload_look *in_mark)
{
  struct tm_upload_look look, is;
  char *folder = in_mark->ino ? power_upload_find(disk, in_mark->ino) : NULL;
  if (folder && tm_upload_look(&look, tm_disk_fs(disk), folder, NULL) == 0) {
    char *to = tm_xprintf("%s%s", c->root, folder);
    tm_require(tm_upload_look(&is, tm_fs_real(), to, NULL) == 0);
    free(to);
    if (!tm_upload_look_is_equal(in_mark, &look))
      is.mtime_ns++; /* the mark is of something else there, too */
    tm_upload_mark_set_look(v, &is);
  }
  free(folder);
}

static void put_mark(struct power_case *c, struct tm_disk *disk)
{
  char *path = tm_xprintf("/job/%s/state/upload.0", power_steps[0]), *to;
  struct tm_buf text = TM_BUF_NONE;
  struct tm_json *v = tm_disk_read(disk, path, &text) == 0
                          ? tm_json_parse(tm_buf_str(&text), text.len, NULL)
                          : NULL;
  struct tm_upload_mark mark;
  if (v && tm_upload_mark_read(&mark, tm_disk_fs(disk), path, tm_json_str(v, "destination", ""),
                               NULL) > 0) {
    put_look(c, disk, v, &mark.look);
    if (mark.replaces.files >= 0)
      put_look(c, disk, tm_json_set(v, "replaces", tm_json_new(TM_JSON_OBJECT)), &mark.replaces);
    tm_buf_clear(&text);
    tm_json_write(&text, v, (struct tm_json_style) { 0 });
    to = tm_xprintf("%s%s", c->root, path);
    write_file(to, text.data, text.len, 0600);
    free(to);
  }
  tm_json_free(v);
  tm_buf_release(&text);
  free(path);
}

void power_case_put(struct power_case *c, struct tm_disk *disk)
{
  power_case_clear(c);
  tm_disk_walk(disk, put_node, c);
  put_mark(c, disk);
}

bool power_case_cut(struct power_case *c, struct power_replay *r, bool is_over)
{
  struct tm_buf text = TM_BUF_NONE;
  char status[40];
  bool had_result = tm_disk_read(r->disk, "/job/job_result.json", &text) == 0, began = false;
  tm_buf_release(&text);
  c->has_crashed = false;
  keep_promises(c, r);
  tm_disk_restart(r->disk);
  power_case_put(c, r->disk);
  c->has_definition = has(c, "job.json");
  if (is_over && !check_result(c))
    return false;
  char *destination = tm_xprintf("%s/" POWER_UPLOAD, c->root);
  bool is_uploaded = tm_fs_exists(tm_fs_real(), destination);
  free(destination);
  if (is_uploaded && !check_upload(c, false))
    return false;
  for (int i = 0; i < POWER_STEPS; i++)
    began = began || r->promised[i].is_of_session;
  read_status(c, status);
  if (began && !had_result && status[0] && strcmp(status, "Completed") != 0)
    return bad(c, "the result of an earlier session is there again: %s", status);
  return true;
}

bool power_case_resume(struct power_case *c)
{
  struct tm_buf err = TM_BUF_NONE;
  int status = run(c, c->program, POWER_RESUME);
  c->has_crashed = status >= 128;
  if (status < 0)
    return false;
  read_in(c, c->dir, "err", &err);
  bool says_new = strstr(tm_buf_str(&err), "a new one");
  bool ok = true;
  if (status != 0)
    ok = bad(c, "exit status %d: %.3000s", status, tm_buf_str(&err));
  else if (says_new == c->has_definition)
    ok = bad(c, "it %s that it starts a new job: %.3000s", says_new ? "says" : "does not say",
             tm_buf_str(&err));
  tm_buf_release(&err);
  return ok && check_result(c) && check_promises(c);
}
