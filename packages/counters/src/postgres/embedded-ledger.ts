import type { Clock } from '@sluice/limiter-core'
import { badOption, clockOf, optionsOf } from '@sluice/limiter-core/backend'
import { FolderLock } from './folder-lock.ts'
import { SqlLedger } from './sql-ledger.ts'

export interface EmbeddedLedgerOptions {
  /** Made where it is missing. One process has it at a time. */
  readonly folder: string
  readonly clock?: Partial<Clock> | undefined
}

/**
 * Keeps counters in a folder, with no server: a PostgreSQL in this process, by `@electric-sql/pglite`. What it answered
 * survives a killed process; of a machine that loses power it promises nothing, since PGlite never waits for the disk.
 * Takes about 300 MB of memory, at its first start 800.
 *
 * Rejects with `SLUICE_BAD_OPTION`, and `SLUICE_FOLDER_IN_USE` where a process that lives has the folder.
 */
export async function embeddedLedger(options: EmbeddedLedgerOptions): Promise<SqlLedger> {
  const { folder, clock } = optionsOf('embeddedLedger', options, ['folder', 'clock'])
  if (typeof folder !== 'string' || folder === '')
    throw badOption('embeddedLedger: folder', folder, 'the path of a folder')
  const time = clockOf(clock)
  const lock = await FolderLock.take(folder, time)
  try {
    const { PGlite } = await import('@electric-sql/pglite')
    const database = await PGlite.create(`${folder}/pglite`)
    const end = async (): Promise<void> => {
      await database.close()
      await lock.release()
    }
    const ledger = new SqlLedger(database, { schema: 'sluice', clock: time, end })
    await ledger.migrate()
    return ledger
  } catch (error) {
    await lock.release()
    throw error
  }
}
