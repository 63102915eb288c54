/* Natives of the JDK in which a platform thread sleeps or waits for a file descriptor, or asks for a collection. When one is bound, the agent
 * puts its own function before it, which measures the call. A virtual thread enters them only where it keeps its carrier. */
#include <dlfcn.h>

#include "class.h"
#include "life.h"
#include "probe.h"
#include "probe_waits.h"

typedef struct {
    JNIEnv *env;
    uint64_t from;
    int kind, flags;
} call;

/* Its state; NULL: it has none. *thread is to be deleted. */
static sa_thread *current(JNIEnv *env, jthread *thread) {
    *thread = NULL;
    return (*sa.jvmti)->GetCurrentThread(sa.jvmti, thread) == JVMTI_ERROR_NONE && *thread != NULL ? sa_context_of(env, *thread) : NULL;
}

/* A thread that sleeps when the session ends has an open wait. */
static uint64_t begins(JNIEnv *env, int kind, int flags) {
    uint64_t from = sa_native_begin();
    if (from == 0 || kind != SA_WAIT_FOR_SLEEP) return from;
    jthread thread;
    sa_thread *t = current(env, &thread);
    if (t != NULL) sa_wait_begin(t, kind, flags);
    (*env)->DeleteLocalRef(env, thread);
    return from;
}

/* The native has returned, perhaps with an exception. */
static void over(call *c) {
    if (!sa_native_end(c->from, c->kind)) return;
    JNIEnv *env = c->env;
    jthrowable thrown = (*env)->ExceptionOccurred(env);
    if (thrown != NULL) (*env)->ExceptionClear(env);
    jthread thread;
    sa_thread *t = current(env, &thread);
    if (t != NULL) sa_native_waited(env, t, c->from, c->kind, c->flags);
    (*env)->DeleteLocalRef(env, thread);
    if (thrown != NULL) (*env)->Throw(env, thrown);
    (*env)->DeleteLocalRef(env, thrown);
}

/* The agent's function before a native, and where the native itself is. */
#define BEFORE(id, result, parameters, arguments, kind, flags)                                                         \
    static result(JNICALL *id##_native) parameters;                                                                     \
    static result JNICALL id parameters {                                                                               \
        __attribute__((cleanup(over))) call it = {env, begins(env, kind, flags), kind, flags};                        \
        return id##_native arguments;                                                                                   \
    }

#define IO(id, result, parameters, arguments, what) BEFORE(id, result, parameters, arguments, SA_WAIT_FOR_IO, what)
#define SOCKET(id, result, parameters, arguments) IO(id, result, parameters, arguments, SA_WAIT_SOCKET)
#define STREAM(id, result, parameters, arguments) IO(id, result, parameters, arguments, SA_WAIT_FILE)
#define SLEEP(id) BEFORE(id, void, (JNIEnv * env, jclass c, jlong time), (env, c, time), SA_WAIT_FOR_SLEEP, SA_WAIT_TIMED)
#define TRANSFER(id, count, what) IO(id, count, (JNIEnv * env, jclass c, jobject fd, jlong at, jint n), (env, c, fd, at, n), what)
#define AT(id) STREAM(id, jint, (JNIEnv * env, jclass c, jobject fd, jlong at, jint n, jlong position), (env, c, fd, at, n, position))
#define BYTE(id) STREAM(id, jint, (JNIEnv * env, jobject o), (env, o))
#define BYTES(id, count) STREAM(id, count, (JNIEnv * env, jobject o, jbyteArray bytes, jint at, jint n), (env, o, bytes, at, n))

SLEEP(sleep_millis)
SLEEP(sleep_zero)
SLEEP(sleep_nanos)
TRANSFER(socket_read, jint, SA_WAIT_SOCKET)
TRANSFER(socket_readv, jlong, SA_WAIT_SOCKET)
TRANSFER(socket_write, jint, SA_WAIT_SOCKET)
TRANSFER(socket_writev, jlong, SA_WAIT_SOCKET)
TRANSFER(datagram_read, jint, SA_WAIT_SOCKET)
TRANSFER(datagram_readv, jlong, SA_WAIT_SOCKET)
TRANSFER(datagram_write, jint, SA_WAIT_SOCKET)
TRANSFER(datagram_writev, jlong, SA_WAIT_SOCKET)
TRANSFER(file_read, jint, SA_WAIT_FILE)
TRANSFER(file_readv, jlong, SA_WAIT_FILE)
TRANSFER(file_write, jint, SA_WAIT_FILE)
TRANSFER(file_writev, jlong, SA_WAIT_FILE)
AT(file_read_at)
AT(file_write_at)
IO(file_force, jint, (JNIEnv * env, jclass c, jobject fd, jboolean metadata), (env, c, fd, metadata), SA_WAIT_FORCE)
IO(file_sync, void, (JNIEnv * env, jobject o), (env, o), SA_WAIT_FORCE)
IO(map_force, void, (JNIEnv * env, jclass c, jobject fd, jlong at, jlong n), (env, c, fd, at, n), SA_WAIT_FORCE)
STREAM(file_lock, jint, (JNIEnv * env, jclass c, jobject fd, jboolean wait, jlong at, jlong n, jboolean shared), (env, c, fd, wait, at, n, shared))
BYTE(stream_read)
BYTES(stream_bytes, jint)
STREAM(stream_write, void, (JNIEnv * env, jobject o, jint byte, jboolean append), (env, o, byte, append))
STREAM(stream_put, void, (JNIEnv * env, jobject o, jbyteArray bytes, jint at, jint n, jboolean append), (env, o, bytes, at, n, append))
BYTE(random_read)
BYTES(random_bytes, jint)
STREAM(random_write, void, (JNIEnv * env, jobject o, jint byte), (env, o, byte))
BYTES(random_put, void)
BEFORE(poll_ready, jint, (JNIEnv * env, jclass c, jobject fd, jint events, jlong ms), (env, c, fd, events, ms), SA_WAIT_FOR_IO, SA_WAIT_SOCKET | (ms >= 0 ? SA_WAIT_TIMED : 0))
BEFORE(poll_connect, jboolean, (JNIEnv * env, jclass c, jobject fd, jlong ms), (env, c, fd, ms), SA_WAIT_FOR_IO, SA_WAIT_SOCKET | (ms >= 0 ? SA_WAIT_TIMED : 0))
SOCKET(net_connect, jint, (JNIEnv * env, jclass c, jboolean v6, jobject fd, jobject to, jint port), (env, c, v6, fd, to, port))
SOCKET(net_accept, jint, (JNIEnv * env, jclass c, jobject fd, jobject made, jobjectArray from), (env, c, fd, made, from))
SOCKET(unix_connect, jint, (JNIEnv * env, jclass c, jobject fd, jbyteArray path), (env, c, fd, path))
SOCKET(unix_accept, jint, (JNIEnv * env, jclass c, jobject fd, jobject made, jobjectArray from), (env, c, fd, made, from))
SOCKET(receive, jint, (JNIEnv * env, jclass c, jobject fd, jlong at, jint n, jlong from, jboolean connected), (env, c, fd, at, n, from, connected))

static void(JNICALL *runtime_gc_native)(JNIEnv *env, jobject runtime);

/* Who asks for a collection is noted for its pauses. */
static void JNICALL runtime_gc(JNIEnv *env, jobject runtime) {
    jthread thread;
    sa_thread *t = current(env, &thread);
    uint64_t by = t == NULL ? 0 : sa_pause_ask(t);
    (*env)->DeleteLocalRef(env, thread);
    runtime_gc_native(env, runtime);
    sa_pause_asked(by);
}

#define SOCKETS "Lsun/nio/ch/SocketDispatcher;"
#define FILES "Lsun/nio/ch/FileDispatcherImpl;Lsun/nio/ch/UnixFileDispatcherImpl;" /* before JDK 21, and since */
#define DATAGRAMS "Lsun/nio/ch/DatagramDispatcher;"
#define RANDOM "Ljava/io/RandomAccessFile;"
#define OUTPUT "Ljava/io/FileOutputStream;"
#define NET "Lsun/nio/ch/Net;"
#define UNIX "Lsun/nio/ch/UnixDomainSockets;"
#define BYTES_OF_STREAM "([BII)"
#define TO_BUFFER "(Ljava/io/FileDescriptor;JI)I"
#define TO_BUFFERS "(Ljava/io/FileDescriptor;JI)J"
#define TO_BUFFER_AT "(Ljava/io/FileDescriptor;JIJ)I"

static const struct {
    const char *classes, *name, *signature;
    const char *symbol; /* of the JVM's function; NULL: the library's function is named after the method */
    void *before;
    void **native;
} natives[] = {
#define NATIVE(id, classes, name, signature, symbol) {classes, name, signature, symbol, (void *)id, (void **)&id##_native}
    NATIVE(sleep_millis, "Ljava/lang/Thread;", "sleep", "(J)V", "JVM_Sleep"),
    NATIVE(sleep_zero, "Ljava/lang/Thread;", "sleep0", "(J)V", "JVM_Sleep"), /* JDK 19 to 22 */
    NATIVE(sleep_nanos, "Ljava/lang/Thread;", "sleepNanos0", "(J)V", "JVM_SleepNanos"),
    NATIVE(runtime_gc, "Ljava/lang/Runtime;", "gc", "()V", NULL),
    NATIVE(socket_read, SOCKETS, "read0", TO_BUFFER, NULL),
    NATIVE(socket_readv, SOCKETS, "readv0", TO_BUFFERS, NULL),
    NATIVE(socket_write, SOCKETS, "write0", TO_BUFFER, NULL),
    NATIVE(socket_writev, SOCKETS, "writev0", TO_BUFFERS, NULL),
    NATIVE(datagram_read, DATAGRAMS, "read0", TO_BUFFER, NULL),
    NATIVE(datagram_readv, DATAGRAMS, "readv0", TO_BUFFERS, NULL),
    NATIVE(datagram_write, DATAGRAMS, "write0", TO_BUFFER, NULL),
    NATIVE(datagram_writev, DATAGRAMS, "writev0", TO_BUFFERS, NULL),
    NATIVE(file_read, FILES, "read0", TO_BUFFER, NULL),
    NATIVE(file_readv, FILES, "readv0", TO_BUFFERS, NULL),
    NATIVE(file_write, FILES, "write0", TO_BUFFER, NULL),
    NATIVE(file_writev, FILES, "writev0", TO_BUFFERS, NULL),
    NATIVE(file_read_at, FILES, "pread0", TO_BUFFER_AT, NULL),
    NATIVE(file_write_at, FILES, "pwrite0", TO_BUFFER_AT, NULL),
    NATIVE(file_force, FILES, "force0", "(Ljava/io/FileDescriptor;Z)I", NULL),
    NATIVE(file_sync, "Ljava/io/FileDescriptor;", "sync", "()V", NULL),
    NATIVE(file_sync, "Ljava/io/FileDescriptor;", "sync0", "()V", NULL), /* since JDK 21 */
    NATIVE(map_force, "Ljava/nio/MappedMemoryUtils;", "force0", "(Ljava/io/FileDescriptor;JJ)V", NULL),
    NATIVE(file_lock, FILES, "lock0", "(Ljava/io/FileDescriptor;ZJJZ)I", NULL),
    NATIVE(stream_read, "Ljava/io/FileInputStream;", "read0", "()I", NULL),
    NATIVE(stream_bytes, "Ljava/io/FileInputStream;", "readBytes", BYTES_OF_STREAM "I", NULL),
    NATIVE(stream_write, OUTPUT, "write", "(IZ)V", NULL),
    NATIVE(stream_put, OUTPUT, "writeBytes", "([BIIZ)V", NULL),
    NATIVE(random_read, RANDOM, "read0", "()I", NULL),
    NATIVE(random_bytes, RANDOM, "readBytes", BYTES_OF_STREAM "I", NULL),
    NATIVE(random_bytes, RANDOM, "readBytes0", BYTES_OF_STREAM "I", NULL), /* since JDK 21 */
    NATIVE(random_write, RANDOM, "write0", "(I)V", NULL),
    NATIVE(random_put, RANDOM, "writeBytes", BYTES_OF_STREAM "V", NULL),
    NATIVE(random_put, RANDOM, "writeBytes0", BYTES_OF_STREAM "V", NULL), /* since JDK 21 */
    NATIVE(poll_ready, NET, "poll", "(Ljava/io/FileDescriptor;IJ)I", NULL),
    NATIVE(poll_connect, NET, "pollConnect", "(Ljava/io/FileDescriptor;J)Z", NULL),
    NATIVE(net_connect, NET, "connect0", "(ZLjava/io/FileDescriptor;Ljava/net/InetAddress;I)I", NULL),
    NATIVE(net_accept, NET, "accept", "(Ljava/io/FileDescriptor;Ljava/io/FileDescriptor;[Ljava/net/InetSocketAddress;)I", NULL),
    NATIVE(unix_connect, UNIX, "connect0", "(Ljava/io/FileDescriptor;[B)I", NULL),
    NATIVE(unix_accept, UNIX, "accept0", "(Ljava/io/FileDescriptor;Ljava/io/FileDescriptor;[Ljava/lang/Object;)I", NULL),
    NATIVE(receive, "Lsun/nio/ch/DatagramChannelImpl;", "receive0", "(Ljava/io/FileDescriptor;JIJZ)I", NULL),
};
enum { NATIVES = sizeof natives / sizeof *natives };

static char *signature_of(jclass c) {
    char *signature = NULL;
    return (*sa.jvmti)->GetClassSignature(sa.jvmti, c, &signature, NULL) == JVMTI_ERROR_NONE ? signature : NULL;
}

static bool declares(jmethodID method, const char *classes) {
    jclass c = NULL;
    if ((*sa.jvmti)->GetMethodDeclaringClass(sa.jvmti, method, &c) != JVMTI_ERROR_NONE) return false;
    char *signature = signature_of(c);
    bool yes = signature != NULL && strstr(classes, signature) != NULL;
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)signature);
    return yes;
}

void sa_natives_bind(jmethodID method, const char *name, const char *signature, void *address, void **to) {
    for (size_t i = 0; i < NATIVES; i++) {
        if (strcmp(name, natives[i].name) != 0 || strcmp(signature, natives[i].signature) != 0) continue;
        if (address == natives[i].before || !declares(method, natives[i].classes)) continue;
        *natives[i].native = address;
        *to = natives[i].before;
    }
}

bool sa_natives_sleep(void) { return sleep_millis_native != NULL || sleep_zero_native != NULL || sleep_nanos_native != NULL; }

/* ---- after an attach: natives that are bound already ---- */

/* A function of the JVM or of the JDK's libraries. */
static void *function(size_t i, const char *class) {
    static const char *const libraries[] = {"libjvm.so", "libjava.so", "libnio.so", "libnet.so"};
    char symbol[128];
    snprintf(symbol, sizeof symbol, "Java_%.*s_%s", (int)strlen(class) - 2, class + 1, natives[i].name);
    for (char *p = symbol; *p != 0; p++)
        if (*p == '/') *p = '_';
    void *found = NULL;
    for (size_t k = 0; found == NULL && k < sizeof libraries / sizeof *libraries; k++) {
        void *library = dlopen(libraries[k], RTLD_LAZY | RTLD_NOLOAD);
        if (library == NULL) continue;
        found = dlsym(library, natives[i].symbol != NULL ? natives[i].symbol : symbol);
        dlclose(library); /* the JVM keeps it loaded */
    }
    return found;
}

static void register_before(JNIEnv *env, jclass c, size_t i, const char *class) {
    if (*natives[i].native == NULL) *natives[i].native = function(i, class);
    if (*natives[i].native == NULL) return;
    JNINativeMethod m = {(char *)natives[i].name, (char *)natives[i].signature, natives[i].before};
    (*env)->RegisterNatives(env, c, &m, 1);
    if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env); /* this JDK has no such method there */
}

/* Called by a class of the JDK's own loader: then the JVM does not warn. */
JNIEXPORT void JNICALL Java_java_lang_Stackagent_rebind0(JNIEnv *env, jclass helper, jclass c) {
    char *class = signature_of(c);
    for (size_t i = 0; class != NULL && i < NATIVES; i++)
        if (strstr(natives[i].classes, class) != NULL) register_before(env, c, i, class);
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)class);
}

static bool has_natives(jclass c) {
    char *class = signature_of(c);
    bool yes = false;
    for (size_t i = 0; class != NULL && class[0] == 'L' && i < NATIVES; i++) yes |= strstr(natives[i].classes, class) != NULL;
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)class);
    return yes;
}

void sa_natives_rebind(JNIEnv *env) {
    jmethodID rebind = (*env)->GetStaticMethodID(env, sa_helper.probes, "rebind", "(Ljava/lang/Class;)V");
    jclass *classes = NULL;
    jint n = 0;
    if (rebind == NULL || (*env)->PushLocalFrame(env, SA_MANY_REFS) != 0) {
        (*env)->ExceptionClear(env);
        return;
    }
    (*sa.jvmti)->GetLoadedClasses(sa.jvmti, &n, &classes);
    for (jint i = 0; i < n; i++) {
        if (!has_natives(classes[i])) continue;
        (*env)->CallStaticVoidMethod(env, sa_helper.probes, rebind, classes[i]);
        if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
    }
    (*sa.jvmti)->Deallocate(sa.jvmti, (unsigned char *)classes);
    (*env)->PopLocalFrame(env, NULL);
}
