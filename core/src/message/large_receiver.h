/* Puts messages together from their fragments, in memory that is there from the beginning.

   Fragments are numbered. Each has its place in a ring of as many places as the window has numbers,
   and the fragments of a message follow each other, also where the ring ends: behind it there is
   room for the rest of one message. So nothing is ever moved, and a fragment never takes the place
   of another one in the window. */
#ifndef CAUSEWAY_LARGE_RECEIVER_H
#define CAUSEWAY_LARGE_RECEIVER_H

#include "base/memory.h"
#include "base/shared.h"
#include "message/large_format.h"

#include "causeway/base.h"

/* A message of which fragments have arrived, at the place of its first fragment. */
struct cw_large_span {
    uint32_t total;             /* bytes of the message; 0: there is none */
    uint16_t arrived;           /* the number of its fragments that are here */
    uint16_t first;             /* in the list: the number of the message's first fragment */
    struct cw_large_span *next; /* the next one in a list of its channel */
};

struct cw_large_receiver {
    uint32_t window; /* the number of places, a power of two */
    struct cw_large_format format;
    struct cw_large_span *spans;
    uint64_t *here; /* a bit for each place: its fragment has arrived */
    uint64_t
        *delivered; /* a bit for each place, also behind the ring: the application has its bytes */
    uint8_t *bytes;
};

/* receiver is NULL while measuring. */
void cw_large_receiver_layout(struct cw_large_receiver *receiver, struct cw_arena *arena,
                              const struct cw_large_format *format, uint32_t window);

/* Forgets all fragments. The blocks that the application holds stay. */
void cw_large_receiver_reset(struct cw_large_receiver *receiver);

/* CW_OK: the fragment, whose number must be in the window, can be taken. CW_ERROR_MALFORMED: other
   fragments of the message give it another size. CW_ERROR_RECEIVER_FULL: the application still
   holds a message in its place. */
enum cw_error cw_large_receiver_check(const struct cw_large_receiver *receiver,
                                      const struct cw_large_piece *piece);

/* Takes a fragment that can be taken; one that is here already changes nothing. Returns true when
   this was the last one missing of its message. */
bool cw_large_receiver_take(struct cw_large_receiver *receiver, const struct cw_large_piece *piece);

CW_SHARED struct cw_large_span *cw_large_span_of(const struct cw_large_receiver *receiver,
                                                 uint16_t first)
{
    return &receiver->spans[first & (receiver->window - 1)];
}

/* Returns the number of fragments of the message that begins with this number, if all are here;
   otherwise 0. */
uint16_t cw_large_receiver_complete(const struct cw_large_receiver *receiver, uint16_t first);

/* Makes the message that is complete. Its block stays in its place until the message is released.
   Errors: those of cw_large_build. */
enum cw_error cw_large_receiver_build(struct cw_large_receiver *receiver,
                                      const struct cw_channel_common *common, uint16_t first,
                                      struct cw_message **message);

/* Forgets these fragments, and the messages that begin with one of them. */
void cw_large_receiver_forget(struct cw_large_receiver *receiver, uint16_t first, uint32_t count);

#endif
