import type { SqlRunner } from '@sluice/limiter-core/backend'

type Listener = () => void

/** The part of a `Pool` of `pg` that reports connections that broke while idle. */
interface PgPool {
  readonly idleCount: number
  on(event: 'error', listener: Listener): unknown
  off(event: 'error', listener: Listener): unknown
}

const errorsByPool = new WeakMap<SqlRunner, PoolErrors>()

/**
 * Reports connections of a pool that broke while idle. Without a listener, such an error ends the process. All backends
 * on a pool share one listener.
 */
export class PoolErrors {
  readonly #pool: PgPool | undefined
  readonly #listeners = new Set<Listener>()

  private constructor(sql: SqlRunner) {
    const { idleCount, on, off } = sql as Partial<PgPool>
    const isPool = typeof idleCount === 'number' && typeof on === 'function' && typeof off === 'function'
    this.#pool = isPool ? (sql as unknown as PgPool) : undefined
  }

  static of(sql: SqlRunner): PoolErrors {
    const errors = errorsByPool.get(sql) ?? new PoolErrors(sql)
    errorsByPool.set(sql, errors)
    return errors
  }

  /** Adds a listener. Returns a function that removes it; the pool is watched while there are listeners. */
  add(listener: Listener): () => void {
    if (this.#listeners.size === 0) this.#pool?.on('error', this.#report)
    this.#listeners.add(listener)
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#pool?.off('error', this.#report)
    }
  }

  readonly #report = (): void => {
    for (const listener of this.#listeners) listener()
  }
}
