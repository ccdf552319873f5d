export type { SqliteDatabase, SqliteStatement } from './adapters/sqlite-database.ts'
export { type SqliteStoreOptions, sqliteStore } from './adapters/sqlite-store.ts'
