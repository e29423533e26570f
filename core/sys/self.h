/* self.h - whether this is still the original process, or a fork of it. */
#ifndef TM_SYS_SELF_H
#define TM_SYS_SELF_H

#include <stdbool.h>
#include <sys/types.h>

struct tm_self {
  pid_t pid;
  volatile char *mark; /* 1 here, 0 in a fork; NULL: the kernel has no such memory */
};

void tm_self_init(struct tm_self *s);
/* Costs a memory read; before Linux 4.14 a system call. */
bool tm_self_is(const struct tm_self *s);
void tm_self_release(struct tm_self *s);

#endif
