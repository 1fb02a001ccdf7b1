/* The first bytes of a connection arrive in any pieces. The readers of the PROXY header and of the
   head of a request read nothing beyond the bytes, and do not change their mind when more come. The
   first two bytes of an input say how many of the others come first. */
#include "http/request_head.h"
#include "http/proxy_protocol.h"
#include "target.h"

#include <stdlib.h>
#include <string.h>

/* The size of a value's buffer, so small that some values do not fit. */
#define VALUE_MAX 32

struct verdict {
    enum proxy_protocol header;
    struct socket_address client;
    size_t header_size;
    enum request_head head;
    bool valued;
    char value[VALUE_MAX];
};

/* Looks at the bytes in a block of exactly their size. */
static struct verdict look_at(const uint8_t *data, size_t size)
{
    struct verdict verdict = {0};
    uint8_t *exact = malloc(size > 0 ? size : 1);
    memcpy(exact, data, size);
    verdict.header = proxy_protocol_read(exact, size, &verdict.client, &verdict.header_size);
    verdict.head = request_head_read(exact, size);
    verdict.valued = request_head_value(exact, size, "x-forwarded-for:", verdict.value, VALUE_MAX);
    free(exact);
    return verdict;
}

static bool is_header(const struct verdict *verdict)
{
    return verdict->header == PROXY_PROTOCOL_LOCAL || verdict->header == PROXY_PROTOCOL_CLIENT;
}

static void expect_same_header(const struct verdict *a, const struct verdict *b)
{
    expect(a->header == b->header && a->header_size == b->header_size);
    if (a->header == PROXY_PROTOCOL_CLIENT)
        expect(socket_address_same(&a->client, &b->client));
}

static void check(const uint8_t *data, size_t size, size_t first)
{
    const struct verdict early = look_at(data, first), late = look_at(data, size);
    if (early.header != PROXY_PROTOCOL_MORE)
        expect_same_header(&early, &late);
    if (early.head != REQUEST_HEAD_MORE)
        expect(late.head == early.head);
    if (early.head == REQUEST_HEAD_WHOLE)
        expect(late.valued == early.valued && (!late.valued || !strcmp(late.value, early.value)));
    if (!is_header(&late))
        return;
    expect(late.header_size <= size && late.header_size <= PROXY_PROTOCOL_MAX);
    const struct verdict alone = look_at(data, late.header_size);
    expect_same_header(&alone, &late);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const size_t first = (size_t)data[0] << 8 | data[1];
    check(data + 2, size - 2, first < size - 2 ? first : size - 2);
    return 0;
}
