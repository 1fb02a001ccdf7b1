/* A request is a message that asks the other end, and that gets one answer. Either end may ask,
   over any channel.

   A request is declared once, with the fields of the question and those of the answer:

       #define LOOKUP_FIELDS(FIELD) FIELD(name, CW_STRING(32))
       #define LOOKUP_ANSWER_FIELDS(FIELD) FIELD(address, CW_STRING(64))
       CW_REQUEST(lookup, LOOKUP_FIELDS, LOOKUP_ANSWER_FIELDS)

   This gives three types of messages, `struct lookup`, `struct lookup_answer` and
   `struct lookup_refusal`, and their tables. All three are in the schema, in this order:

       const struct cw_message_type types[] = {say_type, CW_REQUEST_TYPES(lookup)};

   Each begins with a number of 16 bits that the connection fills in: cw_request, cw_answer or
   cw_refusal. So they are messages like any others on the wire, and part of the fingerprint.

   On a reliable channel a question and its answer are sent once. On an unreliable one the question
   is sent again until the answer arrives or its time is over. The other end hands it to its
   application once: to a repeated question it sends the same answer again, or nothing while the
   application has not answered yet.

   Only somebody who is connected can ask, and pays a message for a question. It takes one of
   CW_MAX_REQUESTS places here, which are made with the connection, and the room of the message
   until the application releases it. The application has at most max_requests questions to answer;
   further ones are refused with CW_REFUSAL_BUSY, in 32 bits and a type. The answers to the newest
   max_requests questions on unreliable channels are kept. A place is free when the other end asks
   anew with the same place, and all of them at the end of the connection. */
#ifndef CAUSEWAY_REQUEST_H
#define CAUSEWAY_REQUEST_H

#include "causeway/base.h"
#include "causeway/connection.h"
#include "causeway/message.h"
#include "causeway/schema.h"

CW_BEGIN_DECLARATIONS

/* The longest that an answer may be waited for, in seconds. */
#define CW_REQUEST_MAX_SECONDS 3600

/* The codes of refusals are the application's, from 0 to 65535, but for these. */
enum cw_refusal {
    CW_REFUSAL_FAILED = 65533,    /* the npm package: the function that answers threw an error */
    CW_REFUSAL_NO_ANSWER = 65534, /* the npm package: no function answers such requests */
    CW_REFUSAL_BUSY = 65535       /* too many requests of this end have not been answered yet */
};

/* Asks a question: a message that cw_connection_create_message has made, of the first of a
   request's three types. *request is a number by which one of two events tells how it ended:
   CW_CONNECTION_EVENT_ANSWER, or CW_CONNECTION_EVENT_UNANSWERED, the latter not later than
   timeout_seconds from now, above 0 and up to CW_REQUEST_MAX_SECONDS. Answers do not wait for
   messages before them. On CW_OK the connection takes over the caller's reference. On an error the
   message stays with the caller and nothing has changed.

   Errors: those of cw_connection_send; CW_ERROR_NOT_A_REQUEST for another type;
   CW_ERROR_REQUESTS_FULL when max_requests of ours are open, or their events have not been taken.
   The connection sends copies of the message, with no receipt. */
enum cw_error cw_connection_request(struct cw_connection *connection, uint32_t channel,
                                    struct cw_message *message, double timeout_seconds, double now,
                                    uint32_t *request);

/* Forgets a question of ours: no event tells of it any more. Nothing happens when it has ended. */
void cw_connection_cancel(struct cw_connection *connection, uint32_t request);

/* Answers the question of a CW_CONNECTION_EVENT_REQUEST, on the channel that it came on, with a
   message that cw_connection_create_message has made, of the second of the request's types. On
   CW_OK the connection takes over the caller's reference, also where the channel is full: then the
   answer is sent when there is room.

   Errors: those of cw_connection_send but CW_ERROR_QUEUE_FULL; CW_ERROR_MESSAGE_TYPE when it is not
   the request's answer; CW_ERROR_NOT_ASKED when the question was answered before, or the other end
   has asked anew with the same place. Neither is sent with a receipt. */
enum cw_error cw_connection_answer(struct cw_connection *connection, uint32_t request,
                                   struct cw_message *message, double now);

/* Refuses the question of a CW_CONNECTION_EVENT_REQUEST; code is from 0 to 65535. Errors:
   CW_ERROR_INVALID_ARGUMENT, CW_ERROR_NOT_CONNECTED, CW_ERROR_NOT_ASKED. */
enum cw_error cw_connection_refuse(struct cw_connection *connection, uint32_t request,
                                   uint32_t code, double now);

/* See the top of this file. */
#define CW_REQUEST(request, FIELDS, ANSWER_FIELDS)                                                 \
    CW_REQUEST_PART(request, cw_request, FIELDS)                                                   \
    CW_REQUEST_PART(request##_answer, cw_answer, ANSWER_FIELDS)                                    \
    CW_REQUEST_PART(request##_refusal, cw_refusal, CW_REFUSAL_FIELDS)

/* The three types of a request, for the array of a schema's types. */
#define CW_REQUEST_TYPES(request) request##_type, request##_answer_type, request##_refusal_type

#define CW_REFUSAL_FIELDS(FIELD) FIELD(code, CW_BITS(16))

#define CW_REQUEST_PART(part, number, FIELDS)                                                      \
    struct part {                                                                                  \
        uint32_t number;                                                                           \
        FIELDS(CW_FIELD_MEMBER)                                                                    \
    };                                                                                             \
    static const struct cw_field part##_fields[] = {CW_FIELD_ENTRY(number, CW_BITS(16))            \
                                                        FIELDS(CW_FIELD_ENTRY)};                   \
    static const struct cw_message_type part##_type = {                                            \
        #part, part##_fields, sizeof part##_fields / sizeof part##_fields[0], sizeof(struct part), \
        NULL,  false};

CW_END_DECLARATIONS

#endif
