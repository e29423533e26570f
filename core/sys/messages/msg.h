/* msg.h - one message between two processes: a header and a payload.
 *
 * A message is a header of 32 bytes, little-endian, and `length` bytes:
 *
 *   0 length u32   4 type u32   8 index u64   16 worker u32   20 try u32   24 part u64
 *
 * node/node_msg.h and agent/agent_msg.h say what the types mean. On the wire, the top bit of `type`
 * (TM_MSG_FD) says that a descriptor comes with the message, attached to the first byte of its
 * header. tm_channel_send_fd() sets the bit, delivery clears it; it is not part of any type.
 */
#ifndef TM_SYS_MESSAGES_MSG_H
#define TM_SYS_MESSAGES_MSG_H

#include <stdbool.h>
#include <stdint.h>

#define TM_MSG_HEADER 32
/* A longer payload is refused: sending it aborts, reading it returns TM_EPROTOCOL. */
#define TM_MSG_MAX (64u << 20)
#define TM_MSG_FD  0x80000000u /* in `type`, on the wire only */

struct tm_msg {
  uint32_t type;
  uint64_t index;  /* of a mini-batch; otherwise depends on the type */
  uint32_t worker; /* the worker's number, unique in the job */
  uint32_t try;
  uint64_t part;   /* 0: the whole mini-batch; else (first << 32 | count) of its items */
  uint32_t length; /* of the payload, bytes */
  /* owned by the channel; valid until the callback returns, or until the next read */
  const char *payload;
  int fd; /* a descriptor that came with the message, now the receiver's; or -1 */
};

/* Encodes the header into 32 bytes, and decodes it (false: the length exceeds TM_MSG_MAX). The
 * bits of `type` stay as they are. A header holds neither payload nor fd: decoding sets them to
 * NULL and -1.
 */
void tm_msg_encode(const struct tm_msg *f, char header[TM_MSG_HEADER]);
bool tm_msg_decode(struct tm_msg *f, const char header[TM_MSG_HEADER]);

#endif
