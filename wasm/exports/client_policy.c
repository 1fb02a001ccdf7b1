#include "session/client_policy.h"
#include "exports/exports.h"

#include <stdlib.h>

/* Creates the policy of a client that comes back by itself only when it did not run; NULL when
   there is no memory. */
CW_EXPORT(policy_create) struct cw_client_policy *policy_create(uint32_t attempts)
{
    struct cw_client_policy *policy = malloc(sizeof *policy);
    if (policy)
        *policy = (struct cw_client_policy){
            .config = {.silence_seconds = CW_CLIENT_SILENCE_SECONDS, .attempts = attempts}};
    return policy;
}

CW_EXPORT(policy_start)
void policy_start(struct cw_client_policy *policy, bool after_absence, double now)
{
    cw_client_policy_start(policy, after_absence, now);
}

CW_EXPORT(policy_token)
void policy_token(struct cw_client_policy *policy, uint32_t server_count, double expire_time)
{
    cw_client_policy_token(policy, server_count, expire_time);
}

CW_EXPORT(policy_link)
void policy_link(struct cw_client_policy *policy, bool linked, double now)
{
    cw_client_policy_link(policy, linked, now);
}

CW_EXPORT(policy_skip) bool policy_skip(struct cw_client_policy *policy)
{
    return cw_client_policy_skip(policy);
}

CW_EXPORT(policy_fail)
void policy_fail(struct cw_client_policy *policy, enum cw_client_state reason, double now)
{
    cw_client_policy_fail(policy, reason, now);
}

CW_EXPORT(policy_hear)
void policy_hear(struct cw_client_policy *policy, double now, double unix_now)
{
    cw_client_policy_hear(policy, now, unix_now);
}

CW_EXPORT(policy_follow)
void policy_follow(struct cw_client_policy *policy, const struct cw_client *client, double now)
{
    cw_client_policy_follow(policy, cw_client_state(client), cw_client_server_index(client), now);
}

CW_EXPORT(policy_update)
void policy_update(struct cw_client_policy *policy, double now, double unix_now)
{
    cw_client_policy_update(policy, now, unix_now);
}

/* Returns what the host must do next. The facts that it needs for that go to the scratch area. */
CW_EXPORT(policy_next) enum cw_client_action policy_next(struct cw_client_policy *policy)
{
    cw_scratch.policy = (struct cw_policy_facts){
        .server = policy->server,
        .end = policy->end,
        .returns = cw_client_policy_returns(policy),
        .token_time = policy->token_time,
        .absence = policy->absence,
    };
    return cw_client_policy_next(policy);
}
