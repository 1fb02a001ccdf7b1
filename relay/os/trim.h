/* Gives memory back to the system: the state of links is many small blocks, whose pages the C
   library would keep if left to itself. */
#ifndef CAUSEWAY_RELAY_TRIM_H
#define CAUSEWAY_RELAY_TRIM_H

#include <malloc.h>
#include <stddef.h>

/* So few links are not worth the time, unless they were the last. */
#define TRIM_LINKS 32

/* Follows the number of links, the most of which is kept in *most. When half of these have gone,
   their memory is given back. */
static inline void trim_follow(size_t *most, size_t links)
{
    if (links > *most) {
        *most = links;
    } else if (links <= *most / 2 && (*most > TRIM_LINKS || (links == 0 && *most > 0))) {
        *most = links;
        malloc_trim(0);
    }
}

#endif
