#include "http/origin.h"

#include <string.h>
#include <strings.h>

/* An authority contains none of these characters: they separate it from other parts of a URL, or
   belong to a list or a pattern. */
#define NOT_IN_AUTHORITY "/*?#@, \t"

/* The host and port of an origin, or NULL when it has none ("null"). */
static const char *authority_of(const char *origin)
{
    const char *colon = strstr(origin, "://");
    return colon && colon > origin ? colon + 3 : NULL;
}

static bool ends_with(const char *text, size_t size, const char *end)
{
    size_t end_size = strlen(end);
    return size >= end_size && memcmp(text + size - end_size, end, end_size) == 0;
}

/* Returns the length of an authority without a port that the scheme implies. A proxy in front may
   have ended TLS, so the page's scheme, not the relay's, tells which port is meant. */
static size_t size_without_port(const char *authority, const char *origin)
{
    size_t size = strlen(authority);
    if (strncasecmp(origin, "http://", 7) == 0 && ends_with(authority, size, ":80"))
        return size - 3;
    if (strncasecmp(origin, "https://", 8) == 0 && ends_with(authority, size, ":443"))
        return size - 4;
    return size;
}

static bool same_host(const char *origin, const char *host)
{
    const char *authority = authority_of(origin);
    if (!authority)
        return false;
    size_t size = size_without_port(authority, origin);
    return size > 0 && size == size_without_port(host, origin) &&
           strncasecmp(authority, host, size) == 0;
}

/* Returns whether two origins are the same, also when only one of them gives the port that its
   scheme implies. */
static bool same_origin(const char *listed, const char *origin)
{
    const size_t scheme = (size_t)(authority_of(listed) - listed);
    return strncasecmp(listed, origin, scheme) == 0 && same_host(listed, origin + scheme);
}

bool origin_list_add(struct origin_list *list, const char *origin)
{
    if (strcmp(origin, "*") == 0) {
        list->any = true;
        return true;
    }
    const char *authority = authority_of(origin);
    if (list->count == ORIGIN_LIST_MAX || !authority || !authority[0] ||
        strpbrk(authority, NOT_IN_AUTHORITY))
        return false;
    list->origins[list->count++] = origin;
    return true;
}

bool origin_allowed(const struct origin_list *list, const char *origin, const char *host)
{
    if (list->any || origin[0] == '\0')
        return true;
    if (list->count == 0)
        return same_host(origin, host);
    for (unsigned i = 0; i < list->count; i++) {
        if (same_origin(list->origins[i], origin))
            return true;
    }
    return false;
}

bool origin_remains(const struct origin_list *list, const char *origin)
{
    return list->count == 0 || origin_allowed(list, origin, "");
}
