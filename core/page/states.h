/* states.h - how a state of a job or a step is shown: on each page, in titles, in lists. */
#ifndef TM_PAGE_STATES_H
#define TM_PAGE_STATES_H

#include <stdbool.h>

struct tm_page_state {
  const char *symbol, *word, *tone; /* `tone`: "good", "bad", "warn", "run" or "quiet" */
};

/* `name`: of the state, "Running"; or "Removed", "Unreadable". What is Completed also says whether
 * items have failed, and whether it has only the results of others. */
struct tm_page_state tm_state_shown(const char *name, bool has_failures, bool is_reused);

#endif
