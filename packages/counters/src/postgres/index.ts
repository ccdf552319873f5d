export { type PostgresLedgerOptions, postgresLedger } from './postgres-ledger.ts'
export type { SqlLedger } from './sql-ledger.ts'
