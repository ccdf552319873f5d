export { type ClusterBackendOptions, clusterBackend, workerBackend } from './cluster-backend.ts'
export { ClusterFailure } from './cluster-failure.ts'
export { PrimaryDesk } from './primary-desk.ts'
export type { Port } from './worker-line.ts'
