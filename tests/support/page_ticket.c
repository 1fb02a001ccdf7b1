#include "page_ticket.h"

#include <openssl/evp.h>
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

void page_ticket_redeem(struct page_ticket *ticket)
{
    uint8_t bytes[PAGE_UFRAG_MAX + 128];
    uint8_t mask[18];
    const char *space = strchr(ticket->text, ' ');
    if (!space || strlen(space + 1) != 22) {
        fprintf(stderr, "page_ticket: no ticket: %s\n", ticket->text);
        exit(1);
    }
    size_t size = decode(bytes, ticket->text, (size_t)(space - ticket->text));
    decode(mask, space + 1, 22);
    memcpy(bytes + size, ticket->fingerprint, 32);
    size += 32;
    for (size_t i = 0; i < 16; i++)
        bytes[size++] = ticket->session[i] ^ mask[i];
    memcpy(bytes + size, ticket->init, 16);
    size += 16;
    memcpy(bytes + size, ticket->server, strlen(ticket->server));
    size += strlen(ticket->server);
    EVP_EncodeBlock((uint8_t *)ticket->ufrag, bytes, (int)size);
    ticket->ufrag[(size * 4 + 2) / 3] = '\0';
}
