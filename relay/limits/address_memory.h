/* This memory knows how much each address has done lately. It fades, but outlives connections and
   sessions, so nobody gains by ending one and starting another. */
#ifndef CAUSEWAY_RELAY_ADDRESS_MEMORY_H
#define CAUSEWAY_RELAY_ADDRESS_MEMORY_H

struct address_memory;

/* Creates a memory in which a third of what an address has done is left after this many seconds. It
   has a fixed size of half a megabyte, however many addresses come. Returns NULL when there is no
   memory. */
struct address_memory *address_memory_create(double seconds);
void address_memory_destroy(struct address_memory *memory);

/* Returns how much is remembered about the owner of an address; see socket_address_owner. `now` is
   in seconds. */
double address_memory_count(const struct address_memory *memory, const unsigned char owner[16],
                            double now);

/* Adds one for an address. When there is no place left, the address with the least is forgotten. It
   loses little by this, and an address that has done much cannot make itself forgotten. */
void address_memory_add(struct address_memory *memory, const unsigned char owner[16], double now);

#endif
