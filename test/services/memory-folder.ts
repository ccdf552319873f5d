import { mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const IN_MEMORY = '/dev/shm'
/** Enough for the servers of all workers. A container often has 64 MB there. */
const NEEDED_BYTES = 2 ** 30

/**
 * Creates a folder whose files are in memory, or below the folder of temporary files if there is no room. A test kills
 * processes, never the machine, so nothing of it needs a disk; there, copying a database costs ten times the time.
 */
export function memoryFolder(prefix: string): string {
  return mkdtempSync(join(hasRoom() ? IN_MEMORY : tmpdir(), prefix))
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY)
    return bavail * bsize >= NEEDED_BYTES
  } catch {
    return false
  }
}
