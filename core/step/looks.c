/* looks.c - see looks.h. */
#include "step/looks.h"

#include <inttypes.h>
#include <string.h>

#include "base/check.h"
#include "base/time.h"

#define FIRST_WAIT_NS (20 * TM_MS) /* after the first look; doubled after each */
#define LAST_WAIT_NS  TM_S

#define LOOK(list_item) TM_LIST_OWNER(list_item, struct tm_look, item)

void tm_looks_init(struct tm_looks *l)
{
  memset(l, 0, sizeof(*l));
  l->limit_ns = TM_LOOKS_NS;
  tm_list_init(&l->waiting);
}

void tm_looks_add(struct tm_looks *l, struct tm_look *look, int64_t now_ns)
{
  *look = (struct tm_look) { .begin_ns = now_ns, .due_ns = now_ns };
  tm_list_add(&l->waiting, &look->item);
}

/* NULL: none waits. There are as many as large results that came at the same time. */
static struct tm_look *first_due(const struct tm_looks *l)
{
  struct tm_look *found = NULL;

  for (struct tm_list_item *i = tm_list_first(&l->waiting); i; i = tm_list_next(&l->waiting, i))
    if (!found || LOOK(i)->due_ns < found->due_ns)
      found = LOOK(i);
  return found;
}

struct tm_look *tm_looks_next(struct tm_looks *l, int64_t now_ns)
{
  struct tm_look *look = l->under_way < TM_LOOKS_AT_ONCE ? first_due(l) : NULL; /* keeps (2) */

  if (!look || look->due_ns > now_ns)
    return NULL;
  tm_list_remove(&l->waiting, &look->item);
  look->is_under_way = true;
  look->looked_ns = now_ns;
  l->under_way++;
  return look;
}

int64_t tm_looks_due(const struct tm_looks *l)
{
  const struct tm_look *look = l->under_way < TM_LOOKS_AT_ONCE ? first_due(l) : NULL;

  return look ? look->due_ns : INT64_MAX;
}

static void end_look(struct tm_looks *l, struct tm_look *look)
{
  tm_require(look->is_under_way && l->under_way > 0);
  look->is_under_way = false;
  l->under_way--;
}

/* A look that took long, because the file is large or its disk slow, is not repeated soon. */
static int64_t wait_after(const struct tm_look *look, int64_t now_ns)
{
  int64_t wait_ns = look->wait_ns > 0 ? 2 * look->wait_ns : FIRST_WAIT_NS;
  int64_t took_ns = now_ns - look->looked_ns;

  wait_ns = wait_ns < LAST_WAIT_NS ? wait_ns : LAST_WAIT_NS;
  return wait_ns > took_ns ? wait_ns : took_ns;
}

bool tm_looks_again(struct tm_looks *l, struct tm_look *look, int64_t now_ns)
{
  int64_t end_ns = look->begin_ns + l->limit_ns;

  end_look(l, look);
  if (look->looked_ns >= end_ns) /* keeps (1) */
    return false;
  look->wait_ns = wait_after(look, now_ns);
  look->due_ns = now_ns + look->wait_ns;
  if (look->due_ns > end_ns)
    look->due_ns = end_ns > now_ns ? end_ns : now_ns;
  tm_list_add(&l->waiting, &look->item);
  return true;
}

void tm_looks_remove(struct tm_looks *l, struct tm_look *look)
{
  if (look->is_under_way)
    end_look(l, look);
  tm_list_remove(&l->waiting, &look->item);
}

void tm_look_describe(struct tm_buf *out, const struct tm_look_finding *found, uint64_t length)
{
  if (found->kind == TM_LOOK_MISSING && found->file > 0) {
    tm_buf_add_str(out, "it does not exist");
    return;
  }
  switch (found->kind) {
  case TM_LOOK_GOOD: break;
  case TM_LOOK_MISSING:
    tm_buf_printf(out, "it does not exist, and should have %" PRIu64 " bytes", length);
    break;
  case TM_LOOK_LENGTH:
    tm_buf_printf(out, "it has %" PRId64 " bytes instead of %" PRIu64, found->length, length);
    break;
  case TM_LOOK_HASH:
    tm_buf_printf(out, "it has %" PRIu64 " bytes as expected, but not those that were written",
                  length);
    break;
  case TM_LOOK_UNREADABLE: tm_buf_printf(out, "%s", found->err.text); break;
  }
}
