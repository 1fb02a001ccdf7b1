#include "session/parity.h"

#include <string.h>

static void mix(uint8_t *into, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        into[i] ^= data[i];
}

bool parity_is_due(const struct parity *parity)
{
    return parity->sent % 2 == 0 && parity->longest > 0;
}

void parity_add(struct parity *parity, const struct datagram *datagram)
{
    if (parity->sent % 2 == 0) {
        memset(parity->mixed, 0, parity->longest);
        parity->sizes = parity->longest = 0;
    }
    mix(parity->mixed, datagram->data, datagram->size);
    parity->sizes ^= (uint16_t)datagram->size;
    if (datagram->size > parity->longest)
        parity->longest = (uint16_t)datagram->size;
    parity->sent = (parity->sent + 1) & PARITY_SEQUENCE_MASK;
}

void parity_keep(struct parity *parity, uint16_t sequence, const struct datagram *datagram)
{
    struct parity_datagram *kept = &parity->came[sequence % PARITY_KEPT];
    kept->sequence = sequence;
    kept->size = (uint16_t)datagram->size;
    memcpy(kept->data, datagram->data, datagram->size);
}

static const struct parity_datagram *find(const struct parity *parity, int sequence)
{
    const struct parity_datagram *kept = &parity->came[sequence & (PARITY_KEPT - 1)];
    return kept->size > 0 && kept->sequence == (sequence & PARITY_SEQUENCE_MASK) ? kept : NULL;
}

size_t parity_recover(const struct parity *parity, uint16_t sequence, uint16_t sizes,
                      const struct datagram *mixed, uint8_t out[SESSION_DATAGRAM_MAX])
{
    const struct parity_datagram *first = find(parity, sequence - 2);
    const struct parity_datagram *second = find(parity, sequence - 1);
    const struct parity_datagram *known = first ? first : second;
    if (!known || (first && second))
        return 0;
    const size_t size = sizes ^ known->size;
    if (size > mixed->size || known->size > mixed->size)
        return 0; /* it is no parity of this datagram */
    memcpy(out, mixed->data, size);
    mix(out, known->data, known->size < size ? known->size : size);
    return size;
}
