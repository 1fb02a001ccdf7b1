/* The functions that libsodium takes from its platform, where there is getentropy: Linux, macOS,
   the BSDs, Emscripten. There is one implementation of each cipher to choose from. */
#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h> /* declares it on macOS, unistd.h elsewhere */
#include <unistd.h>

int sodium_init(void)
{
    uint8_t byte;
    return getentropy(&byte, sizeof byte);
}

void randombytes_buf(void *const buf, const size_t size)
{
    const size_t most = 256; /* the limit of one call */
    uint8_t *out = buf;
    for (size_t left = size; left > 0;) {
        const size_t part = left < most ? left : most;
        if (getentropy(out, part) != 0)
            abort();
        out += part;
        left -= part;
    }
}

void sodium_misuse(void)
{
    abort();
}
