import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The first executable of that name on PATH, otherwise the first executable among `further`, which are full paths. */
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
