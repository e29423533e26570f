/* source.h - the tree of a definition as plain JSON, and back, for jobs that have no pipeline file.
 *
 * A job that was built by calls or in Lua (`tidemill map`, the prompt, a host) can be resumed later
 * only if its record holds the definition. The JSON of base/json.h drops what the constructors
 * attached to an object: its tag, its place and its id. Here such an object becomes
 * {"$": tag, "where": place, "id": number, "is": the object itself}, and a string that is not UTF-8
 * becomes {"$": "bytes", "hex": digits}.
 */
#ifndef TM_SNAPSHOT_SOURCE_H
#define TM_SNAPSHOT_SOURCE_H

#include "base/json.h"

/* To free. NULL if the tree must not or cannot be recorded: it holds values of environment
 * variables, which no record ever holds, or it is nested too deep, or it holds a number that JSON
 * cannot write. */
struct tm_json *tm_source_pack(const struct tm_json *tree);
/* To free. NULL if `packed` is not something that tm_source_pack() made. */
struct tm_json *tm_source_unpack(const struct tm_json *packed);

#endif
