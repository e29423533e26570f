/* trust.c - see trust.h. */
#include "store/trust.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"

enum tm_trust tm_trust_judge(const struct tm_caller *caller, uint32_t owner, uint32_t mode)
{
  bool is_sudo = caller->uid == 0 && caller->sudo_uid == (int64_t)owner;
  if (owner != caller->uid && owner != 0 && !is_sudo)
    return TM_TRUST_OTHER_OWNER;
  if (!S_ISLNK(mode) && (mode & (S_IWGRP | S_IWOTH)))
    return TM_TRUST_OTHERS_WRITE;
  return TM_TRUSTED;
}

struct tm_caller tm_caller_get(void)
{
  struct tm_caller caller = { .uid = geteuid(), .sudo_uid = -1 };
  const char *sudo = getenv("SUDO_UID");
  char *end;
  if (caller.uid == 0 && sudo && *sudo >= '0' && *sudo <= '9') {
    long long uid = strtoll(sudo, &end, 10);
    if (*end == '\0' && uid <= UINT32_MAX)
      caller.sudo_uid = uid;
  }
  return caller;
}

/* Judges the link, then its target: the owner of the link decides where it leads. */
static enum tm_trust judge_path(const struct tm_fs *fs, const char *path, struct tm_stat *st)
{
  struct tm_caller caller = tm_caller_get();
  enum tm_trust trust;
  if (fs->stat(fs->self, path, false, st) < 0)
    return TM_TRUSTED;
  trust = tm_trust_judge(&caller, st->uid, st->mode);
  if (trust != TM_TRUSTED || !S_ISLNK(st->mode) || fs->stat(fs->self, path, true, st) < 0)
    return trust;
  return tm_trust_judge(&caller, st->uid, st->mode);
}

/* The first of these names in `dir` ("": `dir` itself) that is not trusted: its path, to free();
 * NULL: all are trusted. */
static char *find_bad(const struct tm_fs *fs, const char *dir, const char *const *names, size_t len,
                      enum tm_trust *trust, struct tm_stat *st)
{
  for (size_t i = 0; i < len; i++) {
    char *path = *names[i] ? tm_path_join(dir, names[i]) : tm_xstrdup(dir);
    *trust = judge_path(fs, path, st);
    if (*trust != TM_TRUSTED)
      return path;
    free(path);
  }
  return NULL;
}

/* `consent`: how the user can use it nevertheless. */
static int refuse(const char *what, const char *path, const char *bad, enum tm_trust trust,
                  const struct tm_stat *st, const char *consent, struct tm_err *err)
{
  char *part = strcmp(path, bad) == 0 ? tm_xstrdup("it") : tm_xprintf("'%s'", bad);
  if (trust == TM_TRUST_OTHER_OWNER)
    tm_err_set(err, TM_EUSAGE,
               "the %s '%s' is not used: %s belongs to another user (uid %" PRIu32
               "), who could have you run anything; if you trust that user, %s",
               what, path, part, st->uid, consent);
  else
    tm_err_set(err, TM_EUSAGE,
               "the %s '%s' is not used: other users can write to %s (mode %04" PRIo32
               "), and could have you run anything; to keep them out: chmod go-w '%s'; if you "
               "trust them, %s",
               what, path, part, st->mode & 07777, bad, consent);
  free(part);
  return TM_EUSAGE;
}

int tm_trust_workspace(const struct tm_fs *fs, const char *workspace, struct tm_err *err)
{
  static const char *const names[] = {
    "", "jobs", "snapshots", "scripts", "index", "workspace.db"
  };
  struct tm_stat st;
  enum tm_trust trust;
  char *bad = find_bad(fs, workspace, names, TM_COUNT_OF(names), &trust, &st), *consent;
  if (!bad)
    return 0;
  consent = tm_xprintf("set " TM_WORKSPACE_VARIABLE "=%s; to have a workspace of your own, set it "
                       "to another folder",
                       workspace);
  refuse("workspace", workspace, bad, trust, &st, consent, err);
  free(consent);
  free(bad);
  return TM_EUSAGE;
}

int tm_trust_job(const struct tm_fs *fs, const char *job_dir, struct tm_err *err)
{
  static const char *const names[] = { "", "job.json", "script" };
  struct tm_stat st;
  enum tm_trust trust;
  char *bad = find_bad(fs, job_dir, names, TM_COUNT_OF(names), &trust, &st), *consent;
  if (!bad)
    return 0;
  consent = tm_xprintf("name it by its path: %s", job_dir);
  refuse("job", job_dir, bad, trust, &st, consent, err);
  free(consent);
  free(bad);
  return TM_EUSAGE;
}
