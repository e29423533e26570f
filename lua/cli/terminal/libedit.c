/* libedit.c - see libedit.h. */
#include "cli/terminal/libedit.h"

#include "sys/library.h"

#define NAME(name) #name,

TM_LIBRARY_TABLE(tm_libedit, TM_LIBEDIT_FUNCTIONS(NAME), "libedit.so.2", "libedit2")
