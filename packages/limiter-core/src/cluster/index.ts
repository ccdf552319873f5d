export { type ClusterBackendOptions, clusterBackend, workerBackend } from './cluster-backend.ts'
export type { Port } from './cluster-client.ts'
export { ClusterFailure } from './cluster-failure.ts'
export { ClusterServer } from './cluster-server.ts'
