/* proc_text.c - see proc_text.h. The formats are those of proc(5). Additions of later kernels at
 * the end of a line, and unexpected lines, are ignored.
 */
#include "node/proc_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/text.h"

#define SECTOR      512  /* bytes, in /proc/diskstats, whatever the disk's own size */
#define DISKS_MAX   1024 /* whose partitions are recognised */
#define COMMAND_MAX 4096 /* bytes of a command line to show */

/* The next line, or the end of the text. */
static const char *next_line(const char *at)
{
  const char *end = strchr(at, '\n');
  return end ? end + 1 : at + strlen(at);
}

static bool begins(const char *line, const char *word)
{
  return strncmp(line, word, strlen(word)) == 0;
}

/* The text after `word` at the beginning of a line, or NULL. */
static const char *find_line(const char *text, const char *word)
{
  for (const char *line = text; *line; line = next_line(line))
    if (begins(line, word))
      return line + strlen(word);
  return NULL;
}

/* ---- the node ---- */

bool tm_proc_cpu(const char *text, struct tm_cpu_times *out)
{
  uint64_t t[8] = { 0 }; /* user nice system idle iowait irq softirq steal; guests are in user */
  const char *at = find_line(text, "cpu ");
  int n = at ? sscanf(at,
                      "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                      " %" SCNu64 " %" SCNu64,
                      &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7])
             : 0;
  if (n < 4)
    return false;
  out->total = 0;
  for (size_t i = 0; i < 8; i++)
    out->total += t[i];
  out->busy = out->total - t[3] - t[4];
  return true;
}

int64_t tm_proc_boot_s(const char *text)
{
  const char *at = find_line(text, "btime ");
  return at ? strtoll(at, NULL, 10) : 0;
}

double tm_cpu_percent(const struct tm_cpu_times *before, const struct tm_cpu_times *now)
{
  /* idle times may decrease a little */
  if (now->total <= before->total || now->busy < before->busy)
    return 0;
  double percent =
      100.0 * (double)(now->busy - before->busy) / (double)(now->total - before->total);
  return percent > 100 ? 100 : percent;
}

static int64_t kilobytes(const char *text, const char *name)
{
  const char *at = find_line(text, name);
  return at ? strtoll(at, NULL, 10) : -1;
}

bool tm_proc_memory(const char *text, struct tm_memory *out)
{
  out->total_kb = kilobytes(text, "MemTotal:");
  out->available_kb = kilobytes(text, "MemAvailable:");
  if (out->available_kb < 0) /* Linux before 3.14 */
    out->available_kb = kilobytes(text, "MemFree:");
  return out->total_kb > 0 && out->available_kb >= 0 && out->available_kb <= out->total_kb;
}

static bool is_made_of_others(const char *name)
{
  static const char *const kinds[] = { "loop", "ram", "zram", "dm-", "md", "drbd", "nbd" };
  for (size_t i = 0; i < TM_COUNT_OF(kinds); i++)
    if (begins(name, kinds[i]))
      return true;
  return false;
}

/* "sda1" of "sda", "nvme0n1p2" of "nvme0n1". */
static bool is_partition(const char *name, const char *disk)
{
  size_t n = strlen(disk);
  if (strncmp(name, disk, n) != 0)
    return false;
  name += n + (name[n] == 'p');
  return *name && name[strspn(name, "0123456789")] == '\0';
}

void tm_proc_disks(const char *text, struct tm_disk_io *out)
{
  char(*disks)[32] = tm_xcalloc(DISKS_MAX, sizeof(*disks));
  size_t len = 0;
  *out = (struct tm_disk_io) { 0 };
  for (const char *line = text; *line; line = next_line(line)) {
    char name[32];
    uint64_t reads, sectors_read, writes, sectors_written;
    bool is_new = true;
    if (sscanf(line, "%*u %*u %31s %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64, name,
               &reads, &sectors_read, &writes, &sectors_written) != 5 ||
        is_made_of_others(name))
      continue;
    for (size_t i = len; i-- > 0 && is_new;) /* a disk precedes its partitions */
      is_new = !is_partition(name, disks[i]);
    if (!is_new || len == DISKS_MAX)
      continue;
    memcpy(disks[len++], name, sizeof(name));
    out->reads += reads;
    out->writes += writes;
    out->read_bytes += sectors_read * SECTOR;
    out->written_bytes += sectors_written * SECTOR;
  }
  free(disks);
}

void tm_proc_network(const char *text, struct tm_network_io *out)
{
  *out = (struct tm_network_io) { 0 };
  for (const char *line = text; *line; line = next_line(line)) {
    uint64_t received, sent;
    size_t n = strcspn(line, ":\n");
    if (line[n] == ':' && sscanf(line + n + 1, "%" SCNu64 " %*u %*u %*u %*u %*u %*u %*u %" SCNu64,
                                 &received, &sent) == 2) {
      out->received_bytes += received;
      out->sent_bytes += sent;
    }
  }
}

void tm_proc_sockets(const char *text, struct tm_sockets *out)
{
  for (const char *line = text; *line; line = next_line(line)) {
    int64_t inuse = 0, waiting = 0;
    if (sscanf(line, "TCP: inuse %" SCNd64 " orphan %*d tw %" SCNd64, &inuse, &waiting) > 0 ||
        sscanf(line, "TCP6: inuse %" SCNd64, &inuse) > 0)
      out->tcp += inuse + waiting;
    else if (sscanf(line, "UDP: inuse %" SCNd64, &inuse) > 0 ||
             sscanf(line, "UDP6: inuse %" SCNd64, &inuse) > 0)
      out->udp += inuse;
  }
}

/* ---- mounts ---- */

static bool is_octal(const char *s)
{
  return s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' && s[2] >= '0' && s[2] <= '7';
}

/* One field, in which blanks, tabs, line breaks and backslashes are encoded as \ooo. */
static const char *take_field(const char *at, struct tm_buf *out)
{
  tm_buf_clear(out);
  while (*at && *at != ' ' && *at != '\n') {
    if (*at == '\\' && is_octal(at + 1)) {
      tm_buf_add_char(out, (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0')));
      at += 4;
    } else {
      tm_buf_add_char(out, *at++);
    }
  }
  return at + (*at == ' ');
}

bool tm_proc_mount(const char **at, struct tm_mount *out)
{
  while (**at) {
    const char *rest = take_field(*at, &out->device);
    rest = take_field(rest, &out->point);
    take_field(rest, &out->type);
    *at = next_line(*at);
    if (out->type.len > 0)
      return true;
  }
  return false;
}

void tm_mount_release(struct tm_mount *m)
{
  tm_buf_release(&m->device);
  tm_buf_release(&m->point);
  tm_buf_release(&m->type);
}

bool tm_mount_is_local(const struct tm_mount *m)
{
  const char *type = tm_buf_str(&m->type);
  return begins(tm_buf_str(&m->device), "/dev/") &&
         !(begins(type, "fuse") && !begins(type, "fuseblk"));
}

/* ---- processes ---- */

bool tm_proc_process(const char *text, size_t len, struct tm_process_stat *out)
{
  const char *open = len > 0 ? memchr(text, '(', len) : NULL, *close = NULL;
  for (size_t i = len; open && i-- > (size_t)(open - text) && !close;)
    close = text[i] == ')' ? text + i : NULL;
  *out = (struct tm_process_stat) { 0 };
  if (!open || !close)
    return false;
  out->pid = strtoll(text, NULL, 10);
  out->name = open + 1;
  out->name_len = (size_t)(close - open - 1);
  return sscanf(close + 1,
                " %c %" SCNd64 " %*d %*d %d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
                " %*d %*d %*d %*d %" SCNd64 " %*d %" SCNu64 " %" SCNd64 " %" SCNd64,
                &out->state, &out->parent, &out->tty, &out->user_ticks, &out->system_ticks,
                &out->threads, &out->start_ticks, &out->memory_bytes, &out->resident_pages) == 9;
}

bool tm_proc_io(const char *text, uint64_t *read_bytes, uint64_t *written_bytes)
{
  const char *r = find_line(text, "read_bytes:"), *w = find_line(text, "write_bytes:");
  *read_bytes = r ? strtoull(r, NULL, 10) : 0;
  *written_bytes = w ? strtoull(w, NULL, 10) : 0;
  return r && w;
}

int64_t tm_proc_uid(const char *text)
{
  int64_t uid = -1;
  const char *at = find_line(text, "Uid:");
  return at && sscanf(at, "%*d %" SCNd64, &uid) == 1 ? uid : -1;
}

/* ---- a line of ps -ef ---- */

static void add_tty(char out[24], int tty)
{
  unsigned number = (unsigned)tty, major = number >> 8 & 0xfff;
  unsigned minor = (number & 0xff) | (number >> 12 & 0xfff00);
  if (major >= 136 && major <= 143)
    snprintf(out, 24, "pts/%u", minor + (major - 136) * 256);
  else if (major == 4)
    snprintf(out, 24, "%s%u", minor < 64 ? "tty" : "ttyS", minor < 64 ? minor : minor - 64);
  else
    snprintf(out, 24, "?");
}

/* The hour for a process of today, else the day. */
static void add_start(char out[16], int64_t start_s, int64_t now_s)
{
  static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  time_t start = (time_t)start_s;
  struct tm t = { 0 };
  gmtime_r(&start, &t);
  if (now_s - start_s < 86400 && start_s / 86400 == now_s / 86400)
    snprintf(out, 16, "%02d:%02d", t.tm_hour, t.tm_min);
  else
    snprintf(out, 16, "%.3s%02d", months + 3 * ((unsigned)t.tm_mon % 12), t.tm_mday);
}

static void add_command(struct tm_buf *out, const struct tm_ps_line *p)
{
  struct tm_buf words = TM_BUF_NONE;
  size_t len = p->command_len < COMMAND_MAX ? p->command_len : COMMAND_MAX;
  while (len > 0 && p->command[len - 1] == '\0')
    len--;
  tm_buf_add(&words, p->command, len);
  for (size_t i = 0; i < words.len; i++)
    if (words.data[i] == '\0')
      words.data[i] = ' ';
  if (words.len > 0) {
    tm_text_one_line(out, words.data, words.len, 0);
  } else {
    tm_buf_add_char(out, '[');
    tm_text_one_line(out, p->stat->name, p->stat->name_len, 0);
    tm_buf_add_char(out, ']');
  }
  tm_buf_release(&words);
}

void tm_ps_add_line(struct tm_buf *out, const struct tm_ps_line *p)
{
  const struct tm_process_stat *s = p->stat;
  int64_t hz = p->ticks_per_second > 0 ? p->ticks_per_second : 100;
  int64_t used_s = (int64_t)(s->user_ticks + s->system_ticks) / hz;
  int64_t start_s = p->boot_s + (int64_t)s->start_ticks / hz, lived_s = p->now_s - start_s;
  int64_t percent = lived_s > 0 ? used_s * 100 / lived_s : 0;
  char tty[24], start[16];
  add_tty(tty, s->tty);
  add_start(start, start_s, p->now_s);
  tm_buf_printf(out,
                "%-8s %7" PRId64 " %7" PRId64 " %2" PRId64 " %5s %-8s %02" PRId64 ":%02" PRId64
                ":%02" PRId64 " ",
                p->user, s->pid, s->parent, percent > 99 ? 99 : percent, start, tty, used_s / 3600,
                used_s / 60 % 60, used_s % 60);
  add_command(out, p);
  tm_buf_add_char(out, '\n');
}

static bool is_fit_name(const char *s, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if ((unsigned char)s[i] <= ' ' || (unsigned char)s[i] >= 0x7f)
      return false;
  return n > 0;
}

bool tm_passwd_name(const char *text, int64_t uid, char *out, size_t out_len)
{
  for (const char *line = text; *line; line = next_line(line)) {
    size_t name = strcspn(line, ":\n");
    const char *at = line + name;
    if (*at != ':')
      continue;
    at += 1 + strcspn(at + 1, ":\n"); /* the password */
    if (*at != ':' || at[1] < '0' || at[1] > '9' || strtoll(at + 1, NULL, 10) != uid)
      continue;
    if (name >= out_len || !is_fit_name(line, name))
      return false;
    memcpy(out, line, name);
    out[name] = '\0';
    return true;
  }
  return false;
}
