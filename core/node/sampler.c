/* sampler.c - see sampler.h.
 *
 *  (1) Processes of other jobs are read at most once a minute, and in pieces: a machine may have
 *      ten thousand processes, and the keeper has deadlines to watch. Otherwise only descendants
 *      are read, which the kernel lists (/proc/PID/task/TID/children): the cost of a sample does
 *      not depend on other work of the machine.
 *  (2) Nothing here waits for another machine: only file systems on local devices are read, and
 *      user names come from /etc/passwd.
 *  (3) A process that vanishes between two reads is left out.
 */
#include "node/sampler.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"
#include "node/proc_text.h"
#include "sys/fs.h"

#define READ_MAX      (4u << 20) /* bytes of one file in /proc */
#define FAMILY_MAX    2048       /* processes in a sample */
#define LISTED_IN_ONE 50         /* processes in one piece of the list: about a millisecond */
#define MB            (1024.0 * 1024.0)

static const char node_columns[] =
    "Utc Time,Cpu Percent,Memory Total (MB),Memory Available (MB),Memory Used (MB),"
    "Memory Used Percent,Disk Io Read Count,Disk Io Write Count,Disk Io Read (MB),"
    "Disk Io Write (MB),Network Sent (MB),Network Recv (MB),# of TCP Connections,"
    "# of UDP Connections\n";
static const char disk_columns[] =
    "Utc Time,Device,Mount Point,File System,Total (MB),Used (MB),Free (MB),Used Percent\n";
static const char process_columns[] =
    "Utc Time,Process,Pid,Parent Pid,Name,State,Cpu Percent,User Seconds,System Seconds,"
    "Memory Rss (MB),Memory Vms (MB),Threads,Disk Io Read (MB),Disk Io Write (MB)\n";

struct family { /* a process of the job */
  pid_t pid;
  const char *root; /* the name to show */
  bool is_alone;
  uint64_t start_ticks, used_ticks;
};

struct tm_sampler {
  char *dir, *proc;
  int64_t hz, page_bytes, boot_s;
  struct tm_cpu_times cpu; /* at the last sample */
  int64_t taken_ns;        /* monotonic; of that sample; 0: none yet */
  struct TM_ARRAY(struct family) family, before;
  struct tm_buf text, rows, stamp;
  /* The list of all processes. */
  int64_t listed_minute, list_s; /* since the epoch; -1: none yet */
  struct TM_ARRAY(pid_t) pids;
  size_t listed; /* number of `pids` done */
  struct tm_buf list, passwd;
};

static int read_file(struct tm_sampler *s, struct tm_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads a file below /proc into s->text. */
static int read_file(struct tm_sampler *s, struct tm_err *err, const char *fmt, ...)
{
  struct tm_buf path = TM_BUF_NONE;
  va_list ap;
  tm_buf_printf(&path, "%s/", s->proc);
  va_start(ap, fmt);
  tm_buf_vprintf(&path, fmt, ap);
  va_end(ap);
  tm_buf_clear(&s->text);
  int rc = tm_fs_read_file(tm_fs_real(), path.data, READ_MAX, &s->text, err);
  tm_buf_release(&path);
  return rc < 0 ? rc : 0;
}

static const char *text_of(const struct tm_sampler *s)
{
  return tm_buf_str(&s->text);
}

struct tm_sampler *tm_sampler_new(const char *dir, const char *proc, struct tm_err *err)
{
  struct tm_sampler *s = TM_NEW(struct tm_sampler);
  s->dir = tm_xstrdup(dir);
  s->proc = tm_xstrdup(proc);
  s->hz = sysconf(_SC_CLK_TCK);
  s->page_bytes = sysconf(_SC_PAGESIZE);
  s->listed_minute = -1;
  if (read_file(s, err, "stat") < 0 || !tm_proc_cpu(text_of(s), &s->cpu)) {
    if (err && err->code == 0)
      tm_err_set(err, TM_EUSAGE, "'%s/stat' does not say what it should", proc);
    tm_sampler_free(s);
    return NULL;
  }
  s->boot_s = tm_proc_boot_s(text_of(s));
  return s;
}

void tm_sampler_free(struct tm_sampler *s)
{
  if (!s)
    return;
  TM_ARRAY_RELEASE(&s->family);
  TM_ARRAY_RELEASE(&s->before);
  TM_ARRAY_RELEASE(&s->pids);
  tm_buf_release(&s->text);
  tm_buf_release(&s->rows);
  tm_buf_release(&s->stamp);
  tm_buf_release(&s->list);
  tm_buf_release(&s->passwd);
  free(s->dir);
  free(s->proc);
  free(s);
}

/* ---- writing ---- */

/* Not tm_fs_make_dirs(), which waits for the disk. */
static int make_folder(const char *path, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  int rc = fs->mkdir(fs->self, path, 0700);
  return rc < 0 && rc != -EEXIST ? tm_err_system(err, rc, "cannot make folder '%s'", path) : 0;
}

/* perf/ and perf/<node_id>/. */
static int make_own_folders(const struct tm_sampler *s, struct tm_err *err)
{
  char *above = tm_path_dir(s->dir);
  int rc = make_folder(above, err);
  free(above);
  return rc < 0 ? rc : make_folder(s->dir, err);
}

/* Appends to a file below the folder; `header` if it is new, or NULL. */
static int append(struct tm_sampler *s, const char *name, const char *header,
                  const struct tm_buf *rows, struct tm_err *err)
{
  const struct tm_fs *fs = tm_fs_real();
  struct tm_stat st = { 0 };
  struct tm_buf text = TM_BUF_NONE;
  char *path = tm_xprintf("%s/%s", s->dir, name);
  int rc = 0, fd = tm_fs_open(fs, path, O_WRONLY | O_APPEND | O_CREAT, 0600, err);
  if (fd < 0) {
    free(path);
    return fd;
  }
  if (header && fs->fstat(fs->self, fd, &st) == 0 && st.size == 0)
    tm_buf_add_str(&text, header);
  tm_buf_add(&text, tm_buf_str(rows), rows->len);
  if (text.len > 0 && (rc = tm_fd_append(fd, text.data, text.len)) < 0)
    tm_err_system(err, rc, "cannot write to '%s'", path);
  tm_fs_close(fs, fd);
  tm_buf_release(&text);
  free(path);
  return rc;
}

static void begin_row(struct tm_sampler *s)
{
  tm_buf_add(&s->rows, s->stamp.data, s->stamp.len);
}

static void add_megabytes(struct tm_buf *out, double bytes)
{
  tm_buf_printf(out, ",%.2f", bytes / MB);
}

/* For rows of processes, of which a day has 360,000 with 100 workers: an amount of 10 or more is a
 * whole number, and no decimal is a zero at the end. */
static void add_short(struct tm_buf *out, double amount, int decimals)
{
  size_t begin = out->len;
  tm_buf_printf(out, ",%.*f", amount < 10 ? decimals : 0, amount);
  if (!memchr(out->data + begin, '.', out->len - begin))
    return;
  size_t end = out->len;
  while (out->data[end - 1] == '0')
    end--;
  end -= out->data[end - 1] == '.';
  out->data[out->len = end] = '\0';
}

/* A field that stays on its line, whatever it holds. */
static void add_text(struct tm_buf *out, const char *p, size_t n)
{
  struct tm_buf line = TM_BUF_NONE;
  tm_text_one_line(&line, p, n, 0);
  tm_buf_add_char(out, ',');
  tm_text_csv(out, tm_buf_str(&line), line.len, ',');
  tm_buf_release(&line);
}

/* ---- the machine ---- */

/* Missing values (a container may hide some) are zero. */
static int add_node(struct tm_sampler *s, struct tm_err *err)
{
  struct tm_cpu_times cpu;
  struct tm_memory memory = { 0 };
  struct tm_disk_io disks = { 0 };
  struct tm_network_io network = { 0 };
  struct tm_sockets sockets = { 0 };
  if (read_file(s, err, "stat") < 0)
    return err->code;
  if (!tm_proc_cpu(text_of(s), &cpu))
    cpu = s->cpu;
  double percent = tm_cpu_percent(&s->cpu, &cpu);
  s->cpu = cpu;
  if (read_file(s, NULL, "meminfo") == 0 && !tm_proc_memory(text_of(s), &memory))
    memory = (struct tm_memory) { 0 };
  if (read_file(s, NULL, "diskstats") == 0)
    tm_proc_disks(text_of(s), &disks);
  if (read_file(s, NULL, "net/dev") == 0)
    tm_proc_network(text_of(s), &network);
  if (read_file(s, NULL, "net/sockstat") == 0)
    tm_proc_sockets(text_of(s), &sockets);
  if (read_file(s, NULL, "net/sockstat6") == 0)
    tm_proc_sockets(text_of(s), &sockets);
  double used_kb = (double)(memory.total_kb - memory.available_kb);
  begin_row(s);
  tm_buf_printf(&s->rows, ",%.1f", percent);
  add_megabytes(&s->rows, (double)memory.total_kb * 1024);
  add_megabytes(&s->rows, (double)memory.available_kb * 1024);
  add_megabytes(&s->rows, used_kb * 1024);
  tm_buf_printf(&s->rows, ",%.1f", memory.total_kb ? 100 * used_kb / (double)memory.total_kb : 0);
  tm_buf_printf(&s->rows, ",%" PRIu64 ",%" PRIu64, disks.reads, disks.writes);
  add_megabytes(&s->rows, (double)disks.read_bytes);
  add_megabytes(&s->rows, (double)disks.written_bytes);
  add_megabytes(&s->rows, (double)network.sent_bytes);
  add_megabytes(&s->rows, (double)network.received_bytes);
  tm_buf_printf(&s->rows, ",%" PRId64 ",%" PRId64 "\n", sockets.tcp, sockets.udp);
  return 0;
}

static void add_file_system(struct tm_sampler *s, const struct tm_mount *m)
{
  struct statvfs v;
  if (statvfs(tm_buf_str(&m->point), &v) < 0 || v.f_blocks == 0)
    return;
  double unit = (double)v.f_frsize, used = (double)(v.f_blocks - v.f_bfree) * unit;
  double room = (double)v.f_bavail * unit; /* available to users other than root, as df counts */
  begin_row(s);
  add_text(&s->rows, tm_buf_str(&m->device), m->device.len);
  add_text(&s->rows, tm_buf_str(&m->point), m->point.len);
  add_text(&s->rows, tm_buf_str(&m->type), m->type.len);
  add_megabytes(&s->rows, (double)v.f_blocks * unit);
  add_megabytes(&s->rows, used);
  add_megabytes(&s->rows, room);
  tm_buf_printf(&s->rows, ",%.1f\n", used + room > 0 ? 100 * used / (used + room) : 0);
}

static void add_disks(struct tm_sampler *s) /* keeps (2) */
{
  struct tm_mount m = { .device = TM_BUF_NONE };
  /* devices, NUL after each: a device may be mounted several times */
  struct tm_buf seen = TM_BUF_NONE;
  if (read_file(s, NULL, "self/mounts") < 0)
    return;
  for (const char *at = text_of(s); tm_proc_mount(&at, &m);) {
    bool is_new = tm_mount_is_local(&m);
    for (size_t i = 0; i < seen.len && is_new; i += strlen(seen.data + i) + 1)
      is_new = strcmp(seen.data + i, tm_buf_str(&m.device)) != 0;
    if (!is_new)
      continue;
    tm_buf_add(&seen, m.device.data, m.device.len + 1);
    add_file_system(s, &m);
  }
  tm_mount_release(&m);
  tm_buf_release(&seen);
}

/* ---- processes of the job ---- */

static bool is_known(const struct tm_sampler *s, pid_t pid)
{
  for (size_t i = 0; i < s->family.len; i++)
    if (s->family.at[i].pid == pid)
      return true;
  return false;
}

static void add_member(struct tm_sampler *s, pid_t pid, const char *root, bool is_alone)
{
  if (s->family.len < FAMILY_MAX && !is_known(s, pid))
    *TM_ARRAY_ADD(&s->family) = (struct family) { .pid = pid, .root = root, .is_alone = is_alone };
}

struct children {
  struct tm_sampler *s;
  pid_t pid;
  const char *root;
};

static int on_thread(void *data, const char *name, int type)
{
  struct children *c = data;
  if (!isdigit((unsigned char)name[0]) ||
      read_file(c->s, NULL, "%ld/task/%s/children", (long)c->pid, name) < 0)
    return 0;
  for (char *at = c->s->text.data, *end; at && *at; at = end) {
    long pid = strtol(at, &end, 10);
    if (end == at)
      break;
    add_member(c->s, (pid_t)pid, c->root, false);
  }
  return 0;
}

/* The roots, then their descendants: the list grows while it is read. */
static void find_family(struct tm_sampler *s, const struct tm_sample_root *roots, size_t n)
{
  s->family.len = 0;
  for (size_t i = 0; i < n; i++)
    add_member(s, roots[i].pid, roots[i].name, roots[i].is_alone);
  for (size_t i = 0; i < s->family.len; i++) {
    struct children c = { .s = s, .pid = s->family.at[i].pid, .root = s->family.at[i].root };
    if (s->family.at[i].is_alone)
      continue;
    char *threads = tm_xprintf("%s/%ld/task", s->proc, (long)c.pid);
    tm_dir_read(threads, on_thread, &c);
    free(threads);
  }
}

/* Ticks since the last sample; all of them if the process is new. */
static uint64_t ticks_since(const struct tm_sampler *s, const struct family *f)
{
  for (size_t i = 0; i < s->before.len; i++) {
    const struct family *b = &s->before.at[i];
    if (b->pid == f->pid && b->start_ticks == f->start_ticks && b->used_ticks <= f->used_ticks)
      return f->used_ticks - b->used_ticks;
  }
  return f->used_ticks;
}

static double percent_of(const struct tm_sampler *s, const struct family *f, int64_t mono_ns)
{
  double ticks = (double)ticks_since(s, f);
  double lived_ns = (double)mono_ns - (double)f->start_ticks * (double)TM_S / (double)s->hz;
  double ns = s->taken_ns > 0 ? (double)(mono_ns - s->taken_ns) : lived_ns;
  ns = ns < lived_ns ? ns : lived_ns; /* it began after the last sample */
  double tick_ns = (double)TM_S / (double)s->hz;
  ns = ns < tick_ns ? tick_ns : ns;
  return 100 * ticks * tick_ns / ns;
}

static bool add_process(struct tm_sampler *s, struct family *f, int64_t mono_ns)
{
  struct tm_process_stat p;
  uint64_t read_bytes = 0, written_bytes = 0;
  if (read_file(s, NULL, "%ld/stat", (long)f->pid) < 0 ||
      !tm_proc_process(text_of(s), s->text.len, &p))
    return false;
  f->start_ticks = p.start_ticks;
  f->used_ticks = p.user_ticks + p.system_ticks;
  begin_row(s);
  tm_buf_printf(&s->rows, ",%s,%" PRId64 ",%" PRId64, f->root, p.pid, p.parent);
  add_text(&s->rows, p.name, p.name_len);
  tm_buf_printf(&s->rows, ",%c", p.state);
  add_short(&s->rows, percent_of(s, f, mono_ns), 1);
  add_short(&s->rows, (double)p.user_ticks / (double)s->hz, 2);
  add_short(&s->rows, (double)p.system_ticks / (double)s->hz, 2);
  add_short(&s->rows, (double)p.resident_pages * (double)s->page_bytes / MB, 1);
  add_short(&s->rows, (double)p.memory_bytes / MB, 1);
  tm_buf_printf(&s->rows, ",%" PRId64, p.threads);
  if (read_file(s, NULL, "%ld/io", (long)f->pid) == 0)
    tm_proc_io(text_of(s), &read_bytes, &written_bytes);
  add_short(&s->rows, (double)read_bytes / MB, 1);
  add_short(&s->rows, (double)written_bytes / MB, 1);
  tm_buf_add_char(&s->rows, '\n');
  return true;
}

static void add_processes(struct tm_sampler *s, const struct tm_sample_root *roots, size_t n,
                          int64_t mono_ns)
{
  size_t kept = 0;
  find_family(s, roots, n);
  for (size_t i = 0; i < s->family.len; i++)
    if (add_process(s, &s->family.at[i], mono_ns)) /* else (3) */
      s->family.at[kept++] = s->family.at[i];
  s->before.len = 0;
  for (size_t i = 0; i < kept; i++)
    *TM_ARRAY_ADD(&s->before) = s->family.at[i];
  s->family.len = 0;
}

/* ---- all processes ---- */

static int on_pid(void *data, const char *name, int type)
{
  struct tm_sampler *s = data;
  if (isdigit((unsigned char)name[0]))
    *TM_ARRAY_ADD(&s->pids) = (pid_t)atol(name);
  return 0;
}

static void begin_list(struct tm_sampler *s, int64_t wall_ns)
{
  int64_t minute = wall_ns / TM_S / 60;
  if (minute == s->listed_minute || tm_sampler_is_listing(s))
    return;
  s->listed_minute = minute;
  s->list_s = wall_ns / TM_S;
  s->listed = s->pids.len = 0;
  tm_dir_read(s->proc, on_pid, s);
  tm_buf_clear(&s->list);
  tm_buf_add_str(&s->list, TM_PS_HEADER);
  tm_buf_clear(&s->passwd);
  (void)tm_fs_read_file(tm_fs_real(), "/etc/passwd", READ_MAX, &s->passwd, NULL);
}

static void list_process(struct tm_sampler *s, pid_t pid)
{
  struct tm_process_stat stat;
  struct tm_buf words = TM_BUF_NONE;
  char user[33];
  int64_t uid = -1;
  if (read_file(s, NULL, "%ld/status", (long)pid) == 0)
    uid = tm_proc_uid(text_of(s));
  if (!tm_passwd_name(tm_buf_str(&s->passwd), uid, user, sizeof(user)))
    snprintf(user, sizeof(user), "%" PRId64, uid);
  if (read_file(s, NULL, "%ld/cmdline", (long)pid) == 0)
    tm_buf_add(&words, text_of(s), s->text.len);
  if (read_file(s, NULL, "%ld/stat", (long)pid) == 0 &&
      tm_proc_process(text_of(s), s->text.len, &stat)) {
    struct tm_ps_line line = { .stat = &stat,
                               .user = user,
                               .command = tm_buf_str(&words),
                               .command_len = words.len,
                               .boot_s = s->boot_s,
                               .now_s = s->list_s,
                               .ticks_per_second = s->hz };
    tm_ps_add_line(&s->list, &line);
  }
  tm_buf_release(&words);
}

bool tm_sampler_is_listing(const struct tm_sampler *s)
{
  return s->listed < s->pids.len;
}

static int write_list(struct tm_sampler *s, struct tm_err *err)
{
  time_t at = (time_t)s->list_s;
  struct tm t = { 0 };
  char hour[64], name[96];
  gmtime_r(&at, &t);
  strftime(hour, sizeof(hour), "os/%Y%m%d%H", &t);
  strftime(name, sizeof(name), "os/%Y%m%d%H/processes_%M", &t);
  char *above = tm_xprintf("%s/os", s->dir), *dir = tm_xprintf("%s/%s", s->dir, hour);
  int rc = make_folder(above, err);
  if (rc >= 0)
    rc = make_folder(dir, err);
  free(above);
  free(dir);
  return rc < 0 ? rc : append(s, name, NULL, &s->list, err);
}

int tm_sampler_list(struct tm_sampler *s, struct tm_err *err)
{
  size_t last = s->listed + LISTED_IN_ONE; /* keeps (1) */
  if (!tm_sampler_is_listing(s))
    return 0;
  for (; s->listed < s->pids.len && s->listed < last; s->listed++)
    list_process(s, s->pids.at[s->listed]);
  return tm_sampler_is_listing(s) ? 0 : write_list(s, err);
}

/* ---- */

/* To the millisecond: each row has it, and a day has 360,000 rows of 100 workers. */
static void set_stamp(struct tm_sampler *s, int64_t wall_ns)
{
  tm_buf_clear(&s->stamp);
  tm_time_iso(&s->stamp, wall_ns);
  s->stamp.len -= strlen("000Z");
  tm_buf_add_char(&s->stamp, 'Z');
}

int tm_sampler_take(struct tm_sampler *s, const struct tm_sample_root *roots, size_t roots_len,
                    bool lists, int64_t wall_ns, int64_t mono_ns, struct tm_err *err)
{
  int rc = make_own_folders(s, err);
  set_stamp(s, wall_ns);
  tm_buf_clear(&s->rows);
  if (rc < 0 || (rc = add_node(s, err)) < 0 ||
      (rc = append(s, "node_resource_usage.csv", node_columns, &s->rows, err)) < 0)
    return rc;
  tm_buf_clear(&s->rows);
  add_disks(s);
  if ((rc = append(s, "node_disk_usage.csv", disk_columns, &s->rows, err)) < 0)
    return rc;
  tm_buf_clear(&s->rows);
  add_processes(s, roots, roots_len, mono_ns);
  s->taken_ns = mono_ns;
  if ((rc = append(s, "processes_resource_usage.csv", process_columns, &s->rows, err)) < 0)
    return rc;
  if (lists)
    begin_list(s, wall_ns);
  return 0;
}
