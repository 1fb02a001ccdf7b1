/* The functions that libsodium takes from its platform. WebAssembly has one thread and one
   implementation to choose from, and the module's one import gives it the loader's random bytes. */
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
