/* A stream of blocks, each with a type, a size and that many bytes. HTTP/3's frames have this form,
   and so have the capsules inside them. Any of it may come in any number of parts. */
#ifndef CAUSEWAY_RELAY_WEBTRANSPORT_BLOCKS_H
#define CAUSEWAY_RELAY_WEBTRANSPORT_BLOCKS_H

#include "webtransport/varint.h"

#include <stdbool.h>

/* A reader's place among the blocks. It is all zero at first. */
struct block_reader {
    uint8_t head[2 * VARINT_MAX]; /* the type and the size, as far as they have come */
    uint8_t head_size;
    bool inside; /* the head is complete, and `left` bytes of the contents are to come */
    uint64_t type;
    uint64_t left;
};

/* A part of the contents of a block. */
struct block_part {
    uint64_t type;
    const uint8_t *data;
    size_t size;
    bool last; /* the block ends with this part */
};

/* Takes data from the front of what has come, and advances *data and *size past it. Returns false
   when nothing is left to take; otherwise a part, which may be empty if it is the last. */
bool block_read(struct block_reader *reader, const uint8_t **data, size_t *size,
                struct block_part *out);

#endif
