// Entry point for adapters of frameworks that use Web-standard requests.

export type { ClientSource } from '@sluice/http'
export { fetchSource, type HostPeer, hostPeer } from './client-address.ts'
export { answer, isRefused, refusal } from './fetch.ts'
export { FetchExchange, type RequestOrigin } from './fetch-exchange.ts'
export { FetchLife } from './fetch-life.ts'
export type { FetchReply } from './limit-reply.ts'
