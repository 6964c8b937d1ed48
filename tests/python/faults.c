/* Calls of the C library that change files, of which the n-th fails or is the last: for test_faults.py.
 *
 * Loaded before the C library (LD_PRELOAD). fault_arm(n, kind) starts counting; fault_count() says how many calls
 * there were. Kinds: an errno, which the n-th call and all that follow (of a full disk, say) return; KILL, the process
 * is killed instead of the call; HALF, a write is cut in half and the process killed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { KILL = -1, HALF = -2 };

static int at, kind, count, armed;

void fault_arm(int n, int how) { at = n; kind = how; count = 0; armed = 1; }
int fault_count(void) { armed = 0; return count; }

/* Does this call fail? */
static int fails(void) {
    if (!armed || ++count < at) return 0;
    if (kind < 0) {
        if (count == at) kill(getpid(), SIGKILL);
        return 0;
    }
    if (kind == EINTR && count > at) return 0;
    errno = kind;
    return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define PASS(result, name, parameters, arguments)                                                                    \
    result name parameters { return fails() ? -1 : REAL(name) arguments; }

ssize_t write(int fd, const void *bytes, size_t length) {
    /* The terminal and pipes are none of our files. */
    struct stat about;
    if (fstat(fd, &about) || !S_ISREG(about.st_mode)) return REAL(write)(fd, bytes, length);
    if (armed && kind == HALF && count + 1 == at && length > 1) REAL(write)(fd, bytes, length / 2);
    return fails() ? -1 : REAL(write)(fd, bytes, length);
}
PASS(ssize_t, pwrite, (int fd, const void *b, size_t n, off_t o), (fd, b, n, o))
PASS(ssize_t, pwrite64, (int fd, const void *b, size_t n, off64_t o), (fd, b, n, o))
PASS(int, fsync, (int fd), (fd))
PASS(int, fdatasync, (int fd), (fd))
PASS(int, ftruncate, (int fd, off_t n), (fd, n))
PASS(int, ftruncate64, (int fd, off64_t n), (fd, n))
PASS(int, fallocate, (int fd, int m, off_t o, off_t n), (fd, m, o, n))
PASS(int, fallocate64, (int fd, int m, off64_t o, off64_t n), (fd, m, o, n))
PASS(int, rename, (const char *a, const char *b), (a, b))
PASS(int, renameat, (int d, const char *a, int e, const char *b), (d, a, e, b))
PASS(int, renameat2, (int d, const char *a, int e, const char *b, unsigned f), (d, a, e, b, f))
PASS(int, chmod, (const char *p, mode_t m), (p, m))
PASS(int, fchmod, (int fd, mode_t m), (fd, m))
PASS(int, fchmodat, (int d, const char *p, mode_t m, int f), (d, p, m, f))

/* Only files that may be created or written to. */
#define OPEN(name, parameters, first)                                                                                \
    int name parameters {                                                                                            \
        va_list rest;                                                                                                \
        va_start(rest, flags);                                                                                       \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                    \
        va_end(rest);                                                                                                \
        if ((flags & O_ACCMODE) != O_RDONLY && fails()) return -1;                                                   \
        return REAL(name) first;                                                                                     \
    }
OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, (int d, const char *path, int flags, ...), (d, path, flags, mode))
OPEN(openat64, (int d, const char *path, int flags, ...), (d, path, flags, mode))
