/* job_list.c - see job_list.h. */
#include "portal/job_list.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/time.h"

void tm_job_list_add(struct tm_job_list *l, const struct tm_job_row *row)
{
  *TM_ARRAY_ADD(&l->rows) = *row;
}

static bool runs(const struct tm_job_row *row)
{
  return row->is_read && row->state == TIDEMILL_STATE_RUNNING && !row->is_damaged;
}

static int compare(const void *a, const void *b)
{
  const struct tm_job_row *x = a, *y = b;
  if (runs(x) != runs(y))
    return runs(x) ? -1 : 1;
  if (x->order_ns != y->order_ns)
    return x->order_ns > y->order_ns ? -1 : 1;
  return strcmp(y->key, x->key);
}

/* What a job that has ended shows changes with its folder only. */
static uint64_t add_hash(uint64_t seed, const struct tm_job_row *row)
{
  int64_t numbers[] = { row->changed_ns, row->has_result };
  int64_t more[] = { row->state,     row->is_damaged, row->is_stopped, row->created,
                     row->succeeded, row->failed,     row->all_created };
  seed = tm_hash64_seed(row->key, strlen(row->key), seed);
  seed = tm_hash64_seed(numbers, sizeof numbers, seed);
  return row->has_result ? seed : tm_hash64_seed(more, sizeof more, seed);
}

void tm_job_list_sort(struct tm_job_list *l)
{
  if (l->rows.len > 0)
    qsort(l->rows.at, l->rows.len, sizeof *l->rows.at, compare);
  l->version = l->running = 0;
  for (size_t i = 0; i < l->rows.len; i++) {
    l->version = add_hash(l->version, &l->rows.at[i]);
    l->running += runs(&l->rows.at[i]);
  }
}

static bool has_part(const char *text, const char *part, size_t n)
{
  for (; *text; text++) {
    size_t i = 0;
    while (i < n && text[i] && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i]))
      i++;
    if (i == n)
      return true;
  }
  return false;
}

struct tm_page_state tm_job_row_state(const struct tm_job_row *row)
{
  return tm_state_shown(row->is_damaged ? "Unreadable" : tidemill_state_name(row->state),
                        row->items_failed > 0, row->is_reused);
}

bool tm_job_list_matches(const struct tm_job_row *row, const char *filter)
{
  for (;;) {
    filter += strspn(filter, " ");
    size_t n = strcspn(filter, " ");
    if (n == 0)
      return true;
    if (!has_part(row->key, filter, n) && !has_part(row->pipeline, filter, n) &&
        !has_part(tm_job_row_state(row).word, filter, n) &&
        !has_part(tidemill_state_name(row->state), filter, n))
      return false;
    filter += n;
  }
}

static void read_row(const struct tm_job_list *l, struct tm_job_row *row)
{
  if (!row->is_read)
    tm_job_row_read(row, l->dir);
}

size_t tm_job_list_page(struct tm_job_list *l, const char *filter, int64_t page,
                        void (*on_row)(const struct tm_job_row *row, void *data), void *data)
{
  size_t matching = 0;
  for (size_t i = 0; i < l->rows.len; i++) {
    struct tm_job_row *row = &l->rows.at[i];
    if (*filter)
      read_row(l, row);
    if (!tm_job_list_matches(row, filter))
      continue;
    if ((int64_t)(matching++ / TM_JOB_LIST_PAGE) != page - 1)
      continue;
    read_row(l, row);
    on_row(row, data);
  }
  return matching;
}

static int number(const char *s, size_t n)
{
  int value = 0;
  for (size_t i = 0; i < n; i++) {
    if (s[i] < '0' || s[i] > '9')
      return -1;
    value = value * 10 + (s[i] - '0');
  }
  return value;
}

/* "-20261122-021904-vbxd", at the end of the name. */
int64_t tm_job_name_time(const char *name)
{
  static const size_t len = sizeof "-20261122-021904-vbxd" - 1;
  size_t n = strlen(name);
  const char *s = n >= len ? name + n - len : NULL;
  if (!s || s[0] != '-' || s[9] != '-' || s[16] != '-')
    return 0;
  int year = number(s + 1, 4), month = number(s + 5, 2), day = number(s + 7, 2);
  int hour = number(s + 10, 2), minute = number(s + 12, 2), second = number(s + 14, 2);
  if (year < 1970 || month < 1 || month > 12 || day < 1 || hour < 0 || minute < 0 || second < 0)
    return 0;
  return (tm_time_days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second) * TM_S;
}
