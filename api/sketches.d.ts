// fleet/index.d.ts
import { Clock, Channel as Channel$1, Observers } from '@sluice/limiter-core/backend'
import { Duration as Duration$1, Clock as Clock$1, Observer as Observer$1, Channel } from '@sluice/limiter-core'
import { Sketch } from './../types.js'

interface ShareSketchOptions<S extends Sketch<S>> {
	readonly topic: string
	readonly make: () => S
	readonly read: (bytes: Uint8Array) => S
	readonly tickMs?: Duration$1 | undefined
	readonly window?: Duration$1 | undefined
	readonly clock?: Partial<Clock$1> | undefined
	readonly observers?: readonly Observer$1[] | undefined
}

declare function shareSketch<S extends Sketch<S>>(channel: Channel, options: ShareSketchOptions<S>): SharedSketch<S>

declare class SharedSketch<S extends Sketch<S>> {
	#private
	readonly own: S
	constructor(channel: Channel$1, settings: SharedSettings<S>)
	get fleet(): S
	get previous(): S
	flush(): Promise<void>
	close(): Promise<void>
	stopsBy(stop: () => void): void
}

interface SharedSettings<S> {
	readonly topic: string
	readonly make: () => S
	readonly read: (bytes: Uint8Array) => S
	readonly clock: Clock
	readonly windowMs: number | undefined
	readonly observers: Observers
}
export { type ShareSketchOptions, shareSketch, type SharedSketch }

// index.d.ts
import { Sketch, SketchSeed, SketchKey, BloomOptions, SeedOption, CellBits } from './types.js'

declare class BlockedBloomFilter implements Sketch<BlockedBloomFilter> {
	#private
	readonly seed: SketchSeed
	readonly capacity: number
	readonly bits: number
	readonly hashes: number
	constructor(options: BloomOptions)
	static fromBytes(bytes: Uint8Array, options?: SeedOption): BlockedBloomFilter
	add(key: SketchKey): boolean
	has(key: SketchKey): boolean
	get size(): number
	get falsePositiveRate(): number
	get statedRate(): number
	get bytes(): number
	merge(other: BlockedBloomFilter): void
	clear(): void
	toBytes(): Uint8Array
}

declare class BloomFilter implements Sketch<BloomFilter> {
	#private
	readonly seed: SketchSeed
	readonly capacity: number
	readonly bits: number
	readonly hashes: number
	constructor(options: BloomOptions)
	static fromBytes(bytes: Uint8Array, options?: SeedOption): BloomFilter
	add(key: SketchKey): boolean
	has(key: SketchKey): boolean
	get size(): number
	get falsePositiveRate(): number
	get statedRate(): number
	get bytes(): number
	merge(other: BloomFilter): void
	clear(): void
	toBytes(): Uint8Array
}

declare class CountingBloomFilter implements Sketch<CountingBloomFilter> {
	#private
	readonly seed: SketchSeed
	readonly capacity: number
	readonly counters: number
	readonly hashes: number
	constructor(options: BloomOptions)
	static fromBytes(bytes: Uint8Array, options?: SeedOption): CountingBloomFilter
	add(key: SketchKey): boolean
	remove(key: SketchKey): boolean
	has(key: SketchKey): boolean
	get size(): number
	get falsePositiveRate(): number
	get statedRate(): number
	get bytes(): number
	merge(other: CountingBloomFilter): void
	clear(): void
	toBytes(): Uint8Array
}

interface RedisBloomSize {
	readonly bitsPerKey: number
	readonly bits: number
	readonly hashes: number
}

declare function redisBloomSize(options: Omit<BloomOptions, 'seed'>): RedisBloomSize

declare class CountMin implements Sketch<CountMin> {
	#private
	readonly width: number
	readonly depth: number
	readonly cells: CellBits
	readonly conservative: boolean
	readonly epsilon: number
	readonly delta: number
	constructor(options: CountMinOptions, kept?: SketchBuffer)
	static fromError(epsilon: number, delta: number, options?: CountMinCellOptions): CountMin
	static fromBytes(bytes: Uint8Array, options?: SeedOption): CountMin
	static attach(
		buffer: SharedArrayBuffer,
		options: {
			readonly seed: SketchSeed | Uint8Array | string
		}
	): CountMin
	get total(): number
	get buffer(): SharedArrayBuffer
	add(key: SketchKey, amount?: number): number
	estimate(key: SketchKey): number
	remove(key: SketchKey, amount?: number): number
	merge(other: CountMin, weight?: number): void
	innerProduct(other: CountMin): number
	clear(): void
	toBytes(): Uint8Array
}

interface CountMinOptions extends SeedOption {
	readonly width: number
	readonly depth: number
	readonly cells?: CellBits | undefined
	readonly conservative?: boolean | undefined
	readonly shared?: boolean | undefined
}

declare class SketchBuffer {
	#private
	readonly kind: SketchKind
	readonly buffer: ArrayBufferLike
	private constructor()
	static create(
		kind: SketchKind,
		keptBytes: number,
		{
			seed,
			shape,
			shared
		}: {
			seed?: SketchSeed | undefined
			shape: readonly number[]
			shared?: boolean | undefined
		}
	): SketchBuffer
	static read(
		kind: SketchKind,
		bytes: unknown,
		keptBytes: (shape: readonly number[]) => number | undefined,
		seed?: SketchSeed
	): SketchBuffer
	static attach(
		kind: SketchKind,
		buffer: SharedArrayBuffer,
		keptBytes: (shape: readonly number[]) => number | undefined,
		seed?: SketchSeed
	): SketchBuffer
	shape(n: number): number
	float(n: number): number
	setFloat(n: number, value: number): void
	floats(): Float64Array
	clear(): void
	checkMatch(other: SketchBuffer): void
	toBytes(): Uint8Array
}

type SketchKind = keyof typeof SKETCH_KIND

declare const SKETCH_KIND: {
	readonly countMin: 1
	readonly estimator: 2
	readonly hyperLogLog: 3
	readonly spaceSaving: 4
	readonly heavyKeeper: 5
	readonly tDigest: 6
	readonly bloom: 7
	readonly blockedBloom: 8
	readonly countingBloom: 9
	readonly hokusaiTime: 10
	readonly hokusaiItem: 11
	readonly hokusai: 12
	readonly countRange: 13
	readonly redisBloomCountMin: 14
}

type CountMinCellOptions = Omit<CountMinOptions, 'width' | 'depth'>

declare class CountRange implements Sketch<CountRange> {
	#private
	constructor(options: CountRangeOptions, kept?: SketchBuffer)
	static fromBytes(bytes: Uint8Array, options?: SeedOption): CountRange
	get bits(): number
	get total(): number
	get epsilon(): number
	add(key: number, amount?: number): void
	range(low: number, high: number): number
	merge(other: CountRange): void
	clear(): void
	toBytes(): Uint8Array
}

interface CountRangeOptions extends SeedOption {
	readonly bits?: number | undefined
	readonly width: number
	readonly depth: number
}

declare class Estimator implements Sketch<Estimator> {
	#private
	readonly rows: number
	readonly slots: number
	constructor(options?: EstimatorOptions)
	static fromBytes(bytes: Uint8Array, options?: SeedOption): Estimator
	incr(key: SketchKey, value?: number): number
	decr(key: SketchKey, value?: number): void
	get(key: SketchKey): number
	reset(): void
	merge(other: Estimator): void
	clear(): void
	toBytes(): Uint8Array
}

interface EstimatorOptions extends SeedOption {
	readonly rows?: number | undefined
	readonly slots?: number | undefined
}

declare class Hokusai implements Sketch<Hokusai> {
	#private
	constructor(options: HokusaiOptions, kept?: SketchBuffer)
	static bytesFor(options: HokusaiOptions): number
	static fromBytes(bytes: Uint8Array, options?: SeedOption): Hokusai
	get unitMs(): number
	get retainUnits(): number
	get running(): number
	get culled(): number
	add(key: SketchKey, amount: number, nowMs: number): void
	advance(nowMs: number): void
	last(key: SketchKey, units: number, nowMs: number, partial?: PartialBlock): number
	unit(key: SketchKey, unit: number): number | undefined
	interpolated(key: SketchKey, unit: number): number | undefined
	unitTotal(unit: number): number | undefined
	merge(other: Hokusai): void
	clear(): void
	toBytes(): Uint8Array
}

interface HokusaiOptions extends SeedOption {
	readonly width: number
	readonly depth: number
	readonly unitMs: number
	readonly retainMs?: number | undefined
}

type PartialBlock = 'whole' | 'weighted' | 'none'

declare class HokusaiItem implements Sketch<HokusaiItem> {
	#private
	constructor(options: HokusaiOptions, kept?: SketchBuffer)
	static bytesFor(options: HokusaiOptions): number
	static fromBytes(bytes: Uint8Array, options?: SeedOption): HokusaiItem
	get unitMs(): number
	get retainUnits(): number
	get running(): number
	get culled(): number
	add(key: SketchKey, amount: number, nowMs: number): void
	advance(nowMs: number): void
	unit(key: SketchKey, unit: number): number | undefined
	unitTotal(unit: number): number | undefined
	widthAt(age: number): number
	merge(other: HokusaiItem): void
	clear(): void
	toBytes(): Uint8Array
}

declare class HokusaiTime implements Sketch<HokusaiTime> {
	#private
	constructor(options: HokusaiTimeOptions, kept?: SketchBuffer)
	static bytesFor(options: HokusaiTimeOptions): number
	static fromBytes(bytes: Uint8Array, options?: SeedOption): HokusaiTime
	get unitMs(): number
	get retainUnits(): number
	get running(): number
	get culled(): number
	add(key: SketchKey, amount: number, nowMs: number): void
	advance(nowMs: number): void
	last(key: SketchKey, units: number, nowMs: number, partial?: PartialBlock): number
	unit(key: SketchKey, unit: number, partial?: PartialBlock): number | undefined
	aim(key: SketchKey): void
	aimAt(low: number, high: number): void
	addAimed(amount: number, nowMs: number): void
	aimedWindow(windowMs: number, nowMs: number): number
	aimedWaitMs(most: number, windowMs: number, nowMs: number): number
	get maxParts(): number
	aimedParts(into: Float64Array, nowMs: number): number
	partsFromMs(nowMs: number): number
	blocks(): HokusaiBlock[]
	merge(other: HokusaiTime): void
	clear(): void
	toBytes(): Uint8Array
}

interface HokusaiTimeOptions extends HokusaiOptions {
	readonly blocksPerLevel?: number | undefined
}

interface HokusaiBlock {
	readonly level: number
	readonly from: number
	readonly to: number
	readonly total: number
}

declare class HyperLogLog implements Sketch<HyperLogLog> {
	#private
	readonly precision: number
	readonly seed: SketchSeed
	constructor(options?: HyperLogLogOptions)
	static fromBytes(bytes: Uint8Array, options?: SeedOption): HyperLogLog
	add(key: SketchKey): boolean
	count(): number
	merge(other: HyperLogLog): void
	clear(): void
	toBytes(): Uint8Array
}

interface HyperLogLogOptions extends SeedOption {
	readonly precision?: number | undefined
}

declare class RedisHyperLogLog implements Sketch<RedisHyperLogLog> {
	#private
	readonly sparseMaxBytes: number
	constructor(options?: RedisHyperLogLogOptions)
	static fromBytes(bytes: Uint8Array, options?: RedisHyperLogLogOptions): RedisHyperLogLog
	add(key: SketchKey): boolean
	count(): number
	cacheCount(): number
	merge(other: RedisHyperLogLog): void
	beyond(other: RedisHyperLogLog): RedisHyperLogLog | undefined
	clear(): void
	toBytes(): Uint8Array
}

interface RedisHyperLogLogOptions {
	readonly sparseMaxBytes?: number | undefined
}

declare class Inflight {
	#private
	constructor(options?: InflightOptions)
	incr(key: SketchKey, value?: number): InflightPermit
	get(key: SketchKey): number
}

interface InflightOptions extends SeedOption {
	readonly rows?: number | undefined
	readonly slots?: number | undefined
}

interface InflightPermit extends Disposable {
	readonly count: number
	release(): void
}
declare function murmurHash2(bytes: Uint8Array, length: number, seed: number): number
declare class MurmurHash64A {
	#private
	low: number
	high: number
	seedLow: number
	seedHigh: number
	constructor(seedLow: number, seedHigh?: number)
	text(key: string): void
	bytes(key: Uint8Array): void
}

declare function proportionalRate(components: RateComponents): number
interface RateComponents {
	readonly previousSamples: number
	readonly currentSamples: number
	readonly intervalMs: number
	readonly currentIntervalFraction: number
}

declare class Rate {
	#private
	readonly intervalMs: number
	constructor(options: RateOptions)
	observe(key: SketchKey, n?: number, nowMs?: number): number
	rate(key: SketchKey, nowMs?: number): number
	rateWith<T>(key: SketchKey, calculate: (components: RateComponents) => T, nowMs?: number): T
}

interface RateOptions extends SeedOption {
	readonly intervalMs: number
	readonly clock: RateClock
	readonly rows?: number | undefined
	readonly slots?: number | undefined
}

interface RateClock {
	now(): number
}

declare class RedisBloomCountMin implements Sketch<RedisBloomCountMin> {
	#private
	constructor(options: RedisBloomCountMinOptions, kept?: SketchBuffer)
	static fromError(error: number, probability: number): RedisBloomCountMin
	static fromBytes(bytes: Uint8Array): RedisBloomCountMin
	get width(): number
	get depth(): number
	get total(): number
	add(key: SketchKey, amount?: number): number
	estimate(key: SketchKey): number
	merge(other: RedisBloomCountMin, weight?: number): void
	mergeAll(sources: readonly RedisBloomCountMin[], weights?: readonly number[]): void
	clear(): void
	toBytes(): Uint8Array
}

interface RedisBloomCountMinOptions {
	readonly width: number
	readonly depth: number
}
type SketchCode =
	| 'SLUICE_BAD_OPTION'
	| 'SLUICE_BAD_AMOUNT'
	| 'SLUICE_BAD_BYTES'
	| 'SLUICE_SKETCH_MISMATCH'
	| 'SLUICE_SKETCH_UNSUPPORTED'

declare class SketchError extends Error {
	readonly code: SketchCode
	constructor(code: SketchCode, message: string)
}

type DigestScale = 'k1' | 'k2'

interface Centroid {
	readonly mean: number
	readonly weight: number
}

declare class TDigest implements Sketch<TDigest> {
	#private
	constructor(options?: TDigestOptions)
	static fromBytes(bytes: Uint8Array): TDigest
	get compression(): number
	get scale(): DigestScale
	get count(): number
	get min(): number
	get max(): number
	add(value: number, weight?: number): void
	quantile(q: number): number
	cdf(x: number): number
	centroids(): Centroid[]
	merge(other: TDigest): void
	compress(): void
	clear(): void
	toBytes(): Uint8Array
}

interface TDigestOptions {
	readonly compression?: number | undefined
	readonly scale?: DigestScale | undefined
}

declare class HeavyKeeper implements Sketch<HeavyKeeper> {
	#private
	readonly k: number
	readonly width: number
	readonly depth: number
	readonly decay: number
	constructor(options: HeavyKeeperOptions)
	static fromBytes(bytes: Uint8Array, options?: SeedOption): HeavyKeeper
	get total(): number
	add(key: string, amount?: number): string | undefined
	estimate(key: string): number
	top(n?: number): HeavyKey[]
	merge(other: HeavyKeeper): void
	clear(): void
	toBytes(): Uint8Array
}

interface HeavyKeeperOptions extends SeedOption {
	readonly k: number
	readonly width?: number | undefined
	readonly depth?: number | undefined
	readonly decay?: number | undefined
}

interface HeavyKey {
	readonly key: string
	readonly count: number
}

interface CountedKey {
	readonly key: string
	readonly count: number
	readonly error: number
	readonly guaranteed: boolean
}

declare class SpaceSaving implements Sketch<SpaceSaving> {
	#private
	readonly capacity: number
	constructor(options: SpaceSavingOptions)
	static fromBytes(bytes: Uint8Array): SpaceSaving
	get total(): number
	get floor(): number
	add(key: string, amount?: number): void
	estimate(key: string): number
	error(key: string): number
	top(n?: number): CountedKey[]
	merge(other: SpaceSaving): void
	clear(): void
	toBytes(): Uint8Array
}

interface SpaceSavingOptions {
	readonly capacity: number
}
export {
	BlockedBloomFilter,
	BloomFilter,
	CountingBloomFilter,
	type RedisBloomSize,
	redisBloomSize,
	CountMin,
	type CountMinCellOptions,
	type CountMinOptions,
	CountRange,
	type CountRangeOptions,
	Estimator,
	type EstimatorOptions,
	Hokusai,
	HokusaiItem,
	type HokusaiOptions,
	HokusaiTime,
	type PartialBlock,
	type HokusaiBlock,
	type HokusaiTimeOptions,
	HyperLogLog,
	type HyperLogLogOptions,
	RedisHyperLogLog,
	type RedisHyperLogLogOptions,
	Inflight,
	type InflightOptions,
	type InflightPermit,
	murmurHash2,
	MurmurHash64A,
	proportionalRate,
	type RateComponents,
	Rate,
	type RateClock,
	type RateOptions,
	RedisBloomCountMin,
	type RedisBloomCountMinOptions,
	type SketchCode,
	SketchError,
	type DigestScale,
	type Centroid,
	TDigest,
	type TDigestOptions,
	HeavyKeeper,
	type HeavyKey,
	type HeavyKeeperOptions,
	type CountedKey,
	SpaceSaving,
	type SpaceSavingOptions
}
export { type BloomOptions, type CellBits, type Sketch, type SeedOption, type SketchKey, SketchSeed } from './types.js'
export { type KeyedHash as KeyedHash } from '@sluice/limiter-core/keyed-hash'

// limits/index.d.ts
import {
	Clock,
	Observer,
	InflightBackend,
	MaybePromise as MaybePromise$1,
	Duration,
	Backend,
	Answer
} from '@sluice/limiter-core/backend'
import { MaybePromise, Duration as Duration$1, Clock as Clock$1 } from '@sluice/limiter-core'
import { BloomOptions, SeedOption, CellBits } from './../types.js'

interface SketchInflightOptions extends SeedOption {
	readonly rows?: number | undefined
	readonly slots?: number | undefined
	readonly trigger?: number | undefined
	readonly clock?: Clock | undefined
	readonly observers?: readonly Observer[] | undefined
}

declare function sketchInflight(options?: SketchInflightOptions): InflightBackend

interface KeyList {
	readonly name: string
	add(key: ListKey): void
	addAll(keys: Iterable<ListKey>): number
	addAll(keys: AsyncIterable<ListKey>): Promise<number>
	has(key: ListKey): MaybePromise<boolean>
	readonly stats: KeyListStats
	readonly size: number
	readonly falsePositiveRate: number
	readonly bytes: number
	toBytes(): Uint8Array
	load(bytes: Uint8Array): void
	merge(bytes: Uint8Array): void
	forgetAnswers(): void
	close(): void
}

type ListKey = string | number | bigint

interface KeyListStats {
	readonly asked: number
	readonly passedByFilter: number
	readonly positives: number
	readonly falsePositives: number
	readonly remembered: number
	readonly ruled: number
}

interface KeyListOptions extends BloomOptions {
	readonly exact: (key: string) => MaybePromise$1<boolean>
	readonly name?: string | undefined
	readonly onError?: ListErrorRule | undefined
	readonly deadlineMs?: Duration | undefined
	readonly remember?: RememberOptions | undefined
	readonly observers?: readonly Observer[] | undefined
	readonly clock?: Clock | undefined
}

type ListErrorRule = 'present' | 'absent'

interface RememberOptions {
	readonly ttlMs: Duration
	readonly keys?: number | undefined
}

declare function allowList(options: KeyListOptions): KeyList

declare function blockList(options: KeyListOptions): KeyList

declare function sketchBackend(options?: SketchBackendOptions): Backend<Answer>

interface SketchBackendOptions {
	readonly bytes?: number | undefined
	readonly seed?: Uint8Array | string | undefined
	readonly slots?: number | undefined
	readonly cells?: CellBits | undefined
	readonly conservative?: boolean | undefined
	readonly falseDenialRate?: number | undefined
	readonly history?: HistoryOptions | undefined
	readonly clock?: Clock$1 | undefined
}

interface HistoryOptions {
	readonly unit: Duration$1
	readonly keep: Duration$1
	readonly blocksPerLevel?: number | undefined
}
export {
	type SketchInflightOptions,
	sketchInflight,
	type KeyList,
	type KeyListStats,
	type KeyListOptions,
	type ListErrorRule,
	type ListKey,
	type RememberOptions,
	allowList,
	blockList,
	sketchBackend,
	type HistoryOptions,
	type SketchBackendOptions
}
export { joinedKey as joinedKey } from '@sluice/limiter-core/backend'

// types.d.ts
import { KeyedHash } from '@sluice/limiter-core/keyed-hash'
interface Sketch<Same> {
	merge(other: Same): void
	clear(): void
	toBytes(): Uint8Array
}

declare class SketchSeed {
	#private
	readonly idLow: number
	readonly idHigh: number
	constructor(seed?: Uint8Array | string)
	hashOf(key: SketchKey): KeyedHash
	same(other: SketchSeed): boolean
}

type SketchKey = string | number | Uint8Array

interface BloomOptions extends SeedOption {
	readonly capacity: number
	readonly errorRate?: number | undefined
}

interface SeedOption {
	readonly seed?: SketchSeed | Uint8Array | string | undefined
}
type CellBits = 8 | 16 | 32
export { Sketch, SketchSeed, SketchKey, BloomOptions, SeedOption, CellBits }
