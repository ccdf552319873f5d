import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { answerDenied } from '../denial/answer-denied.ts'
import type { DeniedRequest } from '../denial/denied-request.ts'
import type { Exchange } from '../exchange/exchange.ts'

/** Answers a denied upgrade as a request would be, and closes its connection. */
export function denyUpgrade(
  exchange: Exchange<IncomingMessage, ServerResponse>,
  socket: Duplex,
  refusal: DeniedRequest<IncomingMessage, ServerResponse>,
): void {
  const { outgoing } = exchange
  noticeLeaving(socket, () => outgoing.writableEnded)
  afterEarlierAnswers(socket, () => {
    outgoing.shouldKeepAlive = false
    outgoing.assignSocket(socket as Socket)
    outgoing.once('finish', () => closeWhenSent(socket))
    answerDenied(exchange, refusal)
    // in this very turn: who else listens to upgrades shall find a socket that cannot be written
    if (outgoing.writableEnded) socket.end()
  })
}

/** Nobody reads the socket but us, and one that is not read never tells that its client has left. */
function noticeLeaving(socket: Duplex, answered: () => boolean): void {
  socket.once('end', () => {
    if (!answered()) socket.destroy()
  })
  socket.resume()
}

/** A client that pipelines would take our answer for that of a request before. */
function afterEarlierAnswers(socket: Duplex, run: () => void): void {
  if (socket.destroyed) return
  const { _httpMessage: earlier } = socket as { _httpMessage?: ServerResponse | null }
  if (earlier) earlier.once('close', () => afterEarlierAnswers(socket, run))
  else run()
}

/** Servers leave sockets half open: a client that never closes its side would keep this one for ever. */
function closeWhenSent(socket: Duplex): void {
  socket.end()
  if (socket.writableFinished) socket.destroy()
  else socket.once('finish', () => socket.destroy())
}
