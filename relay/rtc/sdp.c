#include "rtc/sdp.h"

#include <openssl/evp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *sdp_error_string(enum sdp_error error)
{
    switch (error) {
    case SDP_OK:
        return "The offer is accepted.";
    case SDP_TOO_LONG:
        return "The offer is longer than 8192 bytes.";
    case SDP_MALFORMED:
        return "The offer is not a session description: it must begin with v=0 and have one "
               "x=value per line.";
    case SDP_NO_DATA_CHANNEL:
        return "The offer has no data channel: create one before you create the offer.";
    case SDP_OTHER_MEDIA:
        return "The offer has more than one media section: only one data channel section is "
               "served.";
    case SDP_PROTOCOL:
        return "The media section must be \"m=application PORT UDP/DTLS/SCTP "
               "webrtc-datachannel\".";
    case SDP_UFRAG:
        return "The offer needs a=ice-ufrag with 4 to 256 letters, digits, + or /.";
    case SDP_PASSWORD:
        return "The offer needs a=ice-pwd with 22 to 256 letters, digits, + or /.";
    case SDP_FINGERPRINT:
        return "The offer needs a=fingerprint:sha-256 with 32 bytes in hexadecimal.";
    case SDP_SETUP:
        return "The offer needs a=setup:actpass or a=setup:active.";
    case SDP_MID:
        return "The offer needs a=mid with 1 to 32 token characters.";
    case SDP_SCTP_PORT:
        return "The offer needs a=sctp-port with a number from 1 to 65535.";
    case SDP_ICE_LITE:
        return "The offer says a=ice-lite, as the relay does: one side must make the checks.";
    case SDP_SESSION_KEY:
        return "The offer may have one a=x-causeway-session, with 22 letters, digits, - or _.";
    case SDP_SERVER:
        return "The offer may have one a=x-causeway-server, as in 10.0.0.5_7000 or "
               "2001-db8--5_7000.";
    }
    return "The offer is not accepted.";
}

struct text {
    const char *at;
    size_t size;
};

/* Reading gathers these values. A value of the media section counts more than one of the
   session. */
struct reading {
    struct sdp_offer *offer;
    bool in_media;
    bool has_mid;
    bool has_fingerprint;
    bool has_media_fingerprint;
    bool has_sctp_port;
    struct text ufrag;
    struct text password;
    struct text setup;
};

static bool next_line(struct text *rest, struct text *line)
{
    if (rest->size == 0)
        return false;
    const char *end = memchr(rest->at, '\n', rest->size);
    const size_t size = end ? (size_t)(end - rest->at) : rest->size;
    *line = (struct text){rest->at, size};
    rest->at += size + (end != NULL);
    rest->size -= size + (end != NULL);
    if (line->size > 0 && line->at[line->size - 1] == '\r')
        line->size--;
    return true;
}

static bool equals(struct text text, const char *word)
{
    return text.size == strlen(word) && memcmp(text.at, word, text.size) == 0;
}

/* Cuts prefix from the front of text. */
static bool skip(struct text *text, const char *prefix)
{
    const size_t size = strlen(prefix);
    if (text->size < size || memcmp(text->at, prefix, size) != 0)
        return false;
    text->at += size;
    text->size -= size;
    return true;
}

/* Cuts the first word, up to a space, from the front of text. */
static struct text take_word(struct text *text)
{
    const char *end = memchr(text->at, ' ', text->size);
    const struct text word = {text->at, end ? (size_t)(end - text->at) : text->size};
    const size_t cut = word.size + (end != NULL);
    text->at += cut;
    text->size -= cut;
    return word;
}

static bool read_number(struct text text, uint32_t max, uint32_t *value)
{
    uint64_t number = 0;
    if (text.size == 0 || text.size > 10)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        number = number * 10 + (uint64_t)(text.at[i] - '0');
    }
    *value = (uint32_t)number;
    return number <= max;
}

static bool is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_ice_text(struct text text, size_t min)
{
    if (text.size < min || text.size > 256)
        return false;
    for (size_t i = 0; i < text.size; i++)
        if (!is_alphanumeric(text.at[i]) && text.at[i] != '+' && text.at[i] != '/')
            return false;
    return true;
}

static bool is_token(struct text text, size_t max)
{
    if (text.size == 0 || text.size > max)
        return false;
    for (size_t i = 0; i < text.size; i++)
        if (!is_alphanumeric(text.at[i]) &&
            (text.at[i] == '\0' || strchr("!#$%&'*+-.^_`{|}~", text.at[i]) == NULL))
            return false;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads "sha-256 AB:CD:...", with the name in any case. */
static bool read_fingerprint(struct text text, uint8_t out[32])
{
    const struct text name = take_word(&text);
    static const char wanted[] = "sha-256";
    if (name.size != 7 || text.size != 32 * 3 - 1)
        return false;
    for (size_t i = 0; i < 7; i++)
        if ((name.at[i] | 0x20) != (wanted[i] | 0x20))
            return false;
    for (size_t i = 0; i < 32; i++) {
        const int high = hex_digit(text.at[i * 3]);
        const int low = hex_digit(text.at[i * 3 + 1]);
        if (high < 0 || low < 0 || (i < 31 && text.at[i * 3 + 2] != ':'))
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* Reads an INIT in base64. One that is of no use counts as none. */
static void read_sctp_init(struct text text, struct sctp_init *init)
{
    uint8_t bytes[256];
    const int size = text.size <= sizeof bytes
                         ? EVP_DecodeBlock(bytes, (const uint8_t *)text.at, (int)text.size)
                         : 0;
    if (size > 0)
        sctp_read_init(init, bytes, (size_t)size);
}

static enum sdp_error read_media(struct reading *reading, struct text line)
{
    if (reading->in_media)
        return SDP_OTHER_MEDIA;
    reading->in_media = true;

    uint32_t port;
    if (!equals(take_word(&line), "application"))
        return SDP_NO_DATA_CHANNEL;
    if (!read_number(take_word(&line), 65535, &port) ||
        !equals(take_word(&line), "UDP/DTLS/SCTP") || !equals(line, "webrtc-datachannel"))
        return SDP_PROTOCOL;
    return SDP_OK;
}

static enum sdp_error read_attribute(struct reading *reading, struct text line)
{
    struct sdp_offer *offer = reading->offer;
    uint32_t number;

    if (skip(&line, "ice-ufrag:")) {
        reading->ufrag = line;
    } else if (skip(&line, "ice-pwd:")) {
        reading->password = line;
    } else if (skip(&line, "setup:")) {
        reading->setup = line;
    } else if (skip(&line, "fingerprint:")) {
        /* An offer may have fingerprints by other hash functions too. The first one by SHA-256
           counts. */
        uint8_t digest[32];
        bool *has = reading->in_media ? &reading->has_media_fingerprint : &reading->has_fingerprint;
        if (!*has && read_fingerprint(line, digest)) {
            memcpy(offer->fingerprint, digest, sizeof digest);
            *has = true;
        }
    } else if (equals(line, "ice-lite")) {
        return SDP_ICE_LITE;
    } else if (skip(&line, "x-causeway-session:")) {
        if (offer->session_key[0] || !session_key_valid(line.at, line.size))
            return SDP_SESSION_KEY;
        memcpy(offer->session_key, line.at, line.size);
    } else if (skip(&line, "x-causeway-server:")) {
        if (offer->server[0] || !is_token(line, SESSION_SERVER_TEXT))
            return SDP_SERVER;
        memcpy(offer->server, line.at, line.size);
    } else if (skip(&line, "group:BUNDLE")) {
        offer->bundle = true;
    } else if (reading->in_media && skip(&line, "mid:")) {
        if (!is_token(line, SDP_MID_MAX))
            return SDP_MID;
        memcpy(offer->mid, line.at, line.size);
        offer->mid[line.size] = '\0';
        reading->has_mid = true;
    } else if (reading->in_media && skip(&line, "sctp-port:")) {
        if (!read_number(line, 65535, &number) || number == 0)
            return SDP_SCTP_PORT;
        offer->sctp_port = (uint16_t)number;
        reading->has_sctp_port = true;
    } else if (reading->in_media && skip(&line, "max-message-size:")) {
        if (!read_number(line, UINT32_MAX, &offer->max_message_size))
            return SDP_MALFORMED;
    } else if (reading->in_media && skip(&line, "sctp-init:")) {
        read_sctp_init(line, &offer->sctp_init);
    }
    return SDP_OK;
}

static enum sdp_error finish(const struct reading *reading)
{
    if (!reading->in_media)
        return SDP_NO_DATA_CHANNEL;
    if (!is_ice_text(reading->ufrag, 4))
        return SDP_UFRAG;
    if (!is_ice_text(reading->password, 22))
        return SDP_PASSWORD;
    if (!reading->has_fingerprint && !reading->has_media_fingerprint)
        return SDP_FINGERPRINT;
    if (!equals(reading->setup, "actpass") && !equals(reading->setup, "active"))
        return SDP_SETUP;
    if (!reading->has_mid)
        return SDP_MID;
    if (!reading->has_sctp_port)
        return SDP_SCTP_PORT;
    return SDP_OK;
}

enum sdp_error sdp_read_offer(struct sdp_offer *offer, const char *data, size_t size)
{
    /* RFC 8841 says 64 KiB for an offer without a=max-message-size. */
    *offer = (struct sdp_offer){.max_message_size = 65536};
    if (size > SDP_OFFER_MAX)
        return SDP_TOO_LONG;

    struct reading reading = {
        .offer = offer, .ufrag = {"", 0}, .password = {"", 0}, .setup = {"", 0}};
    struct text rest = {data, size};
    struct text line;
    if (!next_line(&rest, &line) || !equals(line, "v=0"))
        return SDP_MALFORMED;
    while (next_line(&rest, &line)) {
        enum sdp_error error = SDP_OK;
        if (line.size == 0 && rest.size == 0)
            break;
        if (line.size < 2 || line.at[1] != '=' || line.at[0] < 'a' || line.at[0] > 'z')
            return SDP_MALFORMED;
        if (skip(&line, "m="))
            error = read_media(&reading, line);
        else if (skip(&line, "a="))
            error = read_attribute(&reading, line);
        if (error != SDP_OK)
            return error;
    }

    const enum sdp_error error = finish(&reading);
    if (error == SDP_OK)
        memcpy(offer->ufrag, reading.ufrag.at, reading.ufrag.size);
    return error;
}

struct output {
    char *at;
    size_t size;
    size_t capacity;
};

__attribute__((format(printf, 2, 3))) static void put(struct output *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const size_t room = out->size < out->capacity ? out->capacity - out->size : 0;
    const int length = vsnprintf(room > 0 ? out->at + out->size : NULL, room, format, arguments);
    va_end(arguments);
    out->size += length > 0 ? (size_t)length : 0;
}

static void put_sctp_init(struct output *out)
{
    uint8_t init[SCTP_OWN_INIT_SIZE];
    char text[(SCTP_OWN_INIT_SIZE + 2) / 3 * 4 + 1];
    sctp_write_init(init);
    EVP_EncodeBlock((uint8_t *)text, init, sizeof init);
    put(out, "a=sctp-init:%s\r\n", text);
}

size_t sdp_write_answer(char *out, size_t capacity, const struct sdp_answer *answer)
{
    struct output text = {out, 0, capacity};
    put(&text, "v=0\r\no=- %llu 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\na=ice-lite\r\n",
        /* The id has 63 bits, because some readers want no more. */
        (unsigned long long)(answer->session >> 1));
    if (answer->bundle)
        put(&text, "a=group:BUNDLE %s\r\n", answer->mid);
    put(&text, "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\n");
    put(&text, "a=mid:%s\r\na=ice-ufrag:%s\r\na=ice-pwd:%s\r\na=fingerprint:sha-256 ", answer->mid,
        answer->ufrag, answer->password);
    for (int i = 0; i < 32; i++)
        put(&text, i == 0 ? "%02X" : ":%02X", answer->fingerprint[i]);
    put(&text, "\r\na=setup:passive\r\na=sctp-port:%u\r\na=max-message-size:%lu\r\n",
        answer->sctp_port, (unsigned long)answer->max_message_size);
    if (answer->sctp_init)
        put_sctp_init(&text);
    for (size_t i = 0; i < answer->candidate_count; i++)
        put(&text, "a=candidate:%zu 1 udp %lu %s %u typ host\r\n", i + 1,
            126ul << 24 | (65535ul - i) << 8 | 255ul, answer->candidates[i].ip,
            answer->candidates[i].port);
    put(&text, "a=end-of-candidates\r\n");
    if (answer->ticket)
        put(&text, "a=x-causeway-ticket:%s\r\n", answer->ticket);
    return text.size < capacity ? text.size : 0;
}
