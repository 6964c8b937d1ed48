/* Memory that runs out for one library of the process, for test_shortage.py.
 *
 * Loaded before the C library (LD_PRELOAD). short_of(name) says whose allocations count: those called from the mapped
 * code of the file whose path ends so. short_arm(n, least, reserve) starts counting its allocations of at least `least`
 * bytes: the n-th and all that follow fail, until it frees a block of at least `reserve` bytes (with 0: until
 * short_end). short_end() stops that and says how many there were; short_failed() how many of them failed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static char *first, *last;
static atomic_long count, failed;
static atomic_int armed;
static long at;
static size_t smallest, held;

static int find(struct dl_phdr_info *info, size_t size, void *name) {
    size_t have = strlen(info->dlpi_name), want = strlen(name);
    (void)size;
    if (have < want || strcmp(info->dlpi_name + have - want, name)) return 0;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[k];
        char *start = (char *)(info->dlpi_addr + part->p_vaddr);
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        if (!first || start < first) first = start;
        if (start + part->p_memsz > last) last = start + part->p_memsz;
    }
    return 1;
}

int short_of(const char *name) {
    first = last = NULL;
    return dl_iterate_phdr(find, (void *)name);
}

void short_arm(long n, size_t least, size_t reserve) {
    at = n;
    smallest = least;
    held = reserve;
    count = failed = 0;
    armed = 1;
}
long short_end(void) { armed = 0; return count; }
long short_failed(void) { return failed; }

#define OURS ((char *)__builtin_return_address(0) >= first && (char *)__builtin_return_address(0) < last)

static int fails(size_t size) {
    if (size < smallest || atomic_fetch_add(&count, 1) + 1 < at) return 0;
    atomic_fetch_add(&failed, 1);
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t n) { return armed && OURS && fails(n) ? NULL : __libc_malloc(n); }
void *calloc(size_t k, size_t n) { return armed && OURS && fails(k * n) ? NULL : __libc_calloc(k, n); }
void *realloc(void *old, size_t n) { return armed && OURS && fails(n) ? NULL : __libc_realloc(old, n); }
void *aligned_alloc(size_t a, size_t n) { return armed && OURS && fails(n) ? NULL : __libc_memalign(a, n); }
int posix_memalign(void **out, size_t a, size_t n) {
    if (armed && OURS && fails(n)) return ENOMEM;
    *out = __libc_memalign(a, n);
    return *out ? 0 : ENOMEM;
}
void free(void *old) {
    if (armed && held && old && OURS && malloc_usable_size(old) >= held) armed = 0;
    __libc_free(old);
}
