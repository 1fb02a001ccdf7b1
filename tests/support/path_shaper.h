/* The queues of a path other than one that drops what finds no room: a policer, which drops what
   comes faster than its rate and delays nothing, and CoDel (RFC 8289), which drops at the head of
   a queue that stays longer than 5 ms. */
#ifndef CAUSEWAY_TESTS_PATH_SHAPER_H
#define CAUSEWAY_TESTS_PATH_SHAPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHAPER_DATAGRAM 1400 /* bytes, at most */
#define SHAPER_QUEUE    4096 /* datagrams that CoDel's queue holds, at most */

enum path_shaper_kind { PATH_SHAPER_NONE, PATH_SHAPER_POLICER, PATH_SHAPER_CODEL };

struct path_shaped {
    double arrived; /* seconds */
    size_t size;
    uint8_t data[SHAPER_DATAGRAM];
};

struct path_shaper {
    enum path_shaper_kind kind;
    double bytes_per_second;
    double depth;          /* bytes of the policer's bucket, or that may wait for CoDel */
    double tokens, filled; /* bytes in the bucket, and when that was right */

    struct path_shaped *queue; /* CoDel's, a ring */
    uint32_t read, written;
    double backlog;   /* bytes in the ring */
    double done;      /* when the datagram at its head has been sent; infinite when there is none */
    double above;     /* when the queue will have been too long for an interval, or 0 */
    double next_drop; /* seconds */
    uint32_t drops;   /* drops since the queue has been too long */
    uint64_t dropped; /* datagrams that CoDel has dropped at the head in all */
    bool dropping;
};

/* Makes a shaper that lets so many bytes per second pass. depth is the size of the policer's bucket
   or of CoDel's queue, in bytes. Release it with path_shaper_end. */
void path_shaper_begin(struct path_shaper *shaper, enum path_shaper_kind kind,
                       double bytes_per_second, double depth);
void path_shaper_end(struct path_shaper *shaper);

/* Returns whether a policer lets the datagram pass now. */
bool path_shaper_passes(struct path_shaper *shaper, size_t size, double now);

/* Puts a datagram into CoDel's queue. Returns false when it finds no room. */
bool path_shaper_put(struct path_shaper *shaper, const uint8_t *data, size_t size, double now);

/* Takes the datagram that has been sent at the time `done`, and begins to send the next one. */
size_t path_shaper_take(struct path_shaper *shaper, uint8_t *out);

#endif
