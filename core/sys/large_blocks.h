/* large_blocks.h - memory that is given back at once.
 *
 * The C library keeps blocks of up to 32 MB when they are freed, for the next caller. That suits a
 * program that takes them again and again. What takes many once, such as the loading of a model,
 * would leave them with the process for good.
 *
 * Between _begin() and _end(), freed blocks of 1 MB or more go back to the system, and smaller ones
 * at the end, as far as they can: malloc_trim() alone does not return the ends of the heaps that
 * threads have. _end() leaves the process with the limits that the C library reaches by itself
 * after a while; it no longer adapts them. So this is for a process of our own, not for a host. Any
 * thread. Two pairs at the same time do no harm.
 */
#ifndef TM_SYS_LARGE_BLOCKS_H
#define TM_SYS_LARGE_BLOCKS_H

void tm_large_blocks_begin(void);
void tm_large_blocks_end(void);

#endif
