/* level.h - log levels. */
#ifndef TM_BASE_LEVEL_H
#define TM_BASE_LEVEL_H

enum tm_level { TM_DEBUG, TM_INFO, TM_WARNING, TM_ERROR };

#endif
