import type { AlgorithmName } from '@sluice/limiter-core/backend'
import type { algorithmBlocks } from './generated.ts'

/** Algorithms that the SQL functions implement. */
export const ALGORITHMS: readonly AlgorithmName[] = [
  'fixed-window',
  'sliding-window',
  'sliding-log',
  'token-bucket',
  'gcra',
]

/** Algorithms of the generated code. `sliding-window` is `two-epoch-window` or, with several slices, `sliced-window`. */
export type SqlAlgorithm = keyof typeof algorithmBlocks

/**
 * Numbers of the algorithms, and of the policies that are made of other policies. Processes of several releases call the
 * same functions, so a number never changes.
 */
export const KINDS: Readonly<Record<SqlAlgorithm | 'variants' | 'holding', number>> = {
  'fixed-window': 1,
  'two-epoch-window': 2,
  'sliced-window': 3,
  'sliding-log': 4,
  'token-bucket': 5,
  gcra: 6,
  variants: 7,
  holding: 8,
}
