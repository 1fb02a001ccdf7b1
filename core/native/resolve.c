#include "causeway/native/socket.h"

#include "native/resolve_internal.h"

#include <string.h>

/* The longest name that DNS knows, and its terminator. */
#define NAME_SIZE 254

/* Splits "name" or "name:port". */
static enum cw_error split(const char *text, char name[NAME_SIZE], uint16_t *port)
{
    const size_t length = strcspn(text, ":");
    if (length == 0 || length >= NAME_SIZE || strpbrk(text, "[] /"))
        return CW_ERROR_ADDRESS;
    memcpy(name, text, length);
    name[length] = '\0';
    if (name[strspn(name, "0123456789.")] == '\0' || cw_system_is_address(name))
        return CW_ERROR_ADDRESS;
    *port = 0;
    if (text[length] == '\0')
        return CW_OK;

    /* The port is parsed behind an address of numbers, so that both take the same ports. */
    char numeric[] = "0.0.0.0:65535";
    struct cw_address address;
    if (strlen(text + length) > strlen(":65535"))
        return CW_ERROR_ADDRESS;
    strcpy(strchr(numeric, ':'), text + length);
    const enum cw_error error = cw_address_parse(numeric, &address);
    if (error == CW_OK)
        *port = address.port;
    return error;
}

enum cw_error cw_resolve(const char *text, struct cw_address *address)
{
    char name[NAME_SIZE];
    uint16_t port;
    struct cw_address resolved;
    const enum cw_error parsed = cw_address_parse(text, address);
    if (parsed != CW_ERROR_ADDRESS)
        return parsed;
    const enum cw_error error = split(text, name, &port);
    if (error != CW_OK)
        return error;
    if (!cw_system_resolve(name, &resolved))
        return CW_ERROR_HOST;
    *address = resolved;
    address->port = port;
    return CW_OK;
}
