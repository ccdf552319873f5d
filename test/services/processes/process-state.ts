import { existsSync, readFileSync } from 'node:fs'

/** Also false for a zombie: a process that has ended but is still listed. */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const status = `/proc/${pid}/status`
  return !(existsSync(status) && /State:\s+Z/.test(readFileSync(status, 'utf8')))
}
