import type { AlgorithmName } from '@sluice/limiter-core'

/** A value that an attribute of a request is compared with. */
export type AttributeValue = string | number | boolean

/** Contents of a policy file, as written. */
export interface PolicyDocument {
  /** Version of the format. */
  readonly version: 1
  readonly policies: readonly WrittenPolicy[]
  readonly overrides?: readonly WrittenOverride[]
  readonly lists?: WrittenLists
}

/** A policy as written in a file. */
export interface WrittenPolicy {
  /** Name in headers, denials, metrics and stored counts. Unique in the file. */
  readonly name: string
  /** Attributes that a request must have, each equal to the value or to one of the values. Default: all requests. */
  readonly match?: Readonly<Record<string, AttributeValue | readonly AttributeValue[]>>
  /** Condition in CEL that a request must also meet. */
  readonly when?: string
  /** Attributes that are counted together. Default: `address`. */
  readonly key?: string | readonly string[]
  /** Name of the counted unit. Default: `requests`. */
  readonly unit?: string
  /** Units in each window, or units by plan. */
  readonly limit: number | Readonly<Record<string, number>>
  /** Length of the window, for example `1m`. */
  readonly per: string
  /** Default: that of the backend. */
  readonly algorithm?: AlgorithmName
  /** Units that are available at once, for `token-bucket` and `gcra`. Default: `limit`. */
  readonly burst?: number
  /** Slices of a `sliding-window`, from 1 to 60. Default: 1. */
  readonly slices?: number
  /** `booked`: each denied caller of a key books its own turn. Default: all callers of a key receive the same time. */
  readonly retry?: 'booked'
  /** Units of a request: fixed, or reserved and then settled by an attribute of the response. Default: 1. */
  readonly cost?: number | WrittenCost
  /** Blocks keys that are denied repeatedly, or whose requests fail repeatedly. Default: no bans. */
  readonly ban?: WrittenBan
  /** Default: `enforce`. */
  readonly mode?: 'enforce' | 'shadow' | 'off'
  /** Share of the keys to which the policy applies, for example `25%`. Default: `100%`. */
  readonly rollout?: string
  /** Names of policies that do not apply where this one does, in addition to those that it refines. */
  readonly replaces?: readonly string[]
}

export interface WrittenCost {
  /** Units that are charged when the request arrives. */
  readonly reserve: number
  /** Name of the attribute with the final cost. */
  readonly settle: string
}

/** When a policy bans keys, as the option `ban` of a policy in code. Durations are texts, for example `10m`. */
export interface WrittenBan {
  /** Strikes within `within` that ban a key. */
  readonly after: number
  readonly within: string
  /** Duration of the first ban. */
  readonly for: string
  /** Factor by which each further ban is longer. Default: 1. */
  readonly growth?: number
  /** Duration of the longest ban. Default: `24h`, or `for` if that is longer. */
  readonly max?: string
  /** Time after which a ban no longer makes the next one longer. Default: twice `max`. */
  readonly forget?: string
  /** Whether denied requests, failed ones, or those that fail with one of some statuses are strikes. Default: `denials`. */
  readonly strikes?: 'denials' | 'failures' | readonly number[]
  /** Whether a success clears the strikes of its key. Default: no. */
  readonly forgiveOn?: 'success'
  /** Whether each request of a banned key restarts the ban. Default: false. */
  readonly extend?: boolean
}

/** Another limit of one key of a policy. */
export interface WrittenOverride {
  readonly policy: string
  /** The key; for a key of several attributes its first value, or a list of its first values. */
  readonly key: string | readonly string[]
  readonly limit: number
}

/** Addresses and ranges that no policy applies to, or that are always denied. */
export interface WrittenLists {
  readonly allow?: WrittenList
  readonly block?: WrittenList
}

/** Addresses, ranges and keys, or a file with one of them on each line. */
export type WrittenList = readonly string[] | { readonly file: string }
