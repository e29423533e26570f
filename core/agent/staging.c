/* staging.c - where files of context:output_file() are before they are committed: see agent_msg.h.
 *
 * A rename gives a file its name in the output folder, but a rename cannot leave a file system. It
 * cannot even leave a mount of the same one, so device numbers do not tell whether it works. An
 * output folder that is a link, to the destination of the output, therefore has the staging folder
 * within itself. The inode and the time of the link name that folder: they are the same in every
 * session of a job, and differ between two jobs.
 *
 * A machine that sees another time of the link would choose another name. So the setup of its
 * workers contains the name.
 *
 *  (1) The folder of a try below the staging folder of the job is made first and removed last, even
 *      if it holds no file: without it there is nothing to look for in the destinations.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/agent_msg.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"
#include "sys/fs.h"

char *tm_output_staging(const struct tm_fs *fs, const char *folder)
{
  struct tm_stat st;
  if (fs->stat(fs->self, folder, false, &st) < 0 || !S_ISLNK(st.mode))
    return NULL;
  uint64_t link[] = { st.ino, (uint64_t)st.mtime_ns };
  return tm_xprintf("%s/" TM_STAGING_PREFIX "%016" PRIx64, folder, tm_hash64(link, sizeof(link)));
}

/* `within`: of the output's folder; NULL or "": none. */
static char *staged_within(const char *within, const char *output_dir, const char *staging,
                           const char *name)
{
  char *folder, *place, *path;

  if (!within || !*within)
    return tm_output_file_below(staging, name);
  folder = tm_output_file_folder(output_dir, name);
  place = tm_output_file_place(output_dir, name);
  path = tm_xprintf("%s/%s/%s", within, tm_path_base(staging), place + strlen(folder) + 1);
  free(place);
  free(folder);
  return path;
}

char *tm_output_file_staged(const struct tm_fs *fs, const char *output_dir, const char *staging,
                            const char *name)
{
  char *folder = tm_output_file_folder(output_dir, name), *within = tm_output_staging(fs, folder);
  char *path = staged_within(within, output_dir, staging, name);

  free(within);
  free(folder);
  return path;
}

/* The number of the file's output. */
static size_t output_of(const struct tm_setup *s, const char *name)
{
  char *folder = tm_output_file_folder(s->output_dir, name);
  const char *output = folder + strlen(s->output_dir);
  size_t found = 0;

  for (size_t i = 1; i < s->outputs_len && *output == '.'; i++)
    if (strcmp(s->outputs[i], output + 1) == 0)
      found = i;
  free(folder);
  return found;
}

char *tm_output_file_staged_by(const struct tm_setup *s, const char *staging, const char *name)
{
  size_t i = output_of(s, name);

  return i < s->staged_in_len ? staged_within(s->staged_in[i], s->output_dir, staging, name)
                              : tm_output_file_staged(tm_fs_real(), s->output_dir, staging, name);
}

struct removal {
  const struct tm_fs *fs;
  char *step_dir;
  const char *output_name; /* of the first output's folder */
  const char *try;         /* NULL: all */
};

static int remove_within(void *data, const char *name, int type)
{
  const struct removal *r = data;
  size_t n = strlen(r->output_name);
  if ((type != DT_LNK && type != DT_UNKNOWN) || strncmp(name, r->output_name, n) != 0 ||
      (name[n] != 0 && name[n] != '.'))
    return 0;
  char *folder = tm_path_join(r->step_dir, name), *within = tm_output_staging(r->fs, folder);
  char *path = within && r->try ? tm_path_join(within, r->try) : tm_xstrdup(within);
  if (path)
    (void)tm_fs_remove_tree(r->fs, path, NULL);
  free(path);
  free(within);
  free(folder);
  return 0;
}

static void remove_of(const struct tm_fs *fs, const char *output_dir, const char *try)
{
  struct removal r = { .fs = fs,
                       .step_dir = tm_path_dir(output_dir),
                       .output_name = tm_path_base(output_dir),
                       .try = try };
  (void)fs->dir_read(fs->self, r.step_dir, remove_within, &r);
  free(r.step_dir);
}

void tm_staging_remove(const struct tm_fs *fs, const char *output_dir, const char *staging)
{
  tm_require(staging[0] == '/');
  if (!tm_fs_exists(fs, staging)) /* uses (1) */
    return;
  remove_of(fs, output_dir, tm_path_base(staging));
  (void)tm_fs_remove_tree(fs, staging, NULL);
}

void tm_staging_remove_all(const struct tm_fs *fs, const char *output_dir, const char *staging_dir)
{
  remove_of(fs, output_dir, NULL);
  (void)tm_fs_remove_tree(fs, staging_dir, NULL);
}
