import { randomUUID } from 'node:crypto'
import type { Clock } from '@sluice/limiter-core'
import { badOption, clockOf, messageOf, optionsOf, SluiceError } from '@sluice/limiter-core/backend'
import { sluiceCodeOf } from '../error-code.ts'
import { unavailableError } from '../unavailable.ts'
import { EmbeddedDatabase } from './embedded-database.ts'
import { FolderLock } from './folder-lock.ts'
import { rehearse } from './rehearsal.ts'
import { SqlLedger } from './sql-ledger.ts'

export interface EmbeddedLedgerOptions {
  /** Path of the folder, which is created if missing. Only one process can have it open. */
  readonly folder: string
  readonly clock?: Partial<Clock> | undefined
}

/** Codes of errors that only another folder or other rights can prevent. */
const NOT_WRITABLE: readonly string[] = ['EACCES', 'EEXIST', 'ENOENT', 'ENOTDIR', 'EPERM', 'EROFS']

/**
 * Opens a ledger in a folder without a server: PostgreSQL inside this process, provided by `@electric-sql/pglite`.
 * Acknowledged writes survive a killed process but may be lost if the machine loses power, because PGlite does not wait
 * for the disk. It takes about 300 MB of memory, and 800 MB at its first start.
 *
 * If the disk has no room for its log, the database stops: calls reject with `SLUICE_COUNTERS_UNAVAILABLE`, and the
 * database starts again when there is room.
 *
 * Rejects with `SLUICE_BAD_OPTION`, e.g. if the folder is not writable, with `SLUICE_FOLDER_IN_USE` if a running process
 * has the folder open, and with `SLUICE_COUNTERS_UNAVAILABLE` if the database does not start, e.g. on a full disk.
 */
export async function embeddedLedger(options: EmbeddedLedgerOptions): Promise<SqlLedger> {
  const { folder, clock } = optionsOf('embeddedLedger', options, ['folder', 'clock'])
  if (typeof folder !== 'string' || folder === '')
    throw badOption('embeddedLedger: folder', folder, 'the path of a folder')
  const time = clockOf(clock)
  const lock = await lockOf(folder, time)
  let database: EmbeddedDatabase | undefined
  const end = async (): Promise<void> => {
    await database?.close()
    await lock.release()
  }
  try {
    database = await EmbeddedDatabase.open(folder, time)
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

async function lockOf(folder: string, clock: Clock): Promise<FolderLock> {
  try {
    return await FolderLock.take(folder, clock)
  } catch (error) {
    if (sluiceCodeOf(error)) throw error
    const { code = '' } = error as NodeJS.ErrnoException
    const received = `'${folder}': ${messageOf(error)}`
    if (!NOT_WRITABLE.includes(code)) {
      throw unavailableError(`embeddedLedger: folder: cannot lock ${received}`, { cause: error })
    }
    const message = `embeddedLedger: folder: expected the path of a writable folder, received ${received}`
    throw new SluiceError('SLUICE_BAD_OPTION', message, { cause: error })
  }
}
