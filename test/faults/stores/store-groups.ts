import type { Fleet } from '../fleet.ts'
import type { Group } from '../report/row.ts'
import { crashRows } from '../rows/crashes.ts'
import { refusalRows } from '../rows/errors.ts'
import { pathRows } from '../rows/paths.ts'
import { stallRows } from '../rows/stalls.ts'
import { dynamoKind } from './dynamo-store.ts'
import { memcachedKind } from './memcached-store.ts'
import { mysqlKind } from './mysql-store.ts'
import { postgresKind } from './postgres-store.ts'
import type { StoreBench, StoreKind, StoreServer } from './store-server.ts'

/** Part of the fault of the only row that a run with less than all seeds has: it proves that the other rows can run. */
const ALWAYS = 'stopped (SIGSTOP) for 0.3 s'

/** The servers other than Redis on which limits count, with the applications of `fleetOf`. */
export function storeGroups(fleetOf: () => Fleet): readonly Group<StoreBench>[] {
  const groupOf = <Server extends StoreServer>(kind: StoreKind<Server>): Group<StoreBench<Server>> => ({
    name: kind.name,
    rows: [...stallRows(kind), ...pathRows(kind), ...crashRows(kind), ...refusalRows(kind)].map((row) => ({
      ...row,
      isVariant: !row.fault.includes(ALWAYS),
    })),
    start: async () => ({ fleet: fleetOf().at(kind.perSecond), server: await kind.start() }),
    stop: ({ server }) => server.stop(),
  })
  return [
    groupOf(postgresKind),
    groupOf(mysqlKind),
    groupOf(memcachedKind),
    groupOf(dynamoKind),
  ] as readonly Group<StoreBench>[]
}
