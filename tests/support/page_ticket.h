/* A page's side of a ticket (relay/rtc/ticket.h): what it writes into the relay's answer. */
#ifndef CAUSEWAY_TESTS_PAGE_TICKET_H
#define CAUSEWAY_TESTS_PAGE_TICKET_H

#include <stddef.h>
#include <stdint.h>

/* The most characters of a ufrag that a browser takes. */
#define PAGE_UFRAG_MAX 256

struct page_ticket {
    const char *text; /* "TICKET MASK", as the relay gave it */
    uint8_t fingerprint[32];
    uint8_t session[16]; /* the bytes of the session's key */
    uint8_t init[16];    /* the contents of its INIT */
    const char *server;
    char ufrag[2 * PAGE_UFRAG_MAX]; /* to be read */
};

/* Fills in the relay's ufrag; exits with a message when the text is no ticket. */
void page_ticket_redeem(struct page_ticket *ticket);

#endif
