#include "path_yojimbo.h"

#include "base/sequence.h"
#include "causeway/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK        (1.0 / 60)
#define WARM_UP     5            /* seconds */
#define RESEND_TIME 0.1f         /* seconds; the type is yojimbo's */
#define PACKET      1200         /* bytes up to which packets are filled */
#define MOST        64           /* messages in a packet, at most */
#define WINDOW      1024         /* messages that may be unacked, and packets that are remembered */
#define ACKS        32           /* packets that a header reports */
#define ENTRY_BITS  (1 + 8 + 16) /* yojimbo's entry without its messages */

/* The contents of a packet. Its fields are not packed as on the wire, but its size is counted so.
 */
struct packet {
    uint16_t sequence, ack, count;
    uint32_t ack_bits;
    uint16_t ids[MOST];
};

struct message {
    double last_sent; /* below 0: never */
    double made;
    bool acked;
};

struct end {
    struct cw_simulator *link; /* to the other end */
    struct message sent[WINDOW];
    uint16_t oldest, next_id;
    struct packet packets[WINDOW]; /* the latest packets, by number */
    uint16_t next_packet;
    uint16_t newest; /* the newest packet that arrived, and which of those before it */
    uint32_t newest_bits;
    bool arrived[WINDOW]; /* messages from next_taken on */
    uint16_t next_taken;
    uint64_t bytes;
    double *latencies;
    size_t count;
};

static void check(enum cw_error error)
{
    if (error != CW_OK) {
        fprintf(stderr, "%s\n", cw_error_string(error));
        exit(1);
    }
}

/* Returns the bytes of the header as reliable.io writes it: acks that are all set take no byte, and
   one that is near the packet's own number takes one. */
static uint32_t header_bytes(const struct packet *packet)
{
    uint32_t bytes = 3 + ((uint16_t)(packet->sequence - packet->ack) < 256 ? 1 : 2);
    for (int i = 0; i < ACKS; i += 8)
        bytes += (packet->ack_bits >> i & 0xFF) != 0xFF;
    return bytes;
}

static void send_packet(struct end *end, double now)
{
    struct packet *packet = &end->packets[end->next_packet % WINDOW];
    struct cw_stream bits = cw_stream_measurer();
    *packet = (struct packet){
        .sequence = end->next_packet++, .ack = end->newest, .ack_bits = end->newest_bits};
    for (uint16_t id = end->oldest; id != end->next_id && packet->count < MOST; id++) {
        struct message *message = &end->sent[id % WINDOW];
        const uint32_t whole =
            (uint32_t)cw_stream_position(&bits) / 8 + packet->count * TRAFFIC_MESSAGE;
        if (message->acked || whole + TRAFFIC_MESSAGE > PACKET ||
            (message->last_sent >= 0 && message->last_sent + (double)RESEND_TIME > now))
            continue;
        if (packet->count > 0)
            cw_stream_relative_sequence(&bits, packet->ids[packet->count - 1], &id);
        packet->ids[packet->count++] = id;
        message->last_sent = now;
    }
    end->bytes += header_bytes(packet) + 1 + packet->count * TRAFFIC_MESSAGE;
    if (packet->count > 0)
        end->bytes += (ENTRY_BITS + cw_stream_position(&bits)) / 8;
    check(cw_simulator_receive(end->link, (const uint8_t *)packet, sizeof *packet, now));
}

static void note_acked(struct end *end, uint16_t sequence)
{
    struct packet *packet = &end->packets[sequence % WINDOW];
    for (uint32_t i = 0; packet->sequence == sequence && i < packet->count; i++) {
        if ((uint16_t)(packet->ids[i] - end->oldest) < WINDOW)
            end->sent[packet->ids[i] % WINDOW].acked = true;
    }
    while (end->oldest != end->next_id && end->sent[end->oldest % WINDOW].acked)
        end->oldest++;
}

static void receive(struct end *end, const struct packet *packet)
{
    const int ahead = cw_sequence_difference(packet->sequence, end->newest);
    if (ahead > 0) {
        end->newest_bits = ahead < ACKS ? end->newest_bits << ahead | 1 : 1;
        end->newest = packet->sequence;
    } else if (-ahead < ACKS) {
        end->newest_bits |= (uint32_t)1 << -ahead;
    }
    for (uint32_t i = 0; i < packet->count; i++) {
        if ((uint16_t)(packet->ids[i] - end->next_taken) < WINDOW)
            end->arrived[packet->ids[i] % WINDOW] = true;
    }
    for (int i = 0; i < ACKS; i++) {
        if (packet->ack_bits >> i & 1)
            note_acked(end, (uint16_t)(packet->ack - i));
    }
}

static void tick(struct end *end, struct end *other, double now)
{
    struct packet packet;
    while (cw_simulator_transmit(other->link, (uint8_t *)&packet, sizeof packet, now) > 0)
        receive(end, &packet);
    for (; end->arrived[end->next_taken % WINDOW]; end->next_taken++) {
        end->arrived[end->next_taken % WINDOW] = false;
        end->latencies[end->count++] = now - other->sent[end->next_taken % WINDOW].made;
    }
    if ((uint16_t)(end->next_id - end->oldest) < WINDOW)
        end->sent[end->next_id++ % WINDOW] = (struct message){.last_sent = -1, .made = now};
    send_packet(end, now);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct traffic_result result_of(struct end *ends, double messages)
{
    struct traffic_result result = {.bytes = (double)(ends[0].bytes + ends[1].bytes) / messages};
    double *all = ends[0].latencies;
    size_t count = ends[0].count;
    memcpy(all + count, ends[1].latencies, ends[1].count * sizeof *all);
    count += ends[1].count;
    qsort(all, count, sizeof *all, compare);
    for (size_t i = 0; i < count; i++)
        result.mean_ms += 1000 * all[i] / (double)count;
    result.p99_ms = 1000 * all[(size_t)(0.99 * (double)count)];
    return result;
}

struct traffic_result path_yojimbo_run(uint64_t seed, const struct cw_simulator_path *path,
                                       double seconds)
{
    const long warm_up = WARM_UP * 60, ticks = warm_up + (long)(seconds * 60);
    struct end *ends = calloc(2, sizeof *ends);
    if (!ends)
        exit(1);
    for (uint32_t i = 0; i < 2; i++) {
        struct cw_simulator_config config = cw_simulator_config_default();
        config.seed = 2 * seed + i;
        config.path = *path;
        config.max_datagram_size = sizeof(struct packet);
        check(cw_simulator_create(&config, &ends[i].link));
        /* one end's have room for those of both */
        ends[i].latencies = calloc((size_t)ticks * 2, sizeof(double));
        if (!ends[i].latencies)
            exit(1);
    }
    for (long i = 0; i < ticks; i++) {
        for (uint32_t j = 0; i == warm_up && j < 2; j++)
            ends[j].bytes = ends[j].count = 0;
        tick(&ends[0], &ends[1], (double)i * TICK);
        tick(&ends[1], &ends[0], ((double)i + 0.5) * TICK);
    }
    const struct traffic_result result = result_of(ends, 2 * (double)(ticks - warm_up));
    for (int i = 0; i < 2; i++) {
        cw_simulator_destroy(ends[i].link);
        free(ends[i].latencies);
    }
    free(ends);
    return result;
}
