/* SCTP: the beginning of an association, and the packets that it ignores. */
#include "sctp_link.h"

#include <math.h>

TEST(opens)
{
    struct link *link = link_open();
    assert_false(sctp_is_established(link->sctp));
    assert_true(sctp_deadline(link->sctp) == INFINITY);
    give_quietly_written(link, sctp_client_write_init);
    const uint8_t *ack = fetch_chunk(link, 2);
    assert_int_equal(load32(link->fetched + 4), TAG);
    assert_int_equal(load16(ack + 12), 1024); /* no more streams than the other side takes */
    assert_int_equal(link->client.cookie_size, 24);

    /* A lost answer is sent again; the same cookie stays good. */
    give_quietly_written(link, sctp_client_write_init);
    assert_int_equal(fetch_all(link), 1);
    give_written(link, sctp_client_write_cookie);
    expect(link, SCTP_ESTABLISHED);
    assert_true(sctp_is_established(link->sctp));
    give_quietly_written(link, sctp_client_write_cookie);
    assert_int_equal(fetch_all(link), 1);
}

TEST(data_may_come_with_the_cookie)
{
    struct sctp_packet packet;
    struct link *link = link_open();
    give_quietly_written(link, sctp_client_write_init);
    fetch_all(link);
    begin(link, &packet);
    sctp_packet_chunk(&packet, 10, 0, link->client.cookie, link->client.cookie_size);
    sctp_packet_data(&packet, (struct sctp_part){.tsn = FIRST_TSN, .flags = SCTP_WHOLE, .ppid = 50},
                     "open", 4);
    sctp_packet_end(&packet);
    give(link, &packet);
    expect(link, SCTP_ESTABLISHED);
    expect_only(link, SCTP_MESSAGE);
    assert_memory_equal(link->event.data, "open", 4);
    assert_false(link->event.unordered);
}

TEST(refuses_bad_handshakes)
{
    struct sctp_packet packet;
    struct link *link = link_open();
    /* Only an INIT counts, alone, with tag 0. */
    begin(link, &packet);
    sctp_packet_data(&packet, (struct sctp_part){.tsn = 1, .flags = SCTP_WHOLE, .ppid = 53}, "x",
                     1);
    sctp_packet_end(&packet);
    give_quietly(link, &packet);
    sctp_client_write_init(&link->client, &packet);
    packet.data[7] = 1;
    memset(packet.data + 8, 0, 4);
    sctp_packet_end(&packet);
    give_quietly(link, &packet);
    sctp_client_write_init(&link->client, &packet);
    memset(packet.data + 8, 0, 4);
    sctp_packet_chunk(&packet, 11, 0, NULL, 0);
    sctp_packet_end(&packet);
    give_quietly(link, &packet);
    assert_int_equal(refused(link), 3);
    assert_int_equal(fetch_all(link), 0);

    /* The cookie is not one of ours. */
    give_quietly_written(link, sctp_client_write_init);
    fetch_all(link);
    link->client.cookie[20] ^= 1;
    give_quietly_written(link, sctp_client_write_cookie);
    assert_false(sctp_is_established(link->sctp));
}

TEST(refuses_an_endpoint_without_forward_tsn)
{
    struct sctp_packet packet;
    uint8_t init[16] = {0xca, 0xfe, 0, 1, 0, 1, 0, 0, 0, 9, 0, 9, 0, 0, 0, 1};
    struct link *link = link_open();
    sctp_packet_begin(&packet, 0);
    sctp_packet_chunk(&packet, 1, 0, init, sizeof init);
    sctp_packet_end(&packet);
    give(link, &packet);
    expect(link, SCTP_ENDED);
    fetch_all(link);
    assert_true(link->client.ended);
}

TEST(every_flipped_bit_is_refused)
{
    struct sctp_packet packet;
    struct link *link = link_up();
    begin(link, &packet);
    sctp_packet_data(&packet, (struct sctp_part){.tsn = FIRST_TSN, .flags = SCTP_WHOLE, .ppid = 53},
                     "data", 4);
    sctp_packet_end(&packet);
    for (size_t bit = 0; bit < packet.size * 8; bit++) {
        packet.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        give_quietly(link, &packet);
        packet.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_int_equal(refused(link), packet.size * 8);
    for (size_t size = 0; size < packet.size; size++) {
        give_bytes(link, packet.data, size);
        assert_false(next(link));
    }
    give(link, &packet);
    assert_true(next(link));
}

TEST(every_truncated_chunk_is_survived)
{
    /* The packets have every type with every length of value, filled with bytes that look like
       large numbers. */
    uint8_t value[64];
    for (int fill = 0; fill < 2; fill++) {
        memset(value, fill ? 0xff : 0, sizeof value);
        for (unsigned type = 0; type < 256; type++) {
            for (size_t size = 0; size < sizeof value; size += size < 24 ? 1 : 5) {
                struct link *link = link_up();
                give_chunk(link, (uint8_t)type, 0, value, size);
                for (int i = 0; next(link); i++)
                    assert_true(i < 3);
                uint8_t out[SCTP_PACKET_MAX];
                for (int i = 0; sctp_transmit(link->sctp, out, sizeof out, link->now) > 0; i++)
                    assert_true(i < 3);
                fixture_release(NULL);
            }
        }
    }
}
