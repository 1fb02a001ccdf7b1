#include "session/client_policy.h"

#include <math.h>

/* After this many seconds without a call, the program counts as not having run: it was frozen, or
   the machine slept. Browsers let the timers of hidden pages run once a second; this is twice
   that. */
#define ABSENCE_SECONDS 2.0

/* After an absence, a server that still knows the client shows it within this many seconds plus
   four round trips, which are twice the time of the handshake. In that time packets arrive that
   waited in a socket, or another link is tried after CW_CLIENT_SILENCE_SECONDS, opens in two round
   trips and moves the client in one and a half. */
#define RETURN_SECONDS 3.0

/* Seconds without a packet after which the server has forgotten the client, unless it is silent for
   half as long by itself. A server of ours sends at least every 0.1 s. */
#define FORGOTTEN_SECONDS 1.0

/* A silent server is given some seconds before another link is tried. They double with each link
   that is tried, because the server may be silent by itself. This is their limit, which is above
   the usual timeout. */
#define PATIENCE_MOST_SECONDS 16.0

/* After this many seconds in which no link was tried, those seconds are halved, but not below twice
   the time for which the server is silent by itself. A client that is wrong once a minute opens few
   links in vain. */
#define CALM_SECONDS 60.0

/* Seconds of a pause before another token is asked for: anywhere between the least and a bound
   ("full jitter"), so that the players of one server do not come back all at once. The bound
   doubles each time, until there is a connection. A server of ours takes some thousand handshakes a
   second, see the bench's handshakes; one that has just started refuses a token that is made before
   the least. */
#define PAUSE_LEAST_SECONDS 0.25
#define PAUSE_FIRST_SECONDS 0.5
#define PAUSE_MOST_SECONDS  8.0

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

static bool may_be_mended(const struct cw_client_policy *policy, enum cw_client_state end)
{
    switch (end) {
    case CW_CLIENT_TIMED_OUT:
    case CW_CLIENT_REQUEST_TIMED_OUT:
    case CW_CLIENT_RESPONSE_TIMED_OUT:
    case CW_CLIENT_TOKEN_EXPIRED:
    case CW_CLIENT_DENIED:
    case CW_CLIENT_NOT_YET:
    case CW_CLIENT_STOPPING:
        return true;
    case CW_CLIENT_ID_CONNECTED:
        /* The client that is connected may be this one itself: its slot has not timed out yet. */
        return policy->tries > 0;
    default:
        return false;
    }
}

/* Returns whether the policy comes back after such an end. A server that asks for a new token gets
   one also where no other end is followed by an attempt. */
static bool comes_back(const struct cw_client_policy *policy, enum cw_client_state reason)
{
    return !policy->leaving && policy->tries < policy->config.attempts &&
           (policy->config.after_any_end || policy->returning || reason == CW_CLIENT_NOT_YET) &&
           may_be_mended(policy, reason);
}

/* Ends the connection or the attempt. After an absence of its own the client comes back at once,
   because no other player does at the same time; when that fails, it pauses as others do. */
static void end(struct cw_client_policy *policy, enum cw_client_state reason, double now)
{
    if (reason == CW_CLIENT_REQUEST_TIMED_OUT && policy->last_call >= policy->expire_time)
        reason = CW_CLIENT_TOKEN_EXPIRED;
    policy->returning |= policy->absence > 0;
    policy->end = reason;
    policy->action = CW_CLIENT_ACTION_END;
    policy->phase = CW_CLIENT_PHASE_OVER;
    if (!comes_back(policy, reason))
        return;
    policy->phase = CW_CLIENT_PHASE_PAUSE;
    policy->token_time = now;
    if (policy->absence == 0 || policy->tries > 0) {
        uint8_t random;
        cw_random_fill(&policy->config.random, &random, 1);
        policy->token_time +=
            PAUSE_LEAST_SECONDS + (policy->pause_seconds - PAUSE_LEAST_SECONDS) * random / 256.0;
        policy->pause_seconds = least(2 * policy->pause_seconds, PAUSE_MOST_SECONDS);
    }
    policy->tries++;
}

static void open_link(struct cw_client_policy *policy, uint32_t server)
{
    policy->server = server;
    policy->phase = CW_CLIENT_PHASE_OPENING;
    policy->action = CW_CLIENT_ACTION_OPEN;
    policy->linked = false;
}

void cw_client_policy_start(struct cw_client_policy *policy, bool after_absence, double now)
{
    policy->phase = CW_CLIENT_PHASE_PAUSE;
    policy->action = CW_CLIENT_ACTION_NONE;
    policy->token_time = now;
    policy->pause_seconds = PAUSE_FIRST_SECONDS;
    policy->expire_time = INFINITY;
    policy->absence = 0;
    policy->tries = 0;
    policy->returning = after_absence;
}

void cw_client_policy_token(struct cw_client_policy *policy, uint32_t server_count,
                            double expire_time)
{
    policy->server_count = server_count;
    policy->expire_time = expire_time;
    policy->absence = 0;
    policy->leaving = false;
    open_link(policy, 0);
}

static void miss(struct cw_client_policy *policy, double now)
{
    policy->last_received = policy->return_time = now;
}

void cw_client_policy_link(struct cw_client_policy *policy, bool linked, double now)
{
    if (!linked || !policy->linked) {
        policy->trying = true;
        miss(policy, now);
    }
    policy->linked = linked;
    if (linked && policy->phase == CW_CLIENT_PHASE_OPENING) {
        policy->phase = CW_CLIENT_PHASE_CONNECTING;
        policy->link_time = now;
    }
}

bool cw_client_policy_skip(struct cw_client_policy *policy)
{
    const bool another =
        policy->phase < CW_CLIENT_PHASE_CONNECTED && policy->server + 1 < policy->server_count;
    if (another)
        open_link(policy, policy->server + 1);
    return another;
}

void cw_client_policy_fail(struct cw_client_policy *policy, enum cw_client_state reason, double now)
{
    if (policy->phase > CW_CLIENT_PHASE_PAUSE)
        end(policy, reason, now);
}

/* Notices an absence: the time since the last call. */
static void look(struct cw_client_policy *policy, double now, double unix_now)
{
    const double away = unix_now - policy->last_call;
    policy->last_call = unix_now;
    if (policy->phase != CW_CLIENT_PHASE_CONNECTED)
        return;
    if (away > ABSENCE_SECONDS)
        policy->absence += away;
    if (away > ABSENCE_SECONDS || !policy->linked)
        miss(policy, now);
}

/* Returns whether an absence is over: late packets have arrived, and the server has had the time to
   answer. */
static bool is_back(const struct cw_client_policy *policy, double now)
{
    return now - policy->return_time > RETURN_SECONDS + 2 * policy->handshake_seconds;
}

void cw_client_policy_received(struct cw_client_policy *policy, double now, double unix_now)
{
    look(policy, now, unix_now);
    if (is_back(policy, now))
        policy->absence = 0;
    /* When a datagram comes over a link that was tried, it does not tell how long the server is
       silent by itself. */
    if (!policy->trying)
        policy->silence = most(policy->silence, now - policy->last_received);
    policy->trying = false;
    policy->last_received = now;
}

static void enter(struct cw_client_policy *policy, double now)
{
    policy->phase = CW_CLIENT_PHASE_CONNECTED;
    policy->handshake_seconds = now - policy->link_time;
    policy->pause_seconds = PAUSE_FIRST_SECONDS;
    policy->tries = 0;
    policy->returning = policy->trying = false;
    policy->try_time = now;
    policy->patience = policy->config.silence_seconds;
    policy->silence = policy->earlier_silence = 0;
    miss(policy, now);
}

void cw_client_policy_follow(struct cw_client_policy *policy, enum cw_client_state state,
                             uint32_t server, double now)
{
    if (policy->phase < CW_CLIENT_PHASE_CONNECTING)
        return;
    if (state <= CW_CLIENT_DISCONNECTED)
        end(policy, state, now);
    else if (policy->phase == CW_CLIENT_PHASE_CONNECTED)
        return;
    else if (state == CW_CLIENT_CONNECTED)
        enter(policy, now);
    else if (server != policy->server)
        open_link(policy, server);
}

/* Returns twice the seconds for which the server is silent by itself. */
static double least_patience(const struct cw_client_policy *policy)
{
    return 2 * most(policy->silence, policy->earlier_silence);
}

/* Decides whether the server has been silent for so long that another link should be tried. */
static bool is_silent(struct cw_client_policy *policy, double now)
{
    /* The link that is tried opens in two round trips, and a move over it takes one and a half. */
    const double opening = policy->trying ? 2 * policy->handshake_seconds : 0;
    const bool silent =
        now - most(policy->last_received, policy->try_time) > policy->patience + opening;
    if (silent) {
        policy->patience *= 2;
        policy->trying = true;
    } else if (now - policy->try_time > CALM_SECONDS) {
        policy->patience = most(policy->patience / 2,
                                most(policy->config.silence_seconds, least_patience(policy)));
        policy->earlier_silence = policy->silence;
        policy->silence = 0;
    } else {
        return false;
    }
    policy->try_time = now;
    policy->patience = least(policy->patience, PATIENCE_MOST_SECONDS);
    return silent;
}

void cw_client_policy_update(struct cw_client_policy *policy, double now, double unix_now)
{
    look(policy, now, unix_now);
    if (policy->phase == CW_CLIENT_PHASE_PAUSE && now >= policy->token_time) {
        policy->phase = CW_CLIENT_PHASE_TOKEN;
        policy->action = CW_CLIENT_ACTION_TOKEN;
    }
    if (policy->phase != CW_CLIENT_PHASE_CONNECTED || !policy->linked)
        return;
    if (policy->config.silence_seconds > 0 && is_silent(policy, now))
        policy->action = CW_CLIENT_ACTION_RENEW;
    else if (policy->absence > 0 && policy->config.attempts > 0 && is_back(policy, now) &&
             now - policy->last_received > most(FORGOTTEN_SECONDS, least_patience(policy)))
        end(policy, CW_CLIENT_TIMED_OUT, now);
}

void cw_client_policy_leave(struct cw_client_policy *policy)
{
    policy->leaving = true;
    if (policy->phase == CW_CLIENT_PHASE_CONNECTED)
        return;
    policy->phase = CW_CLIENT_PHASE_OVER;
    policy->end = CW_CLIENT_DISCONNECTED;
}

enum cw_client_action cw_client_policy_next(struct cw_client_policy *policy)
{
    const enum cw_client_action action = policy->action;
    policy->action = CW_CLIENT_ACTION_NONE;
    return action;
}

bool cw_client_policy_returns(const struct cw_client_policy *policy)
{
    return policy->phase == CW_CLIENT_PHASE_PAUSE || policy->phase == CW_CLIENT_PHASE_TOKEN;
}
