export { type ClusterBackendOptions, clusterBackend, workerBackend } from './cluster/cluster-backend.ts'
export type { Port } from './cluster/cluster-client.ts'
export { ClusterFailure } from './cluster/cluster-failure.ts'
export { ClusterServer } from './cluster/cluster-server.ts'
