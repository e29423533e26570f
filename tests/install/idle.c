/* idle.c - a host with a runtime and a pipeline that it does not use: prints its resident memory in
 * kB. Without an argument, the same host without runtime and pipeline. */
#include <stdio.h>

#ifdef WITH_TIDEMILL
#include <tidemill.h>

static int begin(const char *path)
{
  static struct tidemill_runtime *rt;
  static struct tidemill_pipeline *pipeline;
  struct tidemill_error err = { 0 };
  int rc = tidemill_runtime_new(&rt, NULL, &err);
  if (rc == 0)
    rc = tidemill_pipeline_load(&pipeline, rt, path, &err);
  if (rc < 0)
    fprintf(stderr, "%s\n", err.text);
  return rc;
}
#else
static int begin(const char *path)
{
  return path ? 0 : -1;
}
#endif

int main(int argc, char **argv)
{
  char line[256];
  int kb = 0;
  FILE *f;
  if (argc != 2 || begin(argv[1]) < 0 || !(f = fopen("/proc/self/status", "r")))
    return 1;
  while (fgets(line, sizeof line, f))
    if (sscanf(line, "VmRSS: %d", &kb) == 1)
      break;
  fclose(f);
  printf("%d\n", kb);
  return 0;
}
