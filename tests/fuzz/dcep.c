/* DCEP messages. */
#include "relay/rtc/dcep.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dcep_message message;
    unsigned sum = 0;
    if (dcep_read(&message, data, size) == DCEP_OPEN) {
        for (size_t i = 0; i < message.label_size; i++)
            sum += (unsigned char)message.label[i];
        if (message.label_size > size || sum > 255 * size)
            abort();
    }
    return 0;
}
