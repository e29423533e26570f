/* test_temp_owner.c - the file that names the keeper of a folder: which machine it is on. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "folder.h"
#include "node/temp_owner.h"

#define BOOT  "6f1c0a3e-0000-4000-8000-00000000aaaa"
#define OTHER "6f1c0a3e-0000-4000-8000-00000000bbbb"

static void the_text_says_whether_it_was_this_machine(void **state)
{
  static const struct {
    const char *text, *boot_id, *host;
    bool is_here, is_same_boot;
  } cases[] = {
    { BOOT " cn01 0000000000000abc.2.1\n", BOOT, "cn01", true, true },
    { BOOT " cn01 0000000000000abc.2.1\n", OTHER, "cn01", true, false }, /* it has restarted */
    { BOOT " cn01 0000000000000abc.2.1\n", OTHER, "cn02", false, false },
    { BOOT " cn01 0000000000000abc.2.1\n", BOOT, "cn02", true, true }, /* another container */
    { "- cn01 0000000000000abc.2.1\n", "", "cn01", true, false },
    { "- - 0000000000000abc.2.1\n", "", "", false, false },
    { "- - 0000000000000abc.2.1\n", BOOT, "cn01", false, false },
  };
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++) {
    struct tm_temp_machine here = { 0 };
    struct tm_temp_owner owner;
    strcpy(here.boot_id, cases[i].boot_id);
    strcpy(here.host, cases[i].host);
    assert_true(tm_temp_owner_parse(&owner, cases[i].text, &here));
    if (owner.is_here != cases[i].is_here || owner.is_same_boot != cases[i].is_same_boot)
      fail_msg("case %zu", i);
    assert_true(owner.incarnation.epoch == 0xabc && owner.incarnation.node == 2 &&
                owner.incarnation.number == 1);
  }
}

static void another_text_names_no_keeper(void **state)
{
  static const char *const cases[] = {
    "",
    "\n",
    BOOT,
    BOOT " cn01\n",
    BOOT " cn01 abc\n",
    BOOT " cn01 0000000000000abc.2\n",
    BOOT " cn01 0000000000000abc.2.1", /* cut */
    BOOT " cn01 0000000000000abc.2.1 more\n",
    BOOT " cn01 0000000000000abc.x.1\n",
  };
  struct tm_temp_machine here = { .boot_id = BOOT, .host = "cn01" };
  struct tm_temp_owner owner;
  for (size_t i = 0; i < TM_COUNT_OF(cases); i++)
    if (tm_temp_owner_parse(&owner, cases[i], &here))
      fail_msg("case %zu", i);
}

static void what_is_written_is_read_here(void **state)
{
  struct folder f;
  struct tm_temp_machine here = tm_temp_this_machine();
  struct tm_temp_owner owner;
  folder_init(&f);
  assert_false(tm_temp_owner_read(&owner, f.path, &here));
  tm_temp_own(f.path, &(struct tm_incarnation) { UINT64_MAX, UINT32_MAX, 7 });
  assert_true(tm_temp_owner_read(&owner, f.path, &here));
  assert_true(owner.is_here && owner.is_same_boot);
  assert_true(owner.incarnation.epoch == UINT64_MAX && owner.incarnation.node == UINT32_MAX &&
              owner.incarnation.number == 7);
  here.boot_id[0] ^= 1;
  assert_true(tm_temp_owner_read(&owner, f.path, &here));
  assert_true(owner.is_here && !owner.is_same_boot);
  folder_release(&f);
}

UNIT_TESTS({
    cmocka_unit_test(the_text_says_whether_it_was_this_machine),
    cmocka_unit_test(another_text_names_no_keeper),
    cmocka_unit_test(what_is_written_is_read_here),
});
