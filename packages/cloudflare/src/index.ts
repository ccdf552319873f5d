export type {
  AlgorithmName,
  Answer,
  Backend,
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
export { DurableObjectFailure } from './calls/durable-object-failure.ts'
export type { LimitNamespace, LimitStub } from './calls/limit-namespace.ts'
export { type DurableObjectBackendOptions, durableObjectBackend } from './durable-object-backend.ts'
export { LimitObject } from './object/limit-object.ts'
export type { LimitObjectState, LimitStorage } from './object/limit-storage.ts'
