// The API, independent of the framework that serves it.
import { setTimeout as pause } from 'node:timers/promises'
import type { RequestSluice } from '@sluice/express'

export const routes: Readonly<Record<string, string>> = {
  'GET /': 'this list; all routes share a limit of 100 requests in 10 s per address',
  'POST /login': '5 wrong passwords in 15 minutes per address; right ones are free',
  'GET /v1': '10 requests in 1 s and 30 in 1 minute per x-api-key (demo, demo-2)',
  'GET /search?results=10': '20 units in 10 s per address, one for every 10 results',
  'GET /chat?words=50': '600 words in 1 minute per address, 50 reserved before the first is sent',
  'GET /slow': '2 at once, in the whole process; it takes 2 s',
  'GET /client': 'the address that is counted for you, and why',
}

const apiKeys: readonly unknown[] = ['demo', 'demo-2']
export const noKey = { error: 'send x-api-key: demo' } as const

/** Only checked API keys identify a client: otherwise it could send a different key with every request. */
export function isKnownKey(key: unknown): boolean {
  return apiKeys.includes(key)
}

export function isPassword(body: unknown): boolean {
  return (body as { password?: unknown } | undefined)?.password === 'sesame'
}

/** Returns the remaining units of each policy. */
export function left(sluice: RequestSluice | undefined): unknown {
  return sluice?.decision?.verdicts.map(({ policy, remaining }) => ({ [policy.name]: remaining }))
}

export function resultsOf(text: unknown): number {
  return numberOf(text, 10, 100)
}

/** Yields words one after the other. A stream that is aborted stops reading them. */
export async function* words(wanted: unknown): AsyncGenerator<string> {
  const last = numberOf(wanted, 50, 500)
  for (let count = 1; count <= last; count++) {
    yield `word ${count}\n`
    await pause(2, undefined, { ref: false })
  }
}

export async function workSlowly(): Promise<{ done: true }> {
  await pause(2_000, undefined, { ref: false })
  return { done: true }
}

function numberOf(text: unknown, otherwise: number, most: number): number {
  const number = Number(text ?? otherwise)
  return number >= 1 && number <= most ? Math.floor(number) : otherwise
}
