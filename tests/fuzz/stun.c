/* STUN requests of any bytes: each that is parsed can be verified and answered, and its username
   has no right ticket. */
#include "relay/rtc/stun.h"
#include "relay/rtc/ticket.h"
#include "stun_request.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try(const uint8_t *data, size_t size)
{
    static const struct udp_address from = {.ip = {0x20, 1}, .port = 1};
    struct stun_request request;
    static const uint8_t secret[TICKET_SECRET_SIZE] = {1};
    uint8_t out[STUN_RESPONSE_MAX];
    struct ticket_claim claim;
    bool accepted;
    if (!stun_parse(&request, data, size))
        return;
    if (stun_verify(&request, data, "password"))
        abort();
    if (ticket_read(&claim, request.username, request.username_size) &&
        ticket_verify(&claim, secret, 1))
        abort();
    if (stun_respond(out, sizeof out, &request, &from, "password", &accepted) == 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    uint8_t *copy = malloc(size);
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    try(copy, size);
    /* The bytes come once more with the right length and checksum, since hardly an input gets past
       these. */
    size -= size % 4;
    if (size >= 28) {
        memcpy(copy + 4, "\x21\x12\xa4\x42", 4);
        memcpy(copy + size - 8, "\x80\x28\0\4", 4);
        stun_request_fingerprint(copy, size);
        uint8_t *exact = malloc(size);
        if (exact) {
            memcpy(exact, copy, size);
            try(exact, size);
        }
        free(exact);
    }
    free(copy);
    return 0;
}
