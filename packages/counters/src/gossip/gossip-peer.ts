import { badOption, SluiceError } from '@sluice/limiter-core/backend'
import { MOST_MESSAGE_BYTES } from './gossip-message.ts'

/** A way to another replica. */
export interface GossipPeer {
  /** Another one for each; the address of those that have one. */
  readonly name: string
  /** Sends a message and resolves with the answer to it; rejects where none comes until `signal` says so. */
  exchange(message: Uint8Array, signal: AbortSignal): Promise<Uint8Array>
}

const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/i

/** A replica whose `GossipNode.handler` serves this address. Throws `SLUICE_BAD_OPTION` for what is no address of http or https. */
export class HttpPeer implements GossipPeer {
  readonly name: string
  /** Whether it is on this machine. */
  readonly isLocal: boolean

  constructor(address: string) {
    const url = parsed(address)
    if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.hash) {
      throw badOption('gossip: peers', address, 'addresses of http or https, without a password')
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
      throw new SluiceError('SLUICE_GOSSIP_UNAVAILABLE', `gossip: expected 200, received status ${response.status}`)
    }
    return bytesOf(response)
  }
}

/** Reads no more than a message may have. */
async function bytesOf(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MOST_MESSAGE_BYTES) {
      throw new SluiceError('SLUICE_BAD_MESSAGE', `gossip: got more than ${MOST_MESSAGE_BYTES} bytes`)
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
