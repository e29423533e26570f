/* json.h - a tree of values, for definitions, job.json and results. yajl reads it; we write it.
 *
 * Each node belongs to its parent; tm_json_free(root) frees all. Objects keep the order in which
 * keys were added; keys are unique (adding one again replaces its value). Integers within int64 are
 * kept as integers, all other numbers as double. `tag` and `where` are for definitions that came
 * from Lua: which constructor made the object ("ParallelRunConfig", "PipelineParameter", ...) and
 * at which "file:line". Both come from malloc() and belong to the node. They and `id` are copied,
 * but neither written nor compared.
 *
 * Members are searched linearly: objects should have few. Freeing, copying, comparing and writing
 * recurse as deep as the tree, which for a tree of tm_json_parse() is at most 100.
 */
#ifndef TM_BASE_JSON_H
#define TM_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/* Adds "yajl 2.1.0": the version of the loaded library. */
void tm_json_library(struct tm_buf *out);

enum tm_json_type {
  TM_JSON_NULL,
  TM_JSON_BOOL,
  TM_JSON_INT,
  TM_JSON_NUMBER,
  TM_JSON_STRING,
  TM_JSON_ARRAY,
  TM_JSON_OBJECT
};

struct tm_json {
  enum tm_json_type type;
  union {
    bool boolean;
    int64_t integer;
    double number;
    struct {
      char *at;
      size_t len;
    } string; /* NUL-ended; may hold NUL within */
    struct {
      struct tm_json **at;
      size_t len, cap;
    } list; /* array: items; object: values */
  };
  char **keys; /* object: list.len keys beside list.at, NUL-ended */
  char *tag;   /* or NULL */
  char *where; /* or NULL */
  int64_t id;  /* identifies an object that a constructor made; 0: not needed */
};

struct tm_json *tm_json_new(enum tm_json_type type); /* zero, "", [] or {} */
struct tm_json *tm_json_new_bool(bool v);
struct tm_json *tm_json_new_int(int64_t v);
struct tm_json *tm_json_new_number(double v);
struct tm_json *tm_json_new_string(const char *s); /* NULL: a null node */
struct tm_json *tm_json_new_time(int64_t wall_ns); /* as tm_time_iso() writes it; 0: a null node */
struct tm_json *tm_json_new_bytes(const char *s, size_t len);
struct tm_json *tm_json_copy(const struct tm_json *v);
void tm_json_free(struct tm_json *v); /* NULL: a no-op */
/* The order of keys does not matter; 1 and 1.0 are equal, exactly. NULL equals only NULL. */
bool tm_json_is_equal(const struct tm_json *a, const struct tm_json *b);

/* Both take ownership of `value`, and return it. */
struct tm_json *tm_json_add(struct tm_json *array, struct tm_json *value);
struct tm_json *tm_json_set(struct tm_json *object, const char *key, struct tm_json *value);
void tm_json_set_int(struct tm_json *object, const char *key, int64_t n);
/* A null node for NULL and "". */
void tm_json_set_known_text(struct tm_json *object, const char *key, const char *text);
/* Both do nothing for NULL. */
void tm_json_set_text(struct tm_json *object, const char *key, const char *text);
void tm_json_set_copy(struct tm_json *object, const char *key, const struct tm_json *value);

/* NULL if absent, or if v is NULL or not an object. */
struct tm_json *tm_json_get(const struct tm_json *v, const char *key); /* memory of the tree */
/* The number of items of an array; 0 if v is NULL or not an array. */
size_t tm_json_items(const struct tm_json *v);
/* The value if it has the type, else `otherwise`. An integer is also a number, and a number without
 * a fraction that fits is also an integer. `tm_json_str`: memory of the tree. */
const char *tm_json_str(const struct tm_json *v, const char *key, const char *otherwise);
int64_t tm_json_int(const struct tm_json *v, const char *key, int64_t otherwise);
double tm_json_num(const struct tm_json *v, const char *key, double otherwise);
bool tm_json_bool(const struct tm_json *v, const char *key, bool otherwise);

/* Compact, keys in their order (`sorted`: by bytes). A byte that is not UTF-8 is written as U+FFFD,
 * a number that is not finite as null. `indent` > 0: one member per line, indented by so many
 * blanks. */
struct tm_json_style {
  bool sorted;
  int indent;
};
void tm_json_write(struct tm_buf *out, const struct tm_json *v, struct tm_json_style style);
char *tm_json_text(const struct tm_json *v); /* compact, to free(); NULL for NULL */
void tm_json_write_string(struct tm_buf *out, const char *s, size_t len); /* with the quotes */
/* Integers below 2^53 in digits ("-0" keeps its sign), else the first of %.15g, %.16g, %.17g that
 * reads back; never in the host's locale. */
void tm_json_write_number(struct tm_buf *out, double v);

/* The tree of exactly one JSON text, to tm_json_free(). NULL with a message that has line and
 * column (in bytes, from 1) if it is not JSON, not UTF-8, or has a NUL within a key (TM_EDAMAGE),
 * or if it is deeper than 100 or holds a number beyond a double (TM_ELIMIT). Of equal keys the last
 * value counts. An escaped half of a surrogate pair is read as U+FFFD. */
struct tm_json *tm_json_parse(const char *text, size_t len, struct tm_err *err);
/* The same without a message; NULL for NULL. */
struct tm_json *tm_json_of(const char *text);

#endif
