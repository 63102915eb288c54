/* The kinds of the JDK's own classes, read from the JDK's class image with the JVM's
 * own reader (libjimage.so, which the JVM has loaded). No class is loaded for it, no
 * Java code runs, and no thread changes its state. If that reader is missing or
 * different, the answer is "unknown", and the Go side finds out by itself. */
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include "class_header.h"

/* The interface of libjimage (src/java.base/share/native/libjimage/jimage.hpp). */
static struct {
    void *file; /* NULL: not available */
    void *(*open)(const char *path, jint *error);
    const char *(*module_of)(void *file, const char *package);
    jlong (*find)(void *file, const char *module, const char *version, const char *name, jlong *size);
    jlong (*get)(void *file, jlong location, char *out, jlong size);
} image;

static pthread_once_t image_once = PTHREAD_ONCE_INIT;

enum { MAX_CLASS_BYTES = 8 << 20, MAX_LEVELS = 64, SLOTS = 4096 };

/* ---- known answers ---- */

static struct {
    char *name;
    uint16_t kinds;
} cache[SLOTS];
static unsigned cache_used;
static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;

/* The slot of name, or the empty one where it belongs. The caller holds the lock. */
static unsigned slot_of(const char *name) {
    uint32_t h = 2166136261u;
    for (const char *s = name; *s != 0; s++) h = (h ^ (uint8_t)*s) * 16777619u;
    unsigned at = h % SLOTS;
    while (cache[at].name != NULL && strcmp(cache[at].name, name) != 0) at = (at + 1) % SLOTS;
    return at;
}

static bool recall(const char *name, uint16_t *kinds) {
    pthread_mutex_lock(&cache_lock);
    unsigned at = slot_of(name);
    bool found = cache[at].name != NULL;
    if (found) *kinds = cache[at].kinds;
    pthread_mutex_unlock(&cache_lock);
    return found;
}

static void keep(const char *name, uint16_t kinds) {
    pthread_mutex_lock(&cache_lock);
    unsigned at = slot_of(name);
    if (cache[at].name == NULL && cache_used < SLOTS / 2 && (cache[at].name = strdup(name)) != NULL) {
        cache[at].kinds = kinds;
        cache_used++;
    }
    pthread_mutex_unlock(&cache_lock);
}

/* ---- the image ---- */

/* The bytes of a class, malloc'ed, or NULL. */
static unsigned char *class_bytes(const char *name, uint32_t *len) {
    char package[512];
    const char *slash = strrchr(name, '/');
    size_t n = slash == NULL ? 0 : (size_t)(slash - name);
    if (n == 0 || n >= sizeof package) return NULL;
    memcpy(package, name, n);
    package[n] = 0;
    const char *module = image.module_of(image.file, package);
    char file[520];
    if (module == NULL || snprintf(file, sizeof file, "%s.class", name) >= (int)sizeof file) return NULL;
    jlong size = 0;
    jlong location = image.find(image.file, module, "9.0", file, &size);
    if (location == 0 || size <= 0 || size > MAX_CLASS_BYTES) return NULL;
    unsigned char *bytes = malloc((size_t)size);
    if (bytes == NULL) return NULL;
    if (image.get(image.file, location, (char *)bytes, size) != size) {
        free(bytes);
        return NULL;
    }
    *len = (uint32_t)size;
    return bytes;
}

/* The header of class `name` in the image; NULL: it is not there. */
static sa_header *image_header(const char *name) {
    uint32_t len = 0;
    unsigned char *bytes = class_bytes(name, &len);
    if (bytes == NULL) return NULL;
    sa_header *h = malloc(sizeof *h);
    if (h != NULL && (!sa_read_header(bytes, len, h) || !h->complete || strcmp(h->name, name) != 0)) {
        free(h);
        h = NULL;
    }
    free(bytes);
    return h;
}

static bool open_in(const char *lib) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/libjimage.so", lib) >= (int)sizeof path) return false;
    void *reader = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (reader == NULL) return false;
    *(void **)&image.open = dlsym(reader, "JIMAGE_Open");
    *(void **)&image.module_of = dlsym(reader, "JIMAGE_PackageToModule");
    *(void **)&image.find = dlsym(reader, "JIMAGE_FindResource");
    *(void **)&image.get = dlsym(reader, "JIMAGE_GetResource");
    if (image.open == NULL || image.module_of == NULL || image.find == NULL || image.get == NULL) return false;
    jint error = 0;
    if (snprintf(path, sizeof path, "%s/modules", lib) >= (int)sizeof path) return false;
    image.file = image.open(path, &error);
    return image.file != NULL;
}

/* Finds lib from the path of lib/server/libjvm.so. */
static void open_image(void) {
    Dl_info jvm;
    char lib[PATH_MAX];
    if (dladdr(*(void **)&(*sa.vm)->GetEnv, &jvm) == 0 || realpath(jvm.dli_fname, lib) == NULL) return;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(lib, '/');
        if (slash == NULL) return;
        *slash = 0;
    }
    if (!open_in(lib)) {
        image.file = NULL;
        return;
    }
    /* Does this reader have the expected interface? */
    sa_header *h = image_header("java/lang/Thread");
    if (h == NULL || h->super_count == 0 || strcmp(h->supers[0].name, "java/lang/Object") != 0) image.file = NULL;
    free(h);
}

/* ---- kinds ---- */

static bool kinds_of_image(const char *name, uint16_t *kinds, int levels) {
    uint16_t all = sa_kinds_by_name(name);
    if (all != 0 || strcmp(name, "java/lang/Object") == 0) {
        *kinds = all;
        return true;
    }
    if (recall(name, kinds)) return true;
    if (levels == 0) return false;
    sa_header *h = image_header(name);
    bool ok = h != NULL;
    for (uint32_t i = 0; ok && i < h->super_count; i++) {
        uint16_t inherited = 0;
        ok = kinds_of_image(h->supers[i].name, &inherited, levels - 1);
        all |= inherited;
    }
    free(h);
    if (!ok) return false;
    keep(name, all);
    *kinds = all;
    return true;
}

bool sa_image_kinds(const char *name, uint16_t *kinds) {
    pthread_once(&image_once, open_image);
    return image.file != NULL && kinds_of_image(name, kinds, MAX_LEVELS);
}
