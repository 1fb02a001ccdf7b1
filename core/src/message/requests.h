/* The state of requests: the questions of ours that are open, and those of the other end.

   The number of a question has its place in the lowest bits, and above them the number of questions
   that had this place before. Its lowest 16 bits are on the wire. So the one who is asked knows of
   a question with a known place whether it is new, a repeated one or an old one, and that the one
   who asks has done with the question before. Places are used in turn, so that 512 times as many
   questions as there are places must pass before an old one looks new. */
#ifndef CAUSEWAY_REQUESTS_H
#define CAUSEWAY_REQUESTS_H

#include "base/memory.h"
#include "message/message_owner.h"

#include "causeway/connection.h"

#define CW_REQUEST_PLACES CW_MAX_REQUESTS /* a power of two */

/* The part that a type has in requests. */
enum cw_request_role { CW_ROLE_NONE, CW_ROLE_QUESTION, CW_ROLE_ANSWER, CW_ROLE_REFUSAL };

enum cw_question_state {
    CW_QUESTION_FREE,
    CW_QUESTION_OPEN,
    CW_QUESTION_ENDED /* the event has not been taken yet */
};

/* A question of ours. */
struct cw_question {
    uint32_t number;
    uint32_t type;
    uint32_t channel;
    enum cw_question_state state;
    enum cw_unanswered reason;  /* ENDED: 0 with an answer */
    uint32_t code;              /* ENDED: that of the refusal */
    struct cw_message *message; /* OPEN: what is sent again, or NULL; ENDED: the answer, or NULL */
    double deadline;
    double again;       /* when it is sent again */
    uint32_t doublings; /* it was sent again so often, up to a limit */
};

enum cw_asked_state {
    CW_ASKED_NEVER,
    CW_ASKED_OPEN,     /* the application has to answer */
    CW_ASKED_ANSWERED, /* answer is NULL when it is no longer kept */
    CW_ASKED_REFUSED
};

/* A question of the other end. */
struct cw_asked {
    uint32_t number;
    uint32_t type;
    uint32_t channel;
    enum cw_asked_state state;
    bool due; /* the answer or the refusal is to be sent */
    uint32_t code;
    uint32_t order; /* the number of the kept answer; the oldest one makes room */
    struct cw_message *answer;
};

/* Places that wait in a line; each is in it at most once. */
struct cw_request_line {
    uint8_t places[CW_REQUEST_PLACES];
    uint32_t first, count;
};

struct cw_requests {
    const uint8_t *roles;         /* an enum cw_request_role for each type */
    uint32_t most;                /* questions of ours that may be open, and of the other end's */
    struct cw_message_pool *kept; /* copies of open questions, and of answers */
    /* Everything from here on is zero after a reset, but for the free places. */
    uint32_t open;      /* questions of ours that are */
    uint32_t to_answer; /* questions of the other end that the application has */
    uint32_t due;       /* answers and refusals that are to be sent */
    uint32_t answers_kept;
    uint32_t order;
    struct cw_request_line free, ended;
    struct cw_question questions[CW_REQUEST_PLACES];
    struct cw_asked asked[CW_REQUEST_PLACES];
};

/* Returns whether a schema has a request. */
bool cw_requests_in(const struct cw_schema *schema);

/* Takes the memory for the requests of a connection from the arena; with a NULL base it only
   measures. */
enum cw_error cw_requests_layout(struct cw_arena *arena, const struct cw_schema *schema,
                                 uint32_t most, struct cw_requests **requests);
void cw_requests_reset(struct cw_requests *requests);

/* Takes a free place for a question; there must be one. Returns it with its number. */
struct cw_question *cw_requests_open(struct cw_requests *requests);

/* Ends an open question: message is the answer or NULL, and becomes the event's. */
void cw_requests_end(struct cw_requests *requests, struct cw_question *question,
                     enum cw_unanswered reason, struct cw_message *message);

/* Ends all that are open. */
void cw_requests_end_all(struct cw_requests *requests, enum cw_unanswered reason);

/* Forgets a question of ours, with its event. Nothing happens when it is not known. */
void cw_requests_cancel(struct cw_requests *requests, uint32_t number);

/* Takes the next event about a question of ours. Returns false when there is none. */
bool cw_requests_next(struct cw_requests *requests, struct cw_connection_event *event);

/* Looks at an answer or refusal that has arrived, and ends the question that it is for. The
   message stays the caller's; an answer gets one more reference for the application. */
void cw_requests_take_answer(struct cw_requests *requests, struct cw_message *message);

/* Looks at a question of the other end. Returns the place of a new one that the application has to
   answer, NULL for all others. */
struct cw_asked *cw_requests_take_question(struct cw_requests *requests,
                                           const struct cw_message *message, uint32_t channel);

/* Returns the question of the other end with this number that is not answered, or NULL. */
struct cw_asked *cw_requests_asked(struct cw_requests *requests, uint32_t number);

/* Keeps a copy of the answer to a question, in place of the oldest one if need be. */
enum cw_error cw_requests_keep(struct cw_requests *requests, struct cw_asked *asked,
                               struct cw_message *answer);
void cw_requests_forget(struct cw_requests *requests, struct cw_asked *asked);

/* Notes what became of a question of the other end. due says that this is still to be sent. */
void cw_requests_settle(struct cw_requests *requests, struct cw_asked *asked,
                        enum cw_asked_state state, bool due);

static inline bool cw_requests_waiting(const struct cw_requests *requests)
{
    return requests && requests->ended.count > 0;
}

#endif
