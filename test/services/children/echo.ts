import { memoryBackend } from '@sluice/limiter-core'

export function sum(one: number, other: number): number {
  return one + other
}

export async function fail(text: string): Promise<never> {
  console.log('about to fail')
  throw new TypeError(text)
}

/** Proves that the source of the packages runs here. */
export function synchronous(): boolean {
  return memoryBackend().synchronous === true
}

export function leave(code: number): Promise<void> {
  process.exit(code)
}

export function never(): Promise<void> {
  return new Promise(() => {})
}
