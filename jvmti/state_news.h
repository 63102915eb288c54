/* News for the Go side: classes, threads, executors, refusals. */
#ifndef STACKAGENT_STATE_NEWS_H
#define STACKAGENT_STATE_NEWS_H
#include "agent.h"

enum { SA_NEWS_CLASS = 1, SA_NEWS_THREAD = 2, SA_NEWS_REFUSAL = 3, SA_NEWS_EXECUTOR = 10, SA_NEWS_UNLOADED = 11 /* a class */ };

typedef struct sa_news {
    struct sa_news *next;
    int type; /* SA_NEWS_* */
    uint32_t id, kinds;
    uint32_t executor; /* of a thread: whose worker it is; 0: not known */
    int64_t java_id;
    int32_t os_id;
    bool daemon, is_virtual, counted;
    uint64_t executions, creations, lost; /* if counted */
    uint64_t start_ticks, end_ticks;
    int64_t cpu_ns;
    char *name, *group, *class_name; /* malloc; loader class in group for a class */
    char *made_class, *made_method, *made_file; /* malloc; of an executor: the program's method that made it */
    int32_t made_line;
    int32_t core, maximum, bound; /* of an executor: what the program gave it */
    char *queue; /* malloc; its class */
    bool removes_cancelled, async_mode;
} sa_news;

void sa_news_put(sa_news *m);
void sa_news_withdraw(const sa_news *m, uint32_t id); /* a class that another thread has described */
sa_news *sa_news_take(void); /* the whole list, to be freed by sa_news_free */
bool sa_news_waiting(void);
void sa_news_free(sa_news *m);
void sa_news_forget(void); /* what only one session needs */
void sa_refuse(const char *reason, const char *sample);
#endif
