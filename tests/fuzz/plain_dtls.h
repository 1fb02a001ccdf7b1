/* DTLS without its cryptography, in place of relay/rtc/dtls.c. Two datagrams of kind 22 are the
   other side's handshake, one of 21 ends the connection, and one of 23 is a record, in the clear
   behind three bytes. A datagram of the relay has the size that real DTLS would give it. */
#ifndef CAUSEWAY_TESTS_PLAIN_DTLS_H
#define CAUSEWAY_TESTS_PLAIN_DTLS_H

#include "relay/rtc/dtls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_DTLS_HEADER 3

enum { PLAIN_DTLS_END = 21, PLAIN_DTLS_HANDSHAKE = 22, PLAIN_DTLS_RECORD = 23 };

struct dtls {
    enum dtls_state state;
    bool begun;
    const uint8_t *record; /* the record that has come */
    size_t size;
    void (*send)(void *context, const uint8_t *data, size_t size);
    void *context;
};

bool dtls_number(const uint8_t *data, size_t size, uint64_t *number)
{
    if (size < PLAIN_DTLS_HEADER || data[0] != PLAIN_DTLS_RECORD)
        return false;
    *number = (uint64_t)data[1] << 8 | data[2];
    return true;
}

struct dtls *dtls_create(struct dtls_identity *identity, const uint8_t fingerprint[32],
                         void (*send)(void *context, const uint8_t *data, size_t size),
                         void *context)
{
    (void)identity, (void)fingerprint;
    struct dtls *dtls = calloc(1, sizeof *dtls);
    if (dtls)
        *dtls = (struct dtls){.send = send, .context = context};
    return dtls;
}

void dtls_destroy(struct dtls *dtls)
{
    free(dtls);
}

static void plain_dtls_flight(struct dtls *dtls)
{
    static const uint8_t datagram[DTLS_HANDSHAKE_MTU] = {PLAIN_DTLS_HANDSHAKE};
    dtls->send(dtls->context, datagram, sizeof datagram);
    dtls->send(dtls->context, datagram, sizeof datagram / 2);
}

enum dtls_state dtls_receive(struct dtls *dtls, const uint8_t *data, size_t size)
{
    if (data[0] == PLAIN_DTLS_HANDSHAKE && dtls->state == DTLS_HANDSHAKE) {
        if (dtls->begun)
            dtls->state = DTLS_CONNECTED;
        else
            plain_dtls_flight(dtls);
        dtls->begun = true;
    } else if (data[0] == PLAIN_DTLS_END) {
        dtls->state = dtls->state == DTLS_CONNECTED ? DTLS_CLOSED : DTLS_FAILED;
    } else if (data[0] == PLAIN_DTLS_RECORD && dtls->state == DTLS_CONNECTED &&
               size > PLAIN_DTLS_HEADER) {
        dtls->record = data + PLAIN_DTLS_HEADER;
        dtls->size = size - PLAIN_DTLS_HEADER;
    }
    return dtls->state;
}

size_t dtls_read(struct dtls *dtls, uint8_t *out, size_t capacity)
{
    const size_t size = dtls->size < capacity ? dtls->size : capacity;
    if (size > 0)
        memcpy(out, dtls->record, size);
    dtls->size = 0;
    return size;
}

bool dtls_write(struct dtls *dtls, const uint8_t *data, size_t size)
{
    uint8_t datagram[2048] = {PLAIN_DTLS_RECORD};
    if (dtls->state != DTLS_CONNECTED || size > sizeof datagram - DTLS_OVERHEAD)
        return false;
    memcpy(datagram + PLAIN_DTLS_HEADER, data, size);
    dtls->send(dtls->context, datagram, size + DTLS_OVERHEAD);
    return true;
}

void dtls_close(struct dtls *dtls)
{
    static const uint8_t datagram[2 + DTLS_OVERHEAD] = {PLAIN_DTLS_END};
    if (dtls->state == DTLS_CONNECTED)
        dtls->send(dtls->context, datagram, sizeof datagram);
}

enum dtls_state dtls_state(const struct dtls *dtls)
{
    return dtls->state;
}

bool dtls_has_begun(const struct dtls *dtls)
{
    return dtls->begun;
}

double dtls_timeout(struct dtls *dtls)
{
    return dtls->begun && dtls->state == DTLS_HANDSHAKE ? 1.0 : INFINITY;
}

enum dtls_state dtls_update(struct dtls *dtls)
{
    if (dtls->begun && dtls->state == DTLS_HANDSHAKE)
        plain_dtls_flight(dtls);
    return dtls->state;
}

#endif
