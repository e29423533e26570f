/* keeper_log.c - the part of a node's log folder that the keeper writes.
 *
 *   user/stdout/<node>/  user/stderr/<node>/       opened here: no byte is lost if a worker dies
 *   user/entry_script_log/<node>/                  the folder only; the worker writes there
 *   user/error/<node>/<worker>.txt                 the worker's; written here if it cannot
 *   sys/node/<node>/_main.txt                      events of the workers
 *   sys/node/<node>/<worker>.stdout.txt            links to the files above
 *
 * If a log cannot be written, this is reported once and the job continues; it never fails a
 * worker's start.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/time.h"
#include "node/node_own.h"
#include "sys/clock.h"
#include "sys/fs.h"

void tm_keeper_note_log(struct tm_keeper *k, struct tm_err *err)
{
  if (k->has_noted_log)
    return;
  k->has_noted_log = true;
  tm_err_wrap(err, "a log of the node cannot be written, and the job continues without it");
  tm_keeper_note(k, err->text);
}

void tm_keeper_log_open(struct tm_keeper *k, struct tm_keeper_step *step)
{
  static const char *const folders[] = { "user/stdout", "user/stderr", "user/entry_script_log",
                                         "user/error", "sys/node" };
  struct tm_err err = TM_ERR_NONE;
  step->main_fd = -1;
  if (!*step->s.logs_dir || step->s.measures_launches)
    return;
  bool is_there = tm_fs_exists(tm_fs_real(), step->s.logs_dir); /* else the job was removed */
  for (size_t i = 0; i < TM_COUNT_OF(folders) && is_there; i++) {
    char *path = tm_xprintf("%s/%s/%s", step->s.logs_dir, folders[i], step->s.node_id);
    if (tm_fs_make_dirs(tm_fs_real(), path, 0700, &err) < 0)
      tm_keeper_note_log(k, &err);
    free(path);
  }
  step->main_path = tm_xprintf("%s/sys/node/%s/_main.txt", step->s.logs_dir, step->s.node_id);
  step->main_fd =
      tm_fs_open(tm_fs_real(), step->main_path, O_WRONLY | O_APPEND | O_CREAT, 0600, &err);
  if (step->main_fd < 0) {
    step->main_fd = -1;
    tm_keeper_note_log(k, &err);
  }
}

void tm_keeper_log(struct tm_keeper_step *step, enum tm_level level, const char *fmt, ...)
{
  static const char *const names[] = { "DEBUG", "INFO", "WARNING", "ERROR" };
  struct tm_buf line = TM_BUF_NONE;
  va_list ap;
  if (step->main_fd < 0 || level < step->s.log_level)
    return;
  tm_time_log(&line, tm_clock_wall_ns());
  tm_buf_printf(&line, "|%s|%ld|keeper|", names[level], (long)getpid());
  va_start(ap, fmt);
  tm_buf_vprintf(&line, fmt, ap);
  va_end(ap);
  tm_buf_add_char(&line, '\n');
  tm_fd_append(step->main_fd, line.data, line.len);
  tm_buf_release(&line);
}

void tm_keeper_log_error(struct tm_keeper *k, const struct tm_keeper_worker *w, const char *p,
                         size_t n)
{
  const struct tm_fs *fs = tm_fs_real();
  const struct tm_node_step *s = &w->step->s;
  struct tm_err err = TM_ERR_NONE;
  char *path = tm_xprintf("%s/user/error/%s/%s.txt", s->logs_dir, s->node_id, w->name);
  int fd = tm_fs_open(fs, path, O_WRONLY | O_APPEND | O_CREAT, 0600, &err);
  int rc = fd < 0 ? fd : tm_fd_append(fd, p, n);
  if (fd >= 0 && rc < 0)
    tm_err_system(&err, rc, "cannot write '%s'", path);
  if (rc < 0)
    tm_keeper_note_log(k, &err);
  if (fd >= 0)
    tm_fs_close(fs, fd);
  free(path);
}

int tm_keeper_log_open_output(struct tm_keeper *k, const struct tm_keeper_worker *w,
                              const char *stream)
{
  const struct tm_fs *fs = tm_fs_real();
  const struct tm_node_step *s = &w->step->s;
  struct tm_err err = TM_ERR_NONE;
  char *file = tm_xprintf("user/%s/%s/%s.%s.txt", stream, s->node_id, w->name, stream);
  char *path = tm_xprintf("%s/%s", s->logs_dir, file);
  char *target = tm_xprintf("../../../%s", file);
  char *link = tm_xprintf("%s/sys/node/%s/%s.%s.txt", s->logs_dir, s->node_id, w->name, stream);
  int fd = tm_fs_open(fs, path, O_WRONLY | O_APPEND | O_CREAT, 0600, &err);
  if (fd < 0)
    tm_keeper_note_log(k, &err);
  int rc = fs->symlink(fs->self, target, link);
  if (rc < 0 && rc != -EEXIST) {
    tm_err_system(&err, rc, "cannot make the link '%s'", link);
    tm_keeper_note_log(k, &err);
  }
  free(file);
  free(path);
  free(target);
  free(link);
  return fd < 0 ? -1 : fd;
}
