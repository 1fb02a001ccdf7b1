/* Runs seal_open for each line "SIZE ROUNDS" on standard input, and prints a line with the seconds
   that it took. */
#include "seal_open.h"

#include "causeway/native/clock.h"
#include "netcode/crypto.h"

#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    uint32_t size, rounds;
    if (!cw_crypto_init())
        return 1;
    while (scanf("%" SCNu32 " %" SCNu32, &size, &rounds) == 2) {
        const double begin = cw_clock_now();
        if (!seal_open(size, rounds))
            return 1;
        printf("%.9f\n", cw_clock_now() - begin);
        fflush(stdout);
    }
    return 0;
}
