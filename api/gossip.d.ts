// index.d.ts
import { BatchReceipt, CounterReceipt, Counters, IncrementOptions } from '@sluice/fleet/backend'
import { Answer, Clock, MaybePromise, Metric, Observer, MetricSource, Channel, Backend } from '@sluice/limiter-core'
import { Observers, Duration, Clock as Clock$1 } from '@sluice/limiter-core/backend'
import { IncomingMessage, ServerResponse } from 'node:http'
import { SyncOptions } from '@sluice/fleet/sync'

interface GossipCounters extends Counters, MetricSource {
	increment(id: string, delta?: number, options?: GossipIncrementOptions): Promise<CounterReceipt>
	incrementMany(
		deltas: Parameters<Counters['incrementMany']>[0],
		options?: GossipIncrementOptions
	): Promise<BatchReceipt>
	entriesOf(id: string): number
}

interface GossipIncrementOptions extends IncrementOptions {
	readonly minReplicas?: number | undefined
}

interface GossipCountersOptions {
	readonly deadAfterMs?: Duration | undefined
	readonly waitMs?: Duration | undefined
	readonly maxIds?: number | undefined
}

declare function gossipCounters(node: GossipNode, options?: GossipCountersOptions): GossipCounters

declare class GossipNode implements MetricSource {
	#private
	readonly replica: string
	readonly handler: (req: IncomingMessage, res: ServerResponse) => Promise<void>
	readonly clock: Clock
	readonly observers: Observers
	constructor(settings: NodeSettings)
	metrics(): Iterable<Metric>
	answer(message: Uint8Array): Uint8Array
	attach(kind: string, topic: GossipTopic): void
	write(key: string, value: unknown, log?: ReplicaLog, bornAt?: number): LogItem
	get logs(): Pick<ReplicaTable, 'logOf' | 'forget' | 'isBehind' | 'restore' | 'release'>
	openLog(kind: string): ReplicaLog
	tick(): Promise<void>
	exchangeWithOne(): Promise<boolean>
	exchangeWithAll(): Promise<{
		readonly answered: number
		readonly asked: number
	}>
	close(): Promise<void>
}

interface NodeSettings {
	readonly peers: PeerList
	readonly seal: MessageSeal
	readonly clock: Clock
	readonly tickMs: number
	readonly waitMs: number
	readonly observers: Observers
}

declare class PeerList {
	#private
	constructor(options: PeerListOptions)
	next(): Promise<GossipPeer | undefined>
	others(): Promise<readonly GossipPeer[]>
	isOwn(name: string): boolean
	answered(name: string, isOwn: boolean): void
}

interface PeerListOptions {
	readonly peers: GossipPeers | (() => MaybePromise<GossipPeers>)
	readonly seal: MessageSeal
	readonly random: () => number
}

type GossipPeers = readonly (string | GossipPeer)[]
interface GossipPeer {
	readonly name: string
	exchange(message: Uint8Array, signal: AbortSignal): Promise<Uint8Array>
}

declare class MessageSeal {
	#private
	constructor(secret: string | undefined, clock: Clock$1)
	get hasSecret(): boolean
	sealed(text: string): Buffer
	opened(message: Uint8Array): string
	ticket(): string
	checkTicket(ticket: string): void
}

interface GossipTopic {
	received(replica: string, item: LogItem): boolean
	missed(replica: string): void
	isOld(item: LogItem, replica: string): boolean
	limitOf?(replica: string): number
	readonly hasOwnLogs?: boolean
	mayIntroduce?(to: string): boolean
	beforeExchange?(): void
	known?(replica: string, clocks: Clocks): void
	ended?(): void
}
interface LogItem {
	readonly clock: number
	readonly key: string
	readonly value: unknown
	readonly bytes: number
	readonly bornAt: number
}

type Clocks = ReadonlyMap<string, number>

declare class ReplicaLog {
	#private
	readonly replica: string
	clock: number
	droppedTo: number
	emptySince: number | undefined
	constructor(replica: string, now: number)
	get size(): number
	put(item: LogItem): void
	advanceTo(clock: number): void
	after(clock: number): Iterable<LogItem>
	drop(isOld: (item: LogItem) => boolean, now: number): void
	remove(key: string): void
	get items(): Iterable<LogItem>
}

declare class ReplicaTable {
	#private
	readonly own: ReplicaLog
	constructor(replica: string, now: number, listener: TableListener)
	open(replica: string, now: number): ReplicaLog
	release(log: ReplicaLog): void
	logOf(replica: string): ReplicaLog | undefined
	restore(log: ReplicaLog): void
	forget(replica: string): void
	write(content: Pick<LogItem, 'key' | 'value' | 'bytes'>, bornAt: number, log?: ReplicaLog): LogItem
	clocks(named?: Clocks): Clocks
	isBehind(clocks: Clocks): boolean
	unwanted(clocks: Clocks): (readonly [replica: string, clock: number])[]
	partsBehind(clocks: Clocks, { to, now, maxBytes, mayCut }: PartsRequest): LogPart[]
	merge(parts: readonly LogPart[], now: number): boolean
	drop(isOld: (item: LogItem, replica: string) => boolean, now: number, emptyMs: number): void
	accepts(replica: string, clock: number): boolean
	takes(replica: string, clock: number): boolean
}

interface TableListener {
	received(replica: string, item: LogItem): boolean
	missed(replica: string): void
	acceptedClock(replica: string): number
	mayIntroduce(replica: string, to: string): boolean
	expiresByAge(replica: string): boolean
	belongs(replica: string, item: LogItem): boolean
	ignored(reason: IgnoredReason): void
}

type IgnoredReason = 'too-many-logs' | 'other-kind'

interface PartsRequest {
	readonly to: string
	readonly now: number
	readonly maxBytes: number
	readonly mayCut: boolean
}

interface LogPart {
	readonly replica: string
	readonly base: number
	readonly floor: number
	readonly upTo: number
	readonly items: readonly SentItem[]
	readonly isCut: boolean
}

interface SentItem extends Omit<LogItem, 'bornAt'> {
	readonly ageMs: number
}

declare class GossipChannel implements Channel, GossipTopic, MetricSource {
	#private
	constructor(node: GossipNode, bounds: ChannelBounds)
	publish(topic: string, bytes: Uint8Array): void
	subscribe(topic: string, receive: Receive): () => void
	metrics(): Iterable<Metric>
	close(): void
	received(replica: string, { value, bornAt, clock }: LogItem): boolean
	missed(replica: string): void
	isOld({ clock, bornAt }: LogItem, replica: string): boolean
}

interface ChannelBounds {
	readonly retainMs: number
	readonly maxRetainedBytes: number
	readonly maxMessageBytes: number
}

type Receive = (bytes: Uint8Array) => void

interface GossipChannelOptions {
	readonly retainMs?: Duration | undefined
	readonly maxRetainedBytes?: number | undefined
	readonly maxMessageBytes?: number | undefined
}

declare function gossipChannel(node: GossipNode, options?: GossipChannelOptions): GossipChannel

type GossipBackend = Backend<Answer> & MetricSource

interface GossipBackendOptions extends Omit<SyncOptions, 'silentMs'> {}

declare function gossipBackend(node: GossipNode, options?: GossipBackendOptions): GossipBackend

declare function createGossip(options: GossipOptions): GossipNode

interface GossipOptions {
	readonly peers: GossipPeers | (() => MaybePromise<GossipPeers>)
	readonly secret?: string | undefined
	readonly tickMs?: Duration | undefined
	readonly waitMs?: Duration | undefined
	readonly clock?: Partial<Clock> | undefined
	readonly random?: (() => number) | undefined
	readonly observers?: readonly Observer[] | undefined
}
export {
	type GossipCounters,
	type GossipCountersOptions,
	type GossipIncrementOptions,
	gossipCounters,
	type GossipPeer,
	type GossipPeers,
	type GossipChannel,
	type GossipChannelOptions,
	gossipChannel,
	type GossipBackend,
	type GossipBackendOptions,
	gossipBackend,
	type LogItem,
	type ReplicaLog,
	type ReplicaTable,
	createGossip,
	type GossipOptions,
	type GossipNode,
	type GossipTopic
}
export { type BatchReceipt as BatchReceipt } from '@sluice/fleet/backend'
export { type CounterReading as CounterReading } from '@sluice/fleet/backend'
export { type CounterReceipt as CounterReceipt } from '@sluice/fleet/backend'
export { type Counters as Counters } from '@sluice/fleet/backend'
export { type ReadManyOptions as ReadManyOptions } from '@sluice/fleet/backend'
export { type ReadOptions as ReadOptions } from '@sluice/fleet/backend'
export { type AlgorithmName as AlgorithmName } from '@sluice/limiter-core'
export { type Answer as Answer } from '@sluice/limiter-core'
export { type Charge as Charge } from '@sluice/limiter-core'
export { type Clock as Clock } from '@sluice/limiter-core'
export { type CompiledPolicy as CompiledPolicy } from '@sluice/limiter-core'
export { type CountEstimate as CountEstimate } from '@sluice/limiter-core'
export { type CountedKey as CountedKey } from '@sluice/limiter-core'
export { type Counter as Counter } from '@sluice/limiter-core'
export { type HeldUnits as HeldUnits } from '@sluice/limiter-core'
export { type Interruption as Interruption } from '@sluice/limiter-core'
export { type MaybePromise as MaybePromise } from '@sluice/limiter-core'
export { type Metric as Metric } from '@sluice/limiter-core'
export { type Moment as Moment } from '@sluice/limiter-core'
export { type Observer as Observer } from '@sluice/limiter-core'
export { type Observers as Observers } from '@sluice/limiter-core/backend'
