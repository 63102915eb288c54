/* News for the Go side, in a list. */
#include "state_news.h"

#include <stdlib.h>

#include "state_counts.h"

static pthread_mutex_t news_lock = PTHREAD_MUTEX_INITIALIZER;
static sa_news *first_news, *last_news; /* under the lock */

void sa_news_put(sa_news *m) {
    m->next = NULL;
    pthread_mutex_lock(&news_lock);
    if (last_news == NULL)
        first_news = m;
    else
        last_news->next = m;
    last_news = m;
    pthread_mutex_unlock(&news_lock);
}

/* Takes m back, unless the Go side has it: then no record will name its id. */
void sa_news_withdraw(const sa_news *m, uint32_t id) {
    sa_news *before = NULL, *found = NULL;
    pthread_mutex_lock(&news_lock);
    for (found = first_news; found != NULL && (found != m || found->type != SA_NEWS_CLASS || found->id != id); found = found->next)
        before = found;
    if (found != NULL) {
        *(before == NULL ? &first_news : &before->next) = found->next;
        if (last_news == found) last_news = before;
    }
    pthread_mutex_unlock(&news_lock);
    if (found != NULL) sa_news_free(found);
}

sa_news *sa_news_take(void) {
    pthread_mutex_lock(&news_lock);
    sa_news *first = first_news;
    first_news = last_news = NULL;
    pthread_mutex_unlock(&news_lock);
    return first;
}

bool sa_news_waiting(void) {
    pthread_mutex_lock(&news_lock);
    bool some = first_news != NULL;
    pthread_mutex_unlock(&news_lock);
    return some;
}

void sa_news_free(sa_news *m) {
    free(m->name);
    free(m->group);
    free(m->class_name);
    free(m->made_class);
    free(m->made_method);
    free(m->made_file);
    free(m->queue);
    free(m);
}

void sa_news_forget(void) {
    for (sa_news *m = sa_news_take(), *next; m != NULL; m = next) {
        next = m->next;
        if (m->type == SA_NEWS_CLASS || m->type == SA_NEWS_EXECUTOR || m->type == SA_NEWS_UNLOADED)
            sa_news_put(m); /* it keeps its number and is described once */
        else
            sa_news_free(m);
    }
}

void sa_refuse(const char *reason, const char *sample) {
    sa_news *m = calloc(1, sizeof *m);
    if (m == NULL) {
        atomic_fetch_add(&sa_losses.lost_refusals, 1);
        return;
    }
    m->type = SA_NEWS_REFUSAL;
    m->name = strdup(reason);
    m->class_name = strdup(sample != NULL ? sample : "");
    sa_news_put(m);
}
