/* Fuzzes the reader of requests to the admin listener, which gets any bytes in any pieces. It
   neither reads nor writes beyond them, an incomplete request stays as it is, and the texts of a
   complete one lie inside the bytes. The first byte says where the input is cut. */
#include "admin/request.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void check_text(const char *bytes, const char *text)
{
    if (text < bytes || text + strlen(text) > bytes + ADMIN_REQUEST_MAX)
        abort();
}

static void check_parameters(const char *text)
{
    char value[8];
    memset(value, 'x', sizeof value);
    if (admin_request_parameter(text, "a", value, sizeof value) &&
        !memchr(value, '\0', sizeof value))
        abort();
}

/* Reads a request, checks what became of the bytes, and returns the status. */
static unsigned read_part(char *bytes, size_t size)
{
    char *before = malloc(ADMIN_REQUEST_MAX + 1);
    struct admin_request request;
    const char *why = NULL;
    memcpy(before, bytes, ADMIN_REQUEST_MAX + 1);
    const unsigned status = admin_request_read(bytes, size, &request, &why);
    if (status == 0 && memcmp(before, bytes, ADMIN_REQUEST_MAX + 1) != 0)
        abort();
    if (status == 200) {
        check_text(bytes, request.path);
        check_text(bytes, request.query);
        check_text(bytes, request.body);
        if (request.path[0] != '/')
            abort();
        check_parameters(request.query);
        check_parameters(request.body);
    } else if (status != 0 && !why) {
        abort();
    }
    free(before);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > ADMIN_REQUEST_MAX)
        return 0;
    char *bytes = calloc(1, ADMIN_REQUEST_MAX + 1);
    const size_t cut = (size - 1) * data[0] / 256;
    memcpy(bytes, data + 1, size - 1);
    if (read_part(bytes, cut) == 0)
        read_part(bytes, size - 1);
    free(bytes);
    return 0;
}
