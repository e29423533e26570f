/* gpus.h - the GPUs that a process may use, by the names that stand for them in CUDA_VISIBLE_DEVICES.
 *
 *   CUDA_VISIBLE_DEVICES is there       its entries, in order: numbers, GPU-<uuid>, MIG-<uuid>. As in CUDA, the first that is
 *                                       none of these ("-1", "NoDevFiles") ends the list; "" hides all
 *   else AZ_BATCHAI_GPU_COUNT_FOUND     0, 1, ... so many; what is no number from 0 on is passed over
 *   else                                0, 1, ... as many as there are /dev/nvidia<N>
 */
#ifndef TM_SYS_GPUS_H
#define TM_SYS_GPUS_H

#include <stdbool.h>
#include <stddef.h>

#define TM_GPUS_VISIBLE "CUDA_VISIBLE_DEVICES"
#define TM_GPUS_COUNT   "AZ_BATCHAI_GPU_COUNT_FOUND"
#define TM_GPUS_MAX     1024

struct tm_gpus {
  char **names; /* each once */
  size_t len;   /* 0: none, or all are hidden */
};

/* Both variables may be NULL: not there. Release it. */
void tm_gpus_find(struct tm_gpus *out, const char *visible, const char *count);
/* The same, where so many devices are in /dev. Pure. */
void tm_gpus_read(struct tm_gpus *out, const char *visible, const char *count, size_t devices);
void tm_gpus_release(struct tm_gpus *g); /* zeroed: a no-op */
/* Whether this process can use any, by its own variables. */
bool tm_gpus_are_here(void);
/* Whether a name in /dev is that of a device: "nvidia0", not "nvidiactl". Pure. */
bool tm_gpus_is_device(const char *name);

#endif
