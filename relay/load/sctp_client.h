/* The other end of an SCTP association, as simple as a test or a load generator can do with: it
   never resends, and acknowledges only the latest. It was written apart from relay/rtc, so that
   both cannot share an error. */
#ifndef CAUSEWAY_RELAY_SCTP_CLIENT_H
#define CAUSEWAY_RELAY_SCTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCTP_CLIENT_PACKET_MAX 1500

enum { SCTP_END = 1, SCTP_BEGIN = 2, SCTP_UNORDERED = 4, SCTP_WHOLE = 3 };

struct sctp_client {
    uint32_t tag; /* the tag that the other side must put into its packets */
    uint32_t remote_tag;
    uint32_t tsn;        /* the TSN of our next chunk */
    uint32_t cumulative; /* the highest TSN of the other side's chunks */
    uint32_t acknowledged;
    uint32_t forwarded; /* the other side's last FORWARD-TSN */
    bool asked;         /* an INIT of the other side came */
    bool echoed;        /* the cookie that answered it came back */
    bool established;
    bool ended;
    bool acknowledge; /* a SACK is due */
    uint8_t cookie[256];
    size_t cookie_size;
    uint8_t heartbeat[64]; /* the content of the last HEARTBEAT */
    size_t heartbeat_size; /* the content's size; 0: there is none to answer */
    uint8_t part[2000];
    size_t part_size;
    void (*message)(void *context, uint16_t stream, uint32_t ppid, const uint8_t *data,
                    size_t size);
    void *context;
};

/* A packet that is being put together. */
struct sctp_packet {
    size_t size;
    uint8_t data[SCTP_CLIENT_PACKET_MAX];
};

/* The fields of a DATA chunk about the message, or the part of one, that it carries. */
struct sctp_part {
    uint32_t tsn;
    uint8_t flags;
    uint32_t ppid;
    uint16_t stream;
    uint16_t order; /* the message's number among the ordered ones of its stream */
};

void sctp_packet_begin(struct sctp_packet *packet, uint32_t tag);
void sctp_packet_chunk(struct sctp_packet *packet, uint8_t type, uint8_t flags, const void *value,
                       size_t size);
void sctp_packet_data(struct sctp_packet *packet, struct sctp_part part, const void *data,
                      size_t size);
void sctp_packet_sack(struct sctp_packet *packet, uint32_t cumulative, const uint16_t *gaps,
                      size_t gap_count);
/* Writes the checksum; nothing may follow. */
void sctp_packet_end(struct sctp_packet *packet);

void sctp_client_init(struct sctp_client *client, uint32_t tag, uint32_t tsn);
void sctp_client_write_init(struct sctp_client *client, struct sctp_packet *packet);
void sctp_client_write_cookie(struct sctp_client *client, struct sctp_packet *packet);

/* Writes the answers to an INIT, with a cookie of this size, and to that cookie. */
void sctp_client_write_init_ack(struct sctp_client *client, struct sctp_packet *packet,
                                size_t cookie);
void sctp_client_write_cookie_ack(struct sctp_client *client, struct sctp_packet *packet);

/* Writes an answer that returns what the last HEARTBEAT carried. */
void sctp_client_write_heartbeat_ack(struct sctp_client *client, struct sctp_packet *packet);

/* Writes one message in one packet, with an acknowledgement when one is due. */
void sctp_client_write_message(struct sctp_client *client, struct sctp_packet *packet,
                               uint16_t stream, uint32_t ppid, const void *data, size_t size);

/* Reads a packet of the other side; messages go to client->message. Returns false when it is
   malformed. */
bool sctp_client_read(struct sctp_client *client, const uint8_t *data, size_t size);

#endif
