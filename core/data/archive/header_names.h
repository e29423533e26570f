/* header_names.h - finds names in headers of tar and cpio that continue after a NUL byte. Pure; the
 * bytes may be hostile.
 *
 * libarchive cuts a name at a NUL. Formats that state a name's length (pax records, GNU's long
 * names, cpio) can hold one: "a.txt\0/../b" would become "a.txt", and two entries could have one
 * name.
 */
#ifndef TM_DATA_ARCHIVE_HEADER_NAMES_H
#define TM_DATA_ARCHIVE_HEADER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* `p`: all headers of an entry of a tar, from the first extension to the entry's own. Whether its
 * name, or that of its link, continues after a NUL. */
bool tm_tar_hides_name(const char *p, size_t n);
/* The same for the header of an entry of a cpio archive, and the name that follows it. */
bool tm_cpio_hides_name(const char *p, size_t n);
/* Sets the number of links of a folder to 1, in the header at `p`; does nothing if the header is
 * not complete. A folder has two or more links, for its `.` and those of its subfolders. libarchive
 * takes it for a file with several names, keeps it, and compares each later one with all that it
 * keeps. */
void tm_cpio_ease_folder(char *p, size_t n);

#endif
