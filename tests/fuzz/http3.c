/* Fuzzes the stream of a WebTransport session: frames, the head of the request with its QPACK, and
   capsules. It gives the same events when it comes in pieces, and each value that is read is text
   that ends. */
#include "webtransport/http3.h"
#include "target.h"

#include <string.h>

/* The events of a stream. */
struct events {
    enum http3_event last;
    unsigned requests;
    uint32_t code;
    struct http3_request request;
};

static void check(const struct http3_request *request)
{
    expect(memchr(request->path, '\0', sizeof request->path) != NULL);
    expect(memchr(request->origin, '\0', sizeof request->origin) != NULL);
    expect(memchr(request->authority, '\0', sizeof request->authority) != NULL);
    expect(memchr(request->protocol, '\0', sizeof request->protocol) != NULL);
    expect(memchr(request->method, '\0', sizeof request->method) != NULL);
    (void)http3_is_webtransport(request);
}

static struct events run(const uint8_t *data, size_t size, size_t step)
{
    struct http3_reader reader = {0};
    struct events events = {.last = HTTP3_NOTHING};
    for (size_t at = 0; at < size; at += step) {
        const size_t part = size - at < step ? size - at : step;
        uint8_t *copy = malloc(part); /* so that reading past its end is seen */
        const uint8_t *next = copy;
        size_t left = part;
        memcpy(copy, data + at, part);
        do {
            events.last = http3_read(&reader, &next, &left, &events.request, &events.code);
            events.requests += events.last == HTTP3_REQUEST;
        } while (events.last == HTTP3_REQUEST);
        free(copy);
        if (events.last != HTTP3_NOTHING)
            break;
    }
    http3_reader_free(&reader);
    return events;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const struct events whole = run(data + 1, size - 1, size - 1);
    const struct events parts = run(data + 1, size - 1, 1 + data[0] % 16);
    expect(whole.last == parts.last && whole.requests == parts.requests && whole.requests <= 1);
    if (whole.requests == 1) {
        check(&whole.request);
        expect(memcmp(&whole.request, &parts.request, sizeof whole.request) == 0);
    }
    if (whole.last == HTTP3_CLOSE)
        expect(whole.code == parts.code);
    return 0;
}
