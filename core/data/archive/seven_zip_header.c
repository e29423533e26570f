/* seven_zip_header.c - see seven_zip_header.h.
 *
 *   header    1, streams, 5 number of files, columns of files (id, length, bytes) ..., 0, 0
 *   streams   4, [6 pack sizes] [7 folders] [8 files in the folders], 0
 *   packed    23, the same streams without the 4
 *
 *  (1) A count is accepted only if there are bytes for it: at least one for a folder or a size,
 *      four for a name.
 *  (2) libarchive allocates at most MEMORY bytes for the counts.
 *  (3) A symbolic link, which libarchive reads completely when it skips it, has at most LINK bytes.
 */
#include "data/archive/seven_zip_header.h"

#include <sys/stat.h>

#define MEMORY      (UINT64_C(512) << 20)
#define LINK        (UINT64_C(1) << 20)
#define CODERS      4 /* of a folder; the limit of libarchive */
#define CODER_PORTS 8 /* streams in or out of one */
#define DAMAGED     "its header is damaged"
#define TOO_MUCH                                                                                   \
  "its header claims so many files that reading it takes more than 512 MB; pack them as tar"
#define SOME_ATTRIBUTES                                                                            \
  "some of its files have attributes and others have none, which is not supported; pack it anew"
#define LONG_LINK "its header claims a symbolic link of more than 1 MB"

enum {
  END = 0,
  HEADER = 1,
  MAIN_STREAMS = 4,
  FILES = 5,
  PACKS = 6,
  FOLDERS = 7,
  SUB_STREAMS = 8,
  SIZES = 9,
  CRCS = 10,
  FOLDER = 11,
  UNPACK_SIZES = 12,
  COUNTS = 13,
  EMPTY = 14,
  EMPTY_FILES = 15,
  ANTI = 16,
  NAMES = 17,
  TIMES_FIRST = 18,
  TIMES_LAST = 20,
  ATTRIBUTES = 21,
  PACKED_HEADER = 23,
};

struct folder {
  uint32_t in, out, packs; /* streams */
  uint32_t last;           /* the output stream: not bound to another coder */
  bool is_encrypted;
};

/* ---- numbers ---- */

static uint8_t read_u8(struct tm_reader *r)
{
  const char *p = tm_read_raw(r, 1);
  return p ? (uint8_t)*p : 0;
}

/* The number of leading 1 bits of the first byte is the number of bytes that follow. */
static uint64_t read_number(struct tm_reader *r)
{
  uint8_t first = read_u8(r), mask = 0x80;
  uint64_t n = 0;
  for (int i = 0; i < 8; i++, mask >>= 1) {
    if (!(first & mask))
      return n + ((uint64_t)(first & (mask - 1)) << (8 * i));
    n |= (uint64_t)read_u8(r) << (8 * i);
  }
  return n;
}

static uint64_t left(const struct tm_reader *r)
{
  return r->bad ? 0 : (uint64_t)(r->end - r->at);
}

/* Keeps (1). */
static uint64_t read_count(struct tm_reader *r)
{
  uint64_t n = read_number(r);
  r->bad = r->bad || n > left(r);
  return r->bad ? 0 : n;
}

static void expect(struct tm_reader *r, uint8_t id)
{
  if (read_u8(r) != id)
    r->bad = true;
}

static void pass(struct tm_reader *r, uint64_t n)
{
  if (n > left(r))
    r->bad = true;
  else
    tm_read_raw(r, (size_t)n);
}

static bool bit_of(const char *bits, uint64_t i)
{
  return (unsigned char)bits[i / 8] >> (7 - i % 8) & 1;
}

/* n bits, which must exist; returns how many of them are set. */
static uint64_t read_bits(struct tm_reader *r, uint64_t n, const char **out)
{
  uint64_t bytes = n / 8 + (n % 8 != 0), set = 0;
  *out = r->at;
  pass(r, bytes);
  for (uint64_t i = 0; !r->bad && i < n; i++)
    set += bit_of(*out, i);
  return set;
}

/* Reads a vector of n bits, of which a first byte may say that all are set. Returns how many are
 * set. *bits: NULL if all. */
static uint64_t read_which(struct tm_reader *r, uint64_t n, const char **bits)
{
  *bits = NULL;
  return read_u8(r) != 0 ? n : read_bits(r, n, bits);
}

static void pass_fields(struct tm_reader *r, uint64_t n, uint64_t size)
{
  if (n > left(r) / size)
    r->bad = true;
  else
    pass(r, n * size);
}

/* ---- folders ---- */

static void read_coder(struct tm_reader *r, struct folder *f)
{
  uint8_t flags = read_u8(r), id_len = flags & 15;
  const char *id = tm_read_raw(r, id_len);
  uint64_t in = 1, out = 1;
  if (flags & 0x10) {
    in = read_number(r);
    out = read_number(r);
  }
  if (flags & 0x20)
    pass(r, read_number(r));
  r->bad = r->bad || (flags & 0xc0) != 0 || in > CODER_PORTS || out > CODER_PORTS;
  if (r->bad)
    return;
  f->in += (uint32_t)in;
  f->out += (uint32_t)out;
  f->is_encrypted |= id_len == 4 && id[0] == 6 && (unsigned char)id[1] == 0xf1;
}

static void read_folder(struct tm_reader *r, struct folder *f)
{
  uint64_t coders = read_number(r), in, out;
  uint32_t bound = 0;
  *f = (struct folder) { 0 };
  r->bad = r->bad || coders > CODERS;
  for (uint64_t i = 0; !r->bad && i < coders; i++)
    read_coder(r, f);
  if (r->bad || f->out == 0 || f->in < f->out) {
    r->bad = true;
    return;
  }
  for (uint32_t i = 1; !r->bad && i < f->out; i++) {
    in = read_number(r);
    out = read_number(r);
    r->bad = r->bad || in >= f->in || out >= f->out;
    bound |= r->bad ? 0 : UINT32_C(1) << out;
  }
  f->packs = f->in - (f->out - 1);
  for (uint32_t i = 0; !r->bad && f->packs > 1 && i < f->packs; i++)
    r->bad = read_number(r) >= f->in || r->bad;
  for (f->last = f->out - 1; bound >> f->last & 1 && f->last > 0;)
    f->last--;
  r->bad = r->bad || (bound >> f->last & 1) != 0;
}

static void read_packs(struct tm_reader *r, struct tm_seven_zip_streams *s, uint64_t room)
{
  uint64_t at = read_number(r);
  const char *bits;
  s->packs = read_count(r);
  r->bad = r->bad || s->packs == 0 || at > room;
  expect(r, SIZES);
  for (uint64_t i = 0; !r->bad && i < s->packs; i++) {
    uint64_t n = read_number(r);
    r->bad = r->bad || n > room - at;
    at += n;
  }
  uint8_t id = read_u8(r);
  if (id == CRCS) {
    pass_fields(r, read_which(r, s->packs, &bits), 4);
    id = read_u8(r);
  }
  r->bad = r->bad || id != END;
}

static void read_sizes(struct tm_reader *r, struct tm_seven_zip_streams *s, uint64_t n)
{
  s->sizes = *r;
  for (uint64_t i = 0; !r->bad && i < n; i++) {
    uint64_t size = read_number(r);
    r->bad = r->bad || size > (uint64_t)INT64_MAX - s->unpacked;
    s->unpacked += r->bad ? 0 : size;
  }
}

static void read_crcs(struct tm_reader *r, struct tm_seven_zip_streams *s)
{
  uint64_t n = read_which(r, s->folders, &s->crcs_known);
  const char *first = r->at;
  pass_fields(r, n, 4);
  s->has_crcs = true;
  s->is_first_known = !r->bad && n > 0 && (s->crcs_known == NULL || bit_of(s->crcs_known, 0));
  s->first_crc = s->is_first_known ? tm_get_u32(first) : 0;
}

static void read_folders(struct tm_reader *r, struct tm_seven_zip_streams *s)
{
  struct folder f;
  uint64_t packs = 0, sizes = 0;
  expect(r, FOLDER);
  s->folders = read_count(r);
  expect(r, 0); /* they are here, not in another stream */
  s->definitions = *r;
  for (uint64_t i = 0; !r->bad && i < s->folders; i++) {
    read_folder(r, &f);
    s->is_encrypted |= f.is_encrypted;
    packs += f.packs;
    sizes += f.out;
  }
  r->bad = r->bad || packs > s->packs;
  expect(r, UNPACK_SIZES);
  read_sizes(r, s, sizes);
  uint8_t id = read_u8(r);
  if (id == CRCS) {
    read_crcs(r, s);
    id = read_u8(r);
  }
  r->bad = r->bad || id != END;
}

/* ---- files in the folders ---- */

static uint64_t files_of(const struct tm_seven_zip_streams *s, struct tm_reader *counts)
{
  return s->has_counts ? read_number(counts) : 1;
}

static bool has_crc(const struct tm_seven_zip_streams *s, uint64_t folder)
{
  return s->has_crcs && (s->crcs_known == NULL || bit_of(s->crcs_known, folder));
}

/* Counts the files, and their sizes and check sums that are stored here. */
static void read_counts(struct tm_reader *r, struct tm_seven_zip_streams *s, uint64_t *sizes,
                        uint64_t *crcs)
{
  for (uint64_t i = 0; !r->bad && i < s->folders; i++) {
    uint64_t n = files_of(s, r);
    /* keeps (1): all sizes except one are here */
    r->bad = r->bad || n > (uint64_t)(r->end - r->at) + 1;
    s->files += n;
    *sizes += n > 0 ? n - 1 : 0;
    *crcs += n == 1 && has_crc(s, i) ? 0 : n;
  }
}

static void read_sub_streams(struct tm_reader *r, struct tm_seven_zip_streams *s)
{
  uint64_t sizes = 0, crcs = 0;
  const char *bits;
  uint8_t id = read_u8(r);
  s->has_counts = id == COUNTS;
  s->counts = *r;
  read_counts(r, s, &sizes, &crcs);
  id = s->has_counts ? read_u8(r) : id;
  r->bad = r->bad || sizes > left(r) || (sizes > 0 && id != SIZES);
  if (id == SIZES) {
    s->file_sizes = *r;
    for (uint64_t i = 0; !r->bad && i < sizes; i++)
      read_number(r);
    id = read_u8(r);
  }
  if (id == CRCS) {
    pass_fields(r, read_which(r, crcs, &bits), 4);
    id = read_u8(r);
  }
  r->bad = r->bad || id != END;
}

static void read_streams(struct tm_reader *r, struct tm_seven_zip_streams *s, uint64_t room)
{
  uint8_t id = read_u8(r);
  *s = (struct tm_seven_zip_streams) { 0 };
  if (id == PACKS) {
    read_packs(r, s, room);
    id = read_u8(r);
  }
  if (id == FOLDERS) {
    read_folders(r, s);
    s->end = r->at;
    id = read_u8(r);
  }
  if (id == SUB_STREAMS) {
    read_sub_streams(r, s);
    id = read_u8(r);
  }
  r->bad = r->bad || id != END;
}

/* ---- columns of files ---- */

static void read_times(struct tm_reader *r, uint64_t files)
{
  const char *bits;
  uint64_t n = read_which(r, files, &bits);
  expect(r, 0);
  pass_fields(r, n, 8);
}

static void read_attributes(struct tm_reader *r, struct tm_seven_zip_header *h)
{
  h->has_some_attributes = read_u8(r) == 0; /* libarchive reads them differently */
  expect(r, 0);
  h->attributes = *r;
  pass_fields(r, h->has_some_attributes ? 0 : h->files, 4);
  if (h->has_some_attributes)
    pass(r, left(r));
}

static void read_names(struct tm_reader *r, struct tm_seven_zip_header *h)
{
  expect(r, 0);
  h->names = *r;
  r->bad = r->bad || left(r) % 2 != 0 || left(r) / 4 < h->files; /* keeps (1) */
  pass(r, left(r));
}

static void read_column(struct tm_seven_zip_header *h, uint8_t id, struct tm_reader *r,
                        uint64_t *empty)
{
  const char *bits;
  if (id == EMPTY)
    *empty = read_bits(r, h->files, &h->empty);
  else if ((id == EMPTY_FILES || id == ANTI) && *empty > 0)
    read_bits(r, *empty, id == ANTI ? &bits : &h->empty_files);
  else if (id == NAMES)
    read_names(r, h);
  else if (id >= TIMES_FIRST && id <= TIMES_LAST)
    read_times(r, h->files);
  else if (id == ATTRIBUTES)
    read_attributes(r, h);
  else
    pass(r, left(r));
}

static void read_files(struct tm_reader *r, struct tm_seven_zip_header *h)
{
  uint32_t met = 0;
  uint64_t empty = 0;
  uint8_t id;
  h->files = read_count(r);
  while ((id = read_u8(r)) != END && !r->bad) {
    uint64_t n = read_number(r);
    struct tm_reader column = *r;
    pass(r, n);
    bool is_twice = id < 32 && met >> id & 1 && id <= ATTRIBUTES;
    if (r->bad || is_twice) {
      r->bad = true;
      return;
    }
    met |= id < 32 ? UINT32_C(1) << id : 0;
    column.end = r->at;
    read_column(h, id, &column, &empty);
    r->bad = r->bad || column.bad || column.at != column.end;
  }
  r->bad = r->bad || (h->files > 0 && !(met >> NAMES & 1));
}

/* ---- entries ---- */

/* The next folder; returns the bytes of its output. */
static uint64_t next_folder(struct tm_seven_zip_streams *s, struct folder *f)
{
  uint64_t all = 0;
  read_folder(&s->definitions, f);
  for (uint32_t i = 0; i < f->out; i++) {
    uint64_t size = read_number(&s->sizes);
    all = i == f->last ? size : all;
  }
  return all;
}

static uint64_t next_size(struct tm_seven_zip_header *h)
{
  struct tm_seven_zip_streams *s = &h->streams;
  while (h->left == 0) {
    struct folder f;
    if (h->folder++ == s->folders) {
      h->names.bad = true;
      return 0;
    }
    h->rest = next_folder(s, &f);
    h->left = files_of(s, &s->counts);
    h->is_encrypted = f.is_encrypted;
  }
  h->names.bad = h->names.bad || s->files == 0;
  s->files--;
  uint64_t size = --h->left > 0 ? read_number(&s->file_sizes) : h->rest;
  h->names.bad = h->names.bad || size > h->rest;
  h->rest -= size <= h->rest ? size : 0;
  return size;
}

static size_t next_name(struct tm_reader *names)
{
  const char *p = names->at;
  size_t n = 0, most = names->bad ? 0 : (size_t)(names->end - p);
  while (n + 2 <= most && (p[n] != 0 || p[n + 1] != 0))
    n += 2;
  pass(names, n + 2);
  return n;
}

bool tm_seven_zip_next(struct tm_seven_zip_header *h, struct tm_seven_zip_entry *out)
{
  uint64_t i = h->number;
  if (i == h->files || h->names.bad)
    return false;
  h->number++;
  *out = (struct tm_seven_zip_entry) { .name = h->names.at };
  out->name_len = next_name(&h->names);
  out->has_stream = h->empty == NULL || !bit_of(h->empty, i);
  if (!out->has_stream)
    out->is_file = h->empty_files != NULL && bit_of(h->empty_files, h->empty_number++);
  else
    out->size = next_size(h);
  out->is_encrypted = out->has_stream && h->is_encrypted;
  out->mode = h->attributes.at ? tm_read_u32(&h->attributes) >> 16 : 0;
  return !h->names.bad;
}

/* ---- all of it ---- */

const char *tm_seven_zip_parse_packed(struct tm_seven_zip_streams *out, const char *p, size_t n,
                                      uint64_t room)
{
  struct tm_reader r;
  tm_reader_init(&r, p, n);
  expect(&r, PACKED_HEADER);
  read_streams(&r, out, room);
  if (r.bad || out->folders != 1 || out->files > 0)
    return DAMAGED;
  struct folder f;
  out->first_size = next_folder(out, &f);
  return NULL;
}

/* Keeps (2). The memory that libarchive needs, including the overhead of malloc(). */
static bool is_too_much(const struct tm_seven_zip_header *h)
{
  const struct tm_seven_zip_streams *s = &h->streams;
  return 512 * s->folders + 32 * (s->packs + s->files) + 96 * h->files > MEMORY;
}

/* Visits every entry once, with copies of the cursors. */
static const char *check_entries(const struct tm_seven_zip_header *h)
{
  struct tm_seven_zip_header all = *h;
  struct tm_seven_zip_entry e;
  while (tm_seven_zip_next(&all, &e)) {
    if ((e.mode & S_IFMT) == S_IFLNK && e.size > LINK) /* keeps (3) */
      return LONG_LINK;
  }
  return all.number == all.files && !all.names.bad ? NULL : DAMAGED;
}

const char *tm_seven_zip_parse(struct tm_seven_zip_header *out, const char *p, size_t n,
                               uint64_t room)
{
  struct tm_reader r;
  *out = (struct tm_seven_zip_header) { 0 };
  tm_reader_init(&r, p, n);
  expect(&r, HEADER);
  uint8_t id = read_u8(&r);
  if (id == MAIN_STREAMS) {
    read_streams(&r, &out->streams, room);
    id = read_u8(&r);
  }
  if (id == FILES) {
    read_files(&r, out);
    id = read_u8(&r);
  }
  if (r.bad || id != END)
    return DAMAGED;
  if (out->has_some_attributes)
    return SOME_ATTRIBUTES;
  return is_too_much(out) ? TOO_MUCH : check_entries(out);
}
