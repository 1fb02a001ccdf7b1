#include "causeway/base.h"

#include "base/unmapped.h"

#include <string.h>

#define IPV6_WORDS 8

/* Bytes before an IPv4 address inside IPv6. */
#define MAPPED_SIZE 12

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* The parsers below take text and return what follows the part they read, or NULL. */

static const char *parse_decimal(const char *text, unsigned max, unsigned *value)
{
    if (*text < '0' || *text > '9')
        return NULL;
    if (text[0] == '0' && text[1] >= '0' && text[1] <= '9')
        return NULL;
    *value = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        *value = *value * 10 + (unsigned)(*text - '0');
        if (*value > max)
            return NULL;
    }
    return text;
}

static const char *parse_ipv4(const char *text, uint8_t bytes[4])
{
    for (int i = 0; i < 4; i++) {
        unsigned value;
        if (i > 0 && *text++ != '.')
            return NULL;
        text = parse_decimal(text, 255, &value);
        if (!text)
            return NULL;
        bytes[i] = (uint8_t)value;
    }
    return text;
}

static const char *parse_word(const char *text, unsigned *word)
{
    int digits = 0;
    *word = 0;
    for (; hex_digit(*text) >= 0; text++) {
        if (++digits > 4)
            return NULL;
        *word = *word << 4 | (unsigned)hex_digit(*text);
    }
    return digits ? text : NULL;
}

static const char *parse_ipv6(const char *text, uint8_t bytes[16])
{
    int count = 0; /* words read */
    int gap = -1;  /* the words before "::"; -1: there is none */

    if (text[0] == ':') {
        if (text[1] != ':')
            return NULL;
        gap = 0;
        text += 2;
    }
    /* Behind a gap the address may end at once; anywhere else a group must follow. */
    while (gap != count || hex_digit(*text) >= 0) {
        unsigned word;
        if (count == IPV6_WORDS)
            return NULL;
        if (count <= IPV6_WORDS - 2) {
            const char *rest = parse_ipv4(text, bytes + 2 * count);
            if (rest) {
                text = rest;
                count += 2;
                break;
            }
        }
        text = parse_word(text, &word);
        if (!text)
            return NULL;
        bytes[2 * count] = (uint8_t)(word >> 8);
        bytes[2 * count + 1] = (uint8_t)word;
        count++;
        if (*text != ':')
            break;
        text++;
        if (*text == ':') {
            if (gap >= 0)
                return NULL;
            gap = count;
            text++;
        }
    }
    if (gap < 0)
        return count == IPV6_WORDS ? text : NULL;
    if (count == IPV6_WORDS)
        return NULL;

    const size_t before = (size_t)gap * 2;
    const size_t behind = (size_t)(count - gap) * 2;
    memmove(bytes + 16 - behind, bytes + before, behind);
    memset(bytes + before, 0, 16 - behind - before);
    return text;
}

static const char *parse_address(struct cw_address *address, const char *text)
{
    unsigned port;
    const bool bracket = *text == '[';
    const char *rest = bracket ? NULL : parse_ipv4(text, address->bytes);

    if (rest) {
        address->type = CW_ADDRESS_IPV4;
    } else {
        memset(address->bytes, 0, sizeof address->bytes);
        rest = parse_ipv6(text + bracket, address->bytes);
        if (!rest)
            return NULL;
        address->type = CW_ADDRESS_IPV6;
        if (!bracket)
            return rest;
        if (*rest++ != ']')
            return NULL;
    }
    if (*rest != ':')
        return rest;
    rest = parse_decimal(rest + 1, 65535, &port);
    if (rest)
        address->port = (uint16_t)port;
    return rest;
}

enum cw_error cw_address_parse(const char *text, struct cw_address *address)
{
    if (!text || !address)
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_address parsed = {.type = CW_ADDRESS_NONE};
    const char *rest = parse_address(&parsed, text);
    if (!rest || *rest != '\0')
        return CW_ERROR_ADDRESS;
    *address = parsed;
    return CW_OK;
}

static char *format_decimal(char *out, unsigned value)
{
    char digits[5];
    int count = 0;
    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    while (count)
        *out++ = digits[--count];
    return out;
}

static char *format_ipv4(char *out, const uint8_t *bytes)
{
    for (int i = 0; i < 4; i++) {
        if (i)
            *out++ = '.';
        out = format_decimal(out, bytes[i]);
    }
    return out;
}

static char *format_word(char *out, unsigned word)
{
    int shift = 12;
    while (shift && word >> shift == 0)
        shift -= 4;
    for (; shift >= 0; shift -= 4)
        *out++ = "0123456789abcdef"[word >> shift & 15];
    return out;
}

static bool is_mapped(const uint8_t *bytes)
{
    static const uint8_t mapped[MAPPED_SIZE] = {[10] = 0xff, [11] = 0xff};
    return memcmp(bytes, mapped, sizeof mapped) == 0;
}

struct cw_address cw_address_unmapped(const struct cw_address *address)
{
    if (address->type != CW_ADDRESS_IPV6 || !is_mapped(address->bytes))
        return *address;
    struct cw_address ipv4 = {.type = CW_ADDRESS_IPV4, .port = address->port};
    memcpy(ipv4.bytes, address->bytes + MAPPED_SIZE, 4);
    return ipv4;
}

static char *format_ipv6(char *out, const uint8_t *bytes)
{
    const bool ends_in_ipv4 = is_mapped(bytes);
    const int words = ends_in_ipv4 ? IPV6_WORDS - 2 : IPV6_WORDS;

    /* The first of the longest runs of two or more zero words is left out. */
    int gap = -1;
    int gap_length = 1;
    for (int i = 0, run = 0; i < words; i++) {
        run = bytes[2 * i] || bytes[2 * i + 1] ? 0 : run + 1;
        if (run > gap_length) {
            gap_length = run;
            gap = i + 1 - run;
        }
    }
    for (int i = 0; i < words; i++) {
        if (i == gap) {
            *out++ = ':';
            *out++ = ':';
            i += gap_length - 1;
            continue;
        }
        if (i && i != gap + gap_length)
            *out++ = ':';
        out = format_word(out, (unsigned)bytes[2 * i] << 8 | bytes[2 * i + 1]);
    }
    if (ends_in_ipv4) {
        *out++ = ':';
        out = format_ipv4(out, bytes + MAPPED_SIZE);
    }
    return out;
}

static const char none[] = "none";

const char *cw_address_format(const struct cw_address *address, char text[CW_ADDRESS_TEXT_SIZE])
{
    char *out = text;
    if (!text)
        return none;
    if (address && address->type == CW_ADDRESS_IPV4) {
        out = format_ipv4(out, address->bytes);
    } else if (address && address->type == CW_ADDRESS_IPV6) {
        if (address->port)
            *out++ = '[';
        out = format_ipv6(out, address->bytes);
        if (address->port)
            *out++ = ']';
    } else {
        return memcpy(text, none, sizeof none);
    }
    if (address->port) {
        *out++ = ':';
        out = format_decimal(out, address->port);
    }
    *out = '\0';
    return text;
}

static size_t byte_count(enum cw_address_type type)
{
    return type == CW_ADDRESS_IPV4 ? 4 : type == CW_ADDRESS_IPV6 ? 16 : 0;
}

int cw_address_compare(const struct cw_address *a, const struct cw_address *b)
{
    static const struct cw_address nothing = {.type = CW_ADDRESS_NONE};
    const struct cw_address one = cw_address_unmapped(a ? a : &nothing);
    const struct cw_address other = cw_address_unmapped(b ? b : &nothing);
    if (one.type != other.type)
        return one.type < other.type ? -1 : 1;
    const int order = memcmp(one.bytes, other.bytes, byte_count(one.type));
    if (order)
        return order;
    return (one.port > other.port) - (one.port < other.port);
}

bool cw_address_equal(const struct cw_address *a, const struct cw_address *b)
{
    return cw_address_compare(a, b) == 0;
}
