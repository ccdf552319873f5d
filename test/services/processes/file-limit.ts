import { execFileSync } from 'node:child_process'

/**
 * Limits the size of the files that a process writes from now on, or ends the limit if `bytes` is undefined. Larger
 * writes fail with EFBIG, as on a full disk with ENOSPC. Unlike a small file system, it needs no right to mount. Throws
 * if the system has no `prlimit` (Debian: package util-linux).
 */
export function limitFiles(pid: number, bytes?: number): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes ?? 'unlimited'}:unlimited`], { stdio: 'pipe' })
}
