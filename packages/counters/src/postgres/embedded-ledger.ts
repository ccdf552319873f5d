import { randomUUID } from 'node:crypto'
import type { PGlite } from '@electric-sql/pglite'
import type { Clock } from '@sluice/limiter-core'
import { badOption, clockOf, optionsOf } from '@sluice/limiter-core/backend'
import { FolderLock } from './folder-lock.ts'
import { rehearse } from './rehearsal.ts'
import { SqlLedger } from './sql-ledger.ts'

export interface EmbeddedLedgerOptions {
  /** Path of the folder, which is created if missing. Only one process can have it open. */
  readonly folder: string
  readonly clock?: Partial<Clock> | undefined
}

/**
 * Opens a ledger in a folder without a server: PostgreSQL inside this process, provided by `@electric-sql/pglite`.
 * Acknowledged writes survive a killed process but may be lost if the machine loses power, because PGlite does not wait
 * for the disk. It takes about 300 MB of memory, and 800 MB at its first start.
 *
 * Rejects with `SLUICE_BAD_OPTION`, and with `SLUICE_FOLDER_IN_USE` if a running process has the folder open.
 */
export async function embeddedLedger(options: EmbeddedLedgerOptions): Promise<SqlLedger> {
  const { folder, clock } = optionsOf('embeddedLedger', options, ['folder', 'clock'])
  if (typeof folder !== 'string' || folder === '')
    throw badOption('embeddedLedger: folder', folder, 'the path of a folder')
  const time = clockOf(clock)
  const lock = await FolderLock.take(folder, time)
  let database: PGlite | undefined
  const end = async (): Promise<void> => {
    await database?.close()
    await lock.release()
  }
  try {
    const { PGlite } = await import('@electric-sql/pglite')
    database = await PGlite.create(`${folder}/pglite`)
    const ledger = new SqlLedger(database, { schema: 'sluice', clock: time, end, opening: randomUUID() })
    await ledger.migrate()
    await rehearse(ledger, database, time)
    return ledger
  } catch (error) {
    // the lock stays if the database cannot be closed, because two databases would damage the folder
    await end().catch(() => {})
    throw error
  }
}
