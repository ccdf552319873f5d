// index.d.ts
import { AlgorithmName, Clock } from '@sluice/limiter-core'
import {
	SluiceError,
	LimitOverrides,
	PrepareLimits,
	Duration as Duration$1,
	Clock as Clock$2,
	SqlRunner
} from '@sluice/limiter-core/backend'
import { SketchSeed } from '@sluice/sketches'
import { ChangingPolicies, MaybePromise, RequestPolicy, PolicyFollower, Duration, Clock as Clock$1 } from '@sluice/http'

interface CheckOptions extends Deployment {
	readonly processes?: number | undefined
	readonly syncTickMs?: number | undefined
	readonly text?: string | undefined
	readonly previous?: PolicyDocument | undefined
}

interface Deployment {
	readonly processes?: number | undefined
	readonly syncTickMs?: number | undefined
}

interface PolicyDocument {
	readonly version: 1
	readonly policies: readonly WrittenPolicy[]
	readonly overrides?: readonly WrittenOverride[]
	readonly lists?: WrittenLists
}

interface WrittenPolicy {
	readonly name: string
	readonly match?: Readonly<Record<string, AttributeValue | readonly AttributeValue[]>>
	readonly when?: string
	readonly key?: string | readonly string[]
	readonly unit?: string
	readonly limit: number | Readonly<Record<string, number>>
	readonly per: string
	readonly algorithm?: AlgorithmName
	readonly burst?: number
	readonly slices?: number
	readonly retry?: 'booked'
	readonly cost?: number | WrittenCost
	readonly ban?: WrittenBan
	readonly mode?: 'enforce' | 'shadow' | 'off'
	readonly rollout?: string
	readonly replaces?: readonly string[]
}

type AttributeValue = string | number | boolean

interface WrittenCost {
	readonly reserve: number
	readonly settle: string
}

interface WrittenBan {
	readonly after: number
	readonly within: string
	readonly for: string
	readonly growth?: number
	readonly max?: string
	readonly forget?: string
	readonly strikes?: 'denials' | 'failures' | readonly number[]
	readonly forgiveOn?: 'success'
	readonly extend?: boolean
}

interface WrittenOverride {
	readonly policy: string
	readonly key: string | readonly string[]
	readonly limit: number
}

interface WrittenLists {
	readonly allow?: WrittenList
	readonly block?: WrittenList
}

type WrittenList =
	| readonly string[]
	| {
			readonly file: string
	  }

declare function checkPolicies(document: PolicyDocument, options?: CheckOptions): PolicyFinding[]

interface PolicyFinding {
	readonly rule: FindingRule
	readonly severity: FindingSeverity
	readonly policy?: string
	readonly path: string
	readonly message: string
	readonly line?: number
	readonly column?: number
}

type FindingRule =
	| 'refused'
	| 'never-binds'
	| 'always-replaced'
	| 'duplicate'
	| 'full-address-key'
	| 'unused-override'
	| 'unused-limit'
	| 'short-window'
	| 'limit-below-processes'
	| 'changed-count'

type FindingSeverity = 'error' | 'warning' | 'hint'

interface FileProblem {
	readonly line: number
	readonly column: number
	readonly path: string
	readonly message: string
}

declare class PolicyFileError extends SluiceError {
	readonly problems: readonly FileProblem[]
	readonly details: string
	constructor(file: string, problems: readonly FileProblem[])
}

declare const policySchema: SchemaPart
interface SchemaPart {
	readonly expected?: string
	readonly [keyword: string]: unknown
}

declare function compileList(entries: readonly string[]): LoadedList

interface LoadedList {
	readonly list: EntryList
	readonly problems: readonly FileProblem[]
	readonly invalid: number
	readonly warnings: readonly FileProblem[]
}

declare class EntryList {
	#private
	readonly size: number
	constructor(parts: EntryListParts)
	get bytes(): number
	has(address: string | undefined, key: string | undefined): boolean
}

interface EntryListParts {
	readonly size: number
	readonly v4: AddressRanges
	readonly v6: AddressRanges
	readonly keys: KeyTable
}

declare class AddressRanges {
	#private
	private constructor()
	static from(records: Uint32Array, width: number): Steps<AddressRanges>
	get bytes(): number
	has(address: Uint32Array): boolean
}
type Steps<T> = Generator<undefined, T, undefined>

declare class KeyTable {
	#private
	constructor({ seed, pages, longest, keys, tags, places }: KeyTableParts)
	get bytes(): number
	place(low: number, high: number, place: number): void
	has(key: string): boolean
}

interface KeyTableParts {
	readonly seed: SketchSeed
	readonly pages: readonly Buffer[]
	readonly longest: number
	readonly keys: number
	readonly tags: Uint8Array
	readonly places: Uint32Array
}

declare class ListFile {
	#private
	readonly path: string
	constructor(path: string)
	loadSync(): LoadedList
	load(): Promise<LoadedList | undefined>
	watch(changed: () => void, options: WatchOptions): () => void
}

interface WatchOptions {
	readonly clock: Clock
	readonly intervalMs: number
}

declare function listFile(path: string): ListFile

declare const BLOCK_LIST = 'blocklist'

type ListAnswer = 'block' | 'allow' | undefined

declare class PolicyLists {
	#private
	constructor({ lists: { allow, block }, policies }: PolicyDocument, folder: string)
	get blocks(): boolean
	get isEmpty(): boolean
	loadSync(): void
	load(): Promise<void>
	watch(options: WatchOptions): () => void
	answer(address: string | undefined, read: AttributeSource): ListAnswer
}

type AttributeSource = (name: string) => AttributeValue | undefined

declare class LoadedPolicies<Req extends object, Res> implements ChangingPolicies<Req, Res> {
	#private
	private constructor()
	static loadSync<Req extends object, Res>(
		source: PolicySource,
		text: string,
		attributes: AttributeFunctions<Req, Res>
	): LoadedPolicies<Req, Res>
	static load<Req extends object, Res>(
		source: PolicySource,
		text: string,
		attributes: AttributeFunctions<Req, Res>
	): Promise<LoadedPolicies<Req, Res>>
	get current(): readonly RequestPolicy<Req, Res>[]
	follow(follower: PolicyFollower): () => void
	reload(): Promise<void>
	watch(options: WatchOptions): void
	close(): void
}

interface PolicySource {
	readonly name: string
	readonly folder?: string | undefined
	readSync?(): string
	read(): Promise<string | undefined>
	watch(changed: () => void, options: WatchOptions): () => void
}

type AttributeFunctions<Req, Res> = Readonly<Record<string, AttributeFunction<Req, Res>>>

type AttributeFunction<Req, Res> = (request: Req, response?: Res) => MaybePromise<AttributeValue | null | undefined>

declare class AttributeMatch {
	#private
	constructor(match?: WrittenPolicy['match'])
	get names(): readonly string[]
	valuesOf(name: string): ReadonlySet<string> | undefined
	fits(read: AttributeSource): boolean
	refines(other: AttributeMatch): boolean
	isWithin(other: AttributeMatch): boolean
}

declare function countedMethod(method: string): string

declare class FileOverrides implements LimitOverrides {
	#private
	readonly others = 'policy'
	readonly largestLimit: number
	constructor(overrides: readonly WrittenOverride[], parts: number)
	limitOf(key: string): number | undefined
	register(prepare: PrepareLimits): () => void
	metrics(): []
	close(): void
}

type ConditionFailed = (policy: string, error: unknown, applied: boolean) => void

declare class FilePolicy {
	#private
	readonly written: WrittenPolicy
	readonly key: PolicyKey
	readonly match: AttributeMatch
	readonly overrides: FileOverrides | undefined
	readonly share: number
	readonly attributes: readonly string[]
	constructor(written: WrittenPolicy, overrides: readonly WrittenOverride[])
	get name(): string
	get algorithm(): AlgorithmName | undefined
	get largestLimit(): number
	get isShadow(): boolean
	fits(read: AttributeSource, failed: ConditionFailed, cost?: RequestCost): boolean | 'assumed'
	meets(known: ReadonlyMap<string, AttributeValue>): boolean | undefined
	get conditionAttributes(): readonly string[]
	planOf(read: AttributeSource): string | undefined
	limitOf(plan: string | undefined): number | undefined
	replaces(other: FilePolicy): boolean
}

declare class PolicyKey {
	readonly names: readonly string[]
	constructor(key: string | readonly string[] | undefined)
	partsOf(read: AttributeSource): readonly string[]
}
declare class RequestCost {
	left: number
}

interface MatchedPolicy {
	readonly policy: FilePolicy
	readonly place: number
	readonly key: string
	readonly plan: string | undefined
	readonly limit: number | undefined
}

declare class PolicyMatcher {
	#private
	readonly policies: readonly FilePolicy[]
	readonly attributes: readonly string[]
	constructor({ policies, overrides }: PolicyDocument, failed?: ConditionFailed)
	match(read: AttributeSource): readonly (MatchedPolicy | undefined)[]
	applying(read: AttributeSource): readonly MatchedPolicy[]
}

declare class RoutePolicies {
	#private
	constructor(document: PolicyDocument)
	of(method: string, spellings: readonly string[]): readonly RoutePolicy[]
}

interface RoutePolicy {
	readonly policy: FilePolicy
	readonly dependsOn: readonly string[]
}

interface ParseOptions {
	readonly attributes?: readonly string[] | undefined
}

declare function parseDocument(text: string, file: string, { attributes }?: ParseOptions): PolicyDocument

declare function loadPolicies<Req extends object, Res>(
	source: string | PolicySource,
	options?: PoliciesOptions<Req, Res>
): Promise<PolicyOptions<Req, Res>>

interface PoliciesOptions<Req, Res> {
	readonly attributes?: AttributeFunctions<Req, Res> | undefined
	readonly watch?: boolean | undefined
	readonly intervalMs?: Duration | undefined
	readonly clock?: Clock$1 | undefined
}

interface PolicyOptions<Req extends object, Res> {
	readonly policies: LoadedPolicies<Req, Res>
}

declare function policies$1<Req extends object, Res>(
	source: string | PolicySource,
	options?: PoliciesOptions<Req, Res>
): PolicyOptions<Req, Res>

declare function fileSource(path: string): PolicySource & {
	readSync(): string
}

interface WritablePolicySource extends PolicySource {
	publish(text: string): Promise<number>
}

interface PostgresSourceOptions extends StoredSourceOptions {
	readonly name?: string | undefined
	readonly table?: string | undefined
}

interface StoredSourceOptions {
	readonly timeoutMs?: Duration$1 | undefined
	readonly clock?: Partial<Clock$2> | undefined
}

declare function postgresSource(pool: SqlRunner, options?: PostgresSourceOptions): WritablePolicySource

type RedisPolicyClient = IoRedisHashes | NodeRedisHashes
interface IoRedisHashes {
	hmget(key: string, ...fields: string[]): Promise<unknown>
	eval(script: string, keys: number, ...args: string[]): Promise<unknown>
}

interface NodeRedisHashes {
	hmGet(key: string, fields: string[]): Promise<unknown>
	eval(
		script: string,
		options: {
			keys: string[]
			arguments: string[]
		}
	): Promise<unknown>
}

type RedisSourceOptions = StoredSourceOptions

declare function redisSource(client: RedisPolicyClient, key: string, options?: RedisSourceOptions): WritablePolicySource

interface UrlSourceOptions {
	readonly headers?: Readonly<Record<string, string>> | undefined
	readonly timeoutMs?: Duration$1 | undefined
	readonly clock?: Partial<Clock$2> | undefined
}

declare function urlSource(url: string | URL, options?: UrlSourceOptions): PolicySource
export {
	type CheckOptions,
	checkPolicies,
	type FindingRule,
	type FindingSeverity,
	type PolicyFinding,
	type FileProblem,
	PolicyFileError,
	type AttributeValue,
	type PolicyDocument,
	type WrittenBan,
	type WrittenCost,
	type WrittenList,
	type WrittenLists,
	type WrittenOverride,
	type WrittenPolicy,
	policySchema,
	type SchemaPart,
	compileList,
	type EntryList,
	type ListFile,
	listFile,
	type LoadedList,
	BLOCK_LIST,
	type ListAnswer,
	PolicyLists,
	type LoadedPolicies,
	type AttributeMatch,
	type AttributeSource,
	countedMethod,
	type FileOverrides,
	type ConditionFailed,
	type FilePolicy,
	type PolicyKey,
	type MatchedPolicy,
	PolicyMatcher,
	RoutePolicies,
	type RoutePolicy,
	type ParseOptions,
	parseDocument as parsePolicies,
	loadPolicies,
	type PoliciesOptions,
	type PolicyOptions,
	policies$1 as policies,
	type AttributeFunction,
	type AttributeFunctions,
	fileSource,
	type PolicySource,
	type WatchOptions,
	type WritablePolicySource,
	type PostgresSourceOptions,
	postgresSource,
	type RedisPolicyClient,
	type RedisSourceOptions,
	redisSource,
	type UrlSourceOptions,
	urlSource
}
export { type SluiceCode as SluiceCode } from '@sluice/limiter-core'
