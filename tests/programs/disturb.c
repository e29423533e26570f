/* disturb.c - runs a command, and disturbs it and all its processes at an exact system call.
 *
 *   disturb count REPORT FOLDER COMMAND...
 *   disturb kill|kill-all REPORT FOLDER CALL N COMMAND...
 *   disturb fail|fail-on REPORT FOLDER CALL N ERROR COMMAND...
 *
 *   count     counts the calls of each class
 *   kill      sends SIGKILL to the process that makes the n-th call, as it begins it
 *   kill-all  kills every process then
 *   fail      the n-th call fails
 *   fail-on   each call from the n-th on fails
 *
 * CALL is a class of calls.c, or `any`. A call counts when it is about a file below FOLDER, unless
 * it is by descriptor 0, 1 or 2; sendmsg is about no file and always counts. REPORT gets a line
 * `count CLASS N` for each class, and `hit first|other CLASS PATH` for each call that was
 * disturbed: of COMMAND, or of a process that it has started.
 *
 * The kernel stops the processes at the calls that may count (seccomp); this program traces them
 * and finds out which file a call is about. It ends when every process has ended, with the exit
 * status or the signal of COMMAND. Exit status 125: it may not trace processes here. 124: processes
 * were still alive LIMIT_S after COMMAND had ended; they are killed.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls.h"

enum {
  LIMIT_S = 60,
  CLASSES_MAX = 32,
  STATUS_LEFT = 124,
  STATUS_NOT_HERE = 125,
  STATUS_USAGE = 126
};

enum what { COUNT, KILL, KILL_ALL, FAIL, FAIL_ON };

struct plan {
  enum what what;
  const char *report, *folder;
  int class; /* -1: any */
  long n;
  int error;
  char **command;
};

struct tracer {
  struct plan plan;
  FILE *report;
  long counts[CLASSES_MAX], total;
  pid_t first;
  int status; /* of the first, as waitpid() has it */
  bool has_ended;
};

static volatile sig_atomic_t is_late;

static void on_alarm(int signal)
{
  (void)signal;
  is_late = 1;
}

static int refuse(const char *words)
{
  fprintf(stderr, "disturb: %s\n", words);
  return STATUS_USAGE;
}

static bool read_call(struct plan *p, char ***at)
{
  const char *name = *(*at)++;
  p->class = name && strcmp(name, "any") != 0 ? call_class_find(name) : -1;
  p->n = name && **at ? strtol(*(*at)++, NULL, 10) : 0;
  return p->n > 0 && (p->class >= 0 || strcmp(name, "any") == 0);
}

static bool read_plan(struct plan *p, int argc, char **argv)
{
  static const char *const names[] = { "count", "kill", "kill-all", "fail", "fail-on" };
  bool is_known = false;
  if (argc < 5)
    return false;
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !is_known; i++) {
    is_known = strcmp(argv[1], names[i]) == 0;
    p->what = (enum what)i;
  }
  p->report = argv[2];
  p->folder = argv[3];
  p->class = -1;
  char **at = argv + 4;
  if (!is_known || (p->what != COUNT && !read_call(p, &at)))
    return false;
  if (p->what == FAIL || p->what == FAIL_ON) {
    p->error = *at ? call_error_find(*at++) : 0;
    if (p->error == 0)
      return false;
  }
  p->command = at;
  return *at != NULL;
}

/* In the child: waits until it is traced, and becomes the command. */
static void run_command(const struct plan *p, int go)
{
  struct sock_filter filter[CALL_FILTER_MAX];
  struct sock_fprog program = { call_filter(p->class, filter), filter };
  char byte;
  if (read(go, &byte, 1) != 1)
    _exit(STATUS_NOT_HERE);
  close(go);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    _exit(STATUS_NOT_HERE);
  execvp(p->command[0], p->command);
  perror(p->command[0]);
  _exit(127);
}

static bool start(struct tracer *t)
{
  const long options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                       PTRACE_O_TRACEEXEC | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL;
  int go[2];
  if (pipe(go))
    return false;
  t->first = fork();
  if (t->first == 0) {
    close(go[1]);
    run_command(&t->plan, go[0]);
  }
  close(go[0]);
  bool ok = t->first > 0 && ptrace(PTRACE_SEIZE, t->first, NULL, options) == 0;
  ok = ok && write(go[1], "", 1) == 1;
  close(go[1]);
  return ok;
}

/* Skips the call, which returns the error instead. False if the registers of this machine are
 * unknown here. A process that was killed meanwhile makes no call, which is just as good. */
static bool fail_call(pid_t tid, int error)
{
#if defined(__x86_64__)
  return ptrace(PTRACE_POKEUSER, tid, offsetof(struct user_regs_struct, orig_rax), -1L) == 0 &&
         ptrace(PTRACE_POKEUSER, tid, offsetof(struct user_regs_struct, rax), (long)-error) == 0;
#elif defined(__aarch64__)
  int none = -1;
  struct user_regs_struct regs;
  struct iovec number = { &none, sizeof(none) }, all = { &regs, sizeof(regs) };
  if (ptrace(PTRACE_GETREGSET, tid, 1 /* NT_PRSTATUS */, &all))
    return false;
  regs.regs[0] = (unsigned long)-error;
  return ptrace(PTRACE_SETREGSET, tid, 0x404 /* NT_ARM_SYSTEM_CALL */, &number) == 0 &&
         ptrace(PTRACE_SETREGSET, tid, 1, &all) == 0;
#else
  (void)tid;
  (void)error;
  errno = ENOSYS;
  return false;
#endif
}

static pid_t process_of(pid_t tid)
{
  char path[64], line[128];
  int process = tid;
  snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
  FILE *f = fopen(path, "r");
  while (f && fgets(line, sizeof(line), f) && sscanf(line, "Tgid: %d", &process) != 1)
    ;
  if (f)
    fclose(f);
  return process;
}

/* The kernel kills every traced process when their tracer ends (PTRACE_O_EXITKILL). */
static void kill_all(struct tracer *t)
{
  fclose(t->report);
  raise(SIGKILL);
}

/* The call at whose begin a process is stopped. */
static void act(struct tracer *t, pid_t tid, int class, const char *path)
{
  pid_t process = process_of(tid);
  fprintf(t->report, "hit %s %s %s\n", process == t->first ? "first" : "other",
          call_class_name((size_t) class), path);
  switch (t->plan.what) {
  case COUNT: break;
  case KILL: kill(process, SIGKILL); break;
  case KILL_ALL: kill_all(t); break;
  case FAIL:
  case FAIL_ON:
    if (!fail_call(tid, t->plan.error) && errno != ESRCH) {
      fprintf(stderr, "disturb: cannot let a system call fail on this machine\n");
      exit(STATUS_NOT_HERE);
    }
    break;
  }
}

static bool is_below(const char *path, const char *folder)
{
  size_t n = strlen(folder);
  return strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* A process is stopped at the begin of a call: counts it, and disturbs it if it was chosen. */
static void on_call(struct tracer *t, pid_t tid)
{
  struct __ptrace_syscall_info info;
  char path[2 * 4096] = "";
  if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) <= 0 ||
      info.op != PTRACE_SYSCALL_INFO_SECCOMP)
    return;
  uint64_t args[6];
  for (size_t i = 0; i < 6; i++)
    args[i] = info.seccomp.args[i];
  int class = call_class_of(info.seccomp.nr);
  bool has_path = call_path(tid, info.seccomp.nr, args, path, sizeof(path));
  if (class < 0 || (has_path ? !is_below(path, t->plan.folder)
                             : strcmp(call_class_name((size_t) class), "sendmsg") != 0))
    return;
  t->counts[class]++;
  t->total++;
  long n = t->plan.class < 0 ? t->total : t->counts[class];
  if (t->plan.what != COUNT && (n == t->plan.n || (t->plan.what == FAIL_ON && n > t->plan.n)))
    act(t, tid, class, path);
}

/* Continues a stopped process. If a signal stopped it, it gets that signal, and stays stopped if
 * this is the effect of the signal. */
static void on_stop(struct tracer *t, pid_t tid, int status)
{
  int event = status >> 16, signal = WSTOPSIG(status);
  if (event == PTRACE_EVENT_SECCOMP)
    on_call(t, tid);
  if (event == PTRACE_EVENT_STOP && signal != SIGTRAP)
    ptrace(PTRACE_LISTEN, tid, NULL, NULL);
  else
    ptrace(PTRACE_CONT, tid, NULL, (long)(event ? 0 : signal));
}

/* Returns 0 when every process has ended, or STATUS_LEFT. */
static int follow(struct tracer *t)
{
  for (;;) {
    int status;
    pid_t tid = waitpid(-1, &status, __WALL);
    if (is_late)
      return STATUS_LEFT;
    if (tid < 0 && errno != EINTR)
      return 0;
    if (tid > 0 && WIFSTOPPED(status))
      on_stop(t, tid, status);
    else if (tid == t->first) {
      t->status = status;
      t->has_ended = true;
      alarm(LIMIT_S);
    }
  }
}

static int end_as_command(const struct tracer *t)
{
  if (!t->has_ended)
    return STATUS_NOT_HERE;
  if (WIFSIGNALED(t->status)) {
    setrlimit(RLIMIT_CORE, &(struct rlimit) { 0, 0 });
    signal(WTERMSIG(t->status), SIG_DFL);
    raise(WTERMSIG(t->status));
  }
  return WEXITSTATUS(t->status);
}

int main(int argc, char **argv)
{
  struct tracer t = { 0 };
  if (!read_plan(&t.plan, argc, argv))
    return refuse(
        "disturb count|kill|kill-all|fail|fail-on REPORT FOLDER [CALL N] [ERROR] COMMAND...");
  t.report = fopen(t.plan.report, "w");
  if (!t.report || call_class_count() > CLASSES_MAX)
    return refuse("cannot write the report");
  setvbuf(t.report, NULL, _IONBF, 0);
  sigaction(SIGALRM, &(struct sigaction) { .sa_handler = on_alarm }, NULL);
  if (!start(&t)) {
    perror("disturb: cannot trace processes here");
    return STATUS_NOT_HERE;
  }
  int rc = follow(&t);
  for (size_t i = 0; i < call_class_count(); i++) {
    if (t.counts[i] > 0)
      fprintf(t.report, "count %s %ld\n", call_class_name(i), t.counts[i]);
  }
  fclose(t.report);
  return rc ? rc : end_as_command(&t);
}
