import { type Bench, groupOf } from '../bench.ts'
import { during, type FaultTimes, lasting } from '../fleet.ts'
import { countsAgree, countsNoneTwice, holdsAlways, isUsedAgain, staysDenied } from '../report/bounds.ts'
import type { Findings } from '../report/findings.ts'
import type { Group, Row } from '../report/row.ts'
import { stopped } from '../stopped.ts'
import { redisKind } from '../stores/redis-store.ts'
import type { ServerFault, StoreBench, StoreKind, StoreServer } from '../stores/store-server.ts'

const STALL_MS = 2_000

/** Redis runs and keeps its data, and does not answer. */
export const stalls: Group<Bench> = groupOf('Redis stalls', stallRows(redisKind))

/** The server runs and keeps its data, and does not answer. */
export function stallRows<Server extends StoreServer>(kind: StoreKind<Server>): readonly Row<StoreBench<Server>>[] {
  const { name, stalls: own } = kind
  const row = rowOf(kind)
  return [
    row('R1', `${name} stopped (SIGSTOP) for 0.3 s`, stopped(300)),
    row('R1', `${name} stopped for 3 s`, stopped(3_000)),
    { ...row('R1', `${name} stopped for 30 s`, stopped(30_000)), onlyLong: true },
    ...own.map((fault) => ({
      ...row('R2', `${fault.fault} for 2 s`, caused(fault), fault.appliesLate),
      isVariant: fault.isVariant === true,
    })),
    { id: 'R8', fault: `${name} stopped six times for 0.2 s`, run: stutters },
  ]
}

type Fault<Server extends StoreServer> = (bench: StoreBench<Server>) => Promise<FaultTimes>

function rowOf<Server extends StoreServer>({ backMs }: StoreKind<Server>) {
  return (id: string, fault: string, happens: Fault<Server>, appliesLate = false): Row<StoreBench<Server>> => {
    const run = async (bench: StoreBench<Server>, findings: Findings): Promise<void> => {
      const { fleet, server } = bench
      await fleet.open({ address: server.addressAt(server.port) })
      const passed = await fleet.through(() => happens(bench))
      holdsAlways(findings, passed)
      staysDenied(findings, passed.timeline)
      isUsedAgain(findings, passed, backMs)
      const counted = await fleet.counted(server.backend())
      if (appliesLate) countsNoneTwice(findings, passed.timeline, counted)
      else countsAgree(findings, passed.timeline, counted, [passed])
    }
    return { id, fault, run }
  }
}

function caused<Server extends StoreServer>({ begin, end }: ServerFault<Server>): Fault<Server> {
  return ({ server }) =>
    during(
      STALL_MS,
      () => begin(server),
      () => end(server),
    )
}

async function stutters({ fleet, server }: StoreBench, findings: Findings): Promise<void> {
  await fleet.open({ address: server.addressAt(server.port) })
  const faults: FaultTimes[] = []
  const passed = await fleet.through(async () => {
    for (let times = 0; times < 6; times++) {
      faults.push(await stopped(200)({ server }))
      await fleet.ready()
      await lasting(100)
    }
    return { from: faults[0]?.from as number, to: faults.at(-1)?.to as number }
  })
  holdsAlways(findings, passed)
  staysDenied(findings, passed.timeline)
  countsAgree(findings, passed.timeline, await fleet.counted(server.backend()), faults)
}
