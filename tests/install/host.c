/* host.c - the smallest host of libtidemill: checks that library and header belong together, and
 * that the names of the header exist. */
#include <stdio.h>
#include <tidemill.h>

int main(void)
{
  struct tm_err err = { TM_EUSAGE, "no words" };
  printf("%s %s: %s\n", tm_version(), tm_code_name(err.code), tm_code_text(err.code));
  return 0;
}
