/* gpus.c - see gpus.h. It asks no driver; it only numbers the devices as CUDA would. */
#include "sys/machine/gpus.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "sys/fs.h"

bool tm_gpus_is_device(const char *name)
{
  static const char front[] = "nvidia";
  if (strncmp(name, front, sizeof(front) - 1) != 0)
    return false;
  const char *at = name + sizeof(front) - 1;
  size_t digits = strspn(at, "0123456789");
  return digits > 0 && at[digits] == '\0';
}

static void add(struct tm_gpus *g, const char *name, size_t len)
{
  for (size_t i = 0; i < g->len; i++)
    if (strlen(g->names[i]) == len && memcmp(g->names[i], name, len) == 0)
      return;
  g->names = tm_xrealloc(g->names, (g->len + 1) * sizeof(*g->names));
  g->names[g->len++] = tm_xstrndup(name, len);
}

static void add_numbers(struct tm_gpus *g, size_t n)
{
  char number[24];
  for (size_t i = 0; i < n && i < TM_GPUS_MAX; i++) {
    int len = snprintf(number, sizeof(number), "%zu", i);
    add(g, number, (size_t)len);
  }
}

static bool is_entry(const char *s, size_t len)
{
  if (len > 4 && (strncmp(s, "GPU-", 4) == 0 || strncmp(s, "MIG-", 4) == 0))
    return true;
  for (size_t i = 0; i < len; i++)
    if (s[i] < '0' || s[i] > '9')
      return false;
  return len > 0;
}

static void add_entries(struct tm_gpus *g, const char *visible)
{
  while (g->len < TM_GPUS_MAX) {
    visible += strspn(visible, " \t");
    size_t whole = strcspn(visible, ","), len = whole;
    while (len > 0 && (visible[len - 1] == ' ' || visible[len - 1] == '\t'))
      len--;
    if (!is_entry(visible, len))
      return;
    add(g, visible, len);
    if (visible[whole] == '\0')
      return;
    visible += whole + 1;
  }
}

static bool is_count(const char *count, int64_t *n)
{
  return count && tm_text_int(count, n) && *n >= 0;
}

void tm_gpus_read(struct tm_gpus *out, const char *visible, const char *count, size_t devices)
{
  int64_t n = 0;
  *out = (struct tm_gpus) { 0 };
  if (visible)
    add_entries(out, visible);
  else
    add_numbers(out, is_count(count, &n) ? (size_t)n : devices);
}

static int on_name(void *data, const char *name, int type)
{
  size_t *n = data;
  *n += tm_gpus_is_device(name);
  return 0;
}

void tm_gpus_find(struct tm_gpus *out, const char *visible, const char *count)
{
  size_t devices = 0;
  int64_t n;
  if (!visible && !is_count(count, &n))
    tm_dir_read("/dev", on_name, &devices);
  tm_gpus_read(out, visible, count, devices);
}

void tm_gpus_release(struct tm_gpus *g)
{
  for (size_t i = 0; i < g->len; i++)
    free(g->names[i]);
  free(g->names);
  *g = (struct tm_gpus) { 0 };
}

bool tm_gpus_are_here(void)
{
  struct tm_gpus g;
  tm_gpus_find(&g, getenv(TM_GPUS_VISIBLE), getenv(TM_GPUS_COUNT));
  bool yes = g.len > 0;
  tm_gpus_release(&g);
  return yes;
}
