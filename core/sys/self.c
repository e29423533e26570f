/* self.c - see self.h. It uses memory that the kernel clears in a forked child, so that it also
 * notices a fork that bypasses the C library. */
#include "sys/self.h"

#include <sys/mman.h>
#include <unistd.h>

#define SIZE 4096 /* bytes: the kernel clears whole pages */

void tm_self_init(struct tm_self *s)
{
  void *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  s->pid = getpid();
  s->mark = NULL;
  if (p == MAP_FAILED)
    return;
  if (madvise(p, SIZE, MADV_WIPEONFORK) < 0) {
    munmap(p, SIZE);
    return;
  }
  s->mark = p;
  *s->mark = 1;
}

bool tm_self_is(const struct tm_self *s)
{
  return s->mark ? *s->mark == 1 : getpid() == s->pid;
}

void tm_self_release(struct tm_self *s)
{
  if (s->mark)
    munmap((void *)s->mark, SIZE);
  s->mark = NULL;
}
