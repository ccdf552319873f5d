import { badOption, SluiceError } from '@sluice/limiter-core/backend'
import { MAX_MESSAGE_BYTES } from './gossip-message.ts'

/** Transport to another replica. */
export interface GossipPeer {
  /** Unique name of the peer; its address if it has one. */
  readonly name: string
  /** Sends a message and resolves with the reply. Rejects if there is none before `signal` aborts. */
  exchange(message: Uint8Array, signal: AbortSignal): Promise<Uint8Array>
}

/** Stricter than the host of a received request: DNS may resolve a subdomain of localhost to another machine. */
const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/i

/**
 * Peer whose `GossipNode.handler` serves this address. Throws `SLUICE_BAD_OPTION` for an address that is not an http or
 * https URL, or that contains a user name, a password or a fragment.
 */
export class HttpPeer implements GossipPeer {
  readonly name: string
  /** Whether the address is on this machine. */
  readonly isLocal: boolean

  constructor(address: string) {
    const url = parsed(address)
    if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.hash) {
      throw badOption('gossip: peers', address, 'an http or https URL without a user name, password or fragment')
    }
    this.name = url.href
    this.isLocal = LOOPBACK.test(url.hostname)
  }

  async exchange(message: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    const headers = { 'Content-Type': 'application/octet-stream' }
    const body = Buffer.from(message)
    const response = await fetch(this.name, { method: 'POST', headers, body, signal, redirect: 'error' })
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new SluiceError(
        'SLUICE_GOSSIP_UNAVAILABLE',
        `gossip: expected status 200 from a peer, received ${response.status}`,
      )
    }
    return bytesOf(response)
  }
}

/** Reads the body, up to the maximum size of a message. */
async function bytesOf(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MAX_MESSAGE_BYTES) {
      const expected = `a reply of at most ${MAX_MESSAGE_BYTES} bytes`
      throw new SluiceError('SLUICE_BAD_MESSAGE', `gossip: expected ${expected}, received more`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function parsed(address: string): URL | undefined {
  try {
    return new URL(address)
  } catch {
    return undefined
  }
}
