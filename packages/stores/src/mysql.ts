export type { MysqlConnection, MysqlPool, MysqlValue } from './adapters/mysql-pool.ts'
export { type MysqlStore, type MysqlStoreOptions, mysqlStore } from './adapters/mysql-store.ts'
