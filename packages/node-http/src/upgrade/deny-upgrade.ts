import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { DeniedRequest } from '@sluice/http'
import { sendDenial } from '@sluice/http'
import type { Exchange } from '../exchange/exchange.ts'

/** Sends the denial of an upgrade like that of a request, and closes the connection. */
export function denyUpgrade(
  exchange: Exchange<IncomingMessage, ServerResponse>,
  socket: Duplex,
  refusal: DeniedRequest<IncomingMessage, ServerResponse>,
): void {
  const { outgoing } = exchange
  detectDisconnect(socket, () => outgoing.writableEnded)
  afterEarlierAnswers(socket, () => {
    outgoing.shouldKeepAlive = false
    outgoing.assignSocket(socket as Socket)
    outgoing.once('finish', () => closeWhenSent(socket))
    sendDenial(exchange, refusal)
    // at once, so that other `upgrade` listeners find a socket that is no longer writable
    if (outgoing.writableEnded) socket.end()
  })
}

/** Reads and drops data, because a socket that is not read never reports that its client has left. */
function detectDisconnect(socket: Duplex, answered: () => boolean): void {
  socket.once('end', () => {
    if (!answered()) socket.destroy()
  })
  socket.resume()
}

/** Waits for the responses of earlier pipelined requests, so that the client does not mistake the denial for one. */
function afterEarlierAnswers(socket: Duplex, run: () => void): void {
  if (socket.destroyed) return
  const { _httpMessage: earlier } = socket as { _httpMessage?: ServerResponse | null }
  if (earlier) earlier.once('close', () => afterEarlierAnswers(socket, run))
  else run()
}

/** Destroys the socket after the response: HTTP servers allow half-open sockets, which a client could keep forever. */
function closeWhenSent(socket: Duplex): void {
  socket.end()
  if (socket.writableFinished) socket.destroy()
  else socket.once('finish', () => socket.destroy())
}
