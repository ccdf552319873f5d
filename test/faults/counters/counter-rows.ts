import { counterGroup } from './counter-bench.ts'
import { fullDisk } from './rows/full-disk.ts'
import { locks } from './rows/locks.ts'
import { outages } from './rows/outages.ts'
import { paths } from './rows/paths.ts'
import { retries } from './rows/retries.ts'
import { slow } from './rows/slow.ts'

/** What befalls usage counters. Retries come last: the many rows that they leave would be a part of what fills a disk. */
export const counters = counterGroup('usage counters', [
  ...outages,
  ...slow,
  ...locks,
  ...paths,
  ...fullDisk,
  ...retries,
])
