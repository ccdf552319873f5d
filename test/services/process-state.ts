import { existsSync, readFileSync } from 'node:fs'

/** False also for one that has ended and that nobody has waited for yet: it is still named. */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const status = `/proc/${pid}/status`
  return !(existsSync(status) && /State:\s+Z/.test(readFileSync(status, 'utf8')))
}
