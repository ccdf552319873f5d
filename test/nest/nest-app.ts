import 'reflect-metadata'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import type { INestApplication, ModuleMetadata, Type } from '@nestjs/common'
import { Module, StreamableFile } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import type { HookBridge, Reply, RunningApp } from '@sluice/testkit'

/** HTTP platform that Nest uses. */
export type Platform = 'Express' | 'Fastify'

export const platforms: readonly Platform[] = ['Express', 'Fastify']

export interface AppOptions extends ModuleMetadata {
  /** Called before the application listens. */
  readonly prepare?: (app: INestApplication) => unknown
}

export function moduleOf(metadata: ModuleMetadata): Type {
  class AppModule {}
  Module(metadata)(AppModule)
  return AppModule
}

/** Starts an application with these modules, controllers and providers. */
export async function nestApp(platform: Platform, { prepare, ...metadata }: AppOptions): Promise<RunningApp> {
  const adapter = platform === 'Express' ? new ExpressAdapter() : new FastifyAdapter()
  const options = { logger: false, abortOnError: false, forceCloseConnections: true } as const
  const app = await NestFactory.create(moduleOf(metadata), adapter, options)
  // the body stays unread, so that the limits get the original request
  if (platform === 'Fastify') {
    app
      .getHttpAdapter()
      .getInstance()
      .addContentTypeParser('*', (_req: unknown, _body: unknown, done: () => void) => done())
  }
  await prepare?.(app)
  await app.listen(0, '127.0.0.1')
  const server = app.getHttpServer()
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.closeAllConnections()
      await app.close()
    },
  }
}

// the methods common to Express's response and Fastify's reply
interface CommonResponse {
  readonly statusCode: number
  status(code: number): unknown
  header(name: string, value: string): unknown
  send(body: unknown): unknown
}

/** Adapts requests and responses of both platforms to the contract. */
export const bridge: HookBridge<{ method: string; headers: Record<string, string | undefined> }, CommonResponse> = {
  request: (req) => ({ method: req.method, header: (name) => req.headers[name] }),
  response: (res) => ({
    get statusCode() {
      return res.statusCode
    },
    status: (code) => void res.status(code),
    send: (reply) => res.send(dressed(res, reply)),
  }),
}

/** Sets the status and headers of a reply, and returns its body. */
export function dressed(
  res: CommonResponse,
  { status, headers = {}, body = '', parts }: Reply,
): string | StreamableFile {
  if (status !== undefined) res.status(status)
  for (const [name, value] of Object.entries(headers)) res.header(name, value)
  return parts ? new StreamableFile(Readable.from(parts)) : body
}
