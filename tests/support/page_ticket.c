#include "page_ticket.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t decode(uint8_t *out, const char *text, size_t size)
{
    char padded[256] = "";
    const size_t padding = (4 - size % 4) % 4;
    memcpy(padded, text, size);
    memset(padded + size, '=', padding);
    return (size_t)EVP_DecodeBlock(out, (uint8_t *)padded, (int)(size + padding)) - padding;
}

static void encode(char *out, const uint8_t *data, size_t size)
{
    EVP_EncodeBlock((uint8_t *)out, data, (int)size);
    out[(size * 4 + 2) / 3] = '\0';
}

void page_ticket_redeem(struct page_ticket *ticket)
{
    uint8_t bytes[PAGE_UFRAG_MAX + 128];
    uint8_t key[18];
    uint8_t hash[64];
    const char *space = strchr(ticket->text, ' ');
    if (!space || strlen(space + 1) != 22) {
        fprintf(stderr, "page_ticket: no ticket: %s\n", ticket->text);
        exit(1);
    }
    size_t size = decode(bytes, ticket->text, (size_t)(space - ticket->text));
    decode(key, space + 1, 22);
    memcpy(bytes + size, ticket->number, 16);
    memcpy(bytes + size + 16, ticket->fingerprint, 32);
    size += 48;
    HMAC(EVP_sha512(), key, 16, bytes, size, hash, NULL);
    for (size_t i = 0; i < 22; i++)
        bytes[size++] = (uint8_t)ticket->session[i] ^ hash[i];
    if (ticket->server) {
        memcpy(bytes + size, ticket->server, strlen(ticket->server));
        size += strlen(ticket->server);
    }
    encode(ticket->ufrag, bytes, size);
    encode(ticket->password, hash + 22, 24);
}
