import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'

/**
 * Kills the process and deletes its folder as soon as this process is gone, even after SIGKILL. Returns a function that
 * cancels this, for a process that has ended. `end` is a shell command that ends the process, where `$0` is the process
 * and `$1` the folder.
 */
export function guard(pid: number, folder: string, end = 'kill -KILL "$0" 2>/dev/null'): () => void {
  // standard input closes however the test process ends; a killed process may write a last file while rm runs
  const watch = `read _; ${end}; rm -rf "$1" || { sleep 1; rm -rf "$1"; }`
  // a separate process group, because a signal to ours must not end it too early
  const watcher = spawn('sh', ['-c', watch, String(pid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watcher.unref()
  ;(watcher.stdin as Socket).unref()
  return () => watcher.kill('SIGKILL')
}
