import { isTopic } from '@sluice/fleet/backend'
import type { MetricSource } from '@sluice/limiter-core'
import { badOption, type Channel, type Clock, clockOf, optionsOf } from '@sluice/limiter-core/backend'
import { AppliedControls } from './control/applied-controls.ts'
import type { ControlOptions } from './control/control.ts'
import { ControlBounds } from './control/control-bounds.ts'
import { checkControl } from './control/control-options.ts'
import { OperatorControl } from './control/operator-control.ts'
import { WatchedCaps } from './control/watched-caps.ts'
import { WatchedLimiters } from './control/watched-limiters.ts'
import { Explanations } from './explain/explanations.ts'
import { Insight } from './insight.ts'
import { keyNames } from './live/key-names.ts'
import { LiveSummaries, MAX_DAYS } from './live/live-summaries.ts'
import { RecentDenials } from './live/process/recent-denials.ts'
import { sourceSnapshots } from './live/source-snapshots.ts'
import type { UniqueStore } from './live/uniques/unique-store.ts'
import type { UniqueOptions } from './live/uniques/unique-summary.ts'
import { FleetMetrics } from './metrics/fleet-metrics.ts'
import { metricParts } from './metrics/metric-parts.ts'
import { SourceMetrics } from './metrics/source-metrics.ts'
import { PRIVACIES, type Privacy } from './privacy.ts'
import { UnreadMessages } from './unread-messages.ts'

export interface InsightOptions {
  /** How keys are displayed in snapshots, explanations, events and on the page. Default: `mask`. */
  readonly privacy?: Privacy | undefined
  /** Additional metric sources to expose: quotas, synced backends, counters. Default: none. */
  readonly sources?: readonly MetricSource[] | undefined
  /**
   * Secret of at least 16 characters, identical in all processes. It identifies keys across processes and is the key of
   * `privacy: 'hash'`.
   *
   * Default: a random secret per process. Then hashed keys differ between processes. If a channel is used, masked keys
   * that look alike are merged as well, and a client that chooses its keys can predict how unique keys are hashed.
   */
  readonly secret?: string | undefined
  /**
   * Channel over which processes exchange their counts, such as `redisChannel(client)`. Default: none; the insight
   * covers this process only.
   */
  readonly channel?: Channel | undefined
  /**
   * Topic on the channel, identical in all processes that report together. Operator changes use `<topic>.control`.
   * Default: `sluice.insight`.
   */
  readonly topic?: string | undefined
  /** How unique keys are counted. Default: the keys of decisions, all routes together. */
  readonly unique?: UniqueOptions | undefined
  /** Bounds of operator changes, and a callback for the audit log. Changes over a channel require a `secret`. */
  readonly control?: ControlOptions | undefined
  readonly clock?: Partial<Clock> | undefined
}

const OPTIONS = ['privacy', 'sources', 'secret', 'channel', 'topic', 'unique', 'control', 'clock'] as const
const MIN_SECRET = 16
const DEFAULT_TOPIC = 'sluice.insight'
const CONTROL_TOPIC = '.control'

/**
 * Creates an observer that collects metrics and live statistics of limiters and caps. Throws `SLUICE_BAD_OPTION`, and
 * `SLUICE_SECRET_MISSING` for a store without a secret.
 */
export function createInsight(options: InsightOptions = {}): Insight {
  const { privacy = 'mask', sources = [], secret, channel, topic = DEFAULT_TOPIC, unique = {} } = checked(options)
  const clock = clockOf(options.clock)
  const names = keyNames({ privacy, secret, shared: channel !== undefined })
  const denials = new RecentDenials(clock)
  const [attached, fleet] = [new SourceMetrics(sources), new FleetMetrics()]
  const sourceMetrics = () => sourceSnapshots([...attached.ofSources(), ...fleet.nonZeroMetrics()])
  const onSync = (data: Readonly<Record<string, unknown>>): void => insight.event('sync', data)
  const unread = new UnreadMessages((topic) => fleet.event('sync', { topic, unread: 1 }))
  const caps = new WatchedCaps()
  const live = new LiveSummaries({
    clock,
    names,
    denials,
    secret,
    channel,
    topic,
    unique,
    unread,
    sources: sourceMetrics,
    waiting: () => caps.waiting(),
    onSync,
  })
  const { store } = options.control ?? {}
  const failed = (cause: string | false): void => onSync({ topic: `${topic}${CONTROL_TOPIC}`, failed: cause })
  const limiters = new WatchedLimiters()
  const bounds = new ControlBounds(options.control ?? {})
  const applied = new AppliedControls({ limiters, caps, bounds, now: () => clock.wall() })
  const control = new OperatorControl({
    clock,
    limiters,
    caps,
    bounds,
    applied,
    shown: names.shown,
    hasPolicy: (name) => live.snapshot().policies.some((policy) => policy.name === name),
    hasCap: (name) => live.snapshot().caps.some((cap) => cap.name === name),
    lifted: (key, policy) => live.bansLifted(key, policy),
    onAudit: options.control?.audit,
    fleet: channel && { channel, topic: `${topic}${CONTROL_TOPIC}`, secret, unread },
    stored:
      store && secret !== undefined ? { store, secret, topic: `${topic}${CONTROL_TOPIC}`, unread, failed } : undefined,
  })
  const explanations = new Explanations({
    clock,
    limiters,
    names,
    isWholeFleet: channel !== undefined,
    control,
    applied,
    denialsOf: (key) => live.denialsOf(key),
  })
  const insight = new Insight({
    parts: [...metricParts(attached, fleet, caps), live, denials, limiters, caps, control],
    live,
    explanations,
    control,
    bounds,
    idOf: names.id,
  })
  return insight
}

function checked(options: InsightOptions): InsightOptions {
  optionsOf('createInsight', options, OPTIONS)
  const { privacy = 'mask', secret, channel, topic, unique, control } = options
  if (!PRIVACIES.includes(privacy)) throw badOption('createInsight: privacy', privacy, `one of ${PRIVACIES.join(', ')}`)
  // never print the secret, not even if it is invalid
  if (secret !== undefined && !(typeof secret === 'string' && secret.length >= MIN_SECRET)) {
    throw badOption('createInsight: secret', typeof secret, `a string of at least ${MIN_SECRET} characters`)
  }
  if (channel !== undefined && typeof channel?.subscribe !== 'function') {
    throw badOption('createInsight: channel', channel, 'a channel, such as redisChannel(client)')
  }
  if (topic !== undefined && !(isTopic(topic) && isTopic(`${topic}${CONTROL_TOPIC}`))) {
    throw badOption('createInsight: topic', topic, '1 to 120 printable ASCII characters without braces')
  }
  if (unique !== undefined) checkUnique(unique, secret)
  if (control !== undefined) checkControl(control, secret)
  return options
}

function checkUnique(unique: UniqueOptions, secret: string | undefined): void {
  const { by, per, store, days } = optionsOf('createInsight: unique', unique, ['by', 'per', 'store', 'days'])
  if (by !== undefined && typeof by !== 'function')
    throw badOption('createInsight: unique.by', by, 'a key source, such as byIp()')
  if (per !== undefined && per !== 'route') throw badOption('createInsight: unique.per', per, "'route'")
  if (store !== undefined) checkStore(store, secret)
  if (days === undefined) return
  const isWhole = Number.isInteger(days) && days >= 1 && days <= MAX_DAYS
  if (!isWhole || store === undefined) {
    throw badOption('createInsight: unique.days', days, `an integer from 1 to ${MAX_DAYS}, together with unique.store`)
  }
}

function checkStore(store: UniqueStore, secret: string | undefined): void {
  if (typeof store?.merge !== 'function' || typeof store.read !== 'function') {
    throw badOption(
      'createInsight: unique.store',
      store,
      'a store with merge and read, such as redisUniqueStore(client)',
    )
  }
  // with a random secret, a restarted process and all other processes would hash keys differently
  if (secret === undefined)
    throw badOption('createInsight: secret', secret, 'a string, because unique.store requires a secret')
}
