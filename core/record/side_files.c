/* side_files.c - see side_files.h. */
#include "record/side_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/path.h"
#include "record/input_record.h"

struct side {
  struct tm_dataset *files; /* NULL: it is within the job */
  char *word;               /* what its files are, for messages */
  struct tm_identity now;
  struct tm_err err; /* why they could not be listed */
};

struct tm_side_files {
  const struct tm_fs *fs;
  char *state_dir;
  struct TM_ARRAY(struct side) sides;
};

static char *word_of(const struct tm_step *step, size_t i)
{
  if (step->config.model && i + 1 == step->side_inputs_len)
    return tm_xstrdup("file of the model");
  if (step->side_inputs[i]->name)
    return tm_xprintf("file of side input '%s'", step->side_inputs[i]->name);
  return tm_xprintf("file of side input %zu", i + 1);
}

static void add(struct tm_side_files *s, const struct tm_dataset *d, char *word)
{
  struct side *side = TM_ARRAY_ADD(&s->sides);

  *side = (struct side) { .word = word };
  if (d->step || d->mode == TM_DATASET_DOWNLOAD || tm_dataset_is_stdin(d))
    return;
  side->files = tm_dataset_copy(d);
  side->files->takes_hidden = true; /* a script that gets a folder may read all of it */
}

static bool is_at(struct tm_dataset *const *sets, size_t n, const char *path)
{
  bool is = false;

  for (size_t i = 0; i < n && !is; i++) {
    const struct tm_dataset *d = sets[i];
    if (d->step || d->paths_len != 1 || d->mode == TM_DATASET_DOWNLOAD || !d->base_dir)
      continue;
    char *own = tm_path_absolute(d->base_dir, d->paths[0]);
    is = strcmp(own, path) == 0;
    free(own);
  }
  return is;
}

/* Inputs are compared elsewhere. */
static bool is_known(const struct tm_step *step, const char *path)
{
  return is_at(step->inputs, step->inputs_len, path) ||
         is_at(step->side_inputs, step->side_inputs_len, path);
}

struct tm_side_files *tm_side_files_new(const struct tm_fs *fs, const struct tm_step *step,
                                        const char *state_dir)
{
  if (step->side_inputs_len + step->read_paths_len == 0)
    return NULL;
  struct tm_side_files *s = TM_NEW(struct tm_side_files);
  s->fs = fs;
  s->state_dir = tm_xstrdup(state_dir);
  for (size_t i = 0; i < step->side_inputs_len; i++)
    add(s, step->side_inputs[i], word_of(step, i));
  for (size_t i = 0; i < step->read_paths_len; i++) {
    if (is_known(step, step->read_paths[i]))
      continue;
    const struct tm_dataset d = { .kind = TM_DATASET_FILES,
                                  .paths = &step->read_paths[i],
                                  .paths_len = 1,
                                  .base_dir = (char *)"/",
                                  .input = -1 };
    add(s, &d, tm_xstrdup("file among the arguments"));
  }
  return s;
}

void tm_side_files_free(struct tm_side_files *s)
{
  if (!s)
    return;
  for (size_t i = 0; i < s->sides.len; i++) {
    tm_dataset_free(s->sides.at[i].files);
    tm_identity_release(&s->sides.at[i].now);
    free(s->sides.at[i].word);
  }
  TM_ARRAY_RELEASE(&s->sides);
  free(s->state_dir);
  free(s);
}

static char *record_of(const struct tm_side_files *s, size_t i)
{
  return tm_xprintf("%s/side_input.%zu", s->state_dir, i + 1);
}

static char *contents_of(const struct tm_side_files *s)
{
  return tm_path_join(s->state_dir, "side_contents");
}

static int list(struct tm_identity *out, const struct tm_side_files *s, const struct side *side,
                bool by_content, struct tm_err *err)
{
  *out = (struct tm_identity) { .is_listed = true,
                                .has_contents = by_content,
                                .max = TM_INPUT_RECORD_MAX };
  return tm_input_record_list(out, s->fs, side->files, NULL, err);
}

void tm_side_files_list(struct tm_side_files *s)
{
  for (size_t i = 0; i < s->sides.len; i++)
    if (s->sides.at[i].files)
      (void)list(&s->sides.at[i].now, s, &s->sides.at[i], false, &s->sides.at[i].err);
}

static int write_side(const struct tm_side_files *s, size_t i, bool again, struct tm_err *err)
{
  const struct side *side = &s->sides.at[i];
  char *path = record_of(s, i);
  int rc = 0;

  if (side->files && side->err.code == 0 && (again || !tm_fs_exists(s->fs, path)))
    rc = tm_input_record_write(s->fs, path, &side->now, err);
  free(path);
  return rc;
}

int tm_side_files_write(const struct tm_side_files *s, const struct tm_identity *contents,
                        bool again, struct tm_err *err)
{
  char *path = contents_of(s);
  int rc = again ? s->fs->unlink(s->fs->self, path) : 0;

  rc = rc == -ENOENT ? 0 : rc;
  if (rc < 0)
    tm_err_system(err, rc, "cannot remove '%s'", path);
  else if (contents && (again || !tm_fs_exists(s->fs, path)))
    rc = tm_input_record_write(s->fs, path, contents, err);
  for (size_t i = 0; i < s->sides.len && rc >= 0; i++)
    rc = write_side(s, i, again, err);
  free(path);
  return rc;
}

/* Comparing. */

/* Whether the recorded hashes of all of these files are those of their contents now. */
static bool has_hashes(const struct tm_identity *contents, const struct tm_identity *then,
                       const struct tm_identity *now)
{
  struct tm_map known = { 0 };
  bool are_equal = then->list.len == now->list.len;

  for (size_t i = 0; i < contents->list.len; i++)
    *tm_map_add(&known, contents->list.at[i].path, strlen(contents->list.at[i].path), NULL) = i;
  for (size_t i = 0; i < now->list.len && are_equal; i++) {
    const struct tm_identity_file *f = &now->list.at[i];
    const uint64_t *at = tm_map_find(&known, f->path, strlen(f->path));
    are_equal = at && strcmp(then->list.at[i].path, f->path) == 0 &&
                contents->list.at[*at].size == f->size &&
                contents->list.at[*at].mtime_ns == f->mtime_ns; /* the hash */
  }
  tm_map_release(&known);
  return are_equal;
}

/* Files are read only where times differ alone, and their hashes are known. */
static bool is_same(const struct tm_side_files *s, const struct side *side,
                    const struct tm_identity *then)
{
  const struct tm_identity *now = &side->now;
  struct tm_identity contents, read = { .files = 0 };
  if (tm_identity_is_equal(then, now))
    return true;
  if (!then->is_listed || then->bytes != now->bytes || then->files != now->files)
    return false;
  char *path = contents_of(s);
  bool is_same = tm_input_record_read(&contents, s->fs, path, NULL) >= 0 &&
                 list(&read, s, side, true, NULL) >= 0 && has_hashes(&contents, then, &read);
  tm_identity_release(&read);
  tm_identity_release(&contents);
  free(path);
  return is_same;
}

/* Adds nothing if it is as it was. */
static void compare(const struct tm_side_files *s, size_t i, struct tm_buf *words)
{
  const struct side *side = &s->sides.at[i];
  char *path = record_of(s, i);
  struct tm_identity then;
  struct tm_err err = TM_ERR_NONE;
  int rc = tm_input_record_read(&then, s->fs, path, &err);

  if (rc >= 0 && side->err.code < 0)
    tm_buf_printf(words, "%s: %s", side->word, side->err.text);
  else if (rc >= 0 && !is_same(s, side, &then))
    tm_identity_compare_as(words, side->word, &then, &side->now, "/");
  else if (rc < 0 && rc != -ENOENT)
    tm_buf_printf(words, "%s: %s", side->word, err.text);
  tm_identity_release(&then);
  free(path);
}

void tm_side_files_compare(const struct tm_side_files *s, struct tm_buf *words)
{
  for (size_t i = 0; i < s->sides.len; i++) {
    struct tm_buf one = TM_BUF_NONE;
    if (s->sides.at[i].files)
      compare(s, i, &one);
    if (one.len > 0)
      tm_buf_printf(words, "%s%s", words->len > 0 ? "; " : "", one.data);
    tm_buf_release(&one);
  }
}
