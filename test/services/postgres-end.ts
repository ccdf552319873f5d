import { spawnSync } from 'node:child_process'

/** Of a shell: the processes that process `$0` started. Not every system has pgrep, and not every one has /proc. */
const CHILDREN = `$(pgrep -P "$0" || grep -lsx "PPid:[[:space:]]*$0" /proc/[0-9]*/status | cut -d/ -f3)`

/** Of a shell: removes what the lock file below folder `$1` names in its seventh line, by key and number. */
const FREE = `set -- "$1" $(sed -n 7p "$1/data/postmaster.pid"); test -z "$3" || ipcrm -m "$3"`

/** How a guardian ends a server. */
export const SERVER_END = `${signalling('KILL')}; ${FREE}`

/** Sends the postmaster and its children that signal; answers when it is sent. */
export function signalServer(pid: number, signal: 'STOP' | 'CONT' | 'KILL'): void {
  spawnSync('sh', ['-c', signalling(signal), String(pid)], { stdio: 'ignore' })
}

/** Frees the shared memory that a killed server leaves to the system, which has only so many pieces. */
export function freeMemory(folder: string): void {
  spawnSync('sh', ['-c', FREE, 'sh', folder], { stdio: 'ignore' })
}

// the postmaster is stopped before its children are listed: it starts others in the place of those that end
function signalling(signal: string): string {
  return `kill -STOP "$0"; kill -${signal} ${CHILDREN} "$0"`
}
