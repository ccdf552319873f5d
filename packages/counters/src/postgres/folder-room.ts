import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Size of two files of the write-ahead log. A database that starts may need both. */
const NEEDED_BYTES = 2 * 16 * 1_024 * 1_024

/** Rejects if the folder has no room for a database that starts. */
export async function checkRoom(folder: string): Promise<void> {
  const path = join(folder, 'sluice.room')
  try {
    await writeFile(path, Buffer.alloc(NEEDED_BYTES))
  } finally {
    await rm(path, { force: true })
  }
}
