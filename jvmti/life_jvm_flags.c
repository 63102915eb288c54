/* The JVM's own flags, wherever they are set (command line, variables, files), read
 * like the JDK's serviceability agent does: HotSpot exports a table of its structures.
 * A JVM without that table has no such flags. */
#include <dlfcn.h>

#include "life.h"

static void *symbol(void *jvm, const char *name) {
    void *at = dlsym(jvm, name);
    return at == NULL ? NULL : *(void **)at;
}

static uint64_t number(void *jvm, const char *name) {
    void *at = dlsym(jvm, name);
    return at == NULL ? 0 : *(uint64_t *)at;
}

static const char *text_at(const char *entry, uint64_t offset) {
    const char *text = *(const char *const *)(entry + offset);
    return text == NULL ? "" : text;
}

/* The entry of JVMFlag.field in gHotSpotVMStructs; NULL: there is none. */
static const char *member(void *jvm, const char *field) {
    const char *e = symbol(jvm, "gHotSpotVMStructs");
    uint64_t type = number(jvm, "gHotSpotVMStructEntryTypeNameOffset"), name = number(jvm, "gHotSpotVMStructEntryFieldNameOffset"),
             stride = number(jvm, "gHotSpotVMStructEntryArrayStride");
    for (; e != NULL && stride != 0 && *text_at(e, type) != 0; e += stride)
        if (strcmp(text_at(e, type), "JVMFlag") == 0 && strcmp(text_at(e, name), field) == 0) return e;
    return NULL;
}

static uint64_t flag_size(void *jvm) {
    const char *e = symbol(jvm, "gHotSpotVMTypes");
    uint64_t name = number(jvm, "gHotSpotVMTypeEntryTypeNameOffset"), size = number(jvm, "gHotSpotVMTypeEntrySizeOffset"),
             stride = number(jvm, "gHotSpotVMTypeEntryArrayStride");
    for (; e != NULL && stride != 0 && *text_at(e, name) != 0; e += stride)
        if (strcmp(text_at(e, name), "JVMFlag") == 0) return *(const uint64_t *)(e + size);
    return 0;
}

/* The address of a flag's value; NULL: this JVM has no such flag. */
static const void *flag_in(void *jvm, const char *wanted) {
    const char *flags = member(jvm, "flags"), *count = member(jvm, "numFlags"), *name = member(jvm, "_name"), *value = member(jvm, "_addr");
    uint64_t size = flag_size(jvm), address = number(jvm, "gHotSpotVMStructEntryAddressOffset"),
             offset = number(jvm, "gHotSpotVMStructEntryOffsetOffset");
    if (flags == NULL || count == NULL || name == NULL || value == NULL || size == 0) return NULL;
    const char *flag = **(const char ***)(flags + address);
    uint64_t n = **(const uint64_t *const *)(count + address);
    uint64_t name_at = *(const uint64_t *)(name + offset), value_at = *(const uint64_t *)(value + offset);
    for (uint64_t i = 0; i < n; i++, flag += size)
        if (strcmp(text_at(flag, name_at), wanted) == 0) return *(const void *const *)(flag + value_at);
    return NULL;
}

/* The text of a flag; NULL: it is not set. */
static const char *flag_text(void *jvm, const char *name) {
    const char *const *value = flag_in(jvm, name);
    return value == NULL || *value == NULL || **value == 0 ? NULL : *value;
}

/* The flag by which this JVM writes its classes for later runs; NULL: it does not.
 * Such a file must not contain probes, and the JVM crashes when it writes them. */
static const char *training_flag(void *jvm) {
    static const char *const outputs[] = {"AOTCacheOutput", "ArchiveClassesAtExit"};
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++)
        if (flag_text(jvm, outputs[i]) != NULL) return outputs[i];
    const char *mode = flag_text(jvm, "AOTMode");
    return mode != NULL && (strcmp(mode, "record") == 0 || strcmp(mode, "create") == 0) ? "AOTMode" : NULL;
}

bool sa_training(JavaVM *vm) {
    Dl_info info;
    if (dladdr(*(void **)&(*vm)->GetEnv, &info) == 0 || info.dli_fname == NULL) return false;
    void *jvm = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (jvm == NULL) return false;
    const char *flag = training_flag(jvm);
    dlclose(jvm); /* it stays loaded */
    if (flag == NULL) return false;
    char line[160];
    snprintf(line, sizeof line, "-XX:%s makes this a training run, whose result must not hold probes; the program runs without profiling", flag);
    sa_say(line);
    return true;
}
