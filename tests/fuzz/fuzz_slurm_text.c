/* fuzz_slurm_text.c - what Slurm's commands print. Every field ends within its bounds and has only
 * printable characters; each call moves on; nothing is read beyond the end. */
#include "fuzz.h"

#include "slurm/slurm_text.h"

static void require_text(const char text[TM_SLURM_TEXT_MAX])
{
  const char *end = memchr(text, '\0', TM_SLURM_TEXT_MAX);

  fuzz_require(end != NULL);
  for (const char *c = text; c < end; c++)
    fuzz_require(*c >= ' ' && *c < 0x7f);
}

static void read_jobs(const char *text, size_t len)
{
  struct tm_slurm_job j;
  size_t at = 0, before = 0;

  while (tm_slurm_text_next_job(text, len, &at, &j)) {
    fuzz_require(at > before && at <= len && j.id > 0 && j.left_s >= -1);
    fuzz_require(j.state <= TM_SLURM_UNKNOWN && j.end <= TM_SLURM_END_OTHER);
    fuzz_require((j.end != TM_SLURM_END_NOT_KNOWN) ==
                 (j.state == TM_SLURM_ENDED || j.state == TM_SLURM_CANCELED));
    require_text(j.name);
    require_text(j.state_name);
    require_text(j.host);
    require_text(j.reason);
    before = at;
  }
  fuzz_require(at == len);
}

static void read_hosts(const char *text, size_t len)
{
  const char *name;
  size_t at = 0, host;

  while ((host = tm_slurm_text_next_host(text, len, &at, &name)) > 0)
    fuzz_require(name >= text && name + host <= text + at && !memchr(name, '\n', host));
  fuzz_require(at == len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = malloc(size + 1), error[TM_SLURM_TEXT_MAX];
  struct tm_slurm_said said;

  memcpy(text, data, size);
  text[size] = '\0'; /* for tm_slurm_text_cpus() alone */
  for (size_t i = 0; i < 5; i++) {
    int64_t cpus = tm_slurm_text_cpus(text, i);
    fuzz_require(cpus >= 0 && cpus <= INT32_MAX);
  }
  free(text);
  text = malloc(size > 0 ? size : 1); /* of the exact size, for the sanitizer */
  memcpy(text, data, size);
  read_jobs(text, size);
  read_hosts(text, size);
  tm_slurm_text_line(text, size, &said);
  require_text(said.text);
  tm_slurm_text_error(text, size, error);
  require_text(error);
  free(text);
  return 0;
}
