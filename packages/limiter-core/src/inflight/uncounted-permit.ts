import type { Permit } from '../contracts.ts'

/** Permit of work that a cap lets pass without counting it. */
export const UNCOUNTED_PERMIT: Permit = {
  lost: new AbortController().signal,
  release() {},
  [Symbol.dispose]() {},
}
