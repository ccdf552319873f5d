import { Fleet } from '../fleet.ts'
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

/** All rows of a kind of server, R1 to R9. */
function groupOf<Server extends StoreServer>(kind: StoreKind<Server>): Group<StoreBench<Server>> {
  return {
    name: kind.name,
    rows: [...stallRows(kind), ...pathRows(kind), ...crashRows(kind), ...refusalRows(kind)].map((row) => ({
      ...row,
      isVariant: !row.fault.includes(ALWAYS),
    })),
    start: async () => ({ fleet: Fleet.start(2, undefined, kind.perSecond), server: await kind.start() }),
    stop: async ({ fleet, server }) => {
      await fleet.stop()
      await server.stop()
    },
  }
}

/** The servers other than Redis on which limits count. */
export const storeGroups = [
  groupOf(postgresKind),
  groupOf(mysqlKind),
  groupOf(memcachedKind),
  groupOf(dynamoKind),
] as readonly Group<StoreBench>[]
