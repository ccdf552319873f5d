import type { MetricSource } from '@sluice/limiter-core'
import { badOption, type Channel, type Clock, clockOf, isTopic, optionsOf } from '@sluice/limiter-core/backend'
import type { ControlOptions } from './control/control.ts'
import { checkControl } from './control/control-options.ts'
import { OperatorControl } from './control/operator-control.ts'
import { WatchedLimiters } from './control/watched-limiters.ts'
import { Explanations } from './explain/explanations.ts'
import { Insight } from './insight.ts'
import { keyNames } from './live/key-names.ts'
import { LiveSummaries, MOST_DAYS } from './live/live-summaries.ts'
import { RecentDenials } from './live/recent-denials.ts'
import { sourceSnapshots } from './live/source-snapshots.ts'
import type { UniqueStore } from './live/unique-store.ts'
import type { UniqueOptions } from './live/unique-summary.ts'
import { FleetMetrics } from './metrics/fleet-metrics.ts'
import { metricParts } from './metrics/metric-parts.ts'
import { SourceMetrics } from './metrics/source-metrics.ts'
import { PRIVACIES, type Privacy } from './privacy.ts'

export interface InsightOptions {
  /** How keys are shown, wherever they are. Default: `mask`. */
  readonly privacy?: Privacy | undefined
  /** Whose metrics are shown with those of the insight: quotas, synced backends, counters. Default: none. */
  readonly sources?: readonly MetricSource[] | undefined
  /**
   * At least 16 characters, the same in all processes: keys are known by it over processes, and hashed by it. Default: a
   * random one, with which hashed keys differ from process to process, and masked ones that look alike count as one over
   * a channel; unique keys are then counted in a way that whoever chooses keys can foresee.
   */
  readonly secret?: string | undefined
  /** How processes tell each other what they count, such as `redisChannel(client)`. Default: none; this process is shown. */
  readonly channel?: Channel | undefined
  /** Of the channel, the same in all processes that are shown together. Default: `sluice.insight`. Changes by operators go over `<topic>.control`. */
  readonly topic?: string | undefined
  /** Whose uniques are counted; default: keys of decisions, of all routes together. */
  readonly unique?: UniqueOptions | undefined
  /** What operators may change, and who hears of it. Over a channel it needs a `secret`. */
  readonly control?: ControlOptions | undefined
  readonly clock?: Partial<Clock> | undefined
}

const OPTIONS = ['privacy', 'sources', 'secret', 'channel', 'topic', 'unique', 'control', 'clock'] as const
const LEAST_SECRET = 16
const DEFAULT_TOPIC = 'sluice.insight'
const CONTROL_TOPIC = '.control'

/** Makes what limits do visible. Throws `SLUICE_BAD_OPTION`. */
export function createInsight(options: InsightOptions = {}): Insight {
  const { privacy = 'mask', sources = [], secret, channel, topic = DEFAULT_TOPIC, unique = {} } = checked(options)
  const clock = clockOf(options.clock)
  const names = keyNames({ privacy, secret, shared: channel !== undefined })
  const denials = new RecentDenials(clock)
  const [given, fleet] = [new SourceMetrics(sources), new FleetMetrics()]
  const measured = () => sourceSnapshots([...given.ofSources(), ...fleet.happened()])
  const onSync = (data: Readonly<Record<string, unknown>>): void => insight.event('sync', data)
  const live = new LiveSummaries({ clock, names, denials, secret, channel, topic, unique, sources: measured, onSync })
  const limiters = new WatchedLimiters()
  const control = new OperatorControl({
    clock,
    limiters,
    shown: names.shown,
    hasPolicy: (name) => live.snapshot().policies.some((policy) => policy.name === name),
    options: options.control ?? {},
    fleet: channel && { channel, topic: `${topic}${CONTROL_TOPIC}`, secret },
  })
  const explanations = new Explanations({
    clock,
    limiters,
    names,
    isWholeFleet: channel !== undefined,
    control,
    denialsOf: (key) => live.denialsOf(key),
  })
  const insight = new Insight({
    parts: [...metricParts(given, fleet), live, denials, control],
    live,
    explanations,
    control,
  })
  return insight
}

function checked(options: InsightOptions): InsightOptions {
  optionsOf('createInsight', options, OPTIONS)
  const { privacy = 'mask', secret, channel, topic, unique, control } = options
  if (!PRIVACIES.includes(privacy)) throw badOption('createInsight: privacy', privacy, PRIVACIES.join(', '))
  // never shown, not even where it is none
  if (secret !== undefined && !(typeof secret === 'string' && secret.length >= LEAST_SECRET)) {
    throw badOption('createInsight: secret', typeof secret, `a text of ${LEAST_SECRET} characters or more`)
  }
  if (channel !== undefined && typeof channel?.subscribe !== 'function') {
    throw badOption('createInsight: channel', channel, 'a channel')
  }
  if (topic !== undefined && !(isTopic(topic) && isTopic(`${topic}${CONTROL_TOPIC}`))) {
    throw badOption('createInsight: topic', topic, '1 to 120 printable ASCII characters without braces')
  }
  if (unique !== undefined) checkUnique(unique, secret)
  if (control !== undefined) checkControl(control)
  return options
}

function checkUnique(unique: UniqueOptions, secret: string | undefined): void {
  const { by, per, store, days } = optionsOf('createInsight: unique', unique, ['by', 'per', 'store', 'days'])
  if (by !== undefined && typeof by !== 'function') throw badOption('createInsight: unique.by', by, 'a key source')
  if (per !== undefined && per !== 'route') throw badOption('createInsight: unique.per', per, "'route'")
  if (store !== undefined) checkStore(store, secret)
  if (days === undefined) return
  const isWhole = Number.isInteger(days) && days >= 1 && days <= MOST_DAYS
  if (!isWhole || store === undefined) {
    throw badOption('createInsight: unique.days', days, `a whole number from 1 to ${MOST_DAYS}, beside a store`)
  }
}

function checkStore(store: UniqueStore, secret: string | undefined): void {
  if (typeof store?.merge !== 'function' || typeof store.read !== 'function') {
    throw badOption('createInsight: unique.store', store, 'a store, such as redisUniqueStore(client)')
  }
  // without one nobody could add to a day after a restart, nor any other process
  if (secret === undefined) throw badOption('createInsight: secret', secret, 'a text, as unique.store needs one')
}
