/* level.h - how much a log says. */
#ifndef TM_BASE_LEVEL_H
#define TM_BASE_LEVEL_H

enum tm_level { TM_DEBUG, TM_INFO, TM_WARNING, TM_ERROR };

#endif
