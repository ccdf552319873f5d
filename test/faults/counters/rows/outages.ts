import { during } from '../../fleet.ts'
import type { Row } from '../../report/row.ts'
import { type CounterBench, countThrough } from '../counter-bench.ts'
import type { Tier } from '../counting-fleet.ts'

type Change = (bench: CounterBench) => unknown

/** A server becomes unavailable and returns with all of its data. */
export const outages: readonly Row<CounterBench>[] = [
  away(
    'PostgreSQL stopped (SIGSTOP) for 10 s',
    ({ postgres }) => postgres.pause(),
    ({ postgres }) => postgres.resume(),
  ),
  away(
    'PostgreSQL shut down (immediate), back after 10 s',
    ({ postgres }) => postgres.shutDown(),
    ({ postgres }) => postgres.start(),
  ),
  {
    ...away(
      'Redis stopped (SIGSTOP) for 10 s',
      ({ redis }) => redis.pause(),
      ({ redis }) => redis.resume(),
      'in Redis',
    ),
    onlyLong: true,
  },
]

function away(how: string, begin: Change, end: Change, refuses?: Tier): Row<CounterBench> {
  return {
    id: 'R49',
    fault: `${how}, counters`,
    run: async (bench, findings, form) => {
      const ms = form === 'long' ? 10_000 : 1_000
      const fault = () =>
        during(
          ms,
          () => begin(bench),
          () => end(bench),
        )
      await countThrough(bench, findings, { form, fault, ...(refuses ? { refuses } : {}) })
    },
  }
}
