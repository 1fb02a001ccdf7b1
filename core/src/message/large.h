/* Writes and reads the fragments of large messages; see large_format.h. */
#ifndef CAUSEWAY_LARGE_H
#define CAUSEWAY_LARGE_H

#include "message/channel_common.h"

/* The most bits that the entry of a fragment of `size` bytes takes. */
uint32_t cw_large_bits(const struct cw_channel_common *common, uint32_t size);

/* Writes type and body of a message into the writer's room. Returns the bytes of the whole message,
   0 when it cannot be written. */
uint32_t cw_large_prepare(const struct cw_channel_common *common, struct cw_message *message,
                          uint16_t first);

/* Writes the entry of a fragment of a message. index is the channel's. */
bool cw_large_write(struct cw_stream *stream, const struct cw_channel_common *common,
                    uint32_t channel, struct cw_message *message,
                    const struct cw_large_piece *piece);

/* Reads the entry of a fragment after the bit that says that it has no messages. Returns false when
   it is malformed. */
bool cw_large_read(struct cw_stream *stream, const struct cw_channel_common *common,
                   struct cw_large_piece *piece);

/* Makes a message of the pool from all of its bytes. Its block, if it has one, is not attached, but
   returned as the block's place in the bytes, 0 for none. Returns CW_ERROR_POOL_EMPTY when all
   messages are in use, CW_ERROR_MALFORMED when the bytes are no message. */
enum cw_error cw_large_build(const struct cw_channel_common *common, const uint8_t *bytes,
                             uint32_t total, struct cw_message **message, uint32_t *block);

#endif
