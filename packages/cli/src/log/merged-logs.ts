import type { LogEntry } from './log-entry.ts'

/** A log whose next request is known. */
interface OpenLog {
  readonly batches: AsyncIterator<readonly LogEntry[]>
  batch: readonly LogEntry[]
  at: number
}

/**
 * Merges logs by time, so that the order of rotated files does not matter and logs of several servers interleave. Holds
 * one batch of each log.
 */
export async function* mergedLogs(
  logs: readonly AsyncIterable<readonly LogEntry[]>[],
): AsyncGenerator<readonly LogEntry[]> {
  if (logs.length === 1) return yield* logs[0]
  const open: OpenLog[] = []
  for (const log of logs) {
    const one: OpenLog = { batches: log[Symbol.asyncIterator](), batch: [], at: 0 }
    if (await fill(one)) open.push(one)
  }
  while (open.length > 0) {
    open.sort((a, b) => timeOf(a) - timeOf(b))
    const [first, second] = open
    yield takenUntil(first, second ? timeOf(second) : Number.POSITIVE_INFINITY)
    if (first.at === first.batch.length && !(await fill(first))) open.shift()
  }
}

/** Takes the requests of the current batch up to a time. */
function takenUntil(log: OpenLog, untilMs: number): readonly LogEntry[] {
  const start = log.at
  while (log.at < log.batch.length && timeOf(log) <= untilMs) log.at++
  return log.batch.slice(start, log.at)
}

/** Reads the next batch. Returns false at the end of the log. */
async function fill(log: OpenLog): Promise<boolean> {
  const next = await log.batches.next()
  if (next.done) return false
  log.batch = next.value
  log.at = 0
  return true
}

function timeOf({ batch, at }: OpenLog): number {
  return batch[at].timeMs
}
