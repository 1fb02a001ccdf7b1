#include "causeway/native/client_host.h"

#include "causeway/token.h"

#include <stdio.h>

size_t cw_client_host_token_file(void *path, uint8_t *out, size_t capacity)
{
    FILE *file = path && out ? fopen(path, "rb") : NULL;
    if (!file)
        return 0;
    const size_t size = fread(out, 1, capacity, file);
    fclose(file);
    if (size < CW_TOKEN_SIZE)
        return 0;
    remove(path);
    return size;
}
