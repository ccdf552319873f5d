import { counterGroup } from './counter-bench.ts'
import { fullDisk } from './rows/full-disk.ts'
import { locks } from './rows/locks.ts'
import { outages } from './rows/outages.ts'
import { paths } from './rows/paths.ts'
import { retries } from './rows/retries.ts'
import { slow } from './rows/slow.ts'

/**
 * Faults of usage counters. Retries run last, because their many rows would take part of the space that another row
 * fills.
 */
export const counters = counterGroup('usage counters', [
  ...outages,
  ...slow,
  ...locks,
  ...paths,
  ...fullDisk,
  ...retries,
])
