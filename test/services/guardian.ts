import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'

/**
 * Kills the process and deletes its folder as soon as this process is gone, be it by SIGKILL. Answers how to call that
 * off, for a process that has ended. `end` is how a shell ends it, where `$0` is the process and `$1` the folder.
 */
export function guard(pid: number, folder: string, end = 'kill -KILL "$0" 2>/dev/null'): () => void {
  // its standard input ends however the test process ends; what is killed may write a last file while rm is at work
  const watch = `read _; ${end}; rm -rf "$1" || { sleep 1; rm -rf "$1"; }`
  // a group of its own, as a signal to ours must not end it before its work
  const watcher = spawn('sh', ['-c', watch, String(pid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watcher.unref()
  ;(watcher.stdin as Socket).unref()
  return () => watcher.kill('SIGKILL')
}
