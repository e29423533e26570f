/* calls.h - the system calls that `disturb` watches: their names, and the file that a call is
 * about.
 *
 * Each class has the name that a user writes and one or more system calls: "rename" is rename,
 * renameat and renameat2.
 */
#ifndef TM_TESTS_CALLS_H
#define TM_TESTS_CALLS_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The index of the class with this name, or -1. */
int call_class_find(const char *name);

/* The number of classes, and the name of one. */
size_t call_class_count(void);
const char *call_class_name(size_t index);

/* The class of the system call `number`, or -1. */
int call_class_of(uint64_t number);

/* The path that the call is about, as the process sees it: of the descriptor, or of the name
 * resolved against its folder. False when the call is about no file (sendmsg), about standard input
 * or output, or when the process has ended meanwhile. */
bool call_path(pid_t tid, uint64_t number, const uint64_t args[6], char *out, size_t size);

/* A filter that stops at the calls of class `only`, or of all classes for -1. `out` holds
 * CALL_FILTER_MAX instructions;
 * returns how many it needs. */
enum { CALL_FILTER_MAX = 160 };
unsigned short call_filter(int only, struct sock_filter *out);

/* The error with this name (ENOSPC), or 0. */
int call_error_find(const char *name);

#endif
