/* SCTP: an association from its begin to its end, against packets made by hand. */
#include "unit.h"

#include "relay/rtc/bytes.h"
#include "relay/rtc/sctp.h"
#include "sctp_client.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TAG         0xcafe0001u
#define FIRST_TSN   0xfffffffeu
#define PPID_BINARY 53

/* An association with its other end, and the last thing that it told. */
struct link {
    struct sctp *sctp;
    struct sctp_client client;
    struct sctp_event event;
    uint8_t *given; /* the packet, in a block of its exact size */
    double now;
    unsigned messages;
    uint8_t last[2000];
    size_t last_size;
    uint16_t last_stream;
};

static void on_message(void *context, uint16_t stream, uint32_t ppid, const uint8_t *data,
                       size_t size)
{
    struct link *link = context;
    (void)ppid;
    link->messages++;
    memcpy(link->last, data, size);
    link->last_size = size;
    link->last_stream = stream;
}

static void link_open(struct link *link)
{
    struct sctp_config config = {.local_port = 5000, .remote_port = 5000};
    for (size_t i = 0; i < sizeof config.random; i++)
        config.random[i] = (uint8_t)(0xf0 + i);
    *link = (struct link){.sctp = sctp_create(&config), .now = 100.0};
    assert_non_null(link->sctp);
    sctp_client_init(&link->client, TAG, FIRST_TSN);
    link->client.message = on_message;
    link->client.context = link;
}

static void link_close(struct link *link)
{
    sctp_destroy(link->sctp);
    free(link->given);
}

static void give_bytes(struct link *link, const uint8_t *data, size_t size)
{
    free(link->given);
    link->given = malloc(size > 0 ? size : 1);
    assert_non_null(link->given);
    memcpy(link->given, data, size);
    sctp_receive(link->sctp, link->given, size, link->now);
}

static void give(struct link *link, const struct sctp_packet *packet)
{
    give_bytes(link, packet->data, packet->size);
}

static bool next(struct link *link)
{
    return sctp_next(link->sctp, &link->event, link->now);
}

/* Hands over a packet that nothing shall come of. */
static void give_quietly(struct link *link, const struct sctp_packet *packet)
{
    give(link, packet);
    assert_false(next(link));
}

/* Fetches one packet and has the client read it; its size, 0 when there is none. */
static size_t fetch(struct link *link, uint8_t out[SCTP_PACKET_MAX])
{
    const size_t size = sctp_transmit(link->sctp, out, SCTP_PACKET_MAX, link->now);
    assert_true(size <= SCTP_PACKET_MAX);
    if (size > 0)
        assert_true(sctp_client_read(&link->client, out, size));
    return size;
}

static unsigned fetch_all(struct link *link)
{
    uint8_t out[SCTP_PACKET_MAX];
    unsigned count = 0;
    while (fetch(link, out) > 0)
        count++;
    return count;
}

static void link_up(struct link *link)
{
    struct sctp_packet packet;
    link_open(link);
    sctp_client_write_init(&link->client, &packet);
    give_quietly(link, &packet);
    assert_int_equal(fetch_all(link), 1);
    sctp_client_write_cookie(&link->client, &packet);
    give(link, &packet);
    assert_true(next(link));
    assert_int_equal(link->event.type, SCTP_ESTABLISHED);
    assert_false(next(link));
    assert_int_equal(fetch_all(link), 1);
    assert_true(link->client.established);
}

/* The first chunk of a type in a packet; NULL when it has none. */
static const uint8_t *find_chunk(const uint8_t *packet, size_t size, uint8_t type)
{
    for (size_t at = 12; at < size; at += padded(load16(packet + at + 2)))
        if (packet[at] == type)
            return packet + at;
    return NULL;
}

static void begin(struct link *link, struct sctp_packet *packet)
{
    sctp_packet_begin(packet, link->client.remote_tag);
}

static void give_data(struct link *link, uint32_t tsn, uint8_t flags, uint16_t stream,
                      uint16_t order, const void *data, size_t size)
{
    struct sctp_packet packet;
    begin(link, &packet);
    sctp_client_put_data(&link->client, &packet, tsn, flags, stream, order, PPID_BINARY, data,
                         size);
    sctp_packet_end(&packet);
    give(link, &packet);
}

static void give_sack(struct link *link, uint32_t cumulative, const uint16_t *gaps, size_t count)
{
    struct sctp_packet packet;
    begin(link, &packet);
    sctp_client_put_sack(&link->client, &packet, cumulative, gaps, count);
    sctp_packet_end(&packet);
    give_quietly(link, &packet);
}

static uint64_t refused(const struct link *link)
{
    struct sctp_stats stats;
    sctp_stats(link->sctp, &stats);
    return stats.packets_refused;
}

static void test_opens(void **state)
{
    (void)state;
    struct link link;
    struct sctp_packet packet;
    uint8_t out[SCTP_PACKET_MAX];
    link_open(&link);
    assert_false(sctp_is_established(link.sctp));
    assert_true(sctp_deadline(link.sctp) == INFINITY);
    sctp_client_write_init(&link.client, &packet);
    give_quietly(&link, &packet);
    const size_t size = fetch(&link, out);
    const uint8_t *ack = find_chunk(out, size, 2);
    assert_non_null(ack);
    assert_int_equal(load32(out + 4), TAG);
    assert_int_equal(load16(ack + 12), 1024); /* no more streams than the other side takes */
    assert_int_equal(link.client.cookie_size, 24);

    /* A lost answer is sent again; the same cookie stays good. */
    give_quietly(&link, &packet);
    assert_int_equal(fetch_all(&link), 1);
    sctp_client_write_cookie(&link.client, &packet);
    give(&link, &packet);
    assert_true(next(&link));
    assert_int_equal(link.event.type, SCTP_ESTABLISHED);
    assert_true(sctp_is_established(link.sctp));
    give_quietly(&link, &packet);
    assert_int_equal(fetch_all(&link), 1);
    link_close(&link);
}

static void test_data_may_come_with_the_cookie(void **state)
{
    (void)state;
    struct link link;
    struct sctp_packet packet;
    link_open(&link);
    sctp_client_write_init(&link.client, &packet);
    give_quietly(&link, &packet);
    fetch_all(&link);
    begin(&link, &packet);
    sctp_packet_chunk(&packet, 10, 0, link.client.cookie, link.client.cookie_size);
    sctp_client_put_data(&link.client, &packet, FIRST_TSN, SCTP_WHOLE, 0, 0, 50, "open", 4);
    sctp_packet_end(&packet);
    give(&link, &packet);
    assert_true(next(&link));
    assert_int_equal(link.event.type, SCTP_ESTABLISHED);
    assert_true(next(&link));
    assert_int_equal(link.event.type, SCTP_MESSAGE);
    assert_memory_equal(link.event.data, "open", 4);
    assert_false(link.event.unordered);
    assert_false(next(&link));
    link_close(&link);
}

static void test_refuses_bad_handshakes(void **state)
{
    (void)state;
    struct link link;
    struct sctp_packet packet;
    link_open(&link);
    /* Nothing but an INIT, alone, with tag 0. */
    begin(&link, &packet);
    sctp_client_put_data(&link.client, &packet, 1, SCTP_WHOLE, 0, 0, 53, "x", 1);
    sctp_packet_end(&packet);
    give_quietly(&link, &packet);
    sctp_client_write_init(&link.client, &packet);
    packet.data[7] = 1;
    memset(packet.data + 8, 0, 4);
    sctp_packet_end(&packet);
    give_quietly(&link, &packet);
    sctp_client_write_init(&link.client, &packet);
    memset(packet.data + 8, 0, 4);
    sctp_packet_chunk(&packet, 11, 0, NULL, 0);
    sctp_packet_end(&packet);
    give_quietly(&link, &packet);
    assert_int_equal(refused(&link), 3);
    assert_int_equal(fetch_all(&link), 0);

    /* A cookie that is not ours. */
    sctp_client_write_init(&link.client, &packet);
    give_quietly(&link, &packet);
    fetch_all(&link);
    link.client.cookie[20] ^= 1;
    sctp_client_write_cookie(&link.client, &packet);
    give_quietly(&link, &packet);
    assert_false(sctp_is_established(link.sctp));
    link_close(&link);
}

static void test_refuses_a_peer_without_forward_tsn(void **state)
{
    (void)state;
    struct link link;
    struct sctp_packet packet;
    uint8_t init[16] = {0xca, 0xfe, 0, 1, 0, 1, 0, 0, 0, 9, 0, 9, 0, 0, 0, 1};
    link_open(&link);
    sctp_packet_begin(&packet, 0);
    sctp_packet_chunk(&packet, 1, 0, init, sizeof init);
    sctp_packet_end(&packet);
    give(&link, &packet);
    assert_true(next(&link));
    assert_int_equal(link.event.type, SCTP_ENDED);
    fetch_all(&link);
    assert_true(link.client.ended);
    link_close(&link);
}

static void test_every_flipped_bit_is_refused(void **state)
{
    (void)state;
    struct link link;
    struct sctp_packet packet;
    link_up(&link);
    begin(&link, &packet);
    sctp_client_put_data(&link.client, &packet, FIRST_TSN, SCTP_WHOLE, 0, 0, 53, "data", 4);
    sctp_packet_end(&packet);
    for (size_t bit = 0; bit < packet.size * 8; bit++) {
        packet.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        give_quietly(&link, &packet);
        packet.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_int_equal(refused(&link), packet.size * 8);
    for (size_t size = 0; size < packet.size; size++) {
        give_bytes(&link, packet.data, size);
        assert_false(next(&link));
    }
    give(&link, &packet);
    assert_true(next(&link));
    link_close(&link);
}

static void test_every_truncated_chunk_is_survived(void **state)
{
    (void)state;
    /* Every type with every length of value, filled with bytes that look like large numbers. */
    uint8_t value[64];
    for (int fill = 0; fill < 2; fill++) {
        memset(value, fill ? 0xff : 0, sizeof value);
        for (unsigned type = 0; type < 256; type++) {
            for (size_t size = 0; size < sizeof value; size += size < 24 ? 1 : 5) {
                struct link link;
                struct sctp_packet packet;
                link_up(&link);
                begin(&link, &packet);
                sctp_packet_chunk(&packet, (uint8_t)type, 0, value, size);
                sctp_packet_end(&packet);
                give(&link, &packet);
                for (int i = 0; next(&link); i++)
                    assert_true(i < 3);
                uint8_t out[SCTP_PACKET_MAX];
                for (int i = 0; sctp_transmit(link.sctp, out, sizeof out, link.now) > 0; i++)
                    assert_true(i < 3);
                link_close(&link);
            }
        }
    }
}

static void test_receives_and_acknowledges_honestly(void **state)
{
    (void)state;
    struct link link;
    uint8_t out[SCTP_PACKET_MAX];
    link_up(&link);
    give_data(&link, FIRST_TSN, SCTP_WHOLE | SCTP_UNORDERED, 4, 0, "one", 3);
    assert_true(next(&link));
    assert_int_equal(link.event.type, SCTP_MESSAGE);
    assert_int_equal(link.event.stream, 4);
    assert_int_equal(link.event.ppid, PPID_BINARY);
    assert_true(link.event.unordered);
    assert_int_equal(link.event.size, 3);
    assert_false(next(&link));

    /* The first packet waits for company, but not long; the second is acknowledged at once. */
    assert_int_equal(fetch(&link, out), 0);
    assert_true(sctp_deadline(link.sctp) > link.now && sctp_deadline(link.sctp) < link.now + 0.2);
    link.now = sctp_deadline(link.sctp);
    sctp_update(link.sctp, link.now);
    size_t size = fetch(&link, out);
    const uint8_t *sack = find_chunk(out, size, 3);
    assert_non_null(sack);
    assert_int_equal(load32(sack + 4), FIRST_TSN);
    assert_true(sctp_deadline(link.sctp) == INFINITY);
    for (uint32_t i = 1; i <= 2; i++) {
        give_data(&link, FIRST_TSN + i, SCTP_WHOLE | SCTP_UNORDERED, 4, 0, "x", 1);
        assert_true(next(&link));
        assert_false(next(&link));
    }
    size = fetch(&link, out);
    sack = find_chunk(out, size, 3);
    assert_non_null(sack);
    assert_int_equal(load32(sack + 4), FIRST_TSN + 2);

    /* A gap is told at once and exactly. */
    give_data(&link, FIRST_TSN + 4, SCTP_WHOLE | SCTP_UNORDERED, 4, 0, "y", 1);
    assert_true(next(&link));
    assert_false(next(&link));
    size = fetch(&link, out);
    sack = find_chunk(out, size, 3);
    assert_non_null(sack);
    assert_int_equal(load32(sack + 4), FIRST_TSN + 2);
    assert_int_equal(load16(sack + 12), 1);
    assert_int_equal(load16(sack + 16), 2);
    assert_int_equal(load16(sack + 18), 2);

    /* A duplicate is not delivered twice. */
    give_data(&link, FIRST_TSN + 4, SCTP_WHOLE | SCTP_UNORDERED, 4, 0, "y", 1);
    assert_false(next(&link));
    assert_int_equal(fetch_all(&link), 1);
    link_close(&link);
}

static void test_forward_tsn_is_taken(void **state)
{
    (void)state;
    struct link link;
    struct sctp_packet packet;
    uint8_t out[SCTP_PACKET_MAX];
    uint8_t tsn[4];
    link_up(&link);
    give_data(&link, FIRST_TSN + 1, SCTP_BEGIN | SCTP_UNORDERED, 0, 0, "lost", 4);
    assert_false(next(&link));
    fetch_all(&link);
    store32(tsn, FIRST_TSN + 2);
    begin(&link, &packet);
    sctp_packet_chunk(&packet, 192, 0, tsn, 4);
    sctp_packet_end(&packet);
    give_quietly(&link, &packet);
    const size_t size = fetch(&link, out);
    const uint8_t *sack = find_chunk(out, size, 3);
    assert_non_null(sack);
    assert_int_equal(load32(sack + 4), FIRST_TSN + 2);
    assert_int_equal(load16(sack + 12), 0);
    /* The rest of the message that was given up is late: it completes nothing. */
    give_data(&link, FIRST_TSN + 2, SCTP_END | SCTP_UNORDERED, 0, 0, "lost", 4);
    assert_false(next(&link));
    link_close(&link);
}

static void test_fragments_are_put_together(void **state)
{
    (void)state;
    struct link link;
    uint8_t data[SCTP_MESSAGE_MAX];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 7);
    link_up(&link);
    give_data(&link, FIRST_TSN + 2, SCTP_END | SCTP_UNORDERED, 2, 0, data + 1000, 400);
    assert_false(next(&link));
    give_data(&link, FIRST_TSN, SCTP_BEGIN | SCTP_UNORDERED, 2, 0, data, 500);
    assert_false(next(&link));
    give_data(&link, FIRST_TSN + 1, SCTP_UNORDERED, 2, 0, data + 500, 500);
    assert_true(next(&link));
    assert_int_equal(link.event.size, sizeof data);
    assert_memory_equal(link.event.data, data, sizeof data);
    assert_false(next(&link));

    struct sctp_stats stats;
    give_data(&link, FIRST_TSN + 3, SCTP_BEGIN | SCTP_UNORDERED, 2, 0, data, 1000);
    assert_false(next(&link));
    give_data(&link, FIRST_TSN + 4, SCTP_END | SCTP_UNORDERED, 2, 0, data, 401);
    assert_false(next(&link));
    sctp_stats(link.sctp, &stats);
    assert_int_equal(stats.messages_too_long, 1);
    link_close(&link);
}

static void test_sends_now_and_takes_the_acknowledgement_along(void **state)
{
    (void)state;
    struct link link;
    uint8_t out[SCTP_PACKET_MAX];
    link_up(&link);
    give_data(&link, FIRST_TSN, SCTP_WHOLE | SCTP_UNORDERED, 0, 0, "ping", 4);
    assert_true(next(&link));
    assert_false(next(&link));
    assert_int_equal(sctp_send(link.sctp, 6, PPID_BINARY, (const uint8_t *)"pong", 4), SCTP_SENT);
    assert_int_equal(sctp_send(link.sctp, 6, PPID_BINARY, (const uint8_t *)"pong", 4), SCTP_BUSY);
    const size_t size = fetch(&link, out);
    assert_non_null(find_chunk(out, size, 3));
    const uint8_t *data = find_chunk(out, size, 0);
    assert_non_null(data);
    assert_int_equal(data[1], SCTP_WHOLE | SCTP_UNORDERED);
    assert_int_equal(link.messages, 1);
    assert_memory_equal(link.last, "pong", 4);
    assert_int_equal(link.last_stream, 6);
    assert_int_equal(fetch_all(&link), 0);
    link_close(&link);
}

static void test_splits_only_what_does_not_fit(void **state)
{
    (void)state;
    struct link link;
    uint8_t data[SCTP_MESSAGE_MAX];
    uint8_t out[SCTP_PACKET_MAX];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 13);
    static const struct {
        size_t size;
        unsigned packets;
    } cases[] = {{1, 1}, {SCTP_UNSPLIT_MAX, 1}, {SCTP_UNSPLIT_MAX + 1, 2}, {SCTP_MESSAGE_MAX, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        link_up(&link);
        assert_int_equal(sctp_send(link.sctp, 0, PPID_BINARY, data, cases[i].size), SCTP_SENT);
        assert_int_equal(fetch_all(&link), cases[i].packets);
        assert_int_equal(link.messages, 1);
        assert_int_equal(link.last_size, cases[i].size);
        assert_memory_equal(link.last, data, cases[i].size);
        link_close(&link);
    }

    /* A held-back acknowledgement does not split a message. */
    link_up(&link);
    give_data(&link, FIRST_TSN, SCTP_WHOLE | SCTP_UNORDERED, 0, 0, "ping", 4);
    assert_true(next(&link));
    assert_false(next(&link));
    sctp_send(link.sctp, 0, PPID_BINARY, data, SCTP_UNSPLIT_MAX);
    const size_t size = fetch(&link, out);
    assert_null(find_chunk(out, size, 3));
    assert_int_equal(fetch_all(&link), 0);
    assert_int_equal(link.messages, 1);

    assert_int_equal(sctp_send(link.sctp, 0, PPID_BINARY, data, 0), SCTP_TOO_LONG);
    assert_int_equal(sctp_send(link.sctp, 0, PPID_BINARY, data, SCTP_MESSAGE_MAX + 1),
                     SCTP_TOO_LONG);
    assert_int_equal(sctp_send(link.sctp, 1024, PPID_BINARY, data, 1), SCTP_NOT_UP);
    link_close(&link);
}

/* What goes out, and what would have to be kept, is bounded by the other side's answers. */
static void test_drops_when_nothing_is_acknowledged(void **state)
{
    (void)state;
    struct link link;
    uint8_t data[1000] = {0};
    link_up(&link);
    unsigned sent = 0;
    while (sctp_send(link.sctp, 0, PPID_BINARY, data, 100) == SCTP_SENT) {
        assert_int_equal(fetch_all(&link), 1);
        sent++;
    }
    assert_int_equal(sent, 512);
    assert_int_equal(sctp_send(link.sctp, 0, PPID_BINARY, data, 100), SCTP_WINDOW_FULL);
    give_sack(&link, link.client.cumulative, NULL, 0);
    assert_int_equal(sctp_send(link.sctp, 0, PPID_BINARY, data, 100), SCTP_SENT);
    fetch_all(&link);

    /* A closed window lets one message through as a probe. */
    struct sctp_packet packet;
    uint8_t sack[12] = {0};
    store32(sack, link.client.cumulative);
    begin(&link, &packet);
    sctp_packet_chunk(&packet, 3, 0, sack, sizeof sack);
    sctp_packet_end(&packet);
    give_quietly(&link, &packet);
    assert_int_equal(sctp_send(link.sctp, 0, PPID_BINARY, data, 1000), SCTP_SENT);
    fetch_all(&link);
    assert_int_equal(sctp_send(link.sctp, 0, PPID_BINARY, data, 1), SCTP_WINDOW_FULL);
    link_close(&link);
}

static void test_gives_up_what_was_lost_and_says_so_seldom(void **state)
{
    (void)state;
    struct link link;
    uint8_t out[SCTP_PACKET_MAX];
    struct sctp_stats stats;
    link_up(&link);
    const uint32_t base = link.client.cumulative;
    unsigned forwards = 0;
    /* Every other packet is lost, each loss is reported: 100 losses in a second. */
    for (uint32_t i = 1; i <= 200; i++) {
        link.now += 0.005;
        assert_int_equal(sctp_send(link.sctp, 0, PPID_BINARY, (const uint8_t *)"x", 1), SCTP_SENT);
        size_t size;
        while ((size = fetch(&link, out)) > 0)
            forwards += find_chunk(out, size, 192) != NULL;
        const uint32_t forwarded = link.client.forwarded ? link.client.forwarded - base : 0;
        uint16_t gaps[128];
        size_t count = 0;
        for (uint32_t at = 2; at <= i; at += 2)
            if (at > forwarded + 1) {
                gaps[count * 2] = (uint16_t)(at - forwarded);
                gaps[count * 2 + 1] = (uint16_t)(at - forwarded);
                count++;
            }
        give_sack(&link, base + forwarded, gaps, count);
    }
    assert_true(forwards >= 10 && forwards <= 21);
    sctp_stats(link.sctp, &stats);
    assert_true(stats.chunks_abandoned >= 90 && stats.chunks_abandoned <= 100);
    assert_int_equal(stats.forwards_sent, forwards);
    link_close(&link);
}

static void test_a_lost_tail_is_given_up_by_time(void **state)
{
    (void)state;
    struct link link;
    uint8_t out[SCTP_PACKET_MAX];
    link_up(&link);
    const uint32_t base = link.client.cumulative;
    for (int i = 0; i < 3; i++) {
        sctp_send(link.sctp, 0, PPID_BINARY, (const uint8_t *)"x", 1);
        fetch_all(&link);
    }
    double waits = 0.5;
    for (int i = 0; i < 4; i++) {
        const double deadline = sctp_deadline(link.sctp);
        assert_true(deadline - link.now > waits && deadline - link.now < 10);
        waits = deadline - link.now;
        link.now = deadline;
        sctp_update(link.sctp, link.now);
        const size_t size = fetch(&link, out);
        const uint8_t *forward = find_chunk(out, size, 192);
        assert_non_null(forward);
        assert_int_equal(load32(forward + 4), base + 3);
        assert_int_equal(fetch_all(&link), 0);
    }
    give_sack(&link, base + 3, NULL, 0);
    assert_true(sctp_deadline(link.sctp) == INFINITY);
    link_close(&link);
}

static void test_reliable_messages_are_repeated(void **state)
{
    (void)state;
    struct link link;
    uint8_t out[SCTP_PACKET_MAX];
    link_up(&link);
    const uint32_t base = link.client.cumulative;
    assert_int_equal(sctp_send_reliable(link.sctp, 0, 50, (const uint8_t *)"\2", 1), SCTP_SENT);
    size_t size = fetch(&link, out);
    const uint8_t *data = find_chunk(out, size, 0);
    assert_non_null(data);
    assert_int_equal(data[1], SCTP_WHOLE); /* ordered */
    assert_int_equal(load32(data + 4), base + 1);
    for (int i = 0; i < 20; i++) {
        sctp_send(link.sctp, 0, PPID_BINARY, (const uint8_t *)"x", 1);
        fetch_all(&link);
    }
    /* Everything later has come: it is still not given up. */
    const uint16_t gap[2] = {2, 21};
    give_sack(&link, base, gap, 1);
    assert_int_equal(fetch_all(&link), 0);
    for (int i = 0; i < 3; i++) {
        link.now = sctp_deadline(link.sctp);
        sctp_update(link.sctp, link.now);
        size = fetch(&link, out);
        data = find_chunk(out, size, 0);
        assert_non_null(data);
        assert_int_equal(load32(data + 4), base + 1);
        assert_null(find_chunk(out, size, 192));
    }
    give_sack(&link, base + 21, NULL, 0);
    assert_true(sctp_deadline(link.sctp) == INFINITY);

    for (int i = 0; i < SCTP_RELIABLE_MAX; i++)
        assert_int_equal(sctp_send_reliable(link.sctp, 0, 50, (const uint8_t *)"\2", 1), SCTP_SENT);
    assert_int_equal(sctp_send_reliable(link.sctp, 0, 50, (const uint8_t *)"\2", 1), SCTP_BUSY);
    link_close(&link);
}

static void test_heartbeats_are_returned(void **state)
{
    (void)state;
    struct link link;
    struct sctp_packet packet;
    uint8_t out[SCTP_PACKET_MAX];
    link_up(&link);
    begin(&link, &packet);
    sctp_packet_chunk(&packet, 4, 0, "\0\1\0\12pulse!", 10);
    sctp_packet_end(&packet);
    give_quietly(&link, &packet);
    const size_t size = fetch(&link, out);
    const uint8_t *ack = find_chunk(out, size, 5);
    assert_non_null(ack);
    assert_int_equal(load16(ack + 2), 14);
    assert_memory_equal(ack + 4, "\0\1\0\12pulse!", 10);
    link_close(&link);
}

static void test_unknown_chunks_follow_their_high_bits(void **state)
{
    (void)state;
    static const struct {
        uint8_t type;
        bool goes_on;
        bool reports;
    } cases[] = {{0x3f, false, false},
                 {0x40, false, true},
                 {0xbf, true, false},
                 {0xc2, true, true}}; /* 0xc2 = 194, I-FORWARD-TSN */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct link link;
        struct sctp_packet packet;
        uint8_t out[SCTP_PACKET_MAX];
        link_up(&link);
        begin(&link, &packet);
        sctp_packet_chunk(&packet, cases[i].type, 0, "what", 4);
        sctp_client_put_data(&link.client, &packet, FIRST_TSN, SCTP_WHOLE | SCTP_UNORDERED, 0, 0,
                             PPID_BINARY, "data", 4);
        sctp_packet_end(&packet);
        give(&link, &packet);
        assert_int_equal(next(&link), cases[i].goes_on);
        while (next(&link)) {
        }
        const size_t size = fetch(&link, out);
        assert_int_equal(size > 0 && find_chunk(out, size, 9) != NULL, cases[i].reports);
        link_close(&link);
    }
}

static void put_reset(struct link *link, struct sctp_packet *packet, uint32_t number,
                      uint32_t last_tsn, uint16_t stream)
{
    uint8_t value[18];
    store16(value, 13);
    store16(value + 2, sizeof value);
    store32(value + 4, number);
    store32(value + 8, 0);
    store32(value + 12, last_tsn);
    store16(value + 16, stream);
    begin(link, packet);
    sctp_packet_chunk(packet, 130, 0, value, sizeof value);
    sctp_packet_end(packet);
}

static uint32_t reset_result(struct link *link)
{
    uint8_t out[SCTP_PACKET_MAX];
    const size_t size = fetch(link, out);
    const uint8_t *chunk = find_chunk(out, size, 130);
    assert_non_null(chunk);
    assert_int_equal(load16(chunk + 4), 16);
    return load32(chunk + 12);
}

static void test_streams_are_reset(void **state)
{
    (void)state;
    struct link link;
    struct sctp_packet packet;
    uint8_t out[SCTP_PACKET_MAX];
    link_up(&link);
    put_reset(&link, &packet, FIRST_TSN, FIRST_TSN - 1, 2);
    give(&link, &packet);
    assert_true(next(&link));
    assert_int_equal(link.event.type, SCTP_RESET);
    assert_int_equal(link.event.stream_count, 1);
    assert_int_equal(load16(link.event.streams), 2);
    assert_false(next(&link));
    assert_int_equal(reset_result(&link), 1);
    /* The same once more is answered once more and does nothing. */
    give_quietly(&link, &packet);
    assert_int_equal(reset_result(&link), 1);
    /* A number out of turn. */
    put_reset(&link, &packet, FIRST_TSN + 5, FIRST_TSN - 1, 2);
    give_quietly(&link, &packet);
    assert_int_equal(reset_result(&link), 5);
    /* While messages are missing it has to wait; asked again with the same number, or the next. */
    put_reset(&link, &packet, FIRST_TSN + 1, FIRST_TSN, 2);
    give_quietly(&link, &packet);
    assert_int_equal(reset_result(&link), 6);
    give_quietly(&link, &packet);
    assert_int_equal(reset_result(&link), 6);
    give_data(&link, FIRST_TSN, SCTP_WHOLE | SCTP_UNORDERED, 2, 0, "last", 4);
    assert_true(next(&link));
    assert_false(next(&link));
    give(&link, &packet);
    assert_true(next(&link));
    assert_false(next(&link));
    assert_int_equal(reset_result(&link), 1);
    put_reset(&link, &packet, FIRST_TSN + 2, FIRST_TSN, 2);
    give(&link, &packet);
    assert_true(next(&link));
    assert_false(next(&link));
    assert_int_equal(reset_result(&link), 1);

    /* Ours is asked until it is answered. */
    link.now = sctp_deadline(link.sctp);
    sctp_update(link.sctp, link.now);
    fetch_all(&link);
    assert_true(sctp_reset(link.sctp, 2));
    assert_false(sctp_reset(link.sctp, 2));
    uint32_t number = 0;
    for (int i = 0; i < 3; i++) {
        const size_t size = fetch(&link, out);
        const uint8_t *chunk = find_chunk(out, size, 130);
        assert_non_null(chunk);
        assert_int_equal(load16(chunk + 2), 22);
        assert_int_equal(load16(chunk + 4), 13);
        assert_int_equal(load16(chunk + 20), 2);
        number = load32(chunk + 8);
        link.now = sctp_deadline(link.sctp);
        sctp_update(link.sctp, link.now);
    }
    fetch_all(&link);
    uint8_t response[12] = {0, 16, 0, 12};
    store32(response + 4, number);
    store32(response + 8, 1);
    begin(&link, &packet);
    sctp_packet_chunk(&packet, 130, 0, response, sizeof response);
    sctp_packet_end(&packet);
    give_quietly(&link, &packet);
    link.now += 100;
    sctp_update(link.sctp, link.now);
    assert_int_equal(fetch_all(&link), 0);
    assert_true(sctp_reset(link.sctp, 4));
    link_close(&link);
}

static void test_ends(void **state)
{
    (void)state;
    struct link link;
    struct sctp_packet packet;
    uint8_t out[SCTP_PACKET_MAX];
    /* Theirs: ABORT, with our tag or with theirs echoed. */
    for (int echoed = 0; echoed < 2; echoed++) {
        link_up(&link);
        sctp_packet_begin(&packet, echoed ? TAG : link.client.remote_tag);
        sctp_packet_chunk(&packet, 6, (uint8_t)echoed, NULL, 0);
        sctp_packet_end(&packet);
        give(&link, &packet);
        assert_true(next(&link));
        assert_int_equal(link.event.type, SCTP_ENDED);
        assert_false(next(&link));
        assert_int_equal(fetch_all(&link), 0);
        assert_int_equal(sctp_send(link.sctp, 0, PPID_BINARY, (const uint8_t *)"x", 1),
                         SCTP_NOT_UP);
        link_close(&link);
    }
    /* Theirs: SHUTDOWN. */
    link_up(&link);
    begin(&link, &packet);
    sctp_packet_chunk(&packet, 7, 0, "\0\0\0", 4);
    sctp_packet_end(&packet);
    give(&link, &packet);
    assert_true(next(&link));
    assert_int_equal(link.event.type, SCTP_ENDED);
    size_t size = fetch(&link, out);
    assert_non_null(find_chunk(out, size, 8));
    link_close(&link);

    /* Ours, with a reason that a page can read. */
    link_up(&link);
    sctp_abort(link.sctp, "out of order");
    size = fetch(&link, out);
    const uint8_t *chunk = find_chunk(out, size, 6);
    assert_non_null(chunk);
    assert_int_equal(load16(chunk + 4), 12);
    assert_int_equal(load16(chunk + 6), 4 + 12);
    assert_memory_equal(chunk + 8, "out of order", 12);
    assert_int_equal(fetch_all(&link), 0);
    assert_true(sctp_deadline(link.sctp) == INFINITY);
    link_close(&link);

    /* Ours, because DATA without data is no DATA. */
    link_up(&link);
    give_data(&link, FIRST_TSN, SCTP_WHOLE, 0, 0, "", 0);
    assert_true(next(&link));
    assert_int_equal(link.event.type, SCTP_ENDED);
    size = fetch(&link, out);
    chunk = find_chunk(out, size, 6);
    assert_non_null(chunk);
    assert_int_equal(load16(chunk + 4), 9);
    link_close(&link);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opens),
        cmocka_unit_test(test_data_may_come_with_the_cookie),
        cmocka_unit_test(test_refuses_bad_handshakes),
        cmocka_unit_test(test_refuses_a_peer_without_forward_tsn),
        cmocka_unit_test(test_every_flipped_bit_is_refused),
        cmocka_unit_test(test_every_truncated_chunk_is_survived),
        cmocka_unit_test(test_receives_and_acknowledges_honestly),
        cmocka_unit_test(test_forward_tsn_is_taken),
        cmocka_unit_test(test_fragments_are_put_together),
        cmocka_unit_test(test_sends_now_and_takes_the_acknowledgement_along),
        cmocka_unit_test(test_splits_only_what_does_not_fit),
        cmocka_unit_test(test_drops_when_nothing_is_acknowledged),
        cmocka_unit_test(test_gives_up_what_was_lost_and_says_so_seldom),
        cmocka_unit_test(test_a_lost_tail_is_given_up_by_time),
        cmocka_unit_test(test_reliable_messages_are_repeated),
        cmocka_unit_test(test_heartbeats_are_returned),
        cmocka_unit_test(test_unknown_chunks_follow_their_high_bits),
        cmocka_unit_test(test_streams_are_reset),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
