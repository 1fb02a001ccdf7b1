/* Measures what a player's inputs need at 60 ticks a second, over 100 ms of round trip with 30 ms
   of jitter and 20 % loss each way, with the lead that the clock gives them.

   input_starved_percent is the share of the server's ticks that had no input of their own. There
   are 8 runs of 300 s, without the first 10 s of each; in half of them the server takes what has
   arrived once per tick.

   input_bytes_ratio is the bytes of the client's datagrams as they leave its connection,
   unencrypted and without UDP's header, against the same with each input sent once. Both hold a
   stamp for the clock and a typical input of 43 bits, of which keys change five times a second and
   the aim in half of all ticks. Encryption would add at least 18 bytes to both, and so make the
   ratio smaller. */
#include "input_rig.h"

static void run(uint32_t copies, double *starved_percent, double *bytes_per_packet)
{
    const struct cw_simulator_path path = {
        .latency_seconds = 0.05, .jitter_seconds = 0.03, .loss = 0.2};
    uint64_t ticks = 0, starved = 0, packets = 0, bytes = 0;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        const struct input_rig_config config = {.ticks_per_second = 60,
                                                .frames_per_second = 60,
                                                .states_per_second = 60,
                                                .up = path,
                                                .down = path,
                                                .drift = 100e-6,
                                                .first_tick = 1000,
                                                .copies = copies,
                                                .server_polls = seed % 2,
                                                .seed = seed};
        struct input_rig *rig = input_rig_start(&config);
        input_rig_run(rig, 10);
        input_rig_count(rig);
        input_rig_run(rig, 290);
        ticks += rig->ticks;
        starved += rig->starved;
        packets += rig->packets;
        bytes += rig->bytes;
        input_rig_stop(rig);
    }
    *starved_percent = 100 * (double)starved / (double)ticks;
    *bytes_per_packet = (double)bytes / (double)packets;
}

int main(void)
{
    double starved, bytes, starved_once, bytes_once;
    run(0, &starved, &bytes); /* 0 stands for as many copies as by default */
    run(1, &starved_once, &bytes_once);
    printf("input_starved_percent %.3f %%\n", starved);
    printf("input_bytes_ratio %.3f ratio\n", bytes / bytes_once);
    printf("input_datagram_bytes %.1f bytes\n", bytes);
    return 0;
}
