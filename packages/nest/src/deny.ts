import type { ExecutionContext } from '@nestjs/common'
import type { DeniedRequest } from '@sluice/node-http/adapter'
import { isCall } from './exchange/call-exchange.ts'
import type { NestExchange, PlatformRequest, PlatformResponse } from './exchange/nest-exchange.ts'
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

/** Throws the exception that clients of gateways or microservices receive. Nest hides any other one from them. */
async function refuseMessage(denied: SluiceDenied, loaded: Promise<MessageException | undefined>): Promise<never> {
  const Exception = await loaded
  if (!Exception) throw denied
  throw new Exception({ status: 'error', message: denied.message, ...denied.extensions })
}

type MessageException = new (error: object) => Error

// applications with gateways or microservices have these packages. The names are literals, so that a bundle contains the
// classes that Nest uses, and are in `try`, so that bundlers accept applications without the packages.

async function webSocketException(): Promise<MessageException | undefined> {
  try {
    return (await import('@nestjs/websockets')).WsException
  } catch {
    return undefined
  }
}

async function microserviceException(): Promise<MessageException | undefined> {
  try {
    return (await import('@nestjs/microservices')).RpcException
  } catch {
    return undefined
  }
}
