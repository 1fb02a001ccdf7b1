/* These are the defaults of yojimbo 1.0 that differ from ours. web/scripts/generate.mjs reads these
   numbers for the package. */
#ifndef CAUSEWAY_YOJIMBO_H
#define CAUSEWAY_YOJIMBO_H

#define CW_YOJIMBO_CHANNELS       2
#define CW_YOJIMBO_QUEUE          1024 /* messages of a channel, to send or received */
#define CW_YOJIMBO_MESSAGES       2048 /* messages of both channels together */
#define CW_YOJIMBO_FRAGMENT_ABOVE 1024 /* bytes above which packets are sent in fragments */
#define CW_YOJIMBO_REASSEMBLIES   64   /* packets that are received in fragments at a time */

#endif
