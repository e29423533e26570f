/* clock.h - the clocks, in nanoseconds. */
#ifndef TM_SYS_CLOCK_H
#define TM_SYS_CLOCK_H

#include <stdint.h>

int64_t tm_clock_mono_ns(void); /* never jumps; the same for all processes of the machine */
int64_t tm_clock_boot_ns(void); /* the same, and passes while the machine sleeps */
int64_t tm_clock_wall_ns(void); /* since the epoch, UTC */

/* Seconds that the local time of this machine is ahead of UTC at that moment. */
int64_t tm_clock_utc_offset_s(int64_t wall_ns);

/* Blocks this thread. Do not call it on the loop's thread while a job runs. */
void tm_clock_pause(int64_t ns);

#endif
