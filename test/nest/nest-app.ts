import 'reflect-metadata'
import type { AddressInfo } from 'node:net'
import type { INestApplication, ModuleMetadata, Type } from '@nestjs/common'
import { Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import type { HookBridge, Reply, RunningApp } from '@sluice/testkit'

/** What Nest runs on. */
export type Platform = 'Express' | 'Fastify'

export const platforms: readonly Platform[] = ['Express', 'Fastify']

export interface AppOptions extends ModuleMetadata {
  /** Before it listens. */
  readonly prepare?: (app: INestApplication) => unknown
}

export function moduleOf(metadata: ModuleMetadata): Type {
  class AppModule {}
  Module(metadata)(AppModule)
  return AppModule
}

/** An application of these modules, controllers and providers that listens. */
export async function nestApp(platform: Platform, { prepare, ...metadata }: AppOptions): Promise<RunningApp> {
  const adapter = platform === 'Express' ? new ExpressAdapter() : new FastifyAdapter()
  const options = { logger: false, abortOnError: false, forceCloseConnections: true } as const
  const app = await NestFactory.create(moduleOf(metadata), adapter, options)
  // left unread, so that the limits meet the request as it came
  if (platform === 'Fastify') {
    app
      .getHttpAdapter()
      .getInstance()
      .addContentTypeParser('*', (_req: unknown, _body: unknown, done: () => void) => done())
  }
  prepare?.(app)
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

// what Express's response and Fastify's reply have in common
interface CommonResponse {
  readonly statusCode: number
  status(code: number): unknown
  header(name: string, value: string): unknown
  send(body: string): unknown
}

/** Requests and responses of both platforms, as the contract sees them. */
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

/** Sets what a reply says of status and headers, and answers its body. */
export function dressed(res: CommonResponse, { status, headers = {}, body = '' }: Reply): string {
  if (status !== undefined) res.status(status)
  for (const [name, value] of Object.entries(headers)) res.header(name, value)
  return body
}
