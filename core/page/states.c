/* states.c - see states.h. */
#include "page/states.h"

#include <string.h>

#include "base/mem.h"

static const struct tm_page_state states[] = {
  { "▸", "Running", "run" },    { "‖", "Interrupted", "warn" },
  { "■", "Canceled", "warn" },  { "✗", "Failed", "bad" },
  { "✓", "Completed", "good" }, { "!", "Completed with failures", "warn" },
  { "↺", "Reused", "good" },    { "–", "Skipped", "quiet" },
  { "…", "Waiting", "quiet" },  { "–", "Removed", "quiet" },
  { "?", "Unreadable", "bad" },
};

struct tm_page_state tm_state_shown(const char *name, bool has_failures, bool is_reused)
{
  size_t i = 0;
  if (strcmp(name, "Completed") == 0)
    name = is_reused ? "Reused" : has_failures ? "Completed with failures" : name;
  while (i + 1 < TM_COUNT_OF(states) && strcmp(states[i].word, name) != 0)
    i++;
  return states[i];
}
