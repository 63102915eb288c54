/* The JVM's thread that waits for an event is not released by the end of an earlier one. */
#include <stdio.h>

#include "../state_events.h"

#define CHECK(x)                                                    \
    do {                                                            \
        if (!(x)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); \
            return 1;                                               \
        }                                                           \
    } while (0)

sa_state sa;

int main(void) {
    sa_post_event(SA_EVENT_READY); /* a JVM starts, and ends before Go has handled that */
    CHECK(sa_wait_event() == SA_EVENT_READY);
    sa_post_event(SA_EVENT_DEATH);
    sa_post_full();
    sa_event_done(0);
    CHECK(!sa_await_done(0));
    CHECK(sa_wait_event() == SA_EVENT_DEATH);
    CHECK(!sa_await_done(0));
    sa_event_done(1);
    CHECK(sa_await_done(0) && sa_outcome() == 1); /* the event of a full ring needs no answer */
    CHECK(sa_wait_event() == SA_EVENT_FULL);

    sa_post_event(SA_EVENT_READY); /* neither has begun */
    sa_post_event(SA_EVENT_DEATH);
    CHECK(sa_wait_event() == SA_EVENT_READY);
    sa_event_done(0);
    CHECK(!sa_await_done(0));
    CHECK(sa_wait_event() == SA_EVENT_DEATH);
    sa_event_done(0);
    CHECK(sa_await_done(0));
    return 0;
}
