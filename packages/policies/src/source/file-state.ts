import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'

/** Returns a text that differs if another file or folder is at a path. */
export function identityOf({ dev, ino, birthtimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${birthtimeNs}`
}

/** Returns a text that differs if another file is at a path, or if the file has changed. */
export function versionOf(stats: BigIntStats): string {
  return `${identityOf(stats)}:${stats.mtimeNs}:${stats.ctimeNs}:${stats.size}`
}

/** Returns what `of` returns for the file or folder at a path, or `missing`. */
export async function stateAt(path: string, of: (stats: BigIntStats) => string): Promise<string> {
  try {
    return of(await stat(path, { bigint: true }))
  } catch {
    return 'missing'
  }
}
