/* Tests the library where Emscripten is the platform; prints the failures, and "done". */
#include "netcode/crypto.h"

#include <causeway/causeway.h>
#include <causeway/native/clock.h>
#include <causeway/native/socket.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define TICK_SECONDS 0.02

static int failures;

static void check(bool is_so, const char *what)
{
    if (!is_so)
        printf("failed: %s\n", what);
    failures += !is_so;
}

/* The platform gives at most 256 random bytes in one call. */
static void check_random_bytes(void)
{
    static uint8_t bytes[2000], others[2000];
    static const uint8_t zeros[16];
    cw_random_fill(NULL, bytes, sizeof bytes);
    cw_random_fill(NULL, others, sizeof others);
    for (size_t i = 0; i < sizeof bytes; i += sizeof zeros)
        check(memcmp(bytes + i, zeros, sizeof zeros) != 0, "random bytes everywhere");
    check(memcmp(bytes, others, sizeof bytes) != 0, "random bytes that differ");
}

static void check_encryption(void)
{
    static const uint8_t key[CW_KEY_BYTES] = {1}, nonce[CW_NONCE_BYTES] = {2};
    const struct cw_seal seal = {.key = key, .nonce = nonce};
    uint8_t sealed[4 + CW_MAC_BYTES], opened[4];
    check(cw_crypto_init(), "cw_crypto_init");
    cw_crypto_seal(&seal, (const uint8_t *)"text", 4, sealed);
    check(cw_crypto_open(&seal, sealed, sizeof sealed, opened) && memcmp(opened, "text", 4) == 0,
          "what is sealed opens");
    sealed[0] ^= 1;
    check(!cw_crypto_open(&seal, sealed, sizeof sealed, opened), "what was changed does not");
}

static void check_addresses(void)
{
    struct cw_address address, source;
    check(cw_resolve("127.0.0.1:40000", &address) == CW_OK && address.port == 40000, "cw_resolve");
    check(cw_socket_source(&address, &source) == CW_ERROR_SEND, "a page has no address");
}

static bool tick(void *context, double until)
{
    static int ticks;
    static double last;
    (void)context;
    check(until <= cw_clock_now(), "a tick in a page is due");
    check(ticks == 0 || until >= last + TICK_SECONDS, "ticks are apart");
    last = until;
    if (++ticks < 5)
        return true;
    puts(failures ? "failed" : "done");
    return false;
}

int main(void)
{
    check_random_bytes();
    check_encryption();
    check_addresses();
    check(fabs(cw_clock_unix() - (double)time(NULL)) < 2, "cw_clock_unix");
    check(cw_run(NULL, NULL, 1) == CW_ERROR_INVALID_ARGUMENT, "no tick");
    check(cw_run(tick, NULL, 0) == CW_ERROR_INVALID_ARGUMENT, "no interval");
    (void)cw_run(tick, NULL, TICK_SECONDS);
    puts("failed: cw_run has returned");
    return 1;
}
