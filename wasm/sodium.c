/* What libsodium takes from its platform. In WASM there is one implementation to choose from, one
   thread, and one import: the loader's random bytes. */
#include <sodium.h>

__attribute__((import_module("causeway"), import_name("random"))) extern void
causeway_random(void *out, size_t size);

int sodium_init(void)
{
    return 0;
}

void randombytes_buf(void *const buf, const size_t size)
{
    causeway_random(buf, size);
}

void sodium_misuse(void)
{
    __builtin_trap();
}
