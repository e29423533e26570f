/* plugin_record.h - which library was found, in words that tell later whether another one would be
 * found now. Nothing is loaded for that.
 *
 * A record is an object: how the library was searched for (plugin.h), its file, size and time, and
 * the version that it said it has. A library with the same place, size and time is the same.
 */
#ifndef TM_SYS_PLUGIN_RECORD_H
#define TM_SYS_PLUGIN_RECORD_H

#include "base/json.h"
#include "sys/plugin.h"

/* Of a library that was opened with these folders. To be freed. */
struct tm_json *tm_plugin_record(const struct tm_plugin *p, const struct tm_plugin_kind *kind,
                                 const char *const *folders, const char *version);

/* Whether another library would be found now, or none; adds the reason to `why`. A record that
 * cannot be understood differs. */
bool tm_plugin_record_differs(const struct tm_json *record, const struct tm_plugin_variables *now,
                              struct tm_buf *why);
/* Whether the search began in this folder, among others. */
bool tm_plugin_record_has_folder(const struct tm_json *record, const char *dir);

#endif
