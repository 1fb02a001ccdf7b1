/* The requests of a connection: what it sends for them, and when. */
#include "message/connection_internal.h"
#include "message/message_pool.h"
#include "message/schema_unchecked.h"

#include "causeway/request.h"

/* A question on an unreliable channel is sent again when its answer should have come: after the
   RTT, as much of its deviation as TCP allows for (RFC 6298), and a tick of each end. Then it waits
   twice as long, but no longer than after this many doublings, so that on a path that loses half of
   its packets an answer still comes in a few seconds. */
#define DEVIATIONS    4
#define DOUBLINGS     2
#define BEFORE_SAMPLE 0.25 /* seconds that stand for an unknown RTT */

/* Says when a question that is sent now is sent again. */
static void set_again(const struct cw_connection *c, struct cw_question *question, double now)
{
    const struct cw_rtt *rtt = &cw_endpoint_sent(c->endpoint)->rtt;
    const double answer =
        rtt->smoothed > 0 ? rtt->smoothed + DEVIATIONS * rtt->deviation : BEFORE_SAMPLE;
    question->again = now + (answer + 2 * c->interval) * (1u << question->doublings);
    question->doublings += question->doublings < DOUBLINGS;
}

static bool is_unreliable(const struct cw_connection *c, uint32_t channel)
{
    return !cw_channel_is_reliable(&c->channels[channel]);
}

/* Sends a copy of a message that is kept. */
static enum cw_error send_copy(struct cw_connection *c, uint32_t channel, struct cw_message *kept,
                               double now)
{
    struct cw_message *copy;
    enum cw_error error = cw_message_create_copy(c->made, kept, &copy);
    if (error != CW_OK)
        return error;
    error = cw_connection_send(c, channel, copy, now);
    if (error != CW_OK)
        cw_message_release(copy);
    return error;
}

/* Returns the error of a message that the application cannot hand over. */
static enum cw_error check_owner(const struct cw_connection *c, const struct cw_message *message)
{
    if (message->pool != c->made)
        return CW_ERROR_OTHER_CONNECTION;
    return message->references == 0 || message->owned ? CW_ERROR_MESSAGE_NOT_OWNED : CW_OK;
}

/* Questions of ours */

enum cw_error cw_connection_request(struct cw_connection *c, uint32_t channel,
                                    struct cw_message *message, double timeout_seconds, double now,
                                    uint32_t *request)
{
    CW_ONE_THREAD(c);
    if (!cw_connection_can_run(c, now) || !message || !request || !(timeout_seconds > 0) ||
        timeout_seconds > CW_REQUEST_MAX_SECONDS)
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_requests *r = c->requests;
    if (channel >= c->config.channel_count)
        return CW_ERROR_CHANNEL;
    enum cw_error error = check_owner(c, message);
    if (error != CW_OK)
        return error;
    if (!r || r->roles[message->type] != CW_ROLE_QUESTION)
        return CW_ERROR_NOT_A_REQUEST;
    if (r->free.count == 0)
        return CW_ERROR_REQUESTS_FULL;
    struct cw_message *kept = NULL;
    struct cw_question *question = cw_requests_open(r);
    *(uint32_t *)message->data = (uint16_t)question->number;
    message->receipt = 0;
    if (is_unreliable(c, channel))
        error = cw_message_create_copy(r->kept, message, &kept);
    if (error == CW_OK)
        error = cw_connection_send(c, channel, message, now);
    question->type = message->type;
    question->channel = channel;
    question->message = kept;
    question->deadline = now + timeout_seconds;
    question->doublings = 0;
    set_again(c, question, now);
    if (error == CW_OK)
        *request = question->number;
    else
        cw_requests_cancel(r, question->number);
    return error;
}

void cw_connection_cancel(struct cw_connection *c, uint32_t request)
{
    CW_ONE_THREAD(c);
    if (c && c->requests)
        cw_requests_cancel(c->requests, request);
}

static void update_questions(struct cw_connection *c, double now)
{
    for (uint32_t i = 0; i < c->requests->most; i++) {
        struct cw_question *question = &c->requests->questions[i];
        if (question->state != CW_QUESTION_OPEN)
            continue;
        if (now >= question->deadline)
            cw_requests_end(c->requests, question, CW_UNANSWERED_TIMED_OUT, NULL);
        else if (question->message && now >= question->again &&
                 send_copy(c, question->channel, question->message, now) == CW_OK)
            set_again(c, question, now);
    }
}

/* Questions of the other end */

/* Sends what a question of the other end has coming. */
static enum cw_error reply(struct cw_connection *c, struct cw_asked *asked, double now)
{
    if (asked->answer)
        return send_copy(c, asked->channel, asked->answer, now);
    const uint32_t refusal[2] = {(uint16_t)asked->number, asked->code};
    return cw_connection_send_value(c, asked->channel, asked->type + 2, refusal, now);
}

/* Notes what became of a question. A reply that found no room is sent by a later update. An answer
   on a reliable channel need not be kept when it is sent, because the question does not come again.
 */
static void settle(struct cw_connection *c, struct cw_asked *asked, enum cw_asked_state state,
                   bool sent)
{
    cw_requests_settle(c->requests, asked, state, !sent);
    if (sent && !is_unreliable(c, asked->channel))
        cw_requests_forget(c->requests, asked);
}

enum cw_error cw_connection_answer(struct cw_connection *c, uint32_t request,
                                   struct cw_message *message, double now)
{
    CW_ONE_THREAD(c);
    if (!cw_connection_can_run(c, now) || !message)
        return CW_ERROR_INVALID_ARGUMENT;
    enum cw_error error = check_owner(c, message);
    if (error != CW_OK)
        return error;
    struct cw_asked *asked = c->requests ? cw_requests_asked(c->requests, request) : NULL;
    if (!asked)
        return CW_ERROR_NOT_ASKED;
    if (message->type != asked->type + 1)
        return CW_ERROR_MESSAGE_TYPE;
    *(uint32_t *)message->data = (uint16_t)asked->number;
    error = cw_requests_keep(c->requests, asked, message);
    if (error == CW_OK)
        error = reply(c, asked, now);
    const bool sent = error == CW_OK;
    if (!sent && error != CW_ERROR_QUEUE_FULL && error != CW_ERROR_POOL_EMPTY) {
        cw_requests_forget(c->requests, asked);
        return error;
    }
    cw_message_release(message);
    settle(c, asked, CW_ASKED_ANSWERED, sent);
    return CW_OK;
}

enum cw_error cw_connection_refuse(struct cw_connection *c, uint32_t request, uint32_t code,
                                   double now)
{
    CW_ONE_THREAD(c);
    if (!cw_connection_can_run(c, now) || code > UINT16_MAX)
        return CW_ERROR_INVALID_ARGUMENT;
    struct cw_asked *asked = c->requests ? cw_requests_asked(c->requests, request) : NULL;
    if (!asked)
        return CW_ERROR_NOT_ASKED;
    if (!c->open)
        return CW_ERROR_NOT_CONNECTED;
    asked->code = code;
    settle(c, asked, CW_ASKED_REFUSED, reply(c, asked, now) == CW_OK);
    return CW_OK;
}

void cw_connection_update_requests(struct cw_connection *c, double now)
{
    struct cw_requests *r = c->requests;
    if (r->open > 0)
        update_questions(c, now);
    for (uint32_t i = 0; i < CW_REQUEST_PLACES && r->due > 0; i++)
        if (r->asked[i].due)
            settle(c, &r->asked[i], r->asked[i].state, reply(c, &r->asked[i], now) == CW_OK);
}

bool cw_connection_sort_request(struct cw_connection *c, struct cw_connection_event *event)
{
    struct cw_requests *r = c->requests;
    struct cw_message *message = event->message;
    const enum cw_request_role role = r->roles[message->type];
    if (role == CW_ROLE_NONE)
        return true;
    const struct cw_asked *asked = NULL;
    if (role == CW_ROLE_QUESTION)
        asked = cw_requests_take_question(r, message, event->channel);
    else
        cw_requests_take_answer(r, message);
    if (!asked) {
        cw_message_release(message);
        return false;
    }
    event->type = CW_CONNECTION_EVENT_REQUEST;
    event->request = asked->number;
    return true;
}
