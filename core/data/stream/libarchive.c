/* libarchive.c - see libarchive.h. */
#include "data/stream/libarchive.h"

#include "sys/library.h"

#define NAME(name) "archive_" #name,

TM_LIBRARY_TABLE(tm_libarchive, TM_LIBARCHIVE_FUNCTIONS(NAME), "libarchive.so.13", "libarchive13")
