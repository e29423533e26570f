/* test_keeper_relayed.c - all cases of test_keeper.c, with a relay between the supervisor and the
 * keeper: what a supervisor sees does not change. */
#define UNIT_SOURCE "test_keeper_relayed.c"
#define RIG_RELAYED 1

#include "../node/test_keeper.c"
