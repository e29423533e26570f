/* fuzz_tree_bytes.c - a folder as bytes, as a node gets the copy of a script. Whatever is passed on
 * has names that stay within the folder, and each file has an end. Writing the entries again gives
 * the bytes that were read, and the same hash. */
#include "fuzz.h"

#include "base/tree_bytes.h"

struct reading {
  const char *at;
  size_t left;
  bool has_file; /* open */
  struct tm_buf again;
};

static bool read_bytes(void *data, char *p, size_t n)
{
  struct reading *r = data;
  if (n > r->left)
    return false;
  memcpy(p, r->at, n);
  r->at += n;
  r->left -= n;
  return true;
}

static void check_name(const struct reading *r, const char *name)
{
  fuzz_require(!r->has_file && name[0] != '\0' && name[0] != '/');
  fuzz_require(strcmp(name, "..") != 0 && strncmp(name, "../", 3) != 0);
  fuzz_require(!strstr(name, "/../") && !strstr(name, "//"));
  fuzz_require(strlen(name) < 3 || strcmp(name + strlen(name) - 3, "/..") != 0);
}

static int on_folder(void *data, const char *name, struct tm_err *err)
{
  struct reading *r = data;
  check_name(r, name);
  tm_tree_add_folder(&r->again, name);
  return 0;
}

static int on_file(void *data, const char *name, bool is_program, struct tm_err *err)
{
  struct reading *r = data;
  check_name(r, name);
  r->has_file = true;
  tm_tree_add_file(&r->again, name, is_program);
  return 0;
}

static int on_piece(void *data, const char *p, size_t n, struct tm_err *err)
{
  struct reading *r = data;
  fuzz_require(r->has_file);
  r->has_file = n > 0;
  tm_tree_add_piece(&r->again, p, n);
  return 0;
}

static int on_link(void *data, const char *name, const char *target, struct tm_err *err)
{
  struct reading *r = data;
  check_name(r, name);
  if (tm_tree_link_is_within(name, target))
    fuzz_require(target[0] != '/');
  tm_tree_add_link(&r->again, name, target);
  return 0;
}

static int read_tree(struct reading *r, char hash[17])
{
  struct tm_tree_reader reader = { r, read_bytes, on_folder, on_file, on_piece, on_link };
  struct tm_err err = TM_ERR_NONE;
  int rc = tm_tree_read(&reader, hash, &err);
  fuzz_require(rc == 0 || (rc == TM_EPROTOCOL && err.text[0] != '\0'));
  return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct reading first = { .at = (const char *)data, .left = size };
  char hash[17], same[17];
  if (read_tree(&first, hash) == 0) {
    tm_tree_add_end(&first.again);
    fuzz_require(first.again.len == size - first.left);
    fuzz_require(memcmp(first.again.data, data, first.again.len) == 0);
    struct reading second = { .at = first.again.data, .left = first.again.len };
    fuzz_require(read_tree(&second, same) == 0 && second.left == 0 && strcmp(hash, same) == 0);
    tm_buf_release(&second.again);
  }
  tm_buf_release(&first.again);
  return 0;
}
