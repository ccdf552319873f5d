import { parseArgs } from 'node:util'

export type Mode = 'exact' | 'leased' | 'synced'

/** Maximum admitted in any window, as a multiple of the limit. */
export interface Promised {
  /** Maximum while Redis keeps its data or is unreachable. */
  readonly always: number
  /** Maximum in a window in which Redis was restarted empty, until processes have reported their counts. */
  readonly aroundRestart: number
}

const PROMISED: Readonly<Record<Mode, Promised>> = {
  exact: { always: 1, aroundRestart: 1.1 },
  leased: { always: 1, aroundRestart: 1.15 },
  synced: { always: 1.25, aroundRestart: 1.25 },
}

/** Returns the mode given by `--mode`. Default: exact. Throws if the mode is unknown. */
export function modeOf(args: readonly string[]): { readonly mode: Mode; readonly promised: Promised } {
  const { mode } = parseArgs({ args: [...args], options: { mode: { type: 'string', default: 'exact' } } }).values
  if (!isMode(mode)) throw new Error(`--mode: expected ${Object.keys(PROMISED).join(', ')}, received ${mode}`)
  return { mode, promised: PROMISED[mode] }
}

function isMode(mode: string): mode is Mode {
  return Object.hasOwn(PROMISED, mode)
}
