/* gpus.h - the GPUs that a process may use, by their names in CUDA_VISIBLE_DEVICES.
 *
 *   CUDA_VISIBLE_DEVICES is set         its entries, in order: numbers, GPU-<uuid>, MIG-<uuid>.
 *                                       As in CUDA, the first entry of another form ("-1",
 *                                       "NoDevFiles") ends the list; "" hides all
 *   else AZ_BATCHAI_GPU_COUNT_FOUND     a count: 0, 1, ...; ignored unless it is a number >= 0
 *   else                                0, 1, ... one for each /dev/nvidia<N>
 */
#ifndef TM_SYS_MACHINE_GPUS_H
#define TM_SYS_MACHINE_GPUS_H

#include <stdbool.h>
#include <stddef.h>

#define TM_GPUS_VISIBLE "CUDA_VISIBLE_DEVICES"
#define TM_GPUS_COUNT   "AZ_BATCHAI_GPU_COUNT_FOUND"
#define TM_GPUS_MAX     1024

struct tm_gpus {
  char **names; /* no duplicates */
  size_t len;   /* 0: none, or all are hidden */
};

/* A variable that is not set is NULL. Release *out. */
void tm_gpus_find(struct tm_gpus *out, const char *visible, const char *count);
/* Like tm_gpus_find(), with the number of devices in /dev given. Pure. */
void tm_gpus_read(struct tm_gpus *out, const char *visible, const char *count, size_t devices);
void tm_gpus_release(struct tm_gpus *g); /* zeroed: a no-op */
/* Whether this process can use a GPU, according to its own environment. */
bool tm_gpus_are_here(void);
/* Whether a name in /dev is a device: "nvidia0", not "nvidiactl". Pure. */
bool tm_gpus_is_device(const char *name);

#endif
