/* host.c - the smallest host of libtidemill: checks that library and header belong together, and
 * that the names of the header exist. */
#include <stdio.h>
#include <tidemill.h>

int main(void)
{
  struct tidemill_error err = { TIDEMILL_EUSAGE, "no words" };
  printf("%s %s: %s\n", tidemill_version(), tidemill_error_name(err.code),
         tidemill_error_text(err.code));
  return 0;
}
