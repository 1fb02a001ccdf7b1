/* Measures how wrong a client's idea of the server's time is, over the path that its guarantee
   names: jitter of 50 ms and 20 % loss each way, clocks that drift apart by 200 ppm, a round trip
   that jumps from 50 to 250 ms and back every 10 s; 60 stamps and 60 answers a second. The figure
   is the worst of 16 runs of 60 s, from 2 s on. The path is as long one way as the other. */
#include "clock_rig.h"

#include <stdio.h>

static double worst_of_a_run(uint64_t seed)
{
    struct cw_simulator_path path = {.latency_seconds = 0.025, .jitter_seconds = 0.05, .loss = 0.2};
    const struct clock_rig_config config = {.ticks_per_second = 60,
                                            .stamps_per_second = 60,
                                            .echoes_per_second = 60,
                                            .up = path,
                                            .down = path,
                                            .drift = seed % 2 ? 200e-6 : -200e-6,
                                            .first_tick = 1000,
                                            .seed = seed};
    struct clock_rig rig;
    double worst = 0;
    clock_rig_start(&rig, &config);
    for (int i = 0; i < 6; i++) {
        path.latency_seconds = i % 2 ? 0.125 : 0.025;
        cw_simulator_change(rig.up, &path);
        cw_simulator_change(rig.down, &path);
        for (double end = rig.now + 10; rig.now < end;) {
            clock_rig_step(&rig, 0.001);
            if (rig.now >= 2)
                worst = fmax(worst, fabs(clock_rig_error(&rig)));
        }
    }
    clock_rig_stop(&rig);
    return worst;
}

int main(void)
{
    double worst = 0;
    for (uint64_t seed = 1; seed <= 16; seed++)
        worst = fmax(worst, worst_of_a_run(seed));
    printf("clock_error_ms %.2f ms\n", worst * 1000);
    return 0;
}
