/* Native threads that attach to the JVM, execute a task, and detach, or end without that. */
#include <jni.h>
#include <pthread.h>
#include <stdlib.h>

static JavaVM *vm;
static jclass main_class;
static jmethodID job;
static int times;
static jboolean leaving;

static void *work(void *unused) {
    (void)unused;
    for (int i = 0; i < times; i++) {
        JNIEnv *env = NULL;
        /* The JVM waits at its end for threads that never detach, unless they are daemons. */
        jint attached = leaving ? (*vm)->AttachCurrentThread(vm, (void **)&env, NULL)
                                : (*vm)->AttachCurrentThreadAsDaemon(vm, (void **)&env, NULL);
        if (attached != JNI_OK) abort();
        (*env)->CallStaticVoidMethod(env, main_class, job);
        if (leaving && (*vm)->DetachCurrentThread(vm) != JNI_OK) abort();
    }
    return NULL;
}

JNIEXPORT void JNICALL Java_Main_attached(JNIEnv *env, jclass c, jint threads, jint n, jboolean leave) {
    pthread_t all[1024];
    (*env)->GetJavaVM(env, &vm);
    main_class = (*env)->NewGlobalRef(env, c);
    job = (*env)->GetStaticMethodID(env, c, "job", "()V");
    times = n;
    leaving = leave;
    for (int from = 0; from < threads; from += 64) {
        int some = threads - from < 64 ? threads - from : 64;
        for (int i = 0; i < some; i++)
            if (pthread_create(&all[i], NULL, work, NULL) != 0) abort();
        for (int i = 0; i < some; i++) pthread_join(all[i], NULL);
    }
}
