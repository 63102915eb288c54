/* Writes the length of the code of every method that the JVM has now into the
 * file that the options name: a line "Lclass;name(descriptor) length" each. */
#include <jvmti.h>
#include <stdio.h>

static void method(jvmtiEnv *jvmti, FILE *out, const char *class_name, jmethodID m) {
    char *name, *descriptor;
    unsigned char *code;
    jint length;
    if ((*jvmti)->GetBytecodes(jvmti, m, &length, &code) != JVMTI_ERROR_NONE) return; /* native, or has none */
    if ((*jvmti)->GetMethodName(jvmti, m, &name, &descriptor, NULL) == JVMTI_ERROR_NONE) {
        fprintf(out, "%s%s%s %d\n", class_name, name, descriptor, (int)length);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)descriptor);
    }
    (*jvmti)->Deallocate(jvmti, code);
}

static void class(jvmtiEnv *jvmti, FILE *out, jclass c) {
    char *name;
    jmethodID *methods;
    jint count;
    if ((*jvmti)->GetClassSignature(jvmti, c, &name, NULL) != JVMTI_ERROR_NONE) return;
    if ((*jvmti)->GetClassMethods(jvmti, c, &count, &methods) == JVMTI_ERROR_NONE) { /* else it is not linked */
        for (jint i = 0; i < count; i++) method(jvmti, out, name, methods[i]);
        (*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)name);
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *file, void *reserved) {
    jvmtiEnv *jvmti;
    JNIEnv *jni;
    jvmtiCapabilities wanted = {.can_get_bytecodes = 1};
    jclass *classes;
    jint count;
    FILE *out = fopen(file, "w");
    (void)reserved;
    if (out == NULL || (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_1_2) != JNI_OK || (*vm)->GetEnv(vm, (void **)&jni, JNI_VERSION_1_6) != JNI_OK) return 11;
    if ((*jvmti)->AddCapabilities(jvmti, &wanted) != JVMTI_ERROR_NONE) return 12;
    if ((*jvmti)->GetLoadedClasses(jvmti, &count, &classes) != JVMTI_ERROR_NONE) return 13;
    for (jint i = 0; i < count; i++) {
        class(jvmti, out, classes[i]);
        (*jni)->DeleteLocalRef(jni, classes[i]);
    }
    (*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
    if (fclose(out) != 0) return 14;
    return (*jvmti)->DisposeEnvironment(jvmti) == JVMTI_ERROR_NONE ? 0 : 15;
}
