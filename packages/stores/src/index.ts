export type { Change, Row, RowStore, RowVersion, RowWriteOptions } from '@sluice/fleet/backend'
export type {
  AlgorithmName,
  Answer,
  Backend,
  Charge,
  Clock,
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
export { StoreFailure } from './requests/store-failure.ts'
export { type StoreBackendOptions, storeBackend } from './store-backend.ts'
