import type { Findings } from './findings.ts'

/** `short` runs in `npm test`, `long` in `npm run test:faults`. */
export type Form = 'short' | 'long'

/** One line of the table of faults, run on the servers and applications of its group. */
export interface Row<Bench> {
  readonly id: string
  /** Description of the fault. */
  readonly fault: string
  /** Whether the row takes too long for `npm test`. */
  readonly onlyLong?: boolean
  /** Whether a run with less than all seeds, such as `npm test`, omits the row: another row proves it in another size. */
  readonly isVariant?: boolean
  run(bench: Bench, findings: Findings, form: Form): Promise<void>
}

/** Rows that share one set of servers and applications, run one after the other. */
export interface Group<Bench = unknown> {
  readonly name: string
  start(): Promise<Bench>
  stop(bench: Bench): Promise<void>
  readonly rows: readonly Row<Bench>[]
}
