export type { PostgresBackend } from './limit-backend.ts'
export { type PostgresBackendOptions, postgresBackend } from './postgres-backend.ts'
export { PostgresFailure } from './server/postgres-failure.ts'
