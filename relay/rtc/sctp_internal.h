/* Declarations that sctp.c and sctp_receive.c share. */
#ifndef CAUSEWAY_RELAY_RTC_SCTP_INTERNAL_H
#define CAUSEWAY_RELAY_RTC_SCTP_INTERNAL_H

#include "rtc/outstanding.h"
#include "rtc/sctp.h"
#include "rtc/sctp_chunk.h"
#include "rtc/sctp_reassembly.h"
#include "rtc/tsn_map.h"

/* We announce a window of this many bytes. It never shrinks, because whole messages are handed on
   at once and the reassembly bounds the parts of others. */
#define RECEIVE_WINDOW 131072
/* We offer this many streams, which cost us nothing, whatever their number. */
#define STREAMS 65535
/* An acknowledgement waits this many seconds at most for a message that can carry it, as a game
   sends 20 times a second; RFC 9260 (6.2) allows 0.2. */
#define ACK_DELAY 0.05
/* Seconds between two FORWARD-TSN chunks. */
#define FORWARD_INTERVAL 0.05
/* Something unanswered is sent again after this many seconds, which are doubled each time up to the
   maximum. */
#define RESEND_INTERVAL     1.0
#define RESEND_INTERVAL_MAX 8.0
#define COOKIE_SIZE         24

enum state {
    CLOSED,
    ANSWERED, /* an INIT came and was acknowledged */
    ECHOED,   /* our own INIT was acknowledged, and the cookie sent back */
    ESTABLISHED,
    ENDED,
};

struct reliable_message {
    bool used;
    bool due; /* the message must be put into the next packet */
    uint16_t stream;
    uint32_t ppid;
    uint32_t tsn;
    uint8_t size;
    uint8_t data[SCTP_RELIABLE_BYTES];
};

struct sctp {
    enum state state;
    uint16_t local_port;
    uint16_t remote_port;
    uint32_t local_tag;
    uint32_t remote_tag;
    uint32_t local_tsn; /* the first TSN of ours */
    uint32_t remote_tsn;
    uint16_t remote_streams; /* the number of our streams that the other side takes */
    uint8_t nonce[COOKIE_SIZE - 8];

    /* the packet that is being read */
    const uint8_t *at;
    const uint8_t *end;
    bool packet_has_data;
    bool packet_has_sack;

    /* the state of receiving */
    struct tsn_map arrived;
    struct reassembly reassembly;
    uint8_t *message; /* see struct sctp_config */
    unsigned packets_to_acknowledge;
    bool acknowledge_now;
    double acknowledge_at;
    uint32_t next_request; /* the number of the other side's next stream reset */
    uint32_t last_result;  /* our answer to the reset before that */

    /* the state of sending */
    struct outstanding outstanding;
    uint32_t timed;  /* the TSN of the chunk whose acknowledgement is waited for */
    double timed_at; /* when that chunk was sent; INFINITY while none is timed */
    uint32_t remote_window;
    struct reliable_message reliable[SCTP_RELIABLE_MAX];
    const uint8_t *staged; /* the message that goes out now */
    size_t staged_size;
    size_t staged_sent;
    uint32_t staged_ppid;
    uint16_t staged_stream;
    uint32_t forwarded; /* the last point announced with FORWARD-TSN */
    double forward_at;  /* the time before which no other goes out */
    double resend_at;
    double resend_interval;
    bool reset_waits; /* our stream reset has no answer yet */
    bool reset_due;
    uint16_t reset_stream;
    uint32_t reset_request;
    bool asked; /* we have asked for the association ourselves */
    bool init_due;
    bool init_ack_due;
    struct sctp_writer control; /* answers that go out with the next packet */
    uint8_t control_data[SCTP_PACKET_MAX - SCTP_HEADER_SIZE];

    struct sctp_stats stats;
};

/* Ends the association with an ABORT that names a cause and, unless it is NULL, a reason. */
void sctp_abort_with(struct sctp *sctp, uint16_t cause, const char *reason);

/* Returns the first TSN that must not be given up. */
uint32_t sctp_keep(const struct sctp *sctp);

/* Notes what the other side's INIT said. */
void sctp_learn(struct sctp *sctp, const struct sctp_init *init);

/* Makes the association established. */
void sctp_establish(struct sctp *sctp);

void sctp_make_cookie(const struct sctp *sctp, uint8_t cookie[COOKIE_SIZE]);

#endif
