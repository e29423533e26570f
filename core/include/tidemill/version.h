/* tidemill/version.h - the version, for the compiler and at run time. */
#ifndef TIDEMILL_VERSION_H
#define TIDEMILL_VERSION_H

#include <tidemill/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TIDEMILL_VERSION_MAJOR 0
#define TIDEMILL_VERSION_MINOR 2
#define TIDEMILL_VERSION_PATCH 0

/* The number of a version, for comparisons:
 * #if TIDEMILL_VERSION_NUMBER >= TIDEMILL_VERSION_OF(0, 2, 0) */
#define TIDEMILL_VERSION_OF(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
/* The version of this header as a number. */
#define TIDEMILL_VERSION_NUMBER                                                                    \
  TIDEMILL_VERSION_OF(TIDEMILL_VERSION_MAJOR, TIDEMILL_VERSION_MINOR, TIDEMILL_VERSION_PATCH)

/* The version of the library at run time: "0.2.0". Static memory. Any thread. */
TIDEMILL_API const char *tidemill_version(void);
/* The same as a number, as TIDEMILL_VERSION_NUMBER gives that of the header. Any thread. */
TIDEMILL_API int tidemill_version_number(void);

#ifdef __cplusplus
}
#endif
#endif
