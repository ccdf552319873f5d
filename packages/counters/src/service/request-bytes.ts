import type { IncomingMessage } from 'node:http'
import type { Clock } from '@sluice/limiter-core'
import { ServiceProblem } from './service-problem.ts'

export const MAX_BODY_BYTES = 65_536
/** A body of this size takes milliseconds. A slower client would occupy a place of the in-flight cap for nothing. */
const BODY_MS = 10_000

/**
 * Reads the body of a request. Rejects with a problem if it is larger than `maxBytes`, arrives too slowly or is cut off.
 * Default of `maxBytes`: 64 KiB.
 */
export function requestBytes(req: IncomingMessage, clock: Clock, maxBytes: number = MAX_BODY_BYTES): Promise<Buffer> {
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(tooLarge(maxBytes))
  // no further events follow
  if (req.destroyed) return Promise.reject(cutOff())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const settle = (run: () => void): void => {
      cancel()
      req.off('data', onData).off('end', onEnd).off('close', onClose)
      // an error without a listener would end the process
      req.off('error', onClose).on('error', () => {})
      run()
    }
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size <= maxBytes) chunks.push(chunk)
      else settle(() => reject(tooLarge(maxBytes)))
    }
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks)))
    const onClose = (): void => settle(() => reject(cutOff()))
    const late = (): void => settle(() => reject(new ServiceProblem(408, 'body-late')))
    const cancel = clock.after(BODY_MS, late)
    req.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
  })
}

function cutOff(): ServiceProblem {
  return new ServiceProblem(400, 'body-cut-off')
}

function tooLarge(maxBytes: number): ServiceProblem {
  return new ServiceProblem(413, 'body-too-large', { detail: `body: expected at most ${maxBytes} bytes` })
}
