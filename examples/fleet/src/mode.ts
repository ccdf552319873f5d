import { parseArgs } from 'node:util'

export type Mode = 'exact' | 'leased' | 'synced'

/** What is admitted in any window, as a part of the limit, at most. */
export interface Promised {
  /** While Redis keeps what it counts, or is away. */
  readonly always: number
  /** In a window in which Redis came back with nothing in it: until processes have reported what they know. */
  readonly aroundRestart: number
}

const PROMISED: Readonly<Record<Mode, Promised>> = {
  exact: { always: 1, aroundRestart: 1.1 },
  leased: { always: 1, aroundRestart: 1.15 },
  synced: { always: 1.25, aroundRestart: 1.25 },
}

/** `--mode`: default: exact. Throws where there is no such mode. */
export function modeOf(args: readonly string[]): { readonly mode: Mode; readonly promised: Promised } {
  const { mode } = parseArgs({ args: [...args], options: { mode: { type: 'string', default: 'exact' } } }).values
  if (!isMode(mode)) throw new Error(`--mode: expected ${Object.keys(PROMISED).join(', ')}, received ${mode}`)
  return { mode, promised: PROMISED[mode] }
}

function isMode(mode: string): mode is Mode {
  return Object.hasOwn(PROMISED, mode)
}
