import type { ExecutionContext } from '@nestjs/common'
import type { LayerRefusal } from '@sluice/node-http'
import { CallExchange } from './call-exchange.ts'
import type { NestExchange, PlatformRequest, PlatformResponse } from './nest-exchange.ts'
import { SluiceDenied } from './sluice-denied.ts'
import { deniedOver } from './sluice-filter.ts'

/** Throws what the context knows how to tell its client. A promise where that has to be loaded. */
export function refuse(
  context: ExecutionContext,
  exchange: NestExchange,
  { refusal, by }: LayerRefusal<PlatformRequest, PlatformResponse>,
): Promise<never> {
  if (!(exchange instanceof CallExchange)) throw deniedOver(exchange, refusal, by.answer)
  const denied = new SluiceDenied(refusal)
  if (context.getType() === 'ws') return refuseMessage(denied)
  throw denied
}

// gateways tell their clients of this class of exceptions alone, and who has a gateway has the package
async function refuseMessage(denied: SluiceDenied): Promise<never> {
  const { WsException } = await import('@nestjs/websockets')
  throw new WsException({ status: 'error', message: denied.message, ...denied.extensions })
}
