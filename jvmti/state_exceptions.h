/* Exceptions by which executions ended, until somebody asks for them. */
#ifndef STACKAGENT_THROWN_H
#define STACKAGENT_THROWN_H
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t task_id;
    uint32_t class_id;
    uint32_t hash; /* of the exception */
} sa_thrown;

/* Remembers one of a session; those of another are forgotten. forgotten: what had
 * to make room for it, or class_id 0. True: it is the first of the session. */
bool sa_thrown_put(uint32_t session, sa_thrown x, sa_thrown *forgotten);

/* Takes one with the exception of that hash out; false: there is none. */
bool sa_thrown_take(uint32_t session, uint32_t hash, sa_thrown *x);
#endif
