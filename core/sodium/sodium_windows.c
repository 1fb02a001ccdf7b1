/* The functions that libsodium takes from its platform, on Windows. There is one implementation of
   each cipher to choose from. */
#include <sodium.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <windows.h>

#include <bcrypt.h> /* wants windows.h first */

static bool fill(uint8_t *out, size_t size)
{
    while (size > 0) {
        const ULONG part = size < ULONG_MAX ? (ULONG)size : ULONG_MAX;
        if (BCryptGenRandom(NULL, out, part, BCRYPT_USE_SYSTEM_PREFERRED_RNG) != 0)
            return false;
        out += part;
        size -= part;
    }
    return true;
}

int sodium_init(void)
{
    uint8_t byte;
    return fill(&byte, sizeof byte) ? 0 : -1;
}

void randombytes_buf(void *const buf, const size_t size)
{
    if (!fill(buf, size))
        abort();
}

void sodium_misuse(void)
{
    abort();
}
