/* registry_name.c - checks the names of registered datasets, and reads versions: see registry.h. */
#include "store/registry.h"

#include <string.h>

#include "base/text.h"

int tm_registry_check_name(const char *name, struct tm_err *err)
{
  size_t n = strlen(name);
  struct tm_buf said = TM_BUF_NONE;
  bool is_good = n > 0 && n <= TM_REGISTRY_NAME_MAX;
  for (const char *c = name; *c && is_good; c++)
    is_good = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
              *c == '_' || (c > name && (*c == '-' || *c == '.' || *c == ' '));
  if (is_good && name[n - 1] != ' ')
    return 0;
  tm_text_one_line(&said, name, n, 80);
  tm_err_set(
      err, TM_EUSAGE,
      "'%s' is not a name of a dataset; accepted: 1 to %d letters, digits, '_', and within it "
      "'-', '.' and blanks",
      tm_buf_str(&said), TM_REGISTRY_NAME_MAX);
  tm_buf_release(&said);
  return TM_EUSAGE;
}

int tm_registry_read_version(int64_t *out, const char *text, struct tm_err *err)
{
  *out = 0;
  if (strcmp(text, "latest") == 0)
    return 0;
  if (tm_text_int(text, out) && *out >= 1)
    return 0;
  return tm_err_set(err, TM_EUSAGE,
                    "'%s' is not a version; accepted: an integer from 1 on, or 'latest'", text);
}
