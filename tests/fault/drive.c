/* drive.c - see drive.h. A row is "<mini-batch>:<row>:<letters>", the same in every try. The right
 * output is therefore known, and a lost, duplicate, torn or misplaced row is detected. */
#include "drive.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/agent_msg.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/path.h"
#include "commit/manifest.h"
#include "data/item.h"

#define STEP_DIR   "/job/step"
#define OUTPUT_DIR "/out/scores"
#define OUTPUT     OUTPUT_DIR "/rows.txt"
#define OWNER      "{\"epoch\":\"0000000000000007\"}"

static bool is_failing(uint64_t i)
{
  return i % 5 == 4;
}
static bool is_short(uint64_t i)
{
  return i % 5 == 2;
}
static bool is_spilled(uint64_t i)
{
  return i % 5 == 1;
}
/* Its file belongs to a further output, whose folder exists before the step runs. */
static bool is_of_more(uint64_t i)
{
  return i % 2 == 1;
}

static bool has_file(uint64_t i)
{
  return i % 5 == 3;
}
static int row_count(uint64_t i)
{
  return is_failing(i) ? 0 : (int)(i % 4);
}

static void add_row(struct tm_buf *out, uint64_t i, int row)
{
  tm_buf_printf(out, "%d:%d:", (int)i, row);
  for (size_t n = 0; n < 3 + (i * 7 + (size_t)row * 5) % 40; n++)
    tm_buf_add_char(out, (char)('a' + (i + n) % 26));
  tm_buf_add_char(out, '\n');
}

static void add_rows(struct tm_buf *out, uint64_t i)
{
  for (int row = 0; row < row_count(i); row++)
    add_row(out, i, row);
}

static void add_lines(struct tm_buf *out, uint64_t i)
{
  for (int line = 0; line < (is_failing(i) ? 2 : is_short(i) ? 1 : 0); line++)
    tm_buf_printf(out, "{\"mini_batch\":%d,\"line\":%d}\n", (int)i, line);
}

static void add_items(struct tm_buf *out, uint64_t i)
{
  char path[64];
  for (uint64_t k = 0; k <= i % 3; k++) {
    int len = snprintf(path, sizeof(path), "/in/%d-%d.pgm", (int)i, (int)k);
    struct tm_item item = { .path = path, .path_len = (size_t)len, .size = (int64_t)(i * 100 + k) };
    tm_item_add(out, &item);
  }
}

static uint64_t any(struct drive *d, uint64_t below)
{
  return tm_disk_random(&d->random, below);
}

static enum drive_end bad(struct drive *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static enum drive_end bad(struct drive *d, const char *fmt, ...)
{
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(d->words, sizeof(d->words), fmt, ap);
  va_end(ap);
  return DRIVE_BAD;
}

/* An error is correct only after a power cut or a fault, and it must have a message. */
static enum drive_end stopped(struct drive *d, const char *what, const struct tm_err *err)
{
  if (err->code >= 0 || !err->text[0])
    return bad(d, "%s: an error without words, code %d", what, err->code);
  if (err->code == TM_EDAMAGE || (!tm_disk_is_cut(d->disk) && !tm_disk_has_failed(d->disk)))
    return bad(d, "%s: %s", what, err->text);
  return DRIVE_STOPPED;
}

static void enter(struct drive *d, int phase)
{
  d->phase = phase;
  d->phases++;
  if (d->site && d->site->phases & phase)
    tm_disk_leave_out(d->disk, d->site->path_end, d->site->from, d->site->to);
  else
    tm_disk_leave_out(d->disk, NULL, 0, 0);
}

void drive_init(struct drive *d, uint64_t seed)
{
  struct tm_disk_plan none = { 0 };
  memset(d, 0, sizeof(*d));
  d->random = seed * 7919 + 1;
  d->disk = tm_disk_new(seed);
  const struct tm_fs *fs = tm_disk_fs(d->disk);
  tm_disk_plan(d->disk, &none);
  tm_fs_make_dirs(fs, "/job", 0700, NULL);
  tm_fs_make_dirs(fs, "/out", 0700, NULL);
  tm_fs_make_dirs(fs, OUTPUT_DIR ".more", 0700, NULL);
  tm_fs_write_file(fs, "/job/owner", OWNER, strlen(OWNER), 0600, NULL);
}

void drive_release(struct drive *d)
{
  tm_disk_free(d->disk);
}

/* Whether the existing rows are those of the mini-batches in `has`: each mini-batch once and in one
 * piece. */
static bool check_rows(struct drive *d, const char *path, const bool *has)
{
  struct tm_buf text = TM_BUF_NONE, want = TM_BUF_NONE;
  bool seen[DRIVE_COUNT] = { false };
  if (tm_disk_read(d->disk, path, &text) < 0) {
    bad(d, "'%s' is not there", path);
    return false;
  }
  d->words[0] = '\0';
  for (size_t at = 0; at < text.len && !d->words[0];) {
    uint64_t i = strtoull(text.data + at, NULL, 10);
    tm_buf_clear(&want);
    if (i < DRIVE_COUNT)
      add_rows(&want, i);
    if (i >= DRIVE_COUNT || !has[i] || seen[i] || want.len == 0 || at + want.len > text.len ||
        memcmp(text.data + at, want.data, want.len) != 0)
      bad(d, "'%s' at byte %zu: lost, doubled or torn rows of %s", path, at,
          i >= DRIVE_COUNT ? "nobody"
          : seen[i]        ? "one that is there"
          : !has[i]        ? "an open one"
                           : "one");
    else
      seen[i] = true;
    at += want.len;
  }
  for (uint64_t i = 0; i < DRIVE_COUNT && !d->words[0]; i++)
    if (has[i] && !seen[i] && row_count(i) > 0)
      bad(d, "'%s': the rows of mini-batch %d are not there", path, (int)i);
  tm_buf_release(&text);
  tm_buf_release(&want);
  return !d->words[0];
}

static size_t count_of(const char *text, const char *part)
{
  size_t n = 0;
  for (const char *at = text; (at = strstr(at, part)); at++)
    n++;
  return n;
}

static bool check_lines(struct drive *d)
{
  struct tm_buf text = TM_BUF_NONE, line = TM_BUF_NONE;
  size_t total = 0;
  d->words[0] = '\0';
  if (tm_disk_read(d->disk, STEP_DIR "/failed_items.jsonl", &text) < 0)
    bad(d, "failed_items.jsonl is not there");
  for (uint64_t i = 0; i < DRIVE_COUNT && !d->words[0]; i++) {
    tm_buf_clear(&line);
    add_lines(&line, i);
    total += line.len;
    if (line.len > 0 && count_of(tm_buf_str(&text), line.data) != 1)
      bad(d, "failed_items.jsonl: the lines of mini-batch %d are there %zu times", (int)i,
          count_of(tm_buf_str(&text), line.data));
  }
  if (!d->words[0] && total != text.len)
    bad(d, "failed_items.jsonl has %zu bytes, not %zu", text.len, total);
  tm_buf_release(&text);
  tm_buf_release(&line);
  return !d->words[0];
}

/* Whether the files of these mini-batches exist and are whole. Files of others may exist until the
 * end. */
static bool check_files(struct drive *d, const bool *has, bool is_end)
{
  d->words[0] = 0;
  for (uint64_t i = 0; i < DRIVE_COUNT && !d->words[0]; i++) {
    struct tm_buf text = TM_BUF_NONE;
    char path[100], want[40];
    snprintf(path, sizeof(path), OUTPUT_DIR "%s/deep/%d.bin", is_of_more(i) ? ".more" : "", (int)i);
    snprintf(want, sizeof(want), "file of %d", (int)i);
    bool is_there = tm_disk_read(d->disk, path, &text) == 0;
    if (has_file(i) && has[i] && (!is_there || strcmp(tm_buf_str(&text), want) != 0))
      bad(d, "'%s' is not there, or torn: \"%s\"", path, tm_buf_str(&text));
    if (is_end && is_there && !(has_file(i) && has[i]))
      bad(d, "'%s' is there, and is nobody's", path);
    tm_buf_release(&text);
  }
  return !d->words[0];
}

bool drive_check_result(struct drive *d)
{
  bool has[DRIVE_COUNT];
  for (uint64_t i = 0; i < DRIVE_COUNT; i++)
    has[i] = !is_failing(i);
  return check_rows(d, OUTPUT, has) && check_lines(d) && check_files(d, has, true);
}

/* Promised results exist, and the output holds exactly the committed rows. */
static enum drive_end check_opened(struct drive *d, bool keep_failed)
{
  bool has[DRIVE_COUNT];
  for (uint64_t i = 0; i < DRIVE_COUNT; i++) {
    enum tm_mini_batch_state state = tm_commit_state(d->commit, i);
    has[i] = state == TM_MINI_BATCH_COMMITTED;
    d->added[i] = d->flushed[i] = state != TM_MINI_BATCH_OPEN;
    if (d->promised[i] && state == TM_MINI_BATCH_OPEN && (keep_failed || !is_failing(i)))
      return bad(d, "mini-batch %d was synced and is gone", (int)i);
    if (state != TM_MINI_BATCH_OPEN && (state == TM_MINI_BATCH_FAILED) != is_failing(i))
      return bad(d, "mini-batch %d has another outcome", (int)i);
  }
  return check_rows(d, OUTPUT ".partial", has) && check_files(d, has, false) ? DRIVE_DONE
                                                                             : DRIVE_BAD;
}

static enum drive_end open_step(struct drive *d)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_commit_found found;
  struct tm_commit_options o = { .fs = tm_disk_fs(d->disk),
                                 .step_dir = STEP_DIR,
                                 .output_dir = OUTPUT_DIR,
                                 .output_name = "rows.txt",
                                 .owner_file = "/job/owner",
                                 .epoch = 7 };
  o.keep_failed = any(d, 2) == 0;
  enter(d, DRIVE_OPEN);
  if (tm_commit_open(&d->commit, &o, &found, &err) < 0 || tm_commit_begin(d->commit, &err) < 0)
    return stopped(d, "open", &err);
  enter(d, DRIVE_RUN);
  if (tm_disk_is_cut(d->disk))
    return DRIVE_DONE; /* nobody can look */
  return check_opened(d, o.keep_failed);
}

static enum drive_end list_one(struct drive *d)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf items = TM_BUF_NONE;
  struct tm_manifest *m = tm_commit_manifest(d->commit);
  int rc;
  if (d->listed == DRIVE_COUNT) {
    rc = tm_manifest_end(m, &err);
    return rc < 0 ? stopped(d, "end of the list", &err) : DRIVE_DONE;
  }
  add_items(&items, d->listed);
  rc = tm_manifest_add(m, 0, (uint32_t)(d->listed % 3 + 1), items.data, items.len, &err);
  tm_buf_release(&items);
  d->listed++;
  if (rc == 0 && any(d, 3) == 0)
    rc = tm_manifest_flush(m, &err);
  return rc < 0 ? stopped(d, "list", &err) : DRIVE_DONE;
}

static enum drive_end check_entry(struct drive *d, uint64_t i)
{
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf items = TM_BUF_NONE;
  struct tm_manifest_entry e;
  int rc = tm_manifest_read(tm_commit_manifest(d->commit), i, &e, &err);
  if (rc < 0)
    return stopped(d, "read the list", &err);
  add_items(&items, i);
  bool is_same = e.index == i && e.len == items.len && memcmp(e.bytes, items.data, e.len) == 0;
  tm_buf_release(&items);
  return is_same ? DRIVE_DONE : bad(d, "mini-batch %d of the list is another one", (int)i);
}

/* Adds rows through a file. Sometimes its bytes are wrong at first: it is refused, and then added
 * again correctly. */
static enum drive_end add_spilled(struct drive *d, const struct tm_outcome *o,
                                  const struct tm_buf *rows)
{
  const struct tm_fs *fs = tm_disk_fs(d->disk);
  struct tm_err err = TM_ERR_NONE;
  char path[100];
  snprintf(path, sizeof(path), "%s/%d", tm_commit_spill_dir(d->commit), (int)o->index);
  uint64_t hash = tm_hash64(tm_buf_str(rows), rows->len), flaw = any(d, 3) == 0;
  int fd = tm_fs_open(fs, path, O_RDWR | O_CREAT | O_TRUNC, 0600, &err);
  if (fd < 0 || tm_fs_write_at(fs, fd, path, tm_buf_str(rows), rows->len, 0, &err) < 0) {
    tm_fs_close(fs, fd);
    return stopped(d, "spill", &err);
  }
  tm_fs_close(fs, fd);
  int rc = tm_commit_add_spilled(d->commit, o, path, rows->len, hash + flaw, &err);
  if (rc == TM_EDAMAGE && err.text[0] &&
      (flaw || tm_disk_is_cut(d->disk) || tm_disk_has_failed(d->disk))) {
    tm_commit_add_done(d->commit, o, rows->data, rows->len);
    rc = 0;
  } else if (rc == 0 && flaw) {
    return bad(d, "a spilled result with the wrong contents was accepted");
  }
  return rc < 0 ? stopped(d, "spilled", &err) : DRIVE_DONE;
}

/* A file as a worker leaves it: its contents are fsynced, its name is not. */
static enum drive_end make_file(struct drive *d, uint64_t i)
{
  const struct tm_fs *fs = tm_disk_fs(d->disk);
  struct tm_err err = TM_ERR_NONE;
  struct tm_buf names = TM_BUF_NONE;
  char dir[60], path[100], text[40], name[40];
  snprintf(dir, sizeof(dir), STEP_DIR "/state/try-%d", (int)i);
  snprintf(name, sizeof(name), "%sdeep/%d.bin", is_of_more(i) ? "/more/" : "", (int)i);
  char *staged = tm_output_file_below(dir, name);
  snprintf(path, sizeof(path), "%s", staged);
  free(staged);
  snprintf(text, sizeof(text), "file of %d", (int)i);
  char *parent = tm_path_dir(path);
  int rc = tm_fs_make_dirs(fs, parent, 0700, &err);
  int fd = rc < 0 ? rc : tm_fs_open(fs, path, O_RDWR | O_CREAT | O_TRUNC, 0600, &err);
  free(parent);
  rc = fd < 0 ? fd : tm_fs_write_at(fs, fd, path, text, strlen(text), 0, &err);
  if (rc == 0)
    rc = tm_fs_sync(fs, fd, path, &err);
  tm_fs_close(fs, fd);
  tm_buf_add_bytes32(&names, name, strlen(name));
  if (rc == 0)
    rc = tm_commit_note_files(d->commit, dir, names.data, names.len, &err);
  tm_buf_release(&names);
  if (rc == TM_EDAMAGE && (tm_disk_is_cut(d->disk) || tm_disk_has_failed(d->disk)))
    return DRIVE_STOPPED; /* the file could not be examined: a refused try */
  return rc < 0 ? stopped(d, "file", &err) : DRIVE_DONE;
}

static enum drive_end add_outcome(struct drive *d, uint64_t i)
{
  struct tm_buf rows = TM_BUF_NONE, lines = TM_BUF_NONE;
  uint32_t items = (uint32_t)(i % 3 + 1);
  struct tm_outcome o = {
    .index = i, .try = 1, .items = items, .succeeded = is_failing(i) ? 0 : items
  };
  enum drive_end end = check_entry(d, i);
  if (end == DRIVE_DONE && has_file(i))
    end = make_file(d, i);
  if (end != DRIVE_DONE)
    return end;
  add_rows(&rows, i);
  add_lines(&lines, i);
  if (is_failing(i))
    tm_commit_add_failed(d->commit, &o, lines.data, lines.len);
  else if (lines.len > 0)
    tm_commit_note_failures(d->commit, lines.data, lines.len);
  if (is_spilled(i))
    end = add_spilled(d, &o, &rows);
  else if (!is_failing(i))
    tm_commit_add_done(d->commit, &o, rows.data, rows.len);
  d->added[i] = true;
  tm_buf_release(&rows);
  tm_buf_release(&lines);
  return end;
}

static enum drive_end work(struct drive *d)
{
  uint64_t count = tm_manifest_count(tm_commit_manifest(d->commit)), first = any(d, DRIVE_COUNT);
  for (uint64_t k = 0; k < DRIVE_COUNT; k++) {
    uint64_t i = (first + k) % DRIVE_COUNT;
    if (i < count && !d->added[i])
      return add_outcome(d, i);
  }
  return DRIVE_DONE;
}

static enum drive_end flush(struct drive *d)
{
  struct tm_err err = TM_ERR_NONE;
  if (tm_commit_flush(d->commit, &err) < 0)
    return stopped(d, "flush", &err);
  memcpy(d->flushed, d->added, sizeof(d->flushed));
  return DRIVE_DONE;
}

static enum drive_end sync_on(struct drive *d)
{
  struct tm_err err = TM_ERR_NONE;
  if (d->sync_state == 0 && tm_commit_sync_begin(d->commit, &d->sync)) {
    memcpy(d->begun, d->flushed, sizeof(d->begun));
    d->sync_state = 1;
  } else if (d->sync_state == 1) {
    tm_sync_run(&d->sync);
    if (d->sync.code == 0)
      memcpy(d->promised, d->begun, sizeof(d->promised));
    d->sync_state = 2;
  } else if (d->sync_state == 2) {
    d->sync_state = 0;
    if (tm_commit_sync_end(d->commit, &d->sync, &err) < 0)
      return stopped(d, "sync", &err);
  }
  return DRIVE_DONE;
}

static bool is_over(const struct drive *d)
{
  for (uint64_t i = 0; i < DRIVE_COUNT; i++)
    if (!d->added[i])
      return false;
  return tm_manifest_has_end(tm_commit_manifest(d->commit));
}

static enum drive_end finish(struct drive *d)
{
  struct tm_err err = TM_ERR_NONE;
  while (d->sync_state != 0) {
    enum drive_end end = sync_on(d);
    if (end != DRIVE_DONE)
      return end;
  }
  enter(d, DRIVE_FINISH);
  if (tm_commit_finish(d->commit, true, &err) < 0)
    return stopped(d, "finish", &err);
  if (tm_disk_is_cut(d->disk))
    return DRIVE_STOPPED;
  memset(d->promised, true, sizeof(d->promised));
  d->is_finished = true;
  return drive_check_result(d) ? DRIVE_DONE : DRIVE_BAD;
}

static enum drive_end run_session(struct drive *d)
{
  enum drive_end end = open_step(d);
  for (uint64_t step = 1; end == DRIVE_DONE && !is_over(d); step++) {
    if (step == d->kill_at)
      return DRIVE_STOPPED;
    switch (any(d, 6)) {
    case 0:
    case 1:
      end = tm_manifest_has_end(tm_commit_manifest(d->commit)) ? DRIVE_DONE : list_one(d);
      break;
    case 2:
    case 3: end = work(d); break;
    case 4: end = flush(d); break;
    default: end = sync_on(d); break;
    }
  }
  return end == DRIVE_DONE ? finish(d) : end;
}

enum drive_end drive_session(struct drive *d)
{
  d->is_finished = false;
  d->listed = 0;
  d->sync_state = 0;
  memset(d->added, 0, sizeof(d->added));
  memset(d->flushed, 0, sizeof(d->flushed));
  enum drive_end end = run_session(d);
  tm_commit_close(d->commit);
  d->commit = NULL;
  d->kill_at = 0;
  return end;
}

bool drive_to_end(struct drive *d)
{
  struct tm_disk_plan none = { 0 };
  if (tm_disk_is_cut(d->disk))
    tm_disk_restart(d->disk);
  tm_disk_plan(d->disk, &none);
  d->kill_at = 0;
  if (drive_session(d) != DRIVE_DONE)
    return false;
  tm_disk_restart(d->disk);
  return drive_check_result(d);
}
