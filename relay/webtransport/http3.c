#include "webtransport/http3.h"

#include <nghttp3/nghttp3.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_DATA     0x00
#define FRAME_HEADERS  0x01
#define CAPSULE_CLOSE  0x2843
#define STATUS_INDEXED 0xc0

/* Each browser takes the setting that it knows and needs. Safari 26.4 takes 0x14e9cd29 only with
   the three settings of credit behind it, and sends nothing without that credit. The values are
   those of one session, which nobody fills: datagrams need no credit. QPACK's settings have their
   defaults: no dynamic table, so its streams stay empty. */
const uint8_t http3_settings[] = {
    0x00,                                                 /* the type: a control stream */
    0x04, 0x2d,                                           /* SETTINGS, and their size */
    0x08, 0x01,                                           /* ENABLE_CONNECT_PROTOCOL */
    0x33, 0x01,                                           /* H3_DATAGRAM (RFC 9297) */
    0x80, 0xff, 0xd2, 0x77, 0x01,                         /* the same, draft 4 */
    0xab, 0x60, 0x37, 0x42, 0x01,                         /* ENABLE_WEBTRANSPORT, draft 2 */
    0xc0, 0x00, 0x00, 0x00, 0xc6, 0x71, 0x70, 0x6a, 0x01, /* MAX_SESSIONS, draft 7 */
    0x94, 0xe9, 0xcd, 0x29, 0x01,                         /* WT_MAX_SESSIONS, draft 13 */
    0x6b, 0x61, 0x80, 0x01, 0x00, 0x00,                   /* WT_INITIAL_MAX_DATA */
    0x6b, 0x64, 0x10,                                     /* _STREAMS_UNI */
    0x6b, 0x65, 0x10,                                     /* _STREAMS_BIDI */
    0xac, 0x7c, 0xf0, 0x00, 0x01,                         /* WT_ENABLED, draft 15 */
};
const size_t http3_settings_size = sizeof http3_settings;

bool http3_is_webtransport(const struct http3_request *request)
{
    return strcmp(request->method, "CONNECT") == 0 &&
           (strcmp(request->protocol, "webtransport") == 0 ||
            strcmp(request->protocol, "webtransport-h3") == 0);
}

/* Copies a value that fits and is text. */
static void copy(char *out, size_t capacity, nghttp3_vec value)
{
    if (value.len >= capacity || memchr(value.base, 0, value.len))
        return;
    memcpy(out, value.base, value.len);
    out[value.len] = '\0';
}

static void take_field(struct http3_request *request, const nghttp3_qpack_nv *field)
{
    const struct {
        const char *name;
        char *value;
        size_t capacity;
    } wanted[] = {
        {":method", request->method, sizeof request->method},
        {":protocol", request->protocol, sizeof request->protocol},
        {":authority", request->authority, sizeof request->authority},
        {":path", request->path, sizeof request->path},
        {"origin", request->origin, sizeof request->origin},
    };
    const nghttp3_vec name = nghttp3_rcbuf_get_buf(field->name);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (name.len == strlen(wanted[i].name) && memcmp(name.base, wanted[i].name, name.len) == 0)
            copy(wanted[i].value, wanted[i].capacity, nghttp3_rcbuf_get_buf(field->value));
}

/* Decodes the head of a request. Returns false when it cannot be read. */
static bool decode(nghttp3_qpack_decoder *decoder, nghttp3_qpack_stream_context *stream,
                   const uint8_t *data, size_t size, struct http3_request *out)
{
    for (;;) {
        nghttp3_qpack_nv field;
        uint8_t flags = 0;
        const nghttp3_ssize taken =
            nghttp3_qpack_decoder_read_request(decoder, stream, &field, &flags, data, size, 1);
        if (taken < 0 || (flags & NGHTTP3_QPACK_DECODE_FLAG_BLOCKED))
            return false;
        data += taken;
        size -= (size_t)taken;
        if (flags & NGHTTP3_QPACK_DECODE_FLAG_EMIT) {
            take_field(out, &field);
            nghttp3_rcbuf_decref(field.name);
            nghttp3_rcbuf_decref(field.value);
        }
        if (flags & NGHTTP3_QPACK_DECODE_FLAG_FINAL)
            return true;
        if (taken == 0 && !(flags & NGHTTP3_QPACK_DECODE_FLAG_EMIT))
            return false;
    }
}

static bool read_request(const uint8_t *data, size_t size, struct http3_request *out)
{
    nghttp3_qpack_decoder *decoder = NULL;
    nghttp3_qpack_stream_context *stream = NULL;
    memset(out, 0, sizeof *out);
    const bool read = nghttp3_qpack_decoder_new(&decoder, 0, 0, nghttp3_mem_default()) == 0 &&
                      nghttp3_qpack_stream_context_new(&stream, 0, nghttp3_mem_default()) == 0 &&
                      decode(decoder, stream, data, size, out);
    nghttp3_qpack_stream_context_del(stream);
    nghttp3_qpack_decoder_del(decoder);
    return read;
}

static enum http3_event take_head(struct http3_reader *reader, const struct block_part *part,
                                  struct http3_request *request)
{
    if (reader->requested)
        return HTTP3_NOTHING; /* trailers */
    if (!reader->head && !(reader->head = malloc(HTTP3_HEAD_MAX)))
        return HTTP3_ERROR;
    if (part->size > HTTP3_HEAD_MAX - reader->head_size)
        return HTTP3_ERROR;
    memcpy(reader->head + reader->head_size, part->data, part->size);
    reader->head_size += part->size;
    if (!part->last)
        return HTTP3_NOTHING;
    const bool read = read_request(reader->head, reader->head_size, request);
    http3_reader_free(reader);
    reader->requested = true;
    return read ? HTTP3_REQUEST : HTTP3_ERROR;
}

/* Reads the capsules in a part of a frame, of which one counts: the bytes behind its code are the
   reason, for people. */
static enum http3_event take_capsules(struct http3_reader *reader, const struct block_part *frame,
                                      uint32_t *code)
{
    const uint8_t *data = frame->data;
    size_t size = frame->size;
    struct block_part part;
    while (block_read(&reader->capsules, &data, &size, &part)) {
        if (part.type != CAPSULE_CLOSE)
            continue;
        for (size_t i = 0; i < part.size && reader->code_size < 4; i++)
            reader->code_bytes[reader->code_size++] = part.data[i];
        if (!part.last)
            continue;
        const uint8_t *bytes = reader->code_bytes;
        *code = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
                (uint32_t)bytes[3];
        return HTTP3_CLOSE;
    }
    return HTTP3_NOTHING;
}

enum http3_event http3_read(struct http3_reader *reader, const uint8_t **data, size_t *size,
                            struct http3_request *request, uint32_t *code)
{
    struct block_part part;
    while (block_read(&reader->frames, data, size, &part)) {
        enum http3_event event = HTTP3_NOTHING;
        if (part.type == FRAME_HEADERS)
            event = take_head(reader, &part, request);
        else if (part.type == FRAME_DATA)
            event = reader->requested ? take_capsules(reader, &part, code) : HTTP3_ERROR;
        if (event != HTTP3_NOTHING)
            return event;
    }
    return HTTP3_NOTHING;
}

void http3_reader_free(struct http3_reader *reader)
{
    free(reader->head);
    reader->head = NULL;
    reader->head_size = 0;
}

size_t http3_write_answer(uint8_t out[HTTP3_ANSWER_MAX], unsigned status)
{
    /* These are the places of the statuses in the static table of QPACK (RFC 9204, appendix A). */
    const unsigned place = status == 200   ? 25
                           : status == 404 ? 27
                           : status == 503 ? 28
                           : status == 403 ? 68
                                           : 67; /* 400 */
    size_t size = 4; /* the type, the size, and two bytes of QPACK: no dynamic table */
    memset(out, 0, size);
    out[0] = FRAME_HEADERS;
    if (place < 63) {
        out[size++] = (uint8_t)(STATUS_INDEXED | place);
    } else {
        out[size++] = STATUS_INDEXED | 63;
        out[size++] = (uint8_t)(place - 63);
    }
    out[1] = (uint8_t)(size - 2);
    return size;
}

size_t http3_write_close(uint8_t out[HTTP3_CLOSE_MAX], uint32_t code, const char *reason)
{
    const size_t length = strnlen(reason, HTTP3_REASON_MAX);
    uint8_t head[2 * VARINT_MAX];
    size_t head_size = varint_write(head, CAPSULE_CLOSE);
    head_size += varint_write(head + head_size, 4 + length);
    size_t size = varint_write(out, FRAME_DATA);
    size += varint_write(out + size, head_size + 4 + length);
    memcpy(out + size, head, head_size);
    size += head_size;
    for (int shift = 24; shift >= 0; shift -= 8)
        out[size++] = (uint8_t)(code >> shift);
    memcpy(out + size, reason, length);
    return size + length;
}
