import { isNodeRedisCluster, type NodeRedisClient } from './node-redis-client.ts'
import { repliesOf } from './replies-of.ts'

/** A single client or a pool. */
interface Sending {
  sendCommand(command: readonly string[]): Promise<unknown>
}
interface SentinelSending {
  sendCommand(isReadonly: boolean, command: readonly string[]): Promise<unknown>
}

/**
 * Sends commands with node-redis. Returns undefined for a client with a `keyPrefix`, which node-redis puts
 * only before the keys of its own methods.
 */
export function sentCommands(
  client: NodeRedisClient,
  commands: readonly (readonly string[])[],
): Promise<readonly unknown[]> | undefined {
  if ((client as { readonly _keyPrefix?: unknown })._keyPrefix !== undefined) return undefined
  const send = senderOf(client)
  return repliesOf(commands.map((command) => send([...command])))
}

function senderOf(client: NodeRedisClient): (command: readonly string[]) => Promise<unknown> {
  if (isNodeRedisCluster(client)) return (command) => client.sendCommand(command[1], false, command)
  if ('getSentinelNode' in client) {
    const sentinel = client as unknown as SentinelSending
    return (command) => sentinel.sendCommand(false, command)
  }
  const single = client as unknown as Sending
  return (command) => single.sendCommand(command)
}
