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
  if (type === 'ws') return refuseMessage(denied, '@nestjs/websockets', 'WsException')
  if (type === 'rpc') return refuseMessage(denied, '@nestjs/microservices', 'RpcException')
  throw denied
}

type Exceptions = Readonly<Record<string, new (error: object) => Error>>

// clients of gateways and microservices receive only this class of exceptions; applications with them have the package
async function refuseMessage(denied: SluiceDenied, from: string, name: string): Promise<never> {
  const { [name]: Exception } = (await import(from)) as Exceptions
  throw new Exception({ status: 'error', message: denied.message, ...denied.extensions })
}
