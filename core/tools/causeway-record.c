/* Prints a recording of a connection, one line an event, and the statistics that it leads to. */
#include "causeway/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_FILE (1u << 20) /* bytes; no record is longer */
#define STALL        0.25       /* seconds without a datagram that get a line */

static const char usage[] =
    "Usage: causeway-record [--stats] FILE\n"
    "\n"
    "Prints what a connection did, as cw_record_write or the package wrote it: seconds from the\n"
    "beginning, what happened, the packet's number and the bytes of its datagram. Then it prints\n"
    "the statistics at the end, which it gets by doing all of it again.\n"
    "\n"
    "  --stats   print only the statistics\n"
    "  --help, --version\n"
    "\n"
    "Exit codes: 0 done, 1 no recording or a damaged one, 2 bad option.\n";

static const char *const limits[] = {"nothing", "the window", "the pace", "the rate"};

static void print_event(const struct cw_recording_event *event, double since)
{
    static const char *const names[] = {
        [CW_RECORDING_SENT] = "sent",   [CW_RECORDING_RECEIVED] = "received",
        [CW_RECORDING_ACKED] = "acked", [CW_RECORDING_LOST] = "lost",
        [CW_RECORDING_RESET] = "reset", [CW_RECORDING_NOTE] = "note",
    };
    if (event->type == CW_RECORDING_TICK || event->type == CW_RECORDING_STATE)
        return;
    printf("%12.6f ", since);
    if (event->type == CW_RECORDING_CONGESTION)
        printf("window %" PRIu64 " bytes, %" PRIu64 " in flight, held back by %s\n", event->window,
               event->in_flight, limits[event->limited]);
    else if (event->type == CW_RECORDING_NOTE)
        printf("note %s\n", event->text);
    else if (event->type == CW_RECORDING_RESET)
        printf("reset\n");
    else if (event->size > 0)
        printf("%s %u, %u bytes%s%s\n", names[event->type], event->sequence, event->size,
               event->error ? ": " : "", event->error ? cw_error_string(event->error) : "");
    else
        printf("%s %u\n", names[event->type], event->sequence);
}

static void print_stats(const struct cw_endpoint_stats *s)
{
    printf("packets: %" PRIu64 " sent, %" PRIu64 " acked, %" PRIu64 " lost; %" PRIu64
           " received, %" PRIu64 " missed\n",
           s->packets_sent, s->packets_acked, s->packets_lost, s->packets_received,
           s->packets_missed);
    printf("bytes: %" PRIu64 " sent, %" PRIu64 " received\n", s->bytes_sent, s->bytes_received);
    printf("dropped: %" PRIu64 " duplicate, %" PRIu64 " stale, %" PRIu64 " malformed\n",
           s->packets_duplicate, s->packets_stale, s->packets_malformed);
    printf("rtt: %.1f ms, at least %.1f, +- %.1f; jitter %.1f ms\n", s->rtt * 1e3, s->rtt_min * 1e3,
           s->rtt_deviation * 1e3, s->jitter * 1e3);
    printf("loss: %.1f %% sent, %.1f %% received\n", s->loss_sent * 100, s->loss_received * 100);
}

/* Returns whether all of it could be read. */
static bool print_recording(struct cw_recording *recording, bool events)
{
    struct cw_recording_event event;
    struct cw_endpoint_stats stats;
    double start = 0, heard = 0;
    bool whole = true;
    for (uint32_t count = 0; cw_recording_next(recording, &event); count++) {
        if (count == 0)
            start = heard = event.now;
        whole = event.type != CW_RECORDING_DAMAGED;
        if (!events || !whole)
            continue;
        if (event.type == CW_RECORDING_RECEIVED) {
            if (event.now - heard > STALL)
                printf("%12.6f nothing was received for %.2f s\n", event.now - start,
                       event.now - heard);
            heard = event.now;
        }
        print_event(&event, event.now - start);
    }
    cw_recording_get_stats(recording, &stats);
    print_stats(&stats);
    return whole;
}

int main(int argc, char **argv)
{
    const bool only_stats = argc == 3 && strcmp(argv[1], "--stats") == 0;
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(usage, stdout);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("causeway-record %s\n", cw_version());
        return 0;
    }
    if (argc != 2 + only_stats || argv[argc - 1][0] == '-') {
        fputs(usage, stderr);
        return 2;
    }
    const char *path = argv[argc - 1];
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(LONGEST_FILE);
    struct cw_recording *recording = NULL;
    if (!file || !data) {
        perror(path);
        return 1;
    }
    const size_t size = fread(data, 1, LONGEST_FILE, file);
    fclose(file);
    if (cw_recording_create(data, size, NULL, &recording) != CW_OK) {
        fprintf(stderr, "%s: this is no recording\n", path);
        return 1;
    }
    const bool whole = print_recording(recording, !only_stats);
    if (!whole)
        fprintf(stderr, "%s: the rest is damaged\n", path);
    cw_recording_destroy(recording);
    free(data);
    return whole ? 0 : 1;
}
