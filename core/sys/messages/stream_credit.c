/* stream_credit.c - see the header. */
#include "sys/messages/stream_credit.h"

#include "base/check.h"

void tm_credit_out_init(struct tm_credit_out *c, size_t limit)
{
  *c = (struct tm_credit_out) { .limit = limit, .left = limit };
}

bool tm_credit_can_send(const struct tm_credit_out *c, size_t bytes)
{
  return bytes <= c->left;
}

void tm_credit_send(struct tm_credit_out *c, size_t bytes)
{
  tm_require(bytes <= c->left); /* keeps (1) */
  c->left -= bytes;
}

bool tm_credit_granted(struct tm_credit_out *c, uint64_t bytes)
{
  if (bytes > c->limit - c->left)
    return false;
  c->left += (size_t)bytes;
  return true;
}

void tm_credit_in_init(struct tm_credit_in *c, size_t limit)
{
  *c = (struct tm_credit_in) { .limit = limit };
}

bool tm_credit_receive(struct tm_credit_in *c, size_t bytes)
{
  if (bytes > c->limit - (c->received - c->granted))
    return false;
  c->received += bytes;
  c->incomplete += bytes;
  return true;
}

void tm_credit_complete(struct tm_credit_in *c, size_t bytes)
{
  tm_require(bytes <= c->incomplete);
  c->incomplete -= bytes;
}

/* Whole messages that wait for the caller. */
static uint64_t waiting(const struct tm_credit_in *c)
{
  return c->received - c->incomplete - c->consumed;
}

void tm_credit_consume(struct tm_credit_in *c, size_t bytes)
{
  tm_require(bytes <= waiting(c));
  c->consumed += bytes;
}

uint64_t tm_credit_grant(struct tm_credit_in *c)
{
  uint64_t due = c->consumed;
  bool is_scarce = c->received - c->granted > c->limit / 2;
  if (is_scarce && waiting(c) <= c->limit / 2)
    due += c->incomplete; /* keeps (2); else keeps (3) */
  uint64_t more = due > c->granted ? due - c->granted : 0;
  if (more < c->limit / 8)
    return 0;
  c->granted += more;
  tm_require(c->granted <= c->received);
  return more;
}
