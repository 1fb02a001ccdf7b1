/* How much each address has done of late, forgotten little by little. It outlives connections and
   sessions, so that nothing is won by ending one and beginning the next. */
#ifndef CAUSEWAY_RELAY_ADDRESS_MEMORY_H
#define CAUSEWAY_RELAY_ADDRESS_MEMORY_H

struct address_memory;

/* Of what an address has done a third is left after so many seconds. The memory has a fixed size,
   half a megabyte, whoever comes. NULL when there is none. */
struct address_memory *address_memory_create(double seconds);
void address_memory_destroy(struct address_memory *memory);

/* How much is remembered of the owner of an address; see socket_address_owner. now in seconds. */
double address_memory_count(const struct address_memory *memory, const unsigned char owner[16],
                            double now);

/* Adds one to it. When there is no room, the address that has least is forgotten: it loses little
   by it, and who has done much cannot have it forgotten. */
void address_memory_add(struct address_memory *memory, const unsigned char owner[16], double now);

#endif
