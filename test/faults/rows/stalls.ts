import { type Bench, groupOf } from '../bench.ts'
import { during, type FaultTimes, lasting } from '../fleet.ts'
import { countsAgree, holdsAlways, isUsedAgain, staysDenied } from '../report/bounds.ts'
import type { Findings } from '../report/findings.ts'
import type { Group, Row } from '../report/row.ts'
import { stopped } from '../stopped.ts'

type Fault = (bench: Bench) => Promise<FaultTimes>

/** Redis runs and keeps its data, and does not answer. */
export const stalls: Group<Bench> = groupOf('Redis stalls', [
  row('R1', 'Redis stopped (SIGSTOP) for 0.3 s', stopped(300)),
  row('R1', 'Redis stopped for 3 s', stopped(3_000)),
  { ...row('R1', 'Redis stopped for 30 s', stopped(30_000)), onlyLong: true },
  row('R2', 'CLIENT PAUSE … ALL for 2 s', commanded(2_000, 'CLIENT', 'PAUSE', '2000', 'ALL')),
  row('R2', 'CLIENT PAUSE … WRITE for 2 s', commanded(2_000, 'CLIENT', 'PAUSE', '2000', 'WRITE')),
  { ...row('R2', 'DEBUG SLEEP for 2 s', commanded(2_000, 'DEBUG', 'SLEEP', '2')), isVariant: true },
  { id: 'R8', fault: 'Redis stopped six times for 0.2 s', run: stutters },
])

function row(id: string, fault: string, happens: Fault): Row<Bench> {
  return { id, fault, run: (bench, findings) => throughStall(bench, findings, happens) }
}

function commanded(ms: number, ...command: [string, ...string[]]): Fault {
  return ({ redis }) => {
    const admin = redis.client()
    // its answer arrives when the fault is over
    const begin = (): void => void admin.call(...command).catch(() => {})
    return during(ms, begin, () => admin.ping())
  }
}

async function throughStall(bench: Bench, findings: Findings, happens: Fault): Promise<void> {
  const { fleet, redis } = bench
  await fleet.open({ address: { url: redis.url } })
  const passed = await fleet.through(() => happens(bench))
  holdsAlways(findings, passed)
  staysDenied(findings, passed.timeline)
  isUsedAgain(findings, passed)
  countsAgree(findings, passed.timeline, await fleet.counted(redis.client()), [passed])
}

async function stutters({ fleet, redis }: Bench, findings: Findings): Promise<void> {
  await fleet.open({ address: { url: redis.url } })
  const faults: FaultTimes[] = []
  const passed = await fleet.through(async () => {
    for (let times = 0; times < 6; times++) {
      faults.push(await stopped(200)({ fleet, redis }))
      await fleet.ready()
      await lasting(100)
    }
    return { from: faults[0]?.from as number, to: faults.at(-1)?.to as number }
  })
  holdsAlways(findings, passed)
  staysDenied(findings, passed.timeline)
  countsAgree(findings, passed.timeline, await fleet.counted(redis.client()), faults)
}
