#include "os/log.h"
#include "webtransport/quic_internal.h"

#include <gnutls/crypto.h>
#include <math.h>

/* The most packets that one call sends: more than a browser lets on their way at once. */
#define BURST 64

/* The streams of a client have even numbers; those on which only it sends have bit 1. */
#define IS_ONE_WAY 2

/* NOLINTNEXTLINE(readability-function-size): ngtcp2 gives so many parameters. */
static int take_stream(ngtcp2_conn *conn, uint32_t flags, int64_t stream, uint64_t offset,
                       const uint8_t *data, size_t size, void *context, void *stream_context)
{
    (void)offset;
    (void)stream_context;
    const struct quic *quic = context;
    /* Everything has been read when this returns, so the client may send as much again. */
    ngtcp2_conn_extend_max_offset(conn, size);
    if (ngtcp2_conn_extend_max_stream_offset(conn, stream, size) != 0)
        return NGTCP2_ERR_CALLBACK_FAILURE;
    if (!(stream & IS_ONE_WAY))
        quic->server->config.events.stream(quic->owner, stream, data, size,
                                           flags & NGTCP2_STREAM_DATA_FLAG_FIN);
    return 0;
}

static int take_datagram(ngtcp2_conn *conn, uint32_t flags, const uint8_t *data, size_t size,
                         void *context)
{
    (void)conn;
    (void)flags;
    const struct quic *quic = context;
    quic->server->config.events.datagram(quic->owner, data, size);
    return 0;
}

/* Opens our stream as soon as it can carry anything: browsers wait for it. */
static int take_key(ngtcp2_conn *conn, ngtcp2_encryption_level level, void *context)
{
    struct quic *quic = context;
    if (level != NGTCP2_ENCRYPTION_LEVEL_1RTT)
        return 0;
    return ngtcp2_conn_open_uni_stream(conn, &quic->greeting.stream, NULL) == 0
               ? 0
               : NGTCP2_ERR_CALLBACK_FAILURE;
}

static int note_up(ngtcp2_conn *conn, void *context)
{
    (void)conn;
    struct quic *quic = context;
    quic->up = true;
    return 0;
}

static int note_closed(ngtcp2_conn *conn, uint32_t flags, int64_t stream, uint64_t error,
                       void *context, void *stream_context)
{
    (void)flags;
    (void)error;
    (void)stream_context;
    struct quic *quic = context;
    if (stream == quic->reply.stream)
        quic->reply.end_sent = true;
    else if (stream & IS_ONE_WAY)
        ngtcp2_conn_extend_max_streams_uni(conn, 1);
    else
        ngtcp2_conn_extend_max_streams_bidi(conn, 1);
    return 0;
}

/* Tells that a client sends no more on a stream that it has broken off. */
static int take_reset(ngtcp2_conn *conn, int64_t stream, uint64_t size, uint64_t error,
                      void *context, void *stream_context)
{
    (void)conn;
    (void)size;
    (void)error;
    (void)stream_context;
    const struct quic *quic = context;
    if (!(stream & IS_ONE_WAY))
        quic->server->config.events.stream(quic->owner, stream, NULL, 0, true);
    return 0;
}

void quic_set_receivers(ngtcp2_callbacks *callbacks)
{
    callbacks->recv_stream_data = take_stream;
    callbacks->recv_datagram = take_datagram;
    callbacks->recv_tx_key = take_key;
    callbacks->handshake_completed = note_up;
    callbacks->stream_close = note_closed;
    callbacks->stream_reset = take_reset;
}

static void send_out(struct quic *quic, const ngtcp2_path *path, const uint8_t *data, size_t size)
{
    struct udp_path to;
    quic_ends_get(path, &to);
    quic->server->config.events.send(quic->server->config.events.context, &to, data, size);
}

/* Tells the client why the connection ends. */
static void say_end(struct quic *quic, const ngtcp2_ccerr *why, double now)
{
    uint8_t out[QUIC_PACKET_MAX];
    ngtcp2_path_storage path;
    quic->ended = true;
    if (ngtcp2_conn_in_closing_period(quic->conn) || ngtcp2_conn_in_draining_period(quic->conn))
        return;
    ngtcp2_path_storage_zero(&path);
    const ngtcp2_ssize size = ngtcp2_conn_write_connection_close(quic->conn, &path.path, NULL, out,
                                                                 sizeof out, why, quic_time(now));
    if (size > 0)
        send_out(quic, &path.path, out, (size_t)size);
}

/* Ends the connection after an error of ngtcp2. Always returns false. */
static bool fail(struct quic *quic, int error, double now)
{
    ngtcp2_ccerr why;
    ngtcp2_ccerr_default(&why);
    quic->ended = true;
    if (error == NGTCP2_ERR_DRAINING) {
        const ngtcp2_ccerr *theirs = ngtcp2_conn_get_ccerr(quic->conn);
        log_debug("webtransport: the client ends it with error %#llx: %.*s",
                  (unsigned long long)theirs->error_code, (int)theirs->reasonlen,
                  (const char *)theirs->reason);
    } else {
        log_debug("webtransport: %s", ngtcp2_strerror(error));
    }
    if (error == NGTCP2_ERR_DRAINING || error == NGTCP2_ERR_CLOSING ||
        error == NGTCP2_ERR_DROP_CONN || error == NGTCP2_ERR_RETRY ||
        error == NGTCP2_ERR_IDLE_CLOSE || error == NGTCP2_ERR_HANDSHAKE_TIMEOUT)
        return false;
    if (error == NGTCP2_ERR_CRYPTO)
        ngtcp2_ccerr_set_tls_alert(&why, ngtcp2_conn_get_tls_alert(quic->conn), NULL, 0);
    else
        ngtcp2_ccerr_set_liberr(&why, error, NULL, 0);
    say_end(quic, &why, now);
    return false;
}

bool quic_receive(struct quic *quic, const struct udp_path *path, const uint8_t *data, size_t size,
                  double now)
{
    static const ngtcp2_pkt_info info = {0};
    struct quic_ends ends;
    if (quic->ended)
        return false;
    quic_ends_set(&ends, path);
    const int error =
        ngtcp2_conn_read_pkt(quic->conn, &ends.path, &info, data, size, quic_time(now));
    return error == 0 || fail(quic, error, now);
}

static bool has_more(const struct quic_out *out)
{
    return out->stream >= 0 && (out->sent < out->size || (out->end && !out->end_sent));
}

/* Writes one packet, with data of a stream if there are any. Returns its size, 0 when nothing can
   be sent now, or an error. */
static ngtcp2_ssize write_packet(struct quic *quic, ngtcp2_path *path,
                                 uint8_t packet[QUIC_PACKET_MAX], double now)
{
    for (;;) {
        struct quic_out *out = has_more(&quic->greeting) ? &quic->greeting
                               : has_more(&quic->reply)  ? &quic->reply
                                                         : NULL;
        /* ngtcp2 only reads the bytes. */
        ngtcp2_vec data = {.base = out ? (uint8_t *)out->data + out->sent : NULL,
                           .len = out ? out->size - out->sent : 0};
        ngtcp2_ssize taken = -1;
        const ngtcp2_ssize size = ngtcp2_conn_writev_stream(
            quic->conn, path, NULL, packet, QUIC_PACKET_MAX, &taken,
            out && out->end ? NGTCP2_WRITE_STREAM_FLAG_FIN : NGTCP2_WRITE_STREAM_FLAG_NONE,
            out ? out->stream : -1, &data, data.len > 0 ? 1 : 0, quic_time(now));
        if (out && taken >= 0) {
            out->sent += (size_t)taken;
            out->end_sent = out->end && out->sent == out->size;
        }
        if (!out || (size != NGTCP2_ERR_STREAM_DATA_BLOCKED && size != NGTCP2_ERR_STREAM_SHUT_WR &&
                     size != NGTCP2_ERR_STREAM_NOT_FOUND))
            return size;
        /* The client takes no more of this stream. It is given so little that it has no reason. */
        out->sent = out->size;
        out->end_sent = true;
    }
}

bool quic_flush(struct quic *quic, double now)
{
    uint8_t packet[QUIC_PACKET_MAX];
    ngtcp2_path_storage path;
    ngtcp2_path_storage_zero(&path);
    for (int i = 0; i < BURST && !quic->ended; i++) {
        const ngtcp2_ssize size = write_packet(quic, &path.path, packet, now);
        if (size == 0)
            break;
        if (size < 0)
            return fail(quic, (int)size, now);
        send_out(quic, &path.path, packet, (size_t)size);
    }
    return !quic->ended;
}

double quic_deadline(const struct quic *quic)
{
    const ngtcp2_tstamp at = ngtcp2_conn_get_expiry(quic->conn);
    return quic->ended || at == UINT64_MAX ? INFINITY : (double)at * 1e-9;
}

bool quic_update(struct quic *quic, double now)
{
    if (quic->ended)
        return false;
    const int error = ngtcp2_conn_handle_expiry(quic->conn, quic_time(now));
    return error == 0 ? quic_flush(quic, now) : fail(quic, error, now);
}

bool quic_reply(struct quic *quic, int64_t stream, const uint8_t *data, size_t size, bool end)
{
    struct quic_out *out = &quic->reply;
    if (size > QUIC_REPLY_MAX - out->size || out->end)
        return false;
    out->stream = stream;
    if (size > 0)
        memcpy(quic->reply_bytes + out->size, data, size);
    out->size += size;
    out->end = end;
    return true;
}

void quic_refuse_stream(struct quic *quic, int64_t stream, uint64_t error)
{
    (void)ngtcp2_conn_shutdown_stream(quic->conn, 0, stream, error);
}

void quic_close(struct quic *quic, uint64_t error, double now)
{
    ngtcp2_ccerr why;
    if (quic->ended)
        return;
    ngtcp2_ccerr_set_application_error(&why, error, NULL, 0);
    say_end(quic, &why, now);
}

/* Returns the bytes of the longest datagram that fits into a packet: beside it are the first byte,
   the client's id, the packet's number, the frame's head, and the tag of its encryption. */
static size_t room(const struct quic *quic)
{
    const size_t others = 1 + ngtcp2_conn_get_dcid(quic->conn)->datalen + 4 + 3 + 16;
    const ngtcp2_transport_params *theirs = ngtcp2_conn_get_remote_transport_params(quic->conn);
    const size_t ours = ngtcp2_conn_get_path_max_tx_udp_payload_size(quic->conn) - others;
    const uint64_t frame = theirs ? theirs->max_datagram_frame_size : 0;
    return frame < ours + 3 ? (frame > 3 ? (size_t)frame - 3 : 0) : ours;
}

enum quic_sent quic_send_datagram(struct quic *quic, const uint8_t *prefix, size_t prefix_size,
                                  const uint8_t *data, size_t size, double now)
{
    uint8_t packet[QUIC_PACKET_MAX];
    uint8_t datagram[QUIC_PACKET_MAX];
    ngtcp2_path_storage path;
    ngtcp2_vec whole = {.base = datagram, .len = prefix_size + size};
    if (quic->ended || !quic->up)
        return QUIC_ENDED;
    if (prefix_size + size > room(quic))
        return QUIC_TOO_LONG;
    memcpy(datagram, prefix, prefix_size);
    memcpy(datagram + prefix_size, data, size);
    ngtcp2_path_storage_zero(&path);
    /* An acknowledgement, or something else that is due, may take a packet of its own first. */
    for (int i = 0; i < BURST; i++) {
        int accepted = 0;
        const ngtcp2_ssize written = ngtcp2_conn_writev_datagram(
            quic->conn, &path.path, NULL, packet, sizeof packet, &accepted,
            NGTCP2_WRITE_DATAGRAM_FLAG_NONE, 0, &whole, 1, quic_time(now));
        if (written < 0) {
            fail(quic, (int)written, now);
            return QUIC_ENDED;
        }
        if (written > 0)
            send_out(quic, &path.path, packet, (size_t)written);
        if (accepted)
            return QUIC_SENT;
        if (written == 0)
            break;
    }
    return QUIC_CONGESTED;
}

bool quic_is_up(const struct quic *quic)
{
    return quic->up;
}

void quic_path(const struct quic *quic, struct udp_path *out)
{
    quic_ends_get(ngtcp2_conn_get_path(quic->conn), out);
}

double quic_rtt(const struct quic *quic)
{
    ngtcp2_conn_info info;
    ngtcp2_conn_get_conn_info(quic->conn, &info);
    return info.smoothed_rtt > 0 && quic->up ? (double)info.smoothed_rtt * 1e-9 : NAN;
}
