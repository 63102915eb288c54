/* Retransforms classes in few operations of the JVM, whichever of them it refuses.
 *
 * An operation stops the program; a call that the JVM refuses does not. The JVM loads, links and verifies the new
 * versions one after another in the calling thread, gives up at the first that fails, and commits nothing. It names no
 * class, but it has asked for the bytes of each before: the last one that it asked for is the one it refuses, and it
 * takes those before. So each refused class costs one call, in which the program runs on. n classes in batches of b
 * take n / b + 2 operations at most.
 *
 * Before it asks for the first, the JVM puts together the bytes of all classes of a call. So once it has refused a class,
 * few are tried at a time, with that one behind them: it refuses such a call in any case, which stops nothing, and says
 * by what it has asked for whether it takes the others.
 *
 * Newer JVMs link all classes before they ask for the bytes of any. Then the refused class is among those that are not
 * linked after the call, which are tried by halves. */
#include <stdlib.h>

#include "class.h"
#include "state_news.h"

void (*sa_stopped)(uint64_t from, uint64_t to);

/* The call under way on this thread. */
static SA_TLS struct {
    const jclass *classes;
    jint n, asked; /* so many of them the JVM has asked for */
    uint64_t last; /* when it asked for the last; before, when the call began */
} call;

void sa_retransform_asked(JNIEnv *env, jclass c) {
    /* Another agent may retransform others meanwhile, on this thread. */
    if (call.asked >= call.n || !(*env)->IsSameObject(env, c, call.classes[call.asked])) return;
    call.asked++;
    call.last = sa_ticks(&sa.clock);
}

static jvmtiError attempt(jint n, const jclass *classes) {
    call.classes = classes;
    call.n = n;
    call.asked = 0;
    call.last = sa_ticks(&sa.clock);
    jvmtiError e = (*sa.jvmti)->RetransformClasses(sa.jvmti, n, classes);
    call.n = 0;
    if (e == JVMTI_ERROR_NONE) sa_stopped(call.last, sa_ticks(&sa.clock));
    return e;
}

static void refuse(jvmtiError e, jint n, const jclass *classes) {
    char reason[64];
    snprintf(reason, sizeof reason, "retransformation refused by the JVM (%d)", e);
    for (jint i = 0; i < n; i++) {
        char *name = sa_class_name_as_loaded(classes[i]);
        sa_refuse(reason, name);
        free(name);
    }
}

static void swap(jclass *a, jclass *b) {
    jclass c = *a;
    *a = *b;
    *b = c;
}

/* Can c be why the JVM refuses a call before it asks for bytes? */
static bool suspect(jclass c) {
    jint status = 0;
    return (*sa.jvmti)->GetClassStatus(sa.jvmti, c, &status) != JVMTI_ERROR_NONE || (status & JVMTI_CLASS_STATUS_PREPARED) == 0;
}

/* Moves the suspects to the front, in their order: the first that the JVM links is the refused one. Returns how many to
 * try next, fewer than n. */
static jint narrow(jint n, jclass *classes) {
    jint suspects = 0;
    for (jint i = 0; i < n; i++) {
        jclass c = classes[i];
        if (!suspect(c)) continue;
        memmove(&classes[suspects + 1], &classes[suspects], (size_t)(i - suspects) * sizeof c);
        classes[suspects++] = c;
    }
    return suspects == 0 ? n / 2 : suspects == 1 ? 1 : suspects / 2;
}

/* As many are tried at a time with a refused class behind them. */
enum { FEW = 32 };

/* Tries the classes with one behind them that the JVM refuses. */
static jvmtiError attempt_before(jclass refused, jint n, const jclass *classes) {
    jclass with[FEW + 1];
    memcpy(with, classes, (size_t)n * sizeof *with);
    with[n] = refused;
    return attempt(n + 1, with);
}

/* Tries each class once. Returns how many the JVM takes, but has not changed because it refused one behind them; they
 * are moved to the front. again: it has taken all of these before. */
static jint try_all(jint batch, jint n, jclass *classes, bool again) {
    jint left = 0;
    jclass refused = NULL;
    for (jint at = 0, many; at < n; at += many) {
        many = n - at < batch ? n - at : batch;
        jvmtiError e;
        if (refused != NULL) {
            if (many > FEW) many = FEW;
            e = attempt_before(refused, many, classes + at);
            if (e == JVMTI_ERROR_NONE) continue; /* it takes that one now, too */
            if (call.asked == 0) { /* nothing is known of these: by the other way */
                refused = NULL;
                many = 0;
                continue;
            }
            if (call.asked <= many) {
                many = call.asked;
                refuse(e, 1, classes + at + --call.asked);
            } else {
                call.asked = many;
            }
            for (jint i = 0; i < call.asked; i++) swap(&classes[left++], &classes[at + i]);
            continue;
        }
        while ((e = attempt(many, classes + at)) != JVMTI_ERROR_NONE && call.asked == 0 && many > 1) many = narrow(many, classes + at);
        if (e == JVMTI_ERROR_NONE) continue;
        if (again && call.asked == many) { /* it is the operation that fails, and has stopped the program */
            refuse(e, many, classes + at);
            continue;
        }
        if (0 < call.asked && call.asked < many && !again) refused = classes[at + call.asked - 1]; /* else it may be the operation */
        many = call.asked > 0 ? call.asked : 1;
        refuse(e, 1, classes + at + many - 1);
        for (jint i = 0; i < many - 1; i++) swap(&classes[left++], &classes[at + i]);
    }
    return left;
}

void sa_retransform(jint batch, jint n, jclass *classes) {
    for (bool again = false; n > 0; again = true) n = try_all(batch, n, classes, again);
}
