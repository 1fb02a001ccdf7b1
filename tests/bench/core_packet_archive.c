/* Measures what core_packet.c does, with the archive that users of the library link: each of its
   files was compiled alone. */
#define ARCHIVE true
#include "core_packet.c"
