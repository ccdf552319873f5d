export type { RecordStore, SqlRunner } from '@sluice/limiter-core'
export { type EmbeddedLedgerOptions, embeddedLedger } from './embedded-ledger.ts'
export { type PostgresLedgerOptions, postgresLedger } from './postgres-ledger.ts'
export type { SqlLedger } from './sql-ledger.ts'
