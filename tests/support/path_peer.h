/* Flows of others over a bottleneck: TCP with Reno, CUBIC or BBR, and LEDBAT, each of which sends
   without end. No real bytes are carried: a segment that is lost is followed by others, not sent
   again, and each segment that arrives is acked by itself, as QUIC (RFC 9002) and SACK do it. */
#ifndef CAUSEWAY_TESTS_PATH_PEER_H
#define CAUSEWAY_TESTS_PATH_PEER_H

#include "base/prng.h"

#include <stdbool.h>
#include <stdint.h>

#define PEER_SEGMENT      1040 /* bytes of a datagram */
#define PEER_ACK          40
#define PEER_FIRST_WINDOW 10   /* segments (RFC 6928) */
#define PEER_MOST         4096 /* segments in flight, at most */
#define PEER_RATES        10   /* rounds that BBR remembers */
#define PEER_DELAYS       4    /* delays of which LEDBAT takes the least */

enum path_peer_kind {
    PATH_PEER_RENO,
    PATH_PEER_CUBIC,
    PATH_PEER_BBR,
    PATH_PEER_LEDBAT,
    PATH_PEER_KINDS
};

struct path_peer;

/* The ack of a segment. */
struct path_peer_ack {
    double now;
    double rtt, delay; /* seconds of this segment, there and back, and only there */
    double rate;       /* segments per second that arrived while it was under way, or 0 */
    bool new_round;    /* its segment is the first that was sent after the last round ended */
    bool recovering;   /* its segment was sent before the last reduction */
};

/* The functions that set the window and the pacing of a peer. */
struct path_peer_control {
    const char *name;
    void (*begin)(struct path_peer *peer);
    void (*acked)(struct path_peer *peer, const struct path_peer_ack *ack);
    void (*lost)(
        struct path_peer *peer); /* is called at most once for the losses of a round trip */
    void (*timeout)(struct path_peer *peer); /* everything in flight was lost */
};

extern const struct path_peer_control path_peer_reno, path_peer_cubic, path_peer_bbr,
    path_peer_ledbat;

/* Windows are in segments and rates in segments per second. */
struct path_cubic {
    double most;        /* the window before the last reduction, W_max in RFC 9438 */
    double epoch;       /* when congestion avoidance began anew, or below 0 */
    double origin;      /* K: seconds from then until the window is `most` again */
    double friendly;    /* the window that Reno would have, W_est */
    double before_loss; /* cwnd_prior */
};

enum path_bbr_state { BBR_STARTUP, BBR_DRAIN, BBR_PROBE_BANDWIDTH, BBR_PROBE_RTT };

struct path_bbr {
    enum path_bbr_state state;
    double rates[PEER_RATES]; /* the best of each of the last rounds */
    double full_rate;         /* the best rate when startup last saw it grow */
    double least_at;          /* when the least RTT was seen */
    double least;             /* the least RTT of ten seconds */
    double phase_since;       /* when the phase of the gain's cycle began */
    double probe_until;       /* when the RTT has been probed for long enough */
    double window_before;     /* the window before it was */
    uint32_t round, full_rounds, phase;
    bool lost; /* something was lost in this phase */
};

struct path_ledbat {
    double base;                /* the least delay, seconds */
    double delays[PEER_DELAYS]; /* the last ones */
    uint32_t next;
};

struct path_peer {
    const struct path_peer_control *control;
    struct cw_prng random;
    double window, threshold; /* threshold: where slow start ends */
    double pacing;            /* infinite when the window alone says when to send */
    double rtt, deviation;
    union {
        struct path_cubic cubic;
        struct path_bbr bbr;
        struct path_ledbat ledbat;
    };

    /* the segments in flight, which are those from oldest to below next that are not acked */
    struct path_peer_segment {
        double sent;
        double since;      /* when the newest segment that was acked then had been sent */
        double arrived_at; /* when that was acked */
        uint64_t arrived;  /* segments that had been acked then */
        bool acked;
    } segments[2 * PEER_MOST];
    uint32_t next, oldest, in_flight;
    uint32_t recover; /* the first segment that was sent after the last reduction */
    uint64_t arrived, round_ends;
    double since, arrived_at;
    double next_send;
    double expires;   /* when everything in flight counts as lost */
    uint32_t expired; /* the number of times that this happened since the last ack */
};

/* Returns a peer that begins to send at that time. Release it with free. */
struct path_peer *path_peer_create(enum path_peer_kind kind, uint64_t seed, double start);

/* Returns the number of the segment to be sent now; false when there is none. */
bool path_peer_transmit(struct path_peer *peer, double now, uint32_t *number);

/* Takes the ack of a segment, which had arrived at the other end at the time `arrived`. */
void path_peer_acked(struct path_peer *peer, uint32_t number, double arrived, double now);

/* Returns when path_peer_expire and then path_peer_transmit are due, if no ack comes before. */
double path_peer_due(const struct path_peer *peer);
void path_peer_expire(struct path_peer *peer, double now);

#endif
