import type { Address } from '../children/app.ts'
import type { Fleet } from '../fleet.ts'
import type { Findings } from './findings.ts'
import type { Form } from './row.ts'

const LIMIT = 1_000
const AT_ONCE = 5_000

/** A limit is exact, whatever the number of processes and concurrent requests. */
export async function admitsExactly(fleet: Fleet, address: Address, findings: Findings, form: Form): Promise<void> {
  const runs = form === 'long' ? 20 : 1
  // a long deadline, so that no request is answered by the failure rule, however long the queue is
  await fleet.open({ address, limit: LIMIT, deadlineMs: 60_000, clientOptions: { socketTimeout: 60_000 } })
  const admitted: number[] = []
  for (let run = 0; run < runs; run++) {
    const answers = await Promise.all(fleet.apps.map((app) => app.call('takeAtOnce', `run ${run}`, AT_ONCE)))
    admitted.push(answers.reduce((sum, { allowed }) => sum + allowed, 0))
    const counted = answers.reduce((sum, answer) => sum + answer.counted, 0)
    if (counted < fleet.apps.length * AT_ONCE) findings.exactly('counted', counted, fleet.apps.length * AT_ONCE)
  }
  findings.note(`${runs} runs`)
  findings.exactly('admitted at least', Math.min(...admitted), LIMIT)
  findings.exactly('admitted at most', Math.max(...admitted), LIMIT)
}
