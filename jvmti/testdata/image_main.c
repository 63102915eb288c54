/* Reads names of classes from standard input, one a line, and prints the task kinds of
 * each according to the JDK's image, or "unknown". The argument is the JDK's lib
 * folder. */
#include "../class_image.c"

sa_state sa;

const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; } /* libjvm.so leaves some */

int main(int argc, char **argv) {
    char jvm[PATH_MAX]; /* libjimage.so wants it loaded */
    if (argc != 2 || snprintf(jvm, sizeof jvm, "%s/server/libjvm.so", argv[1]) >= (int)sizeof jvm) return 2;
    if (dlopen(jvm, RTLD_LAZY | RTLD_GLOBAL) == NULL || !open_in(argv[1])) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    char name[600];
    while (fgets(name, sizeof name, stdin) != NULL) {
        name[strcspn(name, "\n")] = 0;
        uint16_t kinds = 0;
        if (kinds_of_image(name, &kinds, MAX_LEVELS))
            printf("%d\n", kinds);
        else
            puts("unknown");
        fflush(stdout);
    }
    return 0;
}
