/* Measures the protocols of the lab over one path with loss: what messages cost and how long they
   take. Both ends send a message of 64 bytes in each of 60 ticks per second, and nothing else; a
   round trip takes 100 ms. After a warm-up, the messages of end 0 count for 300 seconds of virtual
   time.
     bench_lab_paths [--csv]    prints the figures of the group lab, or all of them as CSV */
#include "lab/column.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARM_UP 10
#define SECONDS 300

struct figures {
    double mean_ms, p99_ms;
    double wire_bytes; /* all datagrams of end 0, for each of its messages that arrived */
    double arrived;    /* the share of the messages sent */
};

static void check(enum cw_error error)
{
    if (error != CW_OK) {
        fprintf(stderr, "bench_lab_paths: %s\n", cw_error_string(error));
        exit(1);
    }
}

static struct figures measure(uint32_t protocol, uint32_t loss_percent)
{
    struct cw_lab_column_config config = cw_lab_column_config_default();
    struct cw_lab_settings settings = cw_lab_settings_default();
    struct cw_lab_column *column;
    struct cw_lab_game_stats items;
    struct cw_lab_wire_stats wire;
    config.protocol = protocol;
    config.max_events = 0;
    settings.states = false;
    settings.loss = loss_percent / 100.0;
    check(cw_lab_column_create(&config, &column));
    check(cw_lab_column_change(column, &settings));
    cw_lab_column_step(column, WARM_UP * CW_LAB_TICKS_PER_SECOND);
    cw_lab_column_restart_stats(column);
    cw_lab_column_step(column, SECONDS * CW_LAB_TICKS_PER_SECOND);
    cw_lab_column_item_stats(column, 0, CW_LAB_MESSAGE, &items);
    cw_lab_column_wire_stats(column, 0, &wire);
    const struct figures figures = {
        .mean_ms = 1000 * items.mean_seconds,
        .p99_ms = 1000 * cw_lab_column_quantile(column, 0, CW_LAB_MESSAGE, 0.99),
        .wire_bytes = items.delivered ? (double)wire.bytes / items.delivered : 0,
        .arrived = (double)items.delivered / (items.sent + items.refused),
    };
    cw_lab_column_destroy(column);
    return figures;
}

int main(int argc, char **argv)
{
    static const uint32_t losses[] = {0, 1, 5, 10, 20, 50};
    const int csv = argc == 2 && strcmp(argv[1], "--csv") == 0;
    if (argc > 1 && !csv) {
        fprintf(stderr, "usage: bench_lab_paths [--csv]\n");
        return 2;
    }
    if (csv)
        printf("protocol,loss_percent,mean_ms,p99_ms,wire_bytes,arrived_percent\n");
    for (uint32_t i = 0; i < cw_lab_protocol_count(); i++)
        for (size_t loss = 0; loss < sizeof losses / sizeof *losses; loss++) {
            const struct figures f = measure(i, losses[loss]);
            const char *name = cw_lab_protocol_name(i);
            if (csv) {
                printf("%s,%u,%.1f,%.1f,%.1f,%.1f\n", name, losses[loss], f.mean_ms, f.p99_ms,
                       f.wire_bytes, 100 * f.arrived);
                continue;
            }
            printf("%s_loss_%u_mean_ms %.1f ms\n", name, losses[loss], f.mean_ms);
            printf("%s_loss_%u_p99_ms %.1f ms\n", name, losses[loss], f.p99_ms);
            printf("%s_loss_%u_wire_bytes %.1f bytes\n", name, losses[loss], f.wire_bytes);
        }
    return 0;
}
