import { seededRandom } from '@sluice/testkit'
import { type Admitted, admittedOf, type Load } from './admitted.ts'

/** A row of the over-admission table: what a fleet admits, in multiples of its limit. */
export interface AdmittedRow {
  readonly nodes: number
  readonly demand: number
  readonly shape: string
  readonly first: number
  readonly most: number
  readonly steady: number
  readonly exchangesASecond: number
}

type Shape = Pick<Load, 'way' | 'burstMs' | 'idleMs' | 'policy'>

/** Shapes of traffic by name. */
const shapes: Readonly<Record<string, Shape>> = {
  even: {},
  hopping: { way: 'hopping' },
  bursts: { burstMs: 50 },
  'mid-epoch': { idleMs: 30_000 },
  'slices: 60': { policy: { slices: 60 } },
}

/** Simulates this number of nodes with 6,000 a minute. */
export async function admittedRow(nodes: number, demand: number, shape = 'even', windows = 4): Promise<AdmittedRow> {
  const random = seededRandom(nodes * 1_000 + demand)
  const load = { nodes, limit: 6_000, windowMs: 60_000, demand, windows, random, ...shapes[shape] }
  const admitted = await admittedOf(load)
  await admitted.fleet.close()
  return rowOf(nodes, demand, shape, admitted)
}

function rowOf(nodes: number, demand: number, shape: string, admitted: Admitted): AdmittedRow {
  const rounded = (value: number): number => Math.round(value * 1_000) / 1_000
  const { first, most, steady, exchangesASecond } = admitted
  return {
    nodes,
    demand,
    shape,
    first: rounded(first),
    most: rounded(most),
    steady: rounded(steady),
    exchangesASecond: rounded(exchangesASecond),
  }
}

/** The rows as lines of JSON, the source of tables and charts. */
export function jsonLine(row: AdmittedRow): string {
  return `${JSON.stringify(row)}\n`
}
