/** The parts of a socket of Node.js that show how it is connected. */
interface ServerSocket {
  readonly remoteAddress?: string | undefined
  /** The server that accepted the connection. Node.js does not document the property, so it may be missing. */
  readonly server?: { address?(): unknown } | undefined
}

/** Whether a socket of Node.js is a connection to a Unix socket. Only programs of this machine can open one. */
export function isUnixSocket(socket: unknown): boolean {
  const { remoteAddress, server } = (socket ?? {}) as ServerSocket
  // of a TCP connection that has been closed, the address is undefined too
  return remoteAddress === undefined && typeof server?.address?.() === 'string'
}
