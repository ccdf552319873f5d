import type { CapSnapshot, ShedSnapshot } from '../../live/report/cap-snapshot.ts'
import type { BackendSnapshot, InsightSnapshot, PolicySnapshot } from '../../live/report/snapshot.ts'
import { count, duration, percent, rate } from './dom/format.ts'

export interface Summary {
  readonly state: 'good' | 'warning' | 'bad' | 'idle'
  /** Short status. Changes rarely, because screen readers announce every change. */
  readonly verdict: string
  /** Details of the status, with numbers that change continuously. */
  readonly figures: string
}

/** Fraction of denied decisions from which a warning is shown. */
const MANY_DENIED = 0.2

/** Summarises the state of the limits: the most severe problem, if there is one. */
export function summaryOf(snapshot: InsightSnapshot): Summary {
  return (
    backendTrouble(snapshot) ??
    uncountedTrouble(snapshot) ??
    collapsedClients(snapshot) ??
    shedding(snapshot) ??
    fullCap(snapshot) ??
    denials(snapshot) ??
    capDenials(snapshot) ??
    calm(snapshot)
  )
}

function backendTrouble({ backends }: InsightSnapshot): Summary | undefined {
  const failing = backends.filter(({ state }) => state !== 'ok')
  if (failing.length === 0) return undefined
  const [first] = failing.toSorted((a, b) => b.sinceMs - a.sinceMs)
  const others = failing.length > 1 ? `; ${count(failing.length - 1)} more failing` : ''
  return {
    state: 'bad',
    verdict: `\u2068${backendName(first)}\u2069 is not responding`,
    figures: ` (for ${duration(first.sinceMs)}${others}): the failure rule decides until it recovers`,
  }
}

function backendName({ name }: BackendSnapshot): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}

function uncountedTrouble({ policies }: InsightSnapshot): Summary | undefined {
  const perSecond = policies.reduce((sum, policy) => sum + policy.perSecond.uncounted, 0)
  if (perSecond === 0) return undefined
  return {
    state: 'bad',
    verdict: 'Some decisions are not counted',
    figures: `: the failure rule makes ${rate(perSecond)}`,
  }
}

function collapsedClients({ collapsed }: InsightSnapshot): Summary | undefined {
  if (collapsed === undefined) return undefined
  const { reason, trust } = collapsed
  const advice = trust === undefined ? 'see the warnings of the process' : `if so, set \u2068trust: ${trust}\u2069`
  return {
    state: 'bad',
    verdict: 'Many clients are counted as one',
    figures: `: a counted address is probably your proxy, since \u2068${reason}\u2069; ${advice}`,
  }
}

function shedding({ sheds }: InsightSnapshot): Summary | undefined {
  const [worst] = sheds.filter(({ pressure }) => pressure !== null).toSorted((a, b) => shedRate(b) - shedRate(a))
  if (worst === undefined || shedRate(worst) === 0) return undefined
  const figures = `: ${rate(shedRate(worst))}, pressure ${percent(worst.pressure ?? 0)} by \u2068${worst.signal}\u2069`
  return { state: 'warning', verdict: `Policy \u2068${worst.policy}\u2069 sheds requests`, figures }
}

/** Returns the requests per second that a policy sheds. */
function shedRate({ byPriority }: ShedSnapshot): number {
  return byPriority.reduce((sum, { perSecond }) => sum + perSecond, 0)
}

function fullCap({ caps }: InsightSnapshot): Summary | undefined {
  const cap = caps.find(({ held, limit }) => held >= limit && held > 0)
  if (cap === undefined) return undefined
  return {
    state: 'warning',
    verdict: `Cap \u2068${cap.name}\u2069 is full`,
    figures: `: ${count(cap.held)} of ${count(cap.limit)} in flight`,
  }
}

function denials({ policies }: InsightSnapshot): Summary | undefined {
  const [worst] = policies
    .filter((policy) => deniedShareOf(policy) >= MANY_DENIED)
    .toSorted((a, b) => deniedShareOf(b) - deniedShareOf(a))
  if (worst === undefined) return undefined
  const figures = `: ${percent(deniedShareOf(worst))} of decisions, ${rate(worst.perSecond.denied)}`
  return { state: 'warning', verdict: `Policy \u2068${worst.name}\u2069 denies many requests`, figures }
}

/** Returns the share of denials among the enforced decisions of the last 10 s. */
function deniedShareOf({ perSecond: { allowed, denied } }: PolicySnapshot): number {
  return denied === 0 ? 0 : denied / (allowed + denied)
}

function capDenials({ caps }: InsightSnapshot): Summary | undefined {
  const shares = caps.map((cap) => {
    const { admitted, denied } = permitRates([cap])
    return { cap, denied, share: denied === 0 ? 0 : denied / (admitted + denied) }
  })
  const [worst] = shares.filter(({ share }) => share >= MANY_DENIED).toSorted((a, b) => b.share - a.share)
  if (worst === undefined) return undefined
  const figures = `: ${percent(worst.share)} of requests, ${rate(worst.denied)}`
  return { state: 'warning', verdict: `Cap \u2068${worst.cap.name}\u2069 denies many requests`, figures }
}

/** Returns the permits per second of the last 10 s. */
function permitRates(caps: readonly CapSnapshot[]): { readonly admitted: number; readonly denied: number } {
  const rates = caps.flatMap(({ byPriority }) => byPriority.map(({ perSecond }) => perSecond))
  const sum = (of: 'admitted' | 'denied'): number => rates.reduce((total, each) => total + each[of], 0)
  return { admitted: sum('admitted'), denied: sum('denied') }
}

function calm({ ratePerSecond, deniedShare, controls, caps }: InsightSnapshot): Summary {
  const changes = controls.length === 0 ? '' : `; ${changesText(controls.length)}`
  const { admitted } = permitRates(caps)
  if (ratePerSecond.now === 0 && admitted > 0) {
    return { state: 'good', verdict: 'Healthy', figures: `: caps admit ${rate(admitted)}${changes}` }
  }
  if (ratePerSecond.now === 0) {
    return { state: 'idle', verdict: 'Idle', figures: `: no decisions in the last 10 s${changes}` }
  }
  const decisions = `${rate(ratePerSecond.now).replace('/s', '')} decisions/s`
  return { state: 'good', verdict: 'Healthy', figures: `: ${decisions}, ${percent(deniedShare)} denied${changes}` }
}

function changesText(number: number): string {
  return number === 1 ? '1 active change' : `${count(number)} active changes`
}
