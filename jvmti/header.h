/* The head of a class file, read with bounds: enough to decide whether a class
 * can be of interest. Everything is hostile until parsed. */
#ifndef STACKAGENT_HEADER_H
#define STACKAGENT_HEADER_H
#include "agent.h"

typedef struct {
    char name[512]; /* internal name; "" when it did not fit */
    uint32_t super_count;
    sa_super supers[SA_MAX_SUPERS]; /* the superclass first */
    bool names_execution;           /* the pool has "run", "call" or "exec" */
    bool complete;                  /* false: more supertypes or longer names than fit */
} sa_header;

/* False: not a class file that we understand. */
bool sa_read_header(const unsigned char *b, uint32_t len, sa_header *h);
#endif
