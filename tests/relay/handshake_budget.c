/* The share of a processor that handshakes take, in virtual time. */
#include "limits/handshake_budget.h"
#include "fixture.h"

/* Does steps of handshakes, each of which takes `cost` seconds, as soon as it may, and returns the
   seconds of processor time that they took until `end`. */
static double work(struct handshake_budget *budget, enum handshake_rank rank, double cost,
                   double *now, double end)
{
    double taken = 0.0;
    for (;;) {
        const double wait = handshake_budget_wait(budget, rank, *now);
        if (*now + wait >= end)
            return taken;
        *now += wait + cost;
        handshake_budget_spend(budget, cost);
        taken += cost;
    }
}

TEST(they_have_their_share_whatever_they_cost)
{
    static const double costs[] = {0.0001, 0.001, 0.01, 0.1, 1.0};
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        struct handshake_budget budget = {0};
        double now = 1000.0;
        const double taken = work(&budget, HANDSHAKE_TLS, costs[i], &now, 1100.0);
        assert_true(taken <= 100.0 * HANDSHAKE_SHARE + HANDSHAKE_STRETCH + costs[i]);
        assert_true(taken >= 100.0 * HANDSHAKE_SHARE - costs[i]);
    }
}

TEST(they_save_up_no_more_than_a_stretch)
{
    struct handshake_budget budget = {0};
    double now = 1000.0;
    const double taken = work(&budget, HANDSHAKE_TLS, 0.0001, &now, 1000.0 + HANDSHAKE_STRETCH);
    assert_true(taken <= HANDSHAKE_STRETCH * 1.26);
}

TEST(those_of_offers_come_first)
{
    struct handshake_budget budget = {0};
    double now = 1000.0;
    work(&budget, HANDSHAKE_DTLS, 0.001, &now, 1100.0);
    assert_true(handshake_budget_wait(&budget, HANDSHAKE_TLS, now) >
                handshake_budget_wait(&budget, HANDSHAKE_DTLS, now));
    /* Handshakes of offers do not go before the others for long. */
    now += 2.0 * HANDSHAKE_STRETCH / HANDSHAKE_SHARE;
    assert_true(handshake_budget_wait(&budget, HANDSHAKE_TLS, now) <= 0.0);
}
