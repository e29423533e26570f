/* proc_text.h - parses the files of /proc. Pure: it opens no file and trusts nothing; a text that
 * is cut off or empty gives false, or the available part.
 *
 * Names of programs, mounts and devices may hold any byte: they are pointers and lengths into the
 * text; the caller must sanitize them.
 */
#ifndef TM_NODE_PROC_TEXT_H
#define TM_NODE_PROC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct tm_cpu_times { /* ticks since the machine's start, all cores together */
  uint64_t busy, total;
};
/* /proc/stat */
bool tm_proc_cpu(const char *text, struct tm_cpu_times *out);
int64_t tm_proc_boot_s(const char *text); /* since the epoch; 0: unknown */
/* 0 to 100, over all cores; 0 if no time has passed */
double tm_cpu_percent(const struct tm_cpu_times *before, const struct tm_cpu_times *now);

struct tm_memory {
  int64_t total_kb, available_kb;
};
bool tm_proc_memory(const char *text, struct tm_memory *out); /* /proc/meminfo */

struct tm_disk_io { /* since the machine's start */
  uint64_t reads, writes, read_bytes, written_bytes;
};
/* /proc/diskstats, only whole disks: traffic through a partition, or through a device made of
 * others (dm, md, loop), is counted once. */
void tm_proc_disks(const char *text, struct tm_disk_io *out);

struct tm_network_io {
  uint64_t sent_bytes, received_bytes;
};
/* /proc/net/dev, all interfaces */
void tm_proc_network(const char *text, struct tm_network_io *out);

struct tm_sockets {
  int64_t tcp, udp;
};
/* Adds the counts of /proc/net/sockstat, or sockstat6. */
void tm_proc_sockets(const char *text, struct tm_sockets *out);

struct tm_mount {
  struct tm_buf device, point, type; /* the caller's; overwritten */
};
/* The next line of /proc/self/mounts from *at; false at the end. */
bool tm_proc_mount(const char **at, struct tm_mount *out);
void tm_mount_release(struct tm_mount *m);
/* Whether the file system is on a device of this machine: statvfs then does not wait for another
 * machine. */
bool tm_mount_is_local(const struct tm_mount *m);

struct tm_process_stat { /* /proc/PID/stat */
  int64_t pid, parent;
  const char *name; /* within the text */
  size_t name_len;
  char state;
  int tty;
  uint64_t user_ticks, system_ticks, start_ticks /* since the machine's start */;
  int64_t threads, memory_bytes, resident_pages;
};
bool tm_proc_process(const char *text, size_t len, struct tm_process_stat *out);
/* /proc/PID/io: bytes read from and written to disks. */
bool tm_proc_io(const char *text, uint64_t *read_bytes, uint64_t *written_bytes);
int64_t tm_proc_uid(const char *text); /* /proc/PID/status: the effective user, or -1 */

/* A process as a line of `ps -ef`; always one line, whatever its name and arguments hold. */
struct tm_ps_line {
  const struct tm_process_stat *stat;
  const char *user;
  /* /proc/PID/cmdline: NUL between arguments; empty: shows the name in brackets */
  const char *command;
  size_t command_len;
  int64_t boot_s, now_s;    /* since the epoch */
  int64_t ticks_per_second; /* sysconf(_SC_CLK_TCK) */
};
#define TM_PS_HEADER "UID          PID    PPID  C STIME TTY          TIME CMD\n"
void tm_ps_add_line(struct tm_buf *out, const struct tm_ps_line *p);
/* The name of a user in the text of /etc/passwd; false: not found, or not a valid word. */
bool tm_passwd_name(const char *text, int64_t uid, char *out, size_t out_len);

#endif
