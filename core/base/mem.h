/* mem.h - allocation that cannot fail: without memory, or when a size overflows, a fault is
 * reported (check.h) and the program aborts.
 *
 * No function returns NULL for lack of memory, nor for 0 bytes. Free the results with free().
 */
#ifndef TM_BASE_MEM_H
#define TM_BASE_MEM_H

#include <stddef.h>
#include <stdlib.h>

void *tm_xmalloc(size_t size);
void *tm_xcalloc(size_t count, size_t size); /* zeroed; aborts when the product overflows */
void *tm_xrealloc(void *p, size_t size);
char *tm_xstrdup(const char *s);              /* NULL gives NULL */
char *tm_xstrndup(const char *s, size_t len); /* copies len bytes and adds a NUL */
char *tm_xprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void tm_strings_free(char **at, size_t n); /* n strings, and the list of them */

#define TM_NEW(type)   ((type *)tm_xcalloc(1, sizeof(type)))
#define TM_COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* For TM_ARRAY_ADD: room for `want` elements of `size` bytes at *at; *cap, in elements, doubles. */
void tm_array_reserve(void **at, size_t want, size_t *cap, size_t size);

/* A growable array of any type: struct TM_ARRAY(int) a = {0}; *TM_ARRAY_ADD(&a) = 7; free(a.at).
 * `at` is NULL while empty. Pointers into it are valid until the next add. */
#define TM_ARRAY(type)                                                                             \
  {                                                                                                \
    type *at;                                                                                      \
    size_t len, cap;                                                                               \
  }
#define TM_ARRAY_ADD(a)                                                                            \
  (tm_array_reserve((void **)&(a)->at, (a)->len + 1, &(a)->cap, sizeof(*(a)->at)),                 \
   &(a)->at[(a)->len++])
#define TM_ARRAY_RELEASE(a) (free((a)->at), (a)->at = NULL, (a)->len = (a)->cap = 0)
/* For an array of pointers: frees what they point to as well. */
#define TM_ARRAY_RELEASE_EACH(a)                                                                   \
  do {                                                                                             \
    for (size_t each = 0; each < (a)->len; each++)                                                 \
      free((a)->at[each]);                                                                         \
    TM_ARRAY_RELEASE(a);                                                                           \
  } while (0)

#endif
