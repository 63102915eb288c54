/* Reads class files from standard input, each behind its length (32 bits,
 * little endian), and prints for each what the header says. */
#include <stdio.h>
#include <stdlib.h>

#include "../class_header.h"

int main(void) {
    uint32_t len;
    while (fread(&len, sizeof len, 1, stdin) == 1) {
        unsigned char *bytes = malloc(len > 0 ? len : 1); /* its own block: a read beyond it is seen */
        if (bytes == NULL || fread(bytes, 1, len, stdin) != len) return 1;
        sa_header *h = malloc(sizeof *h);
        if (h == NULL) return 1;
        if (!sa_read_header_sites(bytes, len, h)) {
            puts("bad");
        } else {
            printf("%s %d %d", h->name, h->executions << 2 | h->sites << 1 | h->is_final, h->complete);
            for (uint32_t i = 0; i < h->super_count; i++) printf(" %s", h->supers[i].name);
            putchar('\n');
        }
        fflush(stdout);
        free(h);
        free(bytes);
    }
    return 0;
}
