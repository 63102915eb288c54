/* Exceptions by which executions ended, until the program asks for them. */
#ifndef STACKAGENT_THROWN_H
#define STACKAGENT_THROWN_H
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t task_id;
    uint32_t class_id;
    uint32_t hash; /* of the exception */
} sa_thrown;

/* Keeps one for the session and forgets those of other sessions. forgotten: the one
 * that made room for it, or class_id 0. True: it is the first of the session. */
bool sa_thrown_put(uint32_t session, sa_thrown x, sa_thrown *forgotten);

/* Takes an exception with that hash out; false: there is none. */
bool sa_thrown_take(uint32_t session, uint32_t hash, sa_thrown *x);
#endif
