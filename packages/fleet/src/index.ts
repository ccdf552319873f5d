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
export { type ClusterBackendOptions, clusterBackend, workerBackend } from './cluster/cluster-backend.ts'
export type { Port } from './cluster/cluster-client.ts'
export { ClusterFailure } from './cluster/cluster-failure.ts'
export type { AnswerMessage, CallMessage } from './cluster/cluster-message.ts'
export { ClusterServer } from './cluster/cluster-server.ts'
