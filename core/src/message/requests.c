#include "message/requests.h"
#include "message/message_pool.h"

#include "causeway/request.h"

#include <stddef.h>
#include <string.h>

#define PLACE(number) ((number) & (CW_REQUEST_PLACES - 1))

static bool begins_with(const struct cw_schema *schema, uint32_t type, const char *name)
{
    const struct cw_message_type *it = cw_schema_type(schema, type);
    return it && !it->block && it->field_count > 0 && it->fields && !it->fields[0].optional &&
           it->fields[0].array == 0 && it->fields[0].kind == CW_KIND_UINT &&
           it->fields[0].max == UINT16_MAX && strcmp(it->fields[0].name, name) == 0;
}

/* Returns whether the type and the two after it are those of a request. */
static bool is_request(const struct cw_schema *schema, uint32_t type)
{
    return begins_with(schema, type, "cw_request") && begins_with(schema, type + 1, "cw_answer") &&
           begins_with(schema, type + 2, "cw_refusal") &&
           cw_schema_type(schema, type + 2)->size == sizeof(uint32_t[2]);
}

bool cw_requests_in(const struct cw_schema *schema)
{
    for (uint32_t type = 0; type < cw_schema_count(schema); type++)
        if (is_request(schema, type))
            return true;
    return false;
}

enum cw_error cw_requests_layout(struct cw_arena *arena, const struct cw_schema *schema,
                                 uint32_t most, struct cw_requests **requests)
{
    const uint32_t count = cw_schema_count(schema);
    struct cw_requests *r = cw_arena_take(arena, sizeof *r);
    uint8_t *roles = cw_arena_take(arena, count);
    struct cw_message_pool_config kept = {.schema = schema, .capacity = 2 * most};
    if (!arena->base) {
        cw_arena_take(arena, cw_message_pool_memory(&kept));
        return CW_OK;
    }
    memset(roles, CW_ROLE_NONE, count);
    for (uint32_t type = 0; type < count; type++)
        if (is_request(schema, type)) {
            roles[type] = CW_ROLE_QUESTION;
            roles[type + 1] = CW_ROLE_ANSWER;
            roles[type + 2] = CW_ROLE_REFUSAL;
        }
    memset(r, 0, sizeof *r);
    r->roles = roles;
    r->most = most;
    kept.allocator = cw_arena_allocator(arena);
    *requests = r;
    return cw_message_pool_create(&kept, &r->kept);
}

static void join(struct cw_request_line *line, uint32_t place)
{
    line->places[PLACE(line->first + line->count++)] = (uint8_t)place;
}

static uint32_t leave(struct cw_request_line *line)
{
    line->count--;
    return line->places[PLACE(line->first++)];
}

/* Takes a place out of a line that it is in. */
static void leave_early(struct cw_request_line *line, uint32_t place)
{
    for (uint32_t left = line->count; left > 0; left--) {
        const uint32_t other = leave(line);
        if (other != place)
            join(line, other);
    }
}

void cw_requests_reset(struct cw_requests *r)
{
    for (uint32_t i = 0; i < CW_REQUEST_PLACES; i++) {
        cw_message_release(r->questions[i].message);
        cw_message_release(r->asked[i].answer);
    }
    memset(&r->open, 0, sizeof *r - offsetof(struct cw_requests, open));
    for (uint32_t i = 0; i < r->most; i++)
        join(&r->free, i);
}

/* Questions of ours */

struct cw_question *cw_requests_open(struct cw_requests *r)
{
    const uint32_t place = leave(&r->free);
    struct cw_question *question = &r->questions[place];
    do /* after a wrap too, no number is 0 */
        question->number = (question->number | place) + CW_REQUEST_PLACES;
    while (question->number < CW_REQUEST_PLACES);
    question->state = CW_QUESTION_OPEN;
    r->open++;
    return question;
}

void cw_requests_end(struct cw_requests *r, struct cw_question *question, enum cw_unanswered reason,
                     struct cw_message *message)
{
    cw_message_release(question->message);
    question->message = message;
    question->reason = reason;
    question->state = CW_QUESTION_ENDED;
    r->open--;
    join(&r->ended, PLACE(question->number));
}

void cw_requests_end_all(struct cw_requests *r, enum cw_unanswered reason)
{
    for (uint32_t i = 0; i < CW_REQUEST_PLACES && r->open > 0; i++)
        if (r->questions[i].state == CW_QUESTION_OPEN)
            cw_requests_end(r, &r->questions[i], reason, NULL);
}

/* Frees the place of a question, and returns the message that it held. */
static struct cw_message *set_free(struct cw_requests *r, struct cw_question *question)
{
    struct cw_message *message = question->message;
    question->message = NULL;
    question->state = CW_QUESTION_FREE;
    join(&r->free, PLACE(question->number));
    return message;
}

void cw_requests_cancel(struct cw_requests *r, uint32_t number)
{
    struct cw_question *question = &r->questions[PLACE(number)];
    if (question->number != number || question->state == CW_QUESTION_FREE)
        return;
    if (question->state == CW_QUESTION_OPEN)
        r->open--;
    else
        leave_early(&r->ended, PLACE(number));
    cw_message_release(set_free(r, question));
}

bool cw_requests_next(struct cw_requests *r, struct cw_connection_event *event)
{
    if (r->ended.count == 0)
        return false;
    struct cw_question *question = &r->questions[leave(&r->ended)];
    struct cw_message *message = set_free(r, question);
    *event = (struct cw_connection_event){
        .type = message ? CW_CONNECTION_EVENT_ANSWER : CW_CONNECTION_EVENT_UNANSWERED,
        .message = message,
        .channel = question->channel,
        .request = question->number,
        .unanswered = question->reason,
        .code = question->reason == CW_UNANSWERED_REFUSED ? question->code : 0,
    };
    return true;
}

void cw_requests_take_answer(struct cw_requests *r, struct cw_message *message)
{
    const uint32_t *value = message->data;
    struct cw_question *question = &r->questions[PLACE(value[0])];
    const bool is_answer = r->roles[message->type] == CW_ROLE_ANSWER;
    if (question->state != CW_QUESTION_OPEN || (uint16_t)question->number != value[0] ||
        message->type != question->type + (is_answer ? 1 : 2))
        return;
    if (is_answer) {
        message->references++;
        cw_requests_end(r, question, 0, message);
        return;
    }
    question->code = value[1];
    cw_requests_end(r, question, CW_UNANSWERED_REFUSED, NULL);
}

/* Questions of the other end */

static void set_due(struct cw_requests *r, struct cw_asked *asked, bool due)
{
    r->due += due;
    r->due -= asked->due;
    asked->due = due;
}

void cw_requests_forget(struct cw_requests *r, struct cw_asked *asked)
{
    if (!asked->answer)
        return;
    cw_message_release(asked->answer);
    asked->answer = NULL;
    r->answers_kept--;
    set_due(r, asked, false);
}

/* Answers a question once more that has come again. */
static void repeat(struct cw_requests *r, struct cw_asked *asked)
{
    if (asked->answer || asked->state == CW_ASKED_REFUSED)
        set_due(r, asked, true);
}

struct cw_asked *cw_requests_take_question(struct cw_requests *r, const struct cw_message *message,
                                           uint32_t channel)
{
    const uint32_t wire = *(const uint32_t *)message->data;
    struct cw_asked *asked = &r->asked[PLACE(wire)];
    const int16_t step = (int16_t)(uint16_t)(wire - asked->number);
    if (asked->state != CW_ASKED_NEVER && step <= 0) {
        if (step == 0)
            repeat(r, asked);
        return NULL;
    }
    cw_requests_forget(r, asked);
    set_due(r, asked, false);
    r->to_answer -= asked->state == CW_ASKED_OPEN;
    asked->number = asked->state == CW_ASKED_NEVER ? wire : asked->number + (uint16_t)step;
    asked->type = message->type;
    asked->channel = channel;
    if (r->to_answer >= r->most) {
        asked->code = CW_REFUSAL_BUSY;
        asked->state = CW_ASKED_REFUSED;
        set_due(r, asked, true);
        return NULL;
    }
    asked->state = CW_ASKED_OPEN;
    r->to_answer++;
    return asked;
}

struct cw_asked *cw_requests_asked(struct cw_requests *r, uint32_t number)
{
    struct cw_asked *asked = &r->asked[PLACE(number)];
    return asked->number == number && asked->state == CW_ASKED_OPEN ? asked : NULL;
}

static void forget_oldest(struct cw_requests *r)
{
    struct cw_asked *oldest = NULL;
    for (uint32_t i = 0; i < CW_REQUEST_PLACES; i++) {
        struct cw_asked *asked = &r->asked[i];
        if (asked->answer && (!oldest || (int32_t)(asked->order - oldest->order) < 0))
            oldest = asked;
    }
    cw_requests_forget(r, oldest);
}

enum cw_error cw_requests_keep(struct cw_requests *r, struct cw_asked *asked,
                               struct cw_message *answer)
{
    if (r->answers_kept >= r->most)
        forget_oldest(r);
    const enum cw_error error = cw_message_create_copy(r->kept, answer, &asked->answer);
    if (error != CW_OK)
        return error;
    asked->order = r->order++;
    r->answers_kept++;
    return CW_OK;
}

void cw_requests_settle(struct cw_requests *r, struct cw_asked *asked, enum cw_asked_state state,
                        bool due)
{
    r->to_answer -= asked->state == CW_ASKED_OPEN;
    asked->state = state;
    set_due(r, asked, due);
}
