import { type Bench, groupOf } from '../bench.ts'
import { during } from '../fleet.ts'
import { countsAgree, holdsAlways, isUsedAgain, staysDenied } from '../report/bounds.ts'
import type { Findings } from '../report/findings.ts'
import type { Group, Row } from '../report/row.ts'
import { redisKind } from '../stores/redis-store.ts'
import type { Refusal, StoreBench, StoreKind, StoreServer } from '../stores/store-server.ts'
import { keyRows } from './keys.ts'

const FAULT_MS = 700

/** Redis answers with errors. */
export const errors: Group<Bench> = groupOf('Redis refuses', [
  ...refusalRows(redisKind),
  { id: 'R9', fault: 'NOAUTH: applications start with a wrong password', run: startsRefused },
  ...keyRows,
])

/** The server answers with errors. */
export function refusalRows<Server extends StoreServer>({
  refusals,
  backMs,
}: StoreKind<Server>): readonly Row<StoreBench<Server>>[] {
  return refusals.map((refusal) => ({
    id: 'R9',
    fault: refusal.fault,
    isVariant: refusal.isVariant === true,
    run: (bench, findings) => refuses(bench, findings, refusal, backMs),
  }))
}

async function refuses<Server extends StoreServer>(
  { fleet, server }: StoreBench<Server>,
  findings: Findings,
  { before, begin, end, forgets, told }: Refusal<Server>,
  backMs?: number,
): Promise<void> {
  await before?.(server)
  await fleet.open({ address: server.addressAt(server.port) })
  const passed = await fleet.through(() =>
    during(
      FAULT_MS,
      () => begin(server),
      () => end(server),
    ),
  )
  findings.atLeast(`reported as ${told}`, passed.timeline.cause(told), 1)
  const others = passed.timeline.reports.flatMap(({ causes }) => Object.keys(causes)).filter((name) => name !== told)
  findings.note(`also ${[...new Set(others)].join(', ') || 'nothing else'}`)
  holdsAlways(findings, passed)
  staysDenied(findings, passed.timeline)
  isUsedAgain(findings, passed, backMs)
  if (!forgets) countsAgree(findings, passed.timeline, await fleet.counted(server.backend()), [passed])
}

async function startsRefused({ fleet, server }: Bench, findings: Findings): Promise<void> {
  const { admin } = server
  await admin.config('SET', 'requirepass', 'secret')
  await fleet.openUnready({ address: server.addressAt(server.port) })
  const passed = await fleet.through(() =>
    during(
      FAULT_MS,
      () => {},
      () => admin.config('SET', 'requirepass', ''),
    ),
  )
  findings.atLeast('reported as NOAUTH', passed.timeline.cause('NOAUTH'), 1)
  holdsAlways(findings, passed)
  isUsedAgain(findings, passed)
}
