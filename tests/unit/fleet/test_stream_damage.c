/* A recorded stream of a node in which a byte is lost, changed or doubled: the node is lost, or all
 * that it has sent came as it was sent. The job hears nothing else.
 *
 * Every STRIDE-th byte, beginning with another one each time; with TM_LONG every byte. TM_SEED
 * repeats a run.
 */
#include "unit.h"

#include <sys/socket.h>
#include <time.h>

#include "fleet/node_rig.h"
#include "random.h"
#include "sys/messages/stream_frames.h"

#define STRIDE 61
#define LARGE  (TM_STREAM_PIECE + 700) /* bytes of a message of two frames */

enum damage { LOST, CHANGED, DOUBLED, DAMAGES };

static struct {
  struct tm_buf bytes; /* of the relay, after its preface */
  struct tm_buf order; /* what the supervisor heard */
} recorded;

/* ---- recording ---- */

static void prepare(struct rig *r)
{
  uint64_t seq = 5;
  connect_for(r, 0); /* without heartbeats, which cannot be repeated */
  r->shows_all = true;
  for (uint32_t i = 0; i < 2; i++)
    start_worker(r, i);
  tm_node_take_back(r->node, 0, &seq, 1);
}

/* Carries all bytes that wait from one descriptor to the other. */
static void carry(int from, int to, struct tm_buf *seen)
{
  char bytes[4096];
  ssize_t n;
  while ((n = recv(from, bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
    if (seen)
      tm_buf_add(seen, bytes, (size_t)n);
    assert_int_equal(send(to, bytes, (size_t)n, MSG_NOSIGNAL), n);
  }
}

static void tell_all(struct rig *r)
{
  static const char seq[8] = { 5 };
  struct random random = { 3 };
  char large[LARGE];
  for (size_t i = 0; i < sizeof large; i++)
    large[i] = (char)(i % 7 == 0 ? 10 : i % 11 == 0 ? 0xF5 : random_next(&random));
  tell_text(r, 1, 0, "a row");
  tell(r, 2, 1, large, sizeof large);
  tell_text(r, TM_MSG_NOTE, 0, "a note");
  tell(r, TM_MSG_TAKEN, 0, seq, sizeof seq);
  tell_text(r, 1, 1, "");
  tell_text(r, 1, 0, "another row");
  tell_closed(r, 0, 0);
  tell_ended(r, 0);
  tell_text(r, 1, 1, "the last row");
}

static bool has_all(const struct rig *r)
{
  return strstr(tm_buf_str((struct tm_buf *)&r->order), "ended 10;") && r->notes.len > 0 &&
         tm_node_stream_pending(r->relay) == 0;
}

static int record(void **state)
{
  struct rig r;
  struct tm_buf all = TM_BUF_NONE;
  int pair[2], near;
  size_t begin;
  prepare(&r);
  near = r.fd;
  assert_int_equal(tm_channel_pair(pair, NULL), 0);
  r.fd = pair[1];
  open_relay(&r, tm_hello());
  for (bool has_told = false; !has_told || !has_all(&r);) {
    turn(&r);
    carry(near, pair[0], NULL);
    carry(pair[0], near, &all);
    if (!has_told && strstr(tm_buf_str(&r.order), "started 11;")) {
      tell_all(&r);
      has_told = true;
    }
  }
  for (int i = 0; i < 5; i++) { /* the last message */
    turn(&r);
    carry(pair[0], near, &all);
  }
  assert_string_equal(tm_buf_str(&r.lost), "");
  begin = (size_t)((char *)memchr(all.data, '\n', all.len) - all.data) + 1; /* behind the preface */
  tm_buf_add(&recorded.bytes, all.data + begin, all.len - begin);
  tm_buf_add(&recorded.order, r.order.data, r.order.len);
  close(near);
  close(pair[0]);
  tm_buf_release(&all);
  release(&r);
  return 0;
}

static int drop_record(void **state)
{
  tm_buf_release(&recorded.bytes);
  tm_buf_release(&recorded.order);
  return 0;
}

/* ---- playing ---- */

/* The number that the preface of the relay has to repeat. */
static uint64_t nonce_of(struct rig *r)
{
  struct tm_buf in = TM_BUF_NONE;
  struct tm_preface p;
  char bytes[4096];
  size_t at = 0, len;
  ssize_t n;
  do {
    turn(r);
    while ((n = recv(r->fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
      tm_buf_add(&in, bytes, (size_t)n);
  } while (in.len == 0 || tm_preface_find(in.data, in.len, 0, &at, &len, &p) != 1);
  tm_buf_release(&in);
  return p.nonce;
}

static void add_stream(struct tm_buf *out, uint64_t nonce)
{
  struct tm_preface p = { TM_PREFACE_VERSION, 77, nonce, tm_hello(), strlen(tm_hello()) };
  tm_preface_add(out, &p);
  tm_buf_add(out, recorded.bytes.data, recorded.bytes.len);
}

static void harm(struct tm_buf *b, enum damage damage, size_t at, int bit)
{
  if (damage == CHANGED)
    b->data[at] ^= (char)(1 << bit);
  if (damage == LOST || damage == DOUBLED) {
    struct tm_buf rest = TM_BUF_NONE;
    size_t from = at + (damage == LOST);
    tm_buf_add(&rest, b->data + from, b->len - from);
    b->len = at + (damage == DOUBLED);
    tm_buf_add(b, rest.data, rest.len);
    tm_buf_release(&rest);
  }
}

/* Until the node is lost, at the end of the bytes at the latest. */
static void play(struct rig *r, const struct tm_buf *bytes)
{
  char dump[4096];
  for (size_t at = 0; at < bytes->len && r->lost.len == 0; turn(r)) {
    ssize_t n = send(r->fd, bytes->data + at, bytes->len - at, MSG_NOSIGNAL | MSG_DONTWAIT);
    at += n > 0 ? (size_t)n : 0;
    while (recv(r->fd, dump, sizeof dump, MSG_DONTWAIT) > 0)
      ;
  }
  shutdown(r->fd, SHUT_WR);
  while (r->lost.len == 0)
    turn(r);
}

static bool is_beginning(const struct rig *r)
{
  return r->order_at_loss <= recorded.order.len &&
         (r->order_at_loss == 0 ||
          memcmp(r->order.data, recorded.order.data, r->order_at_loss) == 0);
}

/* True: it made no difference. */
static bool try_damage(enum damage damage, size_t at, int bit)
{
  struct rig r;
  struct tm_buf bytes = TM_BUF_NONE;
  bool is_clean, is_whole;
  prepare(&r);
  add_stream(&bytes, nonce_of(&r));
  harm(&bytes, damage, at, bit);
  play(&r, &bytes);
  is_clean = strcmp(tm_buf_str(&r.lost), "the connection to node 3 has ended;") == 0;
  is_whole = is_beginning(&r) && r.order_at_loss == recorded.order.len;
  if (!is_beginning(&r) || (is_clean && !is_whole) || (damage == DAMAGES && !is_whole))
    fail_msg("damage %d at byte %zu, bit %d: lost: %s heard: %s", (int)damage, at, bit,
             tm_buf_str(&r.lost), tm_buf_str(&r.order));
  tm_buf_release(&bytes);
  close(r.fd);
  release(&r);
  return is_clean && is_whole;
}

static size_t length_of_stream(void)
{
  struct tm_buf bytes = TM_BUF_NONE;
  add_stream(&bytes, 1);
  size_t len = bytes.len;
  tm_buf_release(&bytes);
  return len;
}

static void an_undamaged_stream_arrives_whole(void **state)
{
  assert_non_null(strstr(tm_buf_str(&recorded.order), "started 10;"));
  assert_non_null(strstr(tm_buf_str(&recorded.order), "taken 10: 1;"));
  assert_non_null(strstr(tm_buf_str(&recorded.order), "ended 10;"));
  assert_true(try_damage(DAMAGES, 0, 0));
}

/* Only line breaks between frames, and the relay's own number, mean nothing. */
static void a_damaged_byte_delivers_nothing_that_was_not_sent(void **state)
{
  const char *given = getenv("TM_SEED");
  uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
  size_t stride = getenv("TM_LONG") ? 1 : STRIDE, len = length_of_stream(), tries = 0, same = 0;
  struct random random = { seed };
  for (size_t at = random_below(&random, stride); at < len; at += stride)
    for (enum damage damage = 0; damage < DAMAGES; damage++, tries++)
      same += try_damage(damage, at, (int)random_below(&random, 8));
  print_message("TM_SEED=%llu: %zu damages of %zu bytes, %zu of which made no difference\n",
                (unsigned long long)seed, tries, len, same);
  assert_true(same < tries / 10);
}

UNIT_HOOKS(.limit_s = 600, .setup = record, .teardown = drop_record);
UNIT_TESTS({
    cmocka_unit_test(an_undamaged_stream_arrives_whole),
    cmocka_unit_test(a_damaged_byte_delivers_nothing_that_was_not_sent),
});
