import { markInfallible } from '../backend/infallible.ts'
import type { Answer, Backend, Clock } from '../contracts.ts'
import { badOption } from '../errors/bad-option.ts'
import { optionsOf } from '../options/options.ts'
import { clockOf } from '../time/clock.ts'
import { MemoryBackend } from './memory-backend.ts'

export interface MemoryBackendOptions {
  /**
   * Memory for all counts, in bytes: an integer of at least 65,536. Default: 64 MiB. Each cell format in use needs a
   * page of up to 40 KiB, even if this exceeds the limit.
   */
  readonly maxBytes?: number | undefined
  readonly clock?: Clock | undefined
}

const DEFAULT_MAX_BYTES = 64 * 2 ** 20
const MIN_MAX_BYTES = 64 * 2 ** 10

/**
 * Creates a backend that counts in the memory of this process, exactly until `maxBytes` is used up. Then keys with the
 * least usage are evicted first, and evicted keys that had used at least half of their limit are remembered
 * approximately, so that a client cannot reset its count by flooding the memory with keys. Answers synchronously,
 * stores 54-bit keyed fingerprints instead of keys, and has no timers. Throws `SLUICE_BAD_OPTION`.
 */
export function memoryBackend(options: MemoryBackendOptions = {}): Backend<Answer> {
  const { maxBytes = DEFAULT_MAX_BYTES, clock } = optionsOf('memoryBackend', options, ['maxBytes', 'clock'])
  if (!Number.isSafeInteger(maxBytes) || maxBytes < MIN_MAX_BYTES) {
    throw badOption('memoryBackend: maxBytes', maxBytes, `an integer of at least ${MIN_MAX_BYTES}`)
  }
  return markInfallible(new MemoryBackend(maxBytes, clockOf(clock)))
}

/**
 * Like `memoryBackend`, for counts that belong to this process only: nothing warns that other processes count their own.
 */
export function processMemory(options: MemoryBackendOptions = {}): Backend<Answer> {
  return Object.defineProperty(memoryBackend(options), 'perProcess', { value: false })
}
