/* inspection_tries.c - how many tries failed, and how, read from the summary by worker: see
 * inspection.h.
 *
 * A column of the file is known by its name, so that others may be added. A file that is not such a
 * table adds nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/agent_msg.h"
#include "base/buf.h"
#include "base/path.h"
#include "base/text.h"
#include "inspect/inspection.h"
#include "sys/fs.h"

#define SUMMARY_MAX (256u << 20) /* bytes */

static int64_t *count_of(struct tm_step_inspection *s, const char *name, size_t len)
{
  for (int i = TM_RUN_DONE; i <= TM_CANCELED; i++) {
    const char *status = tm_status_name((enum tm_status)i);
    if (strlen(status) != len || memcmp(status, name, len) != 0)
      continue;
    switch ((enum tm_status)i) {
    case TM_RUN_DONE:
    case TM_CANCELED: return NULL;
    case TM_RUN_TIMEOUT:
    case TM_LOAD_TIMEOUT:
    case TM_INIT_TIMEOUT: return &s->try_timeouts;
    case TM_PROCESS_DIED: return &s->try_lost;
    default: return &s->try_errors;
    }
  }
  return NULL;
}

static int64_t number_of(const char *at, size_t len)
{
  char text[24];
  int64_t n;
  if (len >= sizeof(text))
    return 0;
  memcpy(text, at, len);
  text[len] = '\0';
  return tm_text_int(text, &n) && n > 0 ? n : 0;
}

/* Adds the row to the counts that the header names for its columns. */
static void add_row(struct tm_step_inspection *s, const char *header, const char *row)
{
  for (;;) {
    size_t name_len = strcspn(header, ",\n"), len = strcspn(row, ",\n");
    int64_t *count = count_of(s, header, name_len);
    if (count)
      *count += number_of(row, len);
    if (header[name_len] != ',' || row[len] != ',')
      return;
    header += name_len + 1;
    row += len + 1;
  }
}

void tm_inspection_read_tries(struct tm_step_inspection *s, const char *dir)
{
  struct tm_buf text = TM_BUF_NONE;
  char *path = tm_path_join(dir, "logs/sys/job_report/process_summary.csv");

  s->try_errors = s->try_timeouts = s->try_lost = -1;
  if (tm_fs_read_file(tm_fs_real(), path, SUMMARY_MAX, &text, NULL) >= 0 && text.len > 0) {
    s->try_errors = s->try_timeouts = s->try_lost = 0;
    for (const char *row = strchr(text.data, '\n'); row && row[1]; row = strchr(row + 1, '\n'))
      add_row(s, text.data, row + 1);
  }
  tm_buf_release(&text);
  free(path);
}
