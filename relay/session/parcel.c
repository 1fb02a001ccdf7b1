#include "session/parcel.h"

#include <math.h>
#include <string.h>

_Static_assert(sizeof(struct parcel) == 272, "another layout needs another MESSAGE_VERSION");

bool parcel_read(const void *data, size_t size, struct parcel *out)
{
    struct parcel parcel;
    if (size != sizeof parcel)
        return false;
    memcpy(&parcel, data, sizeof parcel);
    /* Full buckets are infinite, as is the time of a session that has a link. */
    if (!isfinite(parcel.opened) || !isfinite(parcel.active) || !isfinite(parcel.heard) ||
        isnan(parcel.unlinked) || parcel.server.size > sizeof parcel.server.address ||
        parcel.client.size > sizeof parcel.client.address ||
        parcel.header.size > sizeof parcel.header.bytes || isnan(parcel.packets.level) ||
        !isfinite(parcel.packets.at) || isnan(parcel.bytes.level) || !isfinite(parcel.bytes.at))
        return false;
    *out = parcel;
    return true;
}
