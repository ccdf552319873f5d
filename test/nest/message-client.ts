import type { AddressInfo, Server } from 'node:net'
import type { INestMicroservice } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import {
  type ClientProxy,
  ClientProxyFactory,
  type MicroserviceOptions,
  type TcpOptions,
  Transport,
} from '@nestjs/microservices'
import { lastValueFrom } from 'rxjs'
import { type AppOptions, moduleOf } from './nest-app.ts'

/** Options of a service on a free port of this machine. */
export const TCP: TcpOptions = { transport: Transport.TCP, options: { host: '127.0.0.1', port: 0 } }

/** What a client receives: the answer of a handler, or the error that is sent instead. */
export interface Outcome {
  readonly answer?: unknown
  readonly error?: Readonly<Record<string, unknown>>
}

/** A client of a service that sends messages and events over TCP. */
export class MessageClient {
  readonly #proxy: ClientProxy

  constructor(port: number) {
    this.#proxy = ClientProxyFactory.create({ transport: Transport.TCP, options: { host: '127.0.0.1', port } })
  }

  async send(pattern: string, data: unknown = ''): Promise<Outcome> {
    try {
      return { answer: await lastValueFrom(this.#proxy.send(pattern, data)) }
    } catch (error) {
      return { error: error as Record<string, unknown> }
    }
  }

  async sendAll(times: number, pattern: string): Promise<Outcome[]> {
    const all: Outcome[] = []
    for (let time = 0; time < times; time++) all.push(await this.send(pattern, time))
    return all
  }

  /** Emits events with the numbers from 0. */
  async emitAll(times: number, pattern: string): Promise<void> {
    for (let time = 0; time < times; time++) {
      await lastValueFrom(this.#proxy.emit(pattern, time), { defaultValue: undefined })
    }
  }

  close(): unknown {
    return this.#proxy.close()
  }
}

/** Port of a service that listens with the options `TCP`. */
export function portOf(service: INestMicroservice): number {
  return (service.unwrap<Server>().address() as AddressInfo).port
}

/** Runs a service without HTTP for as long as `visit` takes. `errors` are the errors that Nest has logged. */
export async function onService(
  options: AppOptions,
  visit: (client: MessageClient, errors: readonly Error[]) => Promise<void>,
): Promise<void> {
  const errors: Error[] = []
  const service = await NestFactory.createMicroservice<MicroserviceOptions>(moduleOf(options), {
    ...TCP,
    logger: { log: () => {}, warn: () => {}, error: (error) => errors.push(error) },
    abortOnError: false,
  })
  await service.listen()
  const client = new MessageClient(portOf(service))
  try {
    await visit(client, errors)
  } finally {
    await client.close()
    await service.close()
  }
}
