import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** The text of a file of the repository. */
export function textOf(path) {
  return readFileSync(join(root, path), 'utf8')
}

/** The first heading of a page, without its marks. */
export function titleOf(text) {
  return /^# (.+)$/m.exec(text)?.[1].replace(/[`*]/g, '')
}
