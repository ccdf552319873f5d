export type {
  AlgorithmName,
  Answer,
  Charge,
  CompiledPolicy,
  CountEstimate,
  CountedKey,
  Counter,
  HeldUnits,
  Interruption,
  MaybePromise,
  Moment,
  Observer,
} from '@sluice/limiter-core'
export type { PostgresBackend } from './limit-backend.ts'
export { type PostgresBackendOptions, postgresBackend } from './postgres-backend.ts'
export { PostgresFailure } from './server/postgres-failure.ts'
