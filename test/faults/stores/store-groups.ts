import { Fleet } from '../fleet.ts'
import type { Group, Row } from '../report/row.ts'
import { crashRows } from '../rows/crashes.ts'
import { refusalRows } from '../rows/errors.ts'
import { pathRows } from '../rows/paths.ts'
import { stallRows } from '../rows/stalls.ts'
import { mysqlKind } from './mysql-store.ts'
import { postgresKind } from './postgres-store.ts'
import type { StoreBench, StoreKind, StoreServer } from './store-server.ts'

/** Parts of the faults that only the long form has: in the short form, rows of Redis or another size prove them. */
const VARIANTS = ['stopped for 3 s', '+100 ms', 'of packets', 'share: 1/2', 'comes back after']

/** All rows of a kind of server, R1 to R9. */
function groupOf<Server extends StoreServer>(kind: StoreKind<Server>): Group<StoreBench<Server>> {
  return {
    name: kind.name,
    rows: [...stallRows(kind), ...pathRows(kind), ...crashRows(kind), ...refusalRows(kind)]
      .filter(({ fault }) => !kind.without.some((part) => fault.includes(part)))
      .map(withVariants),
    start: async () => ({ fleet: Fleet.start(), server: await kind.start() }),
    stop: async ({ fleet, server }) => {
      await fleet.stop()
      await server.stop()
    },
  }
}

function withVariants<Bench>(row: Row<Bench>): Row<Bench> {
  return { ...row, isVariant: row.isVariant === true || VARIANTS.some((part) => row.fault.includes(part)) }
}

/** The servers other than Redis on which limits count. */
export const storeGroups = [groupOf(postgresKind), groupOf(mysqlKind)] as readonly Group<StoreBench>[]
