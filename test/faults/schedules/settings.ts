import { seededRandom } from '@sluice/testkit'
import type { Form } from '../report/row.ts'
import { ClusterServers } from './cluster-servers.ts'
import { Member } from './member.ts'
import { PROCESS_FAULTS, ProcessMember } from './process-member.ts'
import { type Counting, drawSchedule } from './schedule.ts'
import { runSchedule } from './schedule-run.ts'
import { type Servers, SingleServer } from './servers.ts'

/** Servers and backends of a schedule. */
export interface Setting {
  readonly name: string
  readonly counting: Counting
  readonly promise: string
  /** Number of schedules in `npm test`. */
  readonly seeds: number
  /** Whether members run in their own processes. */
  readonly processes?: boolean
  /** Whether the server loses its counts. */
  readonly loses?: boolean
  /** Whether another server takes over with all counts. */
  readonly changes?: boolean
  start(members: number, random: () => number): Promise<Servers>
}

const MEMBERS = 3
const EXACT = 'what is charged is what was admitted, without what was given back'
const LEASED = `${EXACT}, within what is on lease`
const TOLD = 'what is charged is what anybody was told, and no more than what was admitted'
const one = SingleServer.start

export const settings: readonly Setting[] = [
  { name: 'redisBackend on one Redis', counting: 'exact', promise: EXACT, seeds: 2, start: one },
  {
    name: 'redisBackend on a Redis that is killed and keeps its counts',
    counting: 'exact',
    promise: EXACT,
    seeds: 1,
    changes: true,
    start: SingleServer.startDurable,
  },
  {
    name: 'redisBackend on a cluster',
    counting: 'exact',
    promise: EXACT,
    seeds: 1,
    changes: true,
    start: ClusterServers.start,
  },
  {
    name: 'redisBackend on a Redis that restarts empty',
    counting: 'exact',
    promise: TOLD,
    seeds: 1,
    loses: true,
    start: SingleServer.startForgetful,
  },
  { name: 'leasedBackend on one Redis', counting: 'leased', promise: LEASED, seeds: 2, start: one },
  {
    name: 'leasedBackend on a Redis that is killed and keeps its counts',
    counting: 'leased',
    promise: LEASED,
    seeds: 1,
    changes: true,
    start: SingleServer.startDurable,
  },
]

/** Settings that take long. */
export const longSettings: readonly Setting[] = [
  ...settings,
  { name: 'redisBackend of processes', counting: 'exact', promise: EXACT, seeds: 1, processes: true, start: one },
  { name: 'leasedBackend of processes', counting: 'leased', promise: LEASED, seeds: 1, processes: true, start: one },
  {
    name: 'leasedBackend on a Redis that restarts empty',
    counting: 'leased',
    promise: 'whoever asks has an answer, and nothing stays on lease',
    seeds: 1,
    loses: true,
    start: SingleServer.startForgetful,
  },
]

/** Runs the schedule of a seed on new servers. */
export async function runSeed({ start, ...setting }: Setting, seed: number, form: Form): Promise<void> {
  const random = seededRandom(seed)
  const servers = await start(MEMBERS, () => random.next())
  try {
    const schedule = drawSchedule(seed, {
      name: setting.name,
      counting: setting.counting,
      loses: setting.loses === true,
      changes: setting.changes === true,
      faults: [...Object.keys(servers.faults), ...(setting.processes ? PROCESS_FAULTS : [])],
      members: MEMBERS,
      rounds: form === 'short' ? 5 : 30,
    })
    const measured = await runSchedule(schedule, servers, (options) =>
      setting.processes ? new ProcessMember(options) : new Member(options),
    )
    process.stdout.write(`SLUICE_SEED=${seed}, ${setting.name}: ${measured}\n`)
  } finally {
    await servers.stop()
  }
}
