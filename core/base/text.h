/* text.h - reads what people write, and makes text safe for its destination.
 *
 * Readers accept the whole string, or return false and leave *out unchanged: no blanks around it,
 * no overflow. Writers append to `out`. Nothing depends on the host's locale.
 */
#ifndef TM_BASE_TEXT_H
#define TM_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tm_buf;

/* A decimal integer: "-12", "+7". */
bool tm_text_int(const char *s, int64_t *out);
/* A finite decimal number: "0.5", "1e3", ".5". Not "inf", "nan", "0x1p3". */
bool tm_text_number(const char *s, double *out);
/* Seconds as tables have them, "12.345678", in nanoseconds; at most nine digits on each side of the
 * point. Exact, and faster than tm_text_number(). */
bool tm_text_ns(const char *s, int64_t *out);
/* "90", "90s", "1.5 min", "5m", "2h", "1d", a blank allowed before the unit: seconds. */
bool tm_text_seconds(const char *s, double *out);
/* "1024", "1024KB", "10MB", "1GB", "2TB", 1024-based, upper or lower case, blank allowed before the
 * unit: bytes. */
bool tm_text_size(const char *s, int64_t *out);
/* The name in `names` (n of them) nearest to `given` by edit distance with transpositions, or NULL
 * if none is near enough (distance at most a third of the longer length, at least 1, at most 5).
 * '-' and '_' are equal, case does not count; of equally near ones the first. Points into `names`.
 */
const char *tm_text_nearest(const char *given, const char *const *names, size_t n);
/* The length (1 to 4) of the well-formed UTF-8 character that begins at s, of which n bytes may be
 * read. 0 if it is cut, overlong, a surrogate or beyond U+10FFFF, or if n is 0. */
size_t tm_text_utf8_len(const char *s, size_t n);
bool tm_text_is_utf8(const char *s, size_t n);
/* The length of the front of a text that has at most `max` bytes, and ends between characters. */
size_t tm_text_front(const char *s, size_t max);
/* One line: line breaks, control characters and bytes that are not UTF-8 become \n, \r, \t, \xNN.
 * Adds at most `max` bytes (0: no limit): a longer text is cut between characters and ends in
 * "...". */
void tm_text_one_line(struct tm_buf *out, const char *s, size_t n, size_t max);
/* A CSV field: quoted when it holds `separator`, '"', CR or LF, or begins or ends with a blank. */
void tm_text_csv(struct tm_buf *out, const char *s, size_t n, char separator);
static inline const char *tm_text_or_empty(const char *s) /* "" for NULL */
{
  return s ? s : "";
}
/* Whether `word` is one of `words`, which are separated by '|'. */
bool tm_text_has_word(const char *words, const char *word, size_t len);
/* "a" or "an", for a name that follows it. */
const char *tm_text_article(const char *name);
/* "1 item has failed", "2 items have failed": `one` where n is 1, else `more`. */
const char *tm_text_counted(int64_t n, const char *one, const char *more);
/* 1234567 -> "1,234,567" */
void tm_text_grouped(struct tm_buf *out, int64_t n);
/* The same, and then the words: "1,234,567 items". */
void tm_text_count(struct tm_buf *out, int64_t n, const char *words);
/* A number of bytes, in units of 1024 as tm_text_size() reads them: "812 bytes", "5.6 MB". */
void tm_text_bytes(struct tm_buf *out, int64_t bytes);
/* A word that a shell reads as one argument: unchanged if harmless, else in single quotes. With
 * control characters, or bytes that are not UTF-8: $'...', which survives a terminal and being
 * pasted (bash, zsh, ksh). */
void tm_text_shell(struct tm_buf *out, const char *s);
/* The same as a new string, which the caller frees. */
char *tm_text_shell_word(const char *s);
/* Adds the words of `s` as lines of at most `width` columns, and ends the last one. The first line
 * continues the last line of `out`; the others begin with `indent` blanks. A longer word has a line
 * of its own. */
void tm_text_wrap(struct tm_buf *out, const char *s, size_t indent, size_t width);

#endif
