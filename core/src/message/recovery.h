/* The worth of sending more than is known to be needed, so that a loss costs less time than
   the wait for an ack and another send. */
#ifndef CAUSEWAY_RECOVERY_H
#define CAUSEWAY_RECOVERY_H

#include "base/shared.h"

#include <stdint.h>

#define CW_RECOVERY_MOST 4 /* the most extra messages for one */

/* The seconds of waiting, of all messages together, that an extra message must save. With a tenth
   of it, 1 % loss costs 4 % more bytes and saves next to nothing; with ten times as much, 99 % of
   the messages arrive there within 158 ms, not 75 (tests/bench/path_messages.c, rare_losses). */
#define CW_RECOVERY_PRICE 0.0004

/* The knowledge about the losses of a channel's messages. */
struct cw_recovery_path {
    double loss;   /* the share of packets that are lost */
    double next;   /* the chance that what follows a lost packet is lost too */
    double wait;   /* seconds until a lost message is known to be lost, and sent again */
    double others; /* messages that are sent meanwhile, and wait for it */
};

/* Returns how many extra messages are worth their bytes for each new one, from 0 to `most`, which
   is at most CW_RECOVERY_MOST. The first one saves what a loss costs, times the chance of it; each
   further one is of use only when those before it are lost too. Each goes with such a share of the
   messages that the rest costs the price. So it is continuous in everything. */
CW_SHARED double cw_recovery_wanted(const struct cw_recovery_path *path, double most)
{
    double cost = path->loss * path->wait * (1 + path->others / 2);
    double wanted = 0;
    for (int i = 0; i < CW_RECOVERY_MOST && cost > CW_RECOVERY_PRICE; i++, cost *= path->next)
        wanted += 1 - CW_RECOVERY_PRICE / cost;
    return wanted < most ? wanted : most;
}

/* A channel's state. Copies are paid for when the message is new, and given back when it is acked
   before they went. */
struct cw_recovery {
    double wanted; /* extra messages for each new one */
    double budget; /* bits that they may take now */
};

#define CW_RECOVERY_SAVED 16384.0 /* the most bits that may be saved up: two packets */

/* Adds to the budget. */
CW_SHARED void cw_recovery_earn(struct cw_recovery *recovery, double bits)
{
    recovery->budget += bits;
    if (recovery->budget > CW_RECOVERY_SAVED)
        recovery->budget = CW_RECOVERY_SAVED;
}

/* Pays for so many copies of a message of so many bits, or for as many as the budget has. Returns
   how many these are. */
CW_SHARED uint8_t cw_recovery_pay(struct cw_recovery *recovery, uint8_t copies, double bits)
{
    while (copies > 0 && recovery->budget < copies * bits)
        copies--;
    recovery->budget -= copies * bits;
    return copies;
}

#endif
