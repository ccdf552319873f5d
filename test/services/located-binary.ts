import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The first executable of that name on PATH, else the first of `further` that is one. Those are whole paths. */
export function locatedBinary(name: string, further: readonly string[]): string | undefined {
  const onPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name))
  return [...onPath, ...further].find((path) => path !== '' && isExecutable(path))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
