#define _GNU_SOURCE
#include "rtc_attacks.h"

#include "page_ticket.h"
#include "stun_request.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE 30.0 /* seconds */
/* The number of datagrams that are not acknowledged; the relay has no more than 512 on their
   way. */
#define WAITING 400

struct attacker {
    struct rtc_rig *rig;
    const struct rtc_attack *attack;
    struct rtc_browser *peer; /* the browser whose turn it is; NULL before any offer */
    int fd;                   /* the socket of a stranger */
    unsigned long round;      /* the rounds of all peers */
    struct rtc_attack_sent sent;
    size_t hello_size;
    uint8_t hello[2048];
};

/* There is one attacker; the callbacks of its browsers find it here. */
static struct attacker attacker;

static void send_raw(int fd, const void *data, size_t size)
{
    send(fd, data, size, MSG_NOSIGNAL);
    attacker.sent.packets++;
    attacker.sent.bytes += size;
}

static void send_of_peer(void *context, const uint8_t *data, size_t size)
{
    const struct rtc_browser *browser = context;
    send_raw(browser->fd, data, size);
}

/* Keeps a ClientHello instead of sending it. */
static void keep_hello(void *context, const uint8_t *data, size_t size)
{
    (void)context;
    memcpy(attacker.hello, data, size);
    attacker.hello_size = size;
}

static void keep_silent(void *context, const uint8_t *data, size_t size)
{
    (void)context, (void)data, (void)size;
}

static void put16(uint8_t *out, unsigned value)
{
    out[0] = (uint8_t)(value >> 8);
    out[1] = (uint8_t)value;
}

static void put32(uint8_t *out, uint32_t value)
{
    put16(out, value >> 16);
    put16(out + 2, value & 0xffff);
}

/* Each of these functions sends one packet of an attack. */

static void send_check(int fd, const char *username, const char *password)
{
    uint8_t request[STUN_REQUEST_SIZE];
    send_raw(fd, request, stun_request(request, username, password, 0, 0));
}

static void unknown_check(unsigned round)
{
    char username[64];
    snprintf(username, sizeof username, "%06xabcdefghijklmnopqr:brow", round);
    send_check(attacker.fd, username, "0123456789012345678901");
}

static void forged_check(unsigned round)
{
    (void)round;
    send_check(attacker.peer->fd, attacker.peer->client.username, "0123456789012345678901");
}

static void right_check(unsigned round)
{
    (void)round;
    send_check(attacker.peer->fd, attacker.peer->client.username, attacker.peer->client.password);
}

/* Sends a claim of the peer's ticket, for a new connection. */
static void send_claim(unsigned round, bool is_changed, const char *password)
{
    char username[520];
    struct page_ticket page = {.text = attacker.peer->ticket, .server = ""};
    put32(page.fingerprint, round);
    page_ticket_redeem(&page);
    if (is_changed)
        page.ufrag[8] = page.ufrag[8] == 'A' ? 'B' : 'A';
    snprintf(username, sizeof username, "%s:brow", page.ufrag);
    send_check(attacker.peer->fd, username, password);
}

static void forged_ticket(unsigned round)
{
    send_claim(round, true, attacker.peer->client.password);
}

static void stolen_ticket(unsigned round)
{
    send_claim(round, false, "0123456789012345678901");
}

/* Sends records of all kinds: announced messages, records of keys that nobody has, records of a few
   bytes. */
static void send_record(int fd, unsigned round)
{
    uint8_t record[13 + 60] = {22, 254, 253};
    const unsigned size = round % 61;
    record[0] = (uint8_t)(20 + round % 4);
    record[4] = (uint8_t)(round / 4 % 3);
    put32(record + 7, round);
    put16(record + 11, size);
    record[13] = (uint8_t)(round % 3 == 0 ? 11 : round);
    put16(record + 15, 16000);
    record[18] = (uint8_t)(round % 20);
    record[24] = (uint8_t)(size >= 12 ? size - 12 : 0);
    send_raw(fd, record, 13 + size);
}

/* Sends what OpenSSL sets most memory aside for: first announced messages that are not due, then
   records of keys that are not in use. */
static void hold_memory(unsigned round)
{
    uint8_t record[13 + 32] = {22, 254, 253};
    put32(record + 7, round + 1);
    put16(record + 11, 32);
    if (round < 10) {
        record[13] = 11;
        put16(record + 15, 16600);
        record[18] = (uint8_t)(1 + round);
        record[24] = 20;
    } else {
        record[4] = 1;
    }
    send_raw(attacker.peer->fd, record, sizeof record);
}

static void unknown_dtls(unsigned round)
{
    if (round % 2 == 0)
        send_raw(attacker.fd, attacker.hello, attacker.hello_size);
    else
        send_record(attacker.fd, round / 2);
}

static void known_dtls(unsigned round)
{
    if (round % 2 == 0)
        send_raw(attacker.peer->fd, attacker.hello, attacker.hello_size);
    else
        send_record(attacker.peer->fd, round / 2);
}

static void connected_dtls(unsigned round)
{
    send_record(attacker.peer->fd, round);
}

static void begin(struct sctp_packet *packet)
{
    sctp_packet_begin(packet, attacker.peer->client.sctp.remote_tag);
}

static void end(struct sctp_packet *packet)
{
    sctp_packet_end(packet);
    rtc_client_send_packet(&attacker.peer->client, packet);
}

static void sctp_init(unsigned round)
{
    struct sctp_packet packet;
    (void)round;
    sctp_client_write_init(&attacker.peer->client.sctp, &packet);
    rtc_client_send_packet(&attacker.peer->client, &packet);
}

static void put_forward(struct sctp_packet *packet, uint32_t tsn)
{
    uint8_t value[4];
    put32(value, tsn);
    sctp_packet_chunk(packet, 192, 0, value, sizeof value);
}

/* Sends every second part of messages that are never whole, until the window is full of gaps. */
static void sctp_gaps(unsigned round)
{
    struct sctp_client *sctp = &attacker.peer->client.sctp;
    struct sctp_packet packet;
    uint8_t part[600] = {0};
    begin(&packet);
    sctp_packet_data(&packet,
                     (struct sctp_part){.tsn = sctp->tsn + 2 * (round % 500) + 1,
                                        .flags = SCTP_UNORDERED | SCTP_BEGIN,
                                        .ppid = 53},
                     part, round % 3 == 0 ? sizeof part : 1);
    if (round % 500 == 499)
        put_forward(&packet, sctp->tsn += 1001);
    end(&packet);
}

static void sctp_duplicates(unsigned round)
{
    struct sctp_client *sctp = &attacker.peer->client.sctp;
    struct sctp_packet packet;
    (void)round;
    begin(&packet);
    while (packet.size < 1150)
        sctp_packet_data(&packet,
                         (struct sctp_part){.tsn = sctp->tsn + 100,
                                            .flags = SCTP_UNORDERED | SCTP_BEGIN,
                                            .ppid = 53},
                         "x", 1);
    end(&packet);
}

static void sctp_forward(unsigned round)
{
    struct sctp_client *sctp = &attacker.peer->client.sctp;
    struct sctp_packet packet;
    begin(&packet);
    while (packet.size < 1150)
        put_forward(&packet, round % 2 == 0 ? sctp->tsn++ : sctp->tsn - 2);
    end(&packet);
}

static void sctp_heartbeats(unsigned round)
{
    struct sctp_packet packet;
    (void)round;
    begin(&packet);
    while (packet.size < 1150)
        sctp_packet_chunk(&packet, 4, 0, "\0\1\0\10path", 8);
    end(&packet);
}

static void sctp_resets(unsigned round)
{
    struct sctp_packet packet;
    uint8_t reset[18] = {0, 13, 0, 18};
    put32(reset + 4, round);
    put16(reset + 16, 7);
    begin(&packet);
    while (packet.size < 1150)
        sctp_packet_chunk(&packet, 130, 0, reset, sizeof reset);
    end(&packet);
}

static void put_datagram(struct sctp_packet *packet, unsigned round)
{
    struct sctp_client *sctp = &attacker.peer->client.sctp;
    uint8_t datagram[120] = {0x85};
    put32(datagram + 1, round);
    sctp_packet_data(
        packet,
        (struct sctp_part){.tsn = sctp->tsn++, .flags = SCTP_UNORDERED | SCTP_WHOLE, .ppid = 53},
        datagram, sizeof datagram);
}

/* Has the server send much while the browser has no room for any of it. */
static void zero_window(unsigned round)
{
    struct sctp_client *sctp = &attacker.peer->client.sctp;
    struct sctp_packet packet;
    uint8_t sack[12] = {0};
    begin(&packet);
    put32(sack, sctp->cumulative);
    sctp_packet_chunk(&packet, 3, 0, sack, sizeof sack);
    put_datagram(&packet, round);
    end(&packet);
}

/* Has the server send much, and acknowledges nothing. */
static void no_sacks(unsigned round)
{
    struct sctp_packet packet;
    begin(&packet);
    put_datagram(&packet, round);
    end(&packet);
}

/* Has much on its way, and acknowledges nearly all of it again and again. */
static void sctp_sacks(unsigned round)
{
    static const uint16_t gaps[] = {2, WAITING - 2};
    struct sctp_client *sctp = &attacker.peer->client.sctp;
    struct sctp_packet packet;
    if (round < WAITING) {
        no_sacks(round);
        return;
    }
    begin(&packet);
    while (packet.size < 1150)
        sctp_packet_sack(&packet, sctp->cumulative - WAITING, gaps, 1);
    end(&packet);
}

enum stage { NOBODY, CHECKED, HELLO, OPEN };

struct rtc_attack {
    const char *name;
    enum stage stage; /* the stage that the peers have reached */
    void (*send)(unsigned round);
};

static const struct rtc_attack attacks[] = {
    {"unknown_check", NOBODY, unknown_check},
    {"forged_check", CHECKED, forged_check},
    {"right_check", CHECKED, right_check},
    {"forged_ticket", CHECKED, forged_ticket},
    {"stolen_ticket", CHECKED, stolen_ticket},
    {"unknown_dtls", NOBODY, unknown_dtls},
    {"early_dtls", CHECKED, connected_dtls},
    {"hold_before_hello", CHECKED, hold_memory},
    {"hold_after_hello", HELLO, hold_memory},
    {"known_dtls", HELLO, known_dtls},
    {"connected_dtls", OPEN, connected_dtls},
    {"sctp_init", OPEN, sctp_init},
    {"sctp_gaps", OPEN, sctp_gaps},
    {"sctp_duplicates", OPEN, sctp_duplicates},
    {"sctp_forward", OPEN, sctp_forward},
    {"sctp_sacks", OPEN, sctp_sacks},
    {"sctp_heartbeats", OPEN, sctp_heartbeats},
    {"sctp_resets", OPEN, sctp_resets},
    {"zero_window", OPEN, zero_window},
    {"no_sacks", OPEN, no_sacks},
};

static void fail(const char *what)
{
    fprintf(stderr, "rtc_attacks: %s\n", what);
    exit(1);
}

#define ATTACKS (sizeof attacks / sizeof attacks[0])

const char *rtc_attack_name(size_t index)
{
    return index < ATTACKS ? attacks[index].name : NULL;
}

static const struct rtc_attack *find(const char *name)
{
    for (size_t i = 0; i < ATTACKS; i++)
        if (strcmp(name, attacks[i].name) == 0)
            return &attacks[i];
    fail("no attack of this name");
    return NULL;
}

/* Makes offers whose checks have been answered, and does nothing more. */
static void be_checked(struct rtc_rig *rig, unsigned peers)
{
    for (unsigned i = 0; i < peers; i++) {
        struct rtc_client *client = &rtc_rig_offer(rig)->client;
        rtc_client_check(client);
        client->send = keep_hello;
    }
    const double start = rtc_rig_now();
    for (unsigned checked = 0; checked < peers;) {
        rtc_rig_serve(rig, 50);
        checked = 0;
        for (unsigned i = 0; i < peers; i++)
            checked += rig->browsers[i]->client.checked;
        if (rtc_rig_now() - start > PATIENCE)
            fail("not all checks were answered");
    }
}

static void send_request(struct rtc_client *client, const char *hex)
{
    uint8_t request[1400];
    size_t size = 0;
    unsigned byte;
    for (; size < sizeof request && sscanf(hex + size * 2, "%2x", &byte) == 1; size++)
        request[size] = (uint8_t)byte;
    rtc_client_send(client, request, size);
}

void rtc_attack_prepare(const char *name, struct rtc_rig *rig, unsigned peers, const char *request)
{
    const struct rtc_attack *attack = find(name);
    attacker =
        (struct attacker){.rig = rig, .attack = attack, .fd = rtc_rig_socket(rig, rig->from)};
    if (attack->stage == OPEN && !rtc_rig_open(rig, peers, PATIENCE))
        fail("not all channels are open");
    if (attack->stage == CHECKED || attack->stage == HELLO)
        be_checked(rig, peers);
    for (unsigned i = 0; i < rig->count; i++) {
        struct rtc_browser *browser = rig->browsers[i];
        browser->client.send = attack->stage == OPEN ? send_of_peer : keep_silent;
        if (attack->stage == HELLO)
            send_raw(browser->fd, attacker.hello, attacker.hello_size);
        if (attack->stage == OPEN && *request)
            send_request(&browser->client, request);
    }
    if (attack->stage == NOBODY) {
        struct rtc_client client = {.identity = &rig->identity, .send = keep_hello};
        static const uint8_t checked[] = {1, 1};
        rtc_client_open(&client);
        rtc_client_receive(&client, checked, sizeof checked);
        rtc_client_destroy(&client);
    }
    attacker.sent = (struct rtc_attack_sent){0};
    rig->received = rig->received_bytes = 0;
}

void rtc_attack_send(void)
{
    const struct rtc_rig *rig = attacker.rig;
    const unsigned count = rig->count > 0 ? rig->count : 1;
    attacker.peer = rig->count > 0 ? rig->browsers[attacker.round % count] : NULL;
    attacker.attack->send((unsigned)(attacker.round++ / count));
}

struct rtc_attack_sent rtc_attack_sent(void)
{
    return attacker.sent;
}

void rtc_attack_end(void)
{
    close(attacker.fd);
    rtc_rig_close(attacker.rig);
}
