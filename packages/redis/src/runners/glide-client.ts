/** The part of a `GlideClient` or `GlideClusterClient` of `@valkey/valkey-glide` 2 that Sluice uses. */
export interface ValkeyGlideClient {
  customCommand(args: string[]): Promise<unknown>
  invokeScript(...args: never[]): Promise<unknown>
}

/** Methods of clients of a cluster only. */
const CLUSTER_METHOD = 'invokeScriptWithRoute'

export function isGlide(client: unknown): client is ValkeyGlideClient {
  const { customCommand, invokeScript } = (client ?? {}) as Partial<ValkeyGlideClient>
  return typeof customCommand === 'function' && typeof invokeScript === 'function'
}

export function isGlideCluster(client: ValkeyGlideClient): boolean {
  return CLUSTER_METHOD in client
}
