/* These functions write the lines that a server logs. */
#ifndef CAUSEWAY_SERVER_LOG_H
#define CAUSEWAY_SERVER_LOG_H

#include "causeway/base.h"
#include "causeway/secure_packet.h"

void cw_server_log_insecure(const struct cw_log *log);

/* Lines that somebody can cause at will are limited to a burst and then one a second, which tells
   how many were left out before it. All zero is the state before the first. */
struct cw_server_log_limit {
    double time;     /* when the burst was refilled last */
    double used;     /* lines of the burst */
    uint64_t hidden; /* left out since the last line */
};

/* These lines are about the client in a slot. */
void cw_server_log_connected(const struct cw_log *log, uint32_t slot, uint64_t id,
                             uint64_t token_id, const struct cw_address *from);
void cw_server_log_moved(const struct cw_log *log, struct cw_server_log_limit *limit, uint32_t slot,
                         uint64_t id, const struct cw_address *to, double now);
void cw_server_log_disconnected(const struct cw_log *log, uint32_t slot, uint64_t id,
                                const struct cw_farewell *farewell);

/* This line is about a datagram that was dropped, which anybody can send. */
struct cw_server_log_refusal {
    const struct cw_address *from;
    bool is_request; /* somebody wanted to connect */
    enum cw_error error;
};

void cw_server_log_refused(const struct cw_log *log, struct cw_server_log_limit *limit,
                           const struct cw_server_log_refusal *refusal, double now);

#endif
