import { groupOf } from './bench.ts'
import type { Row } from './report/row.ts'
import { comesBackAfter } from './rows/crashes.ts'
import { paths } from './rows/paths.ts'
import { stalls } from './rows/stalls.ts'
import { redisKind } from './stores/redis-store.ts'
import { testGroup } from './test-group.ts'

/** Some rows of each kind. The others run with `npm run test:matrix -- node-redis`. */
const SOME = ['Redis stopped (SIGSTOP) for 0.3 s', 'connections to Redis cut']

function some<Bench>(rows: readonly Row<Bench>[]): Row<Bench>[] {
  return rows.filter(({ fault }) => SOME.some((start) => fault.startsWith(start)))
}

for (const client of ['node-redis', 'iovalkey', 'valkey-glide']) {
  const rows = [...some(stalls.rows), comesBackAfter(redisKind, 2), ...some(paths.rows)]
  testGroup(groupOf(`Redis with ${client}`, rows, 2, client))
}
