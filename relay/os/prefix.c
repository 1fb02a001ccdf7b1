#include "os/prefix.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX    80
#define MAPPED_BITS 96 /* the bits before an IPv4 address inside IPv6 */

/* Returns whether the first `bits` of both are the same. */
static bool same_bits(const unsigned char a[16], const unsigned char b[16], unsigned bits)
{
    const unsigned bytes = bits / 8;
    const unsigned rest = bits % 8;
    return memcmp(a, b, bytes) == 0 && (rest == 0 || ((a[bytes] ^ b[bytes]) >> (8 - rest)) == 0);
}

/* Clears the bits below the prefix. Returns false when none was set. */
static bool clear_rest(struct prefix *prefix)
{
    bool cleared = false;
    for (unsigned bit = prefix->bits; bit < 128; bit++) {
        const unsigned char mask = (unsigned char)(0x80u >> bit % 8);
        cleared = cleared || (prefix->address[bit / 8] & mask) != 0;
        prefix->address[bit / 8] &= (unsigned char)~mask;
    }
    return cleared;
}

/* Reads a prefix, which may have bits below it. Returns the text that follows, or NULL. */
static const char *read_prefix(const char *text, struct prefix *out)
{
    char host[TEXT_MAX];
    struct socket_address address;
    bool has_port;
    const size_t size = strcspn(text, "/");
    if (size >= sizeof host)
        return NULL;
    memcpy(host, text, size);
    host[size] = '\0';
    if (!socket_address_parse(host, &address, &has_port) || has_port ||
        !socket_address_bytes(&address, out->address))
        return NULL;
    const unsigned least = address.address.any.sa_family == AF_INET ? MAPPED_BITS : 0;
    out->bits = 128;
    if (text[size] == '\0')
        return text + size;
    const char *digits = text + size + 1;
    const size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > 3)
        return NULL;
    out->bits = least + (unsigned)strtoul(digits, NULL, 10);
    return out->bits <= 128 ? digits + count : NULL;
}

bool prefix_parse(const char *text, struct prefix *out)
{
    struct prefix prefix;
    const char *rest = read_prefix(text, &prefix);
    if (!rest || *rest != '\0' || clear_rest(&prefix))
        return false;
    *out = prefix;
    return true;
}

bool prefix_correct(const char *text, struct prefix *out)
{
    struct prefix prefix;
    if (!read_prefix(text, &prefix) || !clear_rest(&prefix))
        return false;
    *out = prefix;
    return true;
}

void prefix_format(const struct prefix *prefix, char text[PREFIX_TEXT])
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    const bool v4 = prefix->bits >= MAPPED_BITS && memcmp(prefix->address, mapped, 12) == 0;
    inet_ntop(v4 ? AF_INET : AF_INET6, prefix->address + (v4 ? 12 : 0), text, PREFIX_TEXT);
    const size_t size = strlen(text);
    snprintf(text + size, PREFIX_TEXT - size, "/%u", prefix->bits - (v4 ? MAPPED_BITS : 0));
}

bool prefix_holds(const struct prefix *prefix, const struct socket_address *address)
{
    unsigned char bytes[16];
    return socket_address_bytes(address, bytes) && same_bits(prefix->address, bytes, prefix->bits);
}

bool prefix_within(const struct prefix *inner, const struct prefix *outer)
{
    return inner->bits >= outer->bits && same_bits(inner->address, outer->address, outer->bits);
}

bool prefix_is_v4(const struct prefix *prefix)
{
    return prefix->bits >= MAPPED_BITS && socket_address_bytes_are_v4(prefix->address);
}

bool prefix_list_add(struct prefix_list *list, const char *text)
{
    if (list->count == PREFIX_LIST_MAX || !prefix_parse(text, &list->prefixes[list->count]))
        return false;
    list->count++;
    return true;
}

bool prefix_list_holds(const struct prefix_list *list, const struct socket_address *address)
{
    for (unsigned i = 0; i < list->count; i++) {
        if (prefix_holds(&list->prefixes[i], address))
            return true;
    }
    return false;
}
