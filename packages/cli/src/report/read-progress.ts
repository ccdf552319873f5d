import { Presets, SingleBar } from 'cli-progress'
import { count } from '../terminal/figures.ts'
import type { TextOutput } from './text-style.ts'

/** Shows how much of the logs was read. */
export interface ReadProgress {
  /** Called with the bytes and lines so far. */
  readonly update: (bytes: number, lines: number) => void
  readonly stop: () => void
}

const SILENT: ReadProgress = { update: () => {}, stop: () => {} }
const PERCENT = 100

/** Returns a progress bar, if the output is a terminal. `totalBytes`: undefined if the size is not known. */
export function readProgress(output: TextOutput, totalBytes: number | undefined): ReadProgress {
  if (output.isTTY !== true) return SILENT
  const format =
    totalBytes === undefined ? '{lines} lines' : '{bar} {percentage} % | {lines} lines | {eta_formatted} left'
  const bar = new SingleBar(
    { format, stream: output as NodeJS.WriteStream, hideCursor: true, clearOnComplete: true, etaBuffer: 50 },
    Presets.shades_classic,
  )
  bar.start(PERCENT, 0, { lines: '0' })
  return {
    update: (bytes, lines) => {
      bar.update(totalBytes ? (PERCENT * bytes) / totalBytes : 0, { lines: count(lines) })
    },
    stop: () => bar.stop(),
  }
}
