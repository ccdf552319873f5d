import { systemClock } from '@sluice/limiter-core/backend'
import { reconnectDelay } from '../client/reconnect-delays.ts'

interface Connectable {
  readonly isOpen: boolean
  destroy(): void
  connect(): Promise<unknown>
  on(event: string, listener: (error: Error) => void): unknown
}

/** Connects a client in the background, and returns it. */
export function connecting<T extends Connectable>(client: T, onError: (error: Error) => void): T {
  // without a listener, node-redis ends the process when a connection is lost
  client.on('error', onError)
  // rejects if the client is closed meanwhile; errors of connections are events
  client.connect().catch(() => {})
  return client
}

/** Like `connecting`, for a cluster, which gives up if it reaches none of the nodes: it connects again until closed. */
export function connectingCluster<T extends Connectable>(cluster: T, onError: (error: Error) => void): T {
  let isClosed = false
  cluster.on('error', onError)
  cluster.on('disconnect', () => {
    isClosed = true
  })
  const attempt = (): void => {
    if (cluster.isOpen) return
    if (isClosed) destroyAgain(cluster)
    else cluster.connect().then(connected, () => systemClock.after(reconnectDelay(1), attempt))
  }
  const connected = (): void => {
    if (!cluster.isOpen) destroyAgain(cluster)
  }
  attempt()
  return cluster
}

/** Closes the connections of a cluster that was closed while it was connecting, which node-redis leaves open. */
function destroyAgain(cluster: Connectable): void {
  try {
    cluster.destroy()
  } catch {
    // a connection was already closed
  }
}
