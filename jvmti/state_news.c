/* News for the Go side: classes, threads, refusals. */
#include <stdlib.h>

#include "agent.h"

void sa_meta_put(sa_meta *m) {
    m->next = NULL;
    pthread_mutex_lock(&sa.meta_lock);
    if (sa.meta_last == NULL)
        sa.meta_first = m;
    else
        sa.meta_last->next = m;
    sa.meta_last = m;
    pthread_mutex_unlock(&sa.meta_lock);
}

/* Takes m back, unless it has been taken: then what it describes is never named. */
void sa_meta_withdraw(const sa_meta *m, uint32_t id) {
    sa_meta *before = NULL, *found = NULL;
    pthread_mutex_lock(&sa.meta_lock);
    for (found = sa.meta_first; found != NULL && (found != m || found->type != SA_META_CLASS || found->id != id); found = found->next)
        before = found;
    if (found != NULL) {
        *(before == NULL ? &sa.meta_first : &before->next) = found->next;
        if (sa.meta_last == found) sa.meta_last = before;
    }
    pthread_mutex_unlock(&sa.meta_lock);
    if (found != NULL) sa_meta_free(found);
}

sa_meta *sa_meta_take(void) {
    pthread_mutex_lock(&sa.meta_lock);
    sa_meta *first = sa.meta_first;
    sa.meta_first = sa.meta_last = NULL;
    pthread_mutex_unlock(&sa.meta_lock);
    return first;
}

void sa_meta_free(sa_meta *m) {
    free(m->name);
    free(m->group);
    free(m->class_name);
    free(m);
}

void sa_meta_forget(void) {
    for (sa_meta *m = sa_meta_take(), *next; m != NULL; m = next) {
        next = m->next;
        if (m->type == SA_META_CLASS || m->type == SA_META_EXECUTOR || m->type == SA_META_GONE)
            sa_meta_put(m); /* it keeps its number, and is described once */
        else
            sa_meta_free(m);
    }
}

void sa_refuse(const char *reason, const char *sample) {
    sa_meta *m = calloc(1, sizeof *m);
    if (m == NULL) {
        atomic_fetch_add(&sa.lost_refusals, 1);
        return;
    }
    m->type = SA_META_REFUSAL;
    m->name = strdup(reason);
    m->class_name = strdup(sample != NULL ? sample : "");
    sa_meta_put(m);
}
