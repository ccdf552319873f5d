import { PGlite } from '@electric-sql/pglite'
import { embeddedLedger } from '@sluice/counters/postgres'

const TABLES = [
  'counters',
  'counter_writers',
  'counter_tokens',
  'quota_accounts',
  'quota_entries',
  'quota_usage',
  'quota_notices',
]

interface Opening {
  /** The code of the error; undefined if the folder was opened. */
  readonly code: string | undefined
  /** Number of databases that this process has open afterwards. */
  readonly open: number
}

/** Runs a statement in the database of a folder that no ledger has open. */
async function execute(folder: string, statement: string): Promise<void> {
  const ledger = await embeddedLedger({ folder })
  await ledger.close()
  const database = await PGlite.create(`${folder}/pglite`)
  await database.exec(statement)
  await database.close()
}

/** Opens a folder after a statement was run in it. */
export async function openAfter(folder: string, statement: string): Promise<Opening> {
  await execute(folder, statement)
  const made: PGlite[] = []
  const { create } = PGlite
  const recorded = async (...given: unknown[]): Promise<PGlite> => {
    const database: PGlite = await Reflect.apply(create, PGlite, given)
    made.push(database)
    return database
  }
  PGlite.create = recorded as typeof create
  const failure = await embeddedLedger({ folder }).then(
    () => undefined,
    (error: unknown) => String((error as { readonly code?: unknown }).code ?? error),
  )
  PGlite.create = create
  return { code: failure, open: made.filter(({ closed }) => !closed).length }
}

/** Returns the number of rows in a folder that was opened and closed. */
export async function rowsAfterOpening(folder: string): Promise<number> {
  await execute(folder, 'select 1')
  const database = await PGlite.create(`${folder}/pglite`)
  let rows = 0
  for (const table of TABLES) rows += (await database.query(`select * from sluice.${table}`)).rows.length
  await database.close()
  return rows
}
