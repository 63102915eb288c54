/* Monitors that the agent reads inside the JVM: which, and their values on the way to the Go side. */
#ifndef STACKAGENT_STATE_MONITORS_H
#define STACKAGENT_STATE_MONITORS_H
#include "agent.h"

typedef struct {
    uint64_t at_ticks;
    double value;
    uint32_t id; /* 0: all that cannot block were read; value is how many */
} sa_sample;

/* A monitor that Java code found, or why one has no values: then only id and why are set. Texts are malloc'ed. */
typedef struct sa_monitor_news {
    struct sa_monitor_news *next;
    uint32_t id;
    bool counter;
    char *name, *layer, *unit, *source, *why;
} sa_monitor_news;

/* What the user asks for, before the JVM's threads look. The lines, for StackagentMonitor.begin, are a slot each; the classes are
 * the internal names that the slots are about, or empty. Both end with a line feed each. Ids from first_id on are for monitors that Java code finds. */
void sa_monitors_ask(const char *lines, const char *classes, uint32_t first_id, uint64_t interval_ns);
const char *sa_monitors_lines(void);      /* NULL: no monitor is asked for */
uint64_t sa_monitors_interval(void);      /* ns */
bool sa_monitors_watch(const char *name); /* a monitor is about the class with this internal name */
void sa_monitors_load(const char *name);  /* such a class is being loaded */
uint64_t sa_monitors_loads(int slot);     /* how many of the slot's name were; of -1: of any slot's */

uint32_t sa_monitors_next_id(void); /* 0: there are too many */
void sa_monitors_tell(sa_monitor_news *m); /* takes m over */
void sa_monitors_sample(uint32_t id, double value, uint64_t before_ns); /* read so long before now */

/* For the Go side. */
sa_monitor_news *sa_monitors_news(void); /* all since the last call */
void sa_monitors_free(sa_monitor_news *m);
size_t sa_monitors_samples(sa_sample *out, size_t room, uint64_t *lost); /* the oldest; call until it returns 0 */
void sa_monitors_forget(void); /* a session is over */
#endif
