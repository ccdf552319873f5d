import type { Clock } from '@sluice/limiter-core'

/** A stream that a command writes to, such as `process.stdout`. */
export interface Output {
  /** Returns false if the text waits to be written. */
  write(text: string): boolean
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  readonly rows?: number | undefined
  readonly writableNeedDrain?: boolean | undefined
  /** Calls `run` when the size of the terminal changes. */
  on?(event: 'resize', run: () => void): unknown
  off?(event: 'resize', run: () => void): unknown
}

/** What a command uses of its process. */
export interface Terminal {
  /** Receives results. */
  readonly stdout: Output
  /** Receives errors and notices. */
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  /** Ends commands that run until they are interrupted. */
  readonly signal: AbortSignal | undefined
  /** Default: the system clock, which only the commands load that use it. */
  readonly clock: Clock | undefined
}

/** Whether a stream shows colours: a terminal, unless NO_COLOR is set; FORCE_COLOR overrides both. */
export function hasColor({ isTTY = false }: Output, { NO_COLOR, FORCE_COLOR, TERM }: Terminal['env']): boolean {
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0'
  return isTTY && (NO_COLOR === undefined || NO_COLOR === '') && TERM !== 'dumb'
}
