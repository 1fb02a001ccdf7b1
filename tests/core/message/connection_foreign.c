/* Tests with a foreign end that sends as yojimbo does by default: packets of up to 8,192 bytes, in
   fragments of 1,024 above 1,024. Our end has the defaults, and talks to it without sending a
   fragment itself. */
#include "fixture.h"

#include "connection_pair.h"

#define FOREIGN_PACKET   8192
#define FOREIGN_FRAGMENT 1024
#define TICKS            2000
/* The foreign end sends BURSTS bursts, one each 100 ms, of BURST notes that fill four packets. */
#define BURSTS      40
#define BURST       32
#define BURST_TICKS 6

/* A conversation. The foreign end is a connection that sends its packets whole, whose datagrams are
   then cut up. */
struct talk {
    struct cw_connection *ours, *foreign;
    struct cw_simulator *to_ours, *to_foreign; /* NULL when datagrams arrive at once */
    uint32_t loss_percent;
    uint32_t random;
    uint32_t fragments;
    uint32_t whole; /* packets of the foreign end without losses */
    size_t longest; /* the longest datagram of ours */
};

/* Returns false when the datagram gets lost. */
static bool deliver(struct talk *talk, struct cw_connection *to, const uint8_t *data, size_t size,
                    double now)
{
    struct cw_simulator *way = to == talk->ours ? talk->to_ours : talk->to_foreign;
    talk->random = talk->random * 1664525u + 1013904223u;
    if ((talk->random >> 16) % 100 < talk->loss_percent)
        return false;
    const enum cw_error error =
        way ? cw_simulator_receive(way, data, size, now) : receive_exact(to, data, size, now);
    assert_true(error == CW_OK || error == CW_ERROR_RECEIVER_FULL);
    return true;
}

/* Delivers what is due on the simulated paths of a talk. */
static void arrive(struct talk *talk, double now)
{
    uint8_t datagram[2048];
    for (size_t size;
         (size = cw_simulator_transmit(talk->to_ours, datagram, sizeof datagram, now)) > 0;)
        receive_exact(talk->ours, datagram, size, now);
    for (size_t size;
         (size = cw_simulator_transmit(talk->to_foreign, datagram, sizeof datagram, now)) > 0;)
        receive_exact(talk->foreign, datagram, size, now);
}

static size_t header_size_of(const uint8_t *datagram)
{
    size_t size = 3 + (datagram[0] & 0x20 ? 1 : 2);
    for (int bit = 1; bit <= 4; bit++)
        size += datagram[0] >> bit & 1;
    return size;
}

/* Writes fragment `id` of `count` of a datagram with a packet: 01, its number, id, count - 1; then,
   in the first, its header; then its share of the payload. */
static size_t fragment_of(const uint8_t *datagram, size_t size, uint32_t id, uint32_t count,
                          uint8_t out[2048])
{
    const size_t header_size = header_size_of(datagram);
    const uint8_t *from = datagram + header_size + (size_t)id * FOREIGN_FRAGMENT;
    const size_t left = size - header_size - (size_t)id * FOREIGN_FRAGMENT;
    const size_t length = left < FOREIGN_FRAGMENT ? left : FOREIGN_FRAGMENT;
    const uint8_t head[] = {1, datagram[1], datagram[2], (uint8_t)id, (uint8_t)(count - 1)};
    size_t written = sizeof head;
    memcpy(out, head, sizeof head);
    if (id == 0) {
        memcpy(out + written, datagram, header_size);
        written += header_size;
    }
    memcpy(out + written, from, length);
    return written + length;
}

static void foreign_sends(struct talk *talk, double now)
{
    uint8_t datagram[FOREIGN_PACKET + 100], piece[2048];
    cw_connection_update(talk->foreign, now);
    for (size_t size;
         (size = cw_connection_transmit(talk->foreign, datagram, sizeof datagram, now)) > 0;) {
        const size_t payload = size - header_size_of(datagram);
        if (payload <= FOREIGN_FRAGMENT) {
            talk->whole += deliver(talk, talk->ours, datagram, size, now);
            continue;
        }
        const uint32_t count = (uint32_t)((payload + FOREIGN_FRAGMENT - 1) / FOREIGN_FRAGMENT);
        uint32_t delivered = 0;
        for (uint32_t id = 0; id < count; id++) {
            const size_t length = fragment_of(datagram, size, id, count, piece);
            delivered += deliver(talk, talk->ours, piece, length, now);
        }
        talk->fragments += count;
        talk->whole += delivered == count;
    }
}

static void we_send(struct talk *talk, double now)
{
    uint8_t datagram[2048];
    cw_connection_update(talk->ours, now);
    for (size_t size; (size = transmit(talk->ours, datagram, now)) > 0;) {
        assert_int_equal(datagram[0] & 1, 0); /* the packet is no fragment */
        talk->longest = size > talk->longest ? size : talk->longest;
        deliver(talk, talk->foreign, datagram, size, now);
    }
}

static struct talk talk_of(const struct cw_connection_config *config, uint32_t loss_percent)
{
    struct cw_connection_config foreign = *config;
    foreign.endpoint.max_packet_size = foreign.endpoint.fragment_above = FOREIGN_PACKET;
    return (struct talk){.ours = connection_with(config),
                         .foreign = connection_with(&foreign),
                         .loss_percent = loss_percent,
                         .random = 7};
}

/* Ends a talk in which our longest datagram exceeds `longest` bytes. */
static void end_talk(struct talk *talk, size_t longest)
{
    const struct cw_connection_stats stats = stats_of(talk->ours);
    assert_int_equal(stats.endpoint.packets_malformed + stats.packets_invalid, 0);
    assert_int_equal(stats.endpoint.fragments_sent, 0);
    assert_true(stats.endpoint.fragments_received > 0);
    assert_true(talk->longest > longest && talk->longest + 25 <= 1100);
}

/* Takes the reliable notes that have arrived, which must go on from *next. */
static void take_notes(struct cw_connection *at, uint32_t *next)
{
    uint32_t channel;
    for (struct cw_message *message; (message = next_message(at, &channel)) != NULL;) {
        if (channel == 0) {
            assert_int_equal(number_of(message), *next);
            ++*next;
        }
        cw_message_release(message);
    }
}

TEST(test_a_default_connection_understands_packets_in_fragments)
{
    const uint32_t count = 400;
    const struct cw_connection_config config = notes_config();
    for (uint32_t loss_percent = 0; loss_percent <= 10; loss_percent += 5) {
        struct talk talk = talk_of(&config, loss_percent);
        uint32_t sent[2] = {0}, received[2] = {0};
        for (int tick = 0; received[0] < count || received[1] < count; tick++) {
            const double now = tick * TICK;
            if (tick == TICKS)
                fail_msg("at %u %% loss %u notes came to us and %u to them of %u", loss_percent,
                         received[0], received[1], count);
            for (uint32_t i = 0; i < 8 && sent[0] < count; i++)
                sent[0] += try_note(talk.foreign, 0, sent[0], 100 + sent[0] * 7 % 900, now);
            for (uint32_t i = 0; i < 2 && sent[1] < count; i++)
                sent[1] += try_note(talk.ours, 0, sent[1], sent[1] * 7 % 900, now);
            for (uint32_t i = 0; i < 3; i++)
                (void)try_note(talk.foreign, 1, i, 600, now);
            foreign_sends(&talk, now);
            we_send(&talk, now);
            take_notes(talk.ours, &received[0]);
            take_notes(talk.foreign, &received[1]);
        }
        assert_true(talk.fragments > 100);
        end_talk(&talk, 1024);
    }
}

/* The defaults of yojimbo need two reliable-ordered channels with blocks here. A block's fragment
   is as long as a packet's, so that every packet with one comes in two. */
TEST(test_with_the_channels_of_yojimbo_blocks_pass_too)
{
    struct cw_connection_config config = notes_config();
    config.channels[1].kind = CW_CHANNEL_RELIABLE_ORDERED;
    config.channels[0].blocks = config.channels[1].blocks = true;
    struct talk talk = talk_of(&config, 3);
    send_parcel(talk.foreign, 0, 1, 100000, 0);
    send_parcel(talk.foreign, 1, 2, 256 * 1024, 0);
    send_parcel(talk.ours, 0, 3, 100000, 0);
    uint32_t arrived = 0;
    for (int tick = 0; arrived < 3; tick++) {
        const double now = tick * TICK;
        assert_true(tick < TICKS);
        foreign_sends(&talk, now);
        we_send(&talk, now);
        struct cw_connection *ends[] = {talk.ours, talk.foreign};
        for (int i = 0; i < 2; i++) {
            for (struct cw_message *message; (message = next_message(ends[i], NULL));) {
                const uint32_t number = number_of(message);
                check_parcel(message, number, number == 2 ? 256 * 1024 : 100000);
                arrived++;
                cw_message_release(message);
            }
        }
    }
    end_talk(&talk, 1024);
}

/* Takes the notes of each of the two channels, in order. */
static void take_from_both(struct cw_connection *at, uint32_t next[2])
{
    uint32_t channel;
    for (struct cw_message *message; (message = next_message(at, &channel)) != NULL;) {
        assert_int_equal(number_of(message), next[channel]);
        next[channel] += 2;
        cw_message_release(message);
    }
}

/* Our end has yojimbo's defaults. Every packet without a lost fragment arrives, and so every note
   does. */
static void receive_bursts(double jitter_seconds, uint32_t loss_percent)
{
    const struct cw_connection_config config = cw_connection_config_yojimbo(notes_schema());
    struct cw_simulator_config simulator = cw_simulator_config_default();
    simulator.path.latency_seconds = 0.02;
    simulator.path.jitter_seconds = jitter_seconds;
    simulator.max_datagrams = 8192;
    struct talk talk = talk_of(&config, loss_percent);
    simulator.seed = 7;
    talk.to_ours = simulator_with(&simulator);
    simulator.seed = 8;
    talk.to_foreign = simulator_with(&simulator);
    uint32_t sent = 0, next[2] = {0, 1};
    double now = 0;
    for (uint32_t tick = 0; next[0] + next[1] < 2 * BURSTS * BURST + 1; now = ++tick * TICK) {
        if (tick == TICKS)
            fail_msg("%u and %u of %u notes", next[0], next[1], sent);
        for (uint32_t i = 0; tick % BURST_TICKS == 0 && i < BURST && sent < BURSTS * BURST; i++) {
            send_note(talk.foreign, sent % 2, sent, 1000, now);
            sent++;
        }
        arrive(&talk, now);
        foreign_sends(&talk, now);
        we_send(&talk, now);
        take_from_both(talk.ours, next);
    }
    arrive(&talk, now + 1);
    const struct cw_connection_stats stats = stats_of(talk.ours);
    print_message("%.0f ms of jitter, %u %% lost: %u packets came whole\n", jitter_seconds * 1000,
                  loss_percent, talk.whole);
    assert_true(talk.whole > 2 * BURSTS);
    assert_int_equal(stats.endpoint.packets_received, talk.whole);
    assert_int_equal(stats.packets_refused, 0);
    end_talk(&talk, 0);
}

/* The npm package has the same test: see wasm.foreign. */
TEST(test_bursts_of_long_packets_all_arrive_whatever_overtakes)
{
    for (int jitter = 0; jitter <= 100; jitter += 50) {
        receive_bursts(jitter / 1000.0, 0);
        receive_bursts(jitter / 1000.0, 5);
    }
}
