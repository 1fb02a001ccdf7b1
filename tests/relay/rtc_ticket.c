/* Tickets: what a page makes of one, the relay reads; and nothing else passes for that. */
#include "fixture.h"

#include "page_ticket.h"
#include "relay/rtc/dtls.h"
#include "relay/rtc/ticket.h"

#include <stdio.h>
#include <string.h>

#define EXPIRES 1000

static const uint8_t secret[TICKET_SECRET_SIZE] = {1, 2, 3};
static struct ticket ticket = {
    .expires = EXPIRES, .client = {.ip = {0x20, 1, 0xd, 0xb8}, .port = 4000}, .number = {7}};
static char text[TICKET_TEXT_SIZE];
static char password[TICKET_PASSWORD_SIZE];

/* A page of this origin that has got its ticket and made a claim of it. */
static struct page_ticket page_of(const char *origin, const char *server)
{
    struct page_ticket page = {.text = text,
                               .fingerprint = {6, 5, 4},
                               .session = {0xfb, 0xff, 3},
                               .init = {0xca, 0xfe, 0, 1, 0, 0x50, 0, 0, 0, 5, 0, 6, 0xff, 0, 0, 2},
                               .server = server};
    ticket.origin = origin;
    assert_true(ticket_write(&ticket, secret, text, password));
    page_ticket_redeem(&page);
    return page;
}

static bool reads(struct ticket_claim *claim, const char *ufrag)
{
    char username[3 * SDP_UFRAG_MAX];
    const int size = snprintf(username, sizeof username, "%s:page", ufrag);
    return ticket_read(claim, username, (size_t)size);
}

TEST(a_relay_reads_what_a_page_claims)
{
    static const char *const servers[] = {"", "10.0.0.5_7000",
                                          "2001-db8-1111-2222-3333-4444-5555-6666_65535"};
    struct ticket_claim claim;
    for (size_t i = 0; i < sizeof servers / sizeof servers[0]; i++) {
        const struct page_ticket page = page_of("https://game.example", servers[i]);
        assert_true(reads(&claim, page.ufrag));
        assert_true(ticket_verify(&claim, secret, EXPIRES - 1));
        assert_string_equal(claim.ufrag, page.ufrag);
        assert_string_equal(claim.remote_ufrag, "page");
        assert_string_equal(claim.password, password);
        assert_string_equal(claim.origin, "https://game.example");
        assert_string_equal(claim.server, servers[i]);
        assert_string_equal(claim.session_key, "-_8DAAAAAAAAAAAAAAAAAA");
        assert_int_equal(claim.sctp_init.tag, 0xcafe0001u);
        assert_int_equal(claim.sctp_init.tsn, 0xff000002u);
        assert_int_equal(claim.sctp_init.window, 0x500000);
        assert_int_equal(claim.sctp_init.streams, 6);
        assert_memory_equal(claim.client.ip, ticket.client.ip, sizeof claim.client.ip);
        assert_memory_equal(claim.fingerprint, page.fingerprint, sizeof page.fingerprint);
    }
}

TEST(an_origin_has_room_or_gets_no_ticket)
{
    char origin[TICKET_ORIGIN_MAX + 2];
    struct ticket_claim claim;
    memset(origin, 'o', sizeof origin);
    origin[TICKET_ORIGIN_MAX + 1] = '\0';
    ticket.origin = origin;
    assert_false(ticket_write(&ticket, secret, text, password));
    for (size_t size = 0; size <= TICKET_ORIGIN_MAX; size++) {
        origin[size] = '\0';
        const struct page_ticket page = page_of(origin, "10.0.0.5_7000");
        assert_true(strlen(page.ufrag) <= PAGE_UFRAG_MAX);
        assert_true(reads(&claim, page.ufrag) && ticket_verify(&claim, secret, 1));
        assert_string_equal(claim.origin, origin);
        origin[size] = 'o';
    }
}

TEST(a_ticket_expires)
{
    struct ticket_claim claim;
    const struct page_ticket page = page_of("https://game.example", "");
    assert_true(reads(&claim, page.ufrag));
    assert_false(ticket_verify(&claim, secret, EXPIRES));
}

/* The proof of a ticket is wrong when anything in it is changed. The page's signature of the check
   shows a change behind it. */
TEST(a_ticket_cannot_be_changed)
{
    static const char origin[] = "https://game.example";
    const struct page_ticket page = page_of(origin, "");
    const size_t ticket_size = 30 + strlen(origin) + 16;
    struct ticket_claim claim;
    unsigned read = 0;
    for (size_t i = 0; i < ticket_size * 4 / 3; i++) {
        char ufrag[sizeof page.ufrag];
        strcpy(ufrag, page.ufrag);
        ufrag[i] = ufrag[i] == 'B' ? 'C' : 'B';
        if (!reads(&claim, ufrag))
            continue;
        read++;
        assert_false(ticket_verify(&claim, secret, 1));
    }
    assert_true(read > ticket_size / 2);
}

/* Two pages of one address may get their tickets in the same second. */
TEST(no_two_tickets_have_one_password)
{
    char others[TICKET_PASSWORD_SIZE];
    char other[TICKET_TEXT_SIZE];
    page_of("", "");
    ticket.number[7]++;
    assert_true(ticket_write(&ticket, secret, other, others));
    assert_string_not_equal(password, others);
    assert_string_not_equal(strchr(text, ' '), strchr(other, ' '));
}

TEST(another_certificate_takes_no_ticket)
{
    struct dtls_identity *old = dtls_identity_create();
    struct dtls_identity *new = dtls_identity_create();
    struct page_ticket page = page_of("", "");
    struct ticket_claim claim;
    assert_true(ticket_write(&ticket, dtls_identity_secret(old), text, password));
    page_ticket_redeem(&page);
    assert_true(reads(&claim, page.ufrag));
    assert_true(ticket_verify(&claim, dtls_identity_secret(old), 1));
    assert_false(ticket_verify(&claim, dtls_identity_secret(new), 1));
    dtls_identity_destroy(old);
    dtls_identity_destroy(new);
}

TEST(a_username_without_a_ticket_is_none)
{
    static const char *const others[] = {
        "", "AQ", "000001relayufrag", "////////////////", "AQ==", "\0\0\0\0\0"};
    const struct page_ticket page = page_of("https://game.example", "");
    struct ticket_claim claim;
    char ufrag[3 * PAGE_UFRAG_MAX];
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(reads(&claim, others[i]));
    /* Only a claim that is whole is read, and one with as much behind it as a server's name has. */
    for (size_t size = 0; size < strlen(page.ufrag); size++) {
        snprintf(ufrag, size + 1, "%s", page.ufrag);
        assert_false(reads(&claim, ufrag));
    }
    const size_t whole = strlen(page.ufrag);
    strcpy(ufrag, page.ufrag);
    for (size_t more = 4; whole + more < 2 * PAGE_UFRAG_MAX; more += 4) {
        strcat(ufrag, "AAAA");
        const bool fits = more / 4 * 3 <= SESSION_SERVER_TEXT && whole + more <= PAGE_UFRAG_MAX;
        assert_int_equal(reads(&claim, ufrag), fits);
    }
    assert_false(ticket_read(&claim, page.ufrag, whole));
    assert_false(ticket_read(&claim, ":page", 5));
}
