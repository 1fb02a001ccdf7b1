/* Attacks of a stranger, or of a browser gone bad, on the WebRTC port of a relay: many packets of
   one kind. A process makes one attack at a time. A failure ends it with a message. */
#ifndef CAUSEWAY_TESTS_RTC_ATTACKS_H
#define CAUSEWAY_TESTS_RTC_ATTACKS_H

#include "rtc_rig.h"

/* Returns the name of each attack; NULL for an index past the last. */
const char *rtc_attack_name(size_t index);

/* Makes all ready for an attack: `peers` browsers of the rig, at its address `from`, have come as
   far as the attack needs, and each that has a channel has sent `request`, in hex ("" for nothing).
 */
void rtc_attack_prepare(const char *name, struct rtc_rig *rig, unsigned peers, const char *request);

/* Sends the next packet; the peers take turns. */
void rtc_attack_send(void);

/* The datagrams and bytes that were sent since the attack was made ready. */
struct rtc_attack_sent {
    unsigned long packets;
    unsigned long bytes;
};
struct rtc_attack_sent rtc_attack_sent(void);

/* Closes the rig's browsers and the attacker's own socket. */
void rtc_attack_end(void);

#endif
