/* header_names.h - names in the headers of tar and cpio that go on behind a NUL byte. Pure; the bytes may be anybody's.
 *
 * libarchive cuts a name at a NUL. Formats that state a name's length (pax records, GNU's long names, cpio) can hold one all the same:
 * "a.txt\0/../b" would become "a.txt", and two entries could have one name.
 */
#ifndef TM_DATA_FILES_HEADER_NAMES_H
#define TM_DATA_FILES_HEADER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* `p`: all headers of an entry of a tar, from the first extension to the entry's own. Whether its name, or that of its link, goes
 * on behind a NUL. */
bool tm_tar_hides_name(const char *p, size_t n);
/* The same for the header of an entry of a cpio archive, and the name that follows it. */
bool tm_cpio_hides_name(const char *p, size_t n);
/* Sets the number of links of a folder to 1, in the header that `p` begins with; changes nothing else, and nothing when the
 * header is not there whole. A folder has two links or more, for its `.` and those of its folders. libarchive
 * takes it for a file with several names: it keeps the folder, and compares each later one with all that it keeps. */
void tm_cpio_ease_folder(char *p, size_t n);

#endif
