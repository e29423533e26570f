/* level.h - log levels. */
#ifndef TM_BASE_LEVEL_H
#define TM_BASE_LEVEL_H

enum tm_level { TM_DEBUG, TM_INFO, TM_WARNING, TM_ERROR };

/* As the lines of logs have it: "DEBUG", "INFO", "WARNING", "ERROR". */
static inline const char *tm_level_name(enum tm_level level)
{
  static const char *const names[] = { "DEBUG", "INFO", "WARNING", "ERROR" };
  return names[level];
}

#endif
