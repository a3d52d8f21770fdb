/* Makes one call on a file fail, or ends the process there. Loaded with LD_PRELOAD by the tests.
 *
 * FAULT_ROOT  calls on files whose path begins with this are counted, and no others
 * FAULT_AT    the number of the call that fails; 0: only count
 * FAULT_KIND  eio: that call fails. full: that call and every later one that writes find no room.
 *             short: half of that write is done, then there is no room. kill: the process ends before that call.
 * FAULT_MARK  a file that gets a line when the fault has struck, with the call and the path
 */
#define _GNU_SOURCE
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *root, *kind, *mark;
static long at;
static atomic_long count;
static atomic_int struck;

__attribute__((constructor)) static void setup(void) {
  const char *number = getenv("FAULT_AT");
  root = getenv("FAULT_ROOT");
  kind = getenv("FAULT_KIND");
  mark = getenv("FAULT_MARK");
  at = number ? atol(number) : 0;
}

static int counted(const char *path) { return root && kind && path && strncmp(path, root, strlen(root)) == 0; }

static int counted_fd(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return counted(path);
}

static void note(const char *call, const char *path) {
  char line[PATH_MAX + 64];
  if (!mark) return;
  int length = snprintf(line, sizeof line, "%s %s\n", call, path);
  int fd = syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (fd >= 0) {
    syscall(SYS_write, fd, line, (size_t)length);
    syscall(SYS_close, fd);
  }
}

enum verdict { GO_ON, FAIL, HALF };

/* What becomes of this call. `errno` is set where it fails. */
static enum verdict judge(const char *call, const char *path, int takes_room) {
  long number = atomic_fetch_add(&count, 1) + 1;
  if (at == 0 || number < at) return GO_ON;
  int eio = strcmp(kind, "eio") == 0;
  if (number > at && (eio || !takes_room || !struck)) return GO_ON;
  if (number == at) {
    note(call, path);
    if (strcmp(kind, "kill") == 0) {
      syscall(SYS_kill, getpid(), SIGKILL);
      for (;;) pause();
    }
    atomic_store(&struck, 1);
  }
  errno = eio ? EIO : ENOSPC;
  if (eio || takes_room) return number == at && strcmp(kind, "short") == 0 ? HALF : FAIL;
  return GO_ON;
}

#define REAL(type, name, ...) \
  static type (*real)(__VA_ARGS__); \
  if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

ssize_t write(int fd, const void *bytes, size_t size) {
  REAL(ssize_t, "write", int, const void *, size_t);
  char path[PATH_MAX];
  switch (counted_fd(fd, path) ? judge("write", path, 1) : GO_ON) {
    case FAIL: return -1;
    case HALF: return size > 1 ? real(fd, bytes, size / 2) : -1;
    case GO_ON: break;
  }
  return real(fd, bytes, size);
}

#define PWRITE(name, offset_type) \
  ssize_t name(int fd, const void *bytes, size_t size, offset_type place) { \
    REAL(ssize_t, #name, int, const void *, size_t, offset_type); \
    char path[PATH_MAX]; \
    switch (counted_fd(fd, path) ? judge("pwrite", path, 1) : GO_ON) { \
      case FAIL: return -1; \
      case HALF: return size > 1 ? real(fd, bytes, size / 2, place) : -1; \
      case GO_ON: break; \
    } \
    return real(fd, bytes, size, place); \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define ON_FD(name, call, takes_room, parameters, ...) \
  int name parameters { \
    static int (*real) parameters; \
    if (!real) real = (int(*) parameters)dlsym(RTLD_NEXT, #name); \
    char path[PATH_MAX]; \
    if (counted_fd(fd, path) && judge(call, path, takes_room) != GO_ON) return -1; \
    return real(__VA_ARGS__); \
  }
ON_FD(fsync, "fsync", 1, (int fd), fd)
ON_FD(fdatasync, "fdatasync", 1, (int fd), fd)
ON_FD(ftruncate, "ftruncate", 1, (int fd, off_t size), fd, size)
ON_FD(ftruncate64, "ftruncate", 1, (int fd, off64_t size), fd, size)

#define ON_PATH(name, takes_room, parameters, ...) \
  int name parameters { \
    static int (*real) parameters; \
    if (!real) real = (int(*) parameters)dlsym(RTLD_NEXT, #name); \
    if (counted(path) && judge(#name, path, takes_room) != GO_ON) return -1; \
    return real(__VA_ARGS__); \
  }
ON_PATH(unlink, 0, (const char *path), path)
ON_PATH(mkdir, 1, (const char *path, mode_t mode), path, mode)
ON_PATH(rename, 1, (const char *path, const char *to), path, to)
ON_PATH(link, 1, (const char *path, const char *to), path, to)
ON_PATH(rmdir, 0, (const char *path), path)

int linkat(int from, const char *path, int to, const char *name, int flags) {
  static int (*real)(int, const char *, int, const char *, int);
  if (!real) real = (int (*)(int, const char *, int, const char *, int))dlsym(RTLD_NEXT, "linkat");
  if (counted(path) && judge("linkat", path, 1) != GO_ON) return -1;
  return real(from, path, to, name, flags);
}

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    static int (*real)(const char *, int, ...); \
    if (!real) real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name); \
    mode_t mode = 0; \
    if (flags & (O_CREAT | O_TMPFILE)) { \
      va_list more; \
      va_start(more, flags); \
      mode = va_arg(more, mode_t); \
      va_end(more); \
    } \
    if (counted(path) && judge("open", path, (flags & O_CREAT) != 0) != GO_ON) return -1; \
    return real(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)
