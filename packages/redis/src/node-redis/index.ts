export { type CreateNodeRedisOptions, createNodeRedis } from './create-node-redis.ts'
export { type CreateNodeRedisClusterOptions, createNodeRedisCluster } from './create-node-redis-cluster.ts'
export { type CreateNodeRedisSentinelOptions, createNodeRedisSentinel } from './create-node-redis-sentinel.ts'
export { type NodeRedisOptions, nodeRedisOptions } from './node-redis-options.ts'
