import { spawnSync } from 'node:child_process'

/** Shell command: lists the child processes of process `$0`. Some systems have no pgrep, others no /proc. */
const CHILDREN = `$(pgrep -P "$0" || grep -lsx "PPid:[[:space:]]*$0" /proc/[0-9]*/status | cut -d/ -f3)`

/** Shell command: removes the shared memory named in line 7 of the lock file in folder `$1`, by key and number. */
const FREE = `set -- "$1" $(sed -n 7p "$1/data/postmaster.pid"); test -z "$3" || ipcrm -m "$3"`

/** Shell command with which a guardian ends a server. */
export const SERVER_END = `${signalling('KILL')}; ${FREE}`

/** Sends a signal to the postmaster and its children. Resolves when it is sent. */
export function signalServer(pid: number, signal: 'STOP' | 'CONT' | 'KILL'): void {
  spawnSync('sh', ['-c', signalling(signal), String(pid)], { stdio: 'ignore' })
}

/** Frees the shared memory that a killed server leaves behind, because the system has a limited number of segments. */
export function freeMemory(folder: string): void {
  spawnSync('sh', ['-c', FREE, 'sh', folder], { stdio: 'ignore' })
}

// the postmaster is stopped before its children are listed, because it replaces children that end
function signalling(signal: string): string {
  return `kill -STOP "$0"; kill -${signal} ${CHILDREN} "$0"`
}
