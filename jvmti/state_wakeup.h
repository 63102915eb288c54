/* The word on which the thread that drains sleeps. */
#ifndef STACKAGENT_STATE_WAKEUP_H
#define STACKAGENT_STATE_WAKEUP_H
#include <stdbool.h>
#include <stdint.h>

enum { SA_NOT_WOKEN, SA_ROUSED, SA_WOKEN };

void sa_wake_drain(void);  /* it returns */
void sa_rouse_drain(void); /* a thread needs more room in its ring, or its first: the drain looks often from now on */

/* For the drain: sleeps up to ns, and returns why it stopped. rarely: until sa_rouse_drain. */
uint32_t sa_wakeup_wait(uint64_t ns, bool rarely);
void sa_wakeup_over(void); /* it sleeps no more, for now */
#endif
