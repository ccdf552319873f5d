import type { ExecutionContext } from '@nestjs/common'
import type { DeniedRequest } from '@sluice/node-http/adapter'
import { isCall } from './call-exchange.ts'
import type { NestExchange, PlatformRequest, PlatformResponse } from './nest-exchange.ts'
import { SluiceDenied } from './sluice-denied.ts'
import { httpDenialException } from './sluice-filter.ts'

/** Throws the exception that the context can send to its client. Asynchronous if its class has to be loaded. */
export function deny(
  context: ExecutionContext,
  exchange: NestExchange,
  refusal: DeniedRequest<PlatformRequest, PlatformResponse>,
): Promise<never> {
  if (!isCall(exchange)) throw httpDenialException(exchange, refusal)
  const denied = new SluiceDenied(refusal)
  const type = context.getType()
  if (type === 'ws') return refuseMessage(denied, webSocketException())
  if (type === 'rpc') return refuseMessage(denied, microserviceException())
  throw denied
}

type MessageException = new (error: object) => Error

// clients of gateways and microservices receive only these classes of exceptions; applications with them have the
// packages. The names are literals, so that a bundler includes the same classes that Nest uses.
const webSocketException = async (): Promise<MessageException> => (await import('@nestjs/websockets')).WsException
const microserviceException = async (): Promise<MessageException> =>
  (await import('@nestjs/microservices')).RpcException

async function refuseMessage(denied: SluiceDenied, loaded: Promise<MessageException>): Promise<never> {
  const Exception = await loaded
  throw new Exception({ status: 'error', message: denied.message, ...denied.extensions })
}
