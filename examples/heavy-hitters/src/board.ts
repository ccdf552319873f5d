import type { Report } from './traffic-watch.ts'

/** Formats a report as text. */
export function board(second: number, { requests, clients, talkers, p50, p99, bytes }: Report): string {
  const head = `${second} s: ${requests} requests, ${clients} clients, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, in ${(bytes / 1024).toFixed(0)} KiB`
  const rows = talkers.map(({ key, count, error }) => `  ${key.padEnd(14)}${String(count).padStart(7)} ± ${error}`)
  return [head, ...rows].join('\n')
}
