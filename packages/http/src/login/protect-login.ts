import { clientKey, clockOf, joinedKey, type PolicyVerdict } from '@sluice/limiter-core/http'
import { compileLogin, type LoginTerms } from './compile-login.ts'
import { DeviceCookies } from './device-cookies.ts'
import type { AllowedLogin, ChallengedLogin, LoginAttempt } from './login-attempt.ts'
import { ALL, type CountedAttempt, LoginCounts, type LoginKeys } from './login-counts.ts'
import type { LoginOptions, LoginRequest } from './login-options.ts'
import { networkOf } from './networks.ts'
import { OneUseTasks, type ProofOfWork } from './proof-of-work.ts'
import { Signer } from './signed-text.ts'
import type { ProofChallenge } from './tasks.ts'

/** Limits for one form of an application where clients guess, such as a login. */
export interface LoginProtection {
  /**
   * Counts an attempt as a failure, before the password is checked, and decides it. `succeeded` of an allowed attempt
   * takes the failure back, so that parallel attempts get no further than sequential ones.
   */
  attempt(request: LoginRequest): Promise<LoginAttempt>
  /**
   * Returns a task for the page of the form, if attempts from this address are challenged now, whatever their account.
   * The browser solves it while the person types (see `proofField`), and the attempt with its answer is not challenged.
   * Undefined if attempts are not challenged, or if `challenge` is a function. Counts nothing.
   */
  taskFor(address: string | undefined): Promise<ProofChallenge | undefined>
  /** Closes the counters and releases their names. A backend passed as an option stays open. */
  close(): void
}

/**
 * Protects accounts from guessed passwords: many addresses that try one account, one address that tries many accounts,
 * and many addresses that try one password each. Devices that have logged in before are counted apart, so that others
 * cannot lock them out. Throws `SLUICE_BAD_OPTION`, `SLUICE_BAD_NAME`, `SLUICE_BAD_LIMIT` and `SLUICE_BAD_DURATION`.
 */
export function protectLogin(options: LoginOptions): LoginProtection {
  return new CountedLogins(options, compileLogin(options))
}

class CountedLogins implements LoginProtection {
  readonly #terms: LoginTerms
  readonly #counts: LoginCounts
  readonly #devices: DeviceCookies
  /** Undefined if the application checks all challenged clients. */
  readonly #proofs: ProofOfWork | undefined

  constructor(options: LoginOptions, terms: LoginTerms) {
    const signer = new Signer(options.secret, 'protectLogin: secret')
    this.#terms = terms
    this.#devices = new DeviceCookies(signer, clockOf(options.clock), terms.deviceTtlMs, terms.name)
    // last, because they claim names that nothing would release if another option were invalid
    this.#counts = new LoginCounts(options, terms)
    try {
      this.#proofs = terms.proof && new OneUseTasks(signer, terms.name, terms.proof, options)
    } catch (error) {
      this.#counts.close()
      throw error
    }
  }

  async attempt(request: LoginRequest): Promise<LoginAttempt> {
    const { address, version } = request
    const account = typeof request.account === 'string' ? request.account : undefined
    const device = account === undefined ? undefined : this.#devices.idOf(request.device, account, version)
    const known = { ...request, account }
    if (device !== undefined)
      return this.#decided(known, { device, familiar: familiarKey(account, address) }, undefined)
    const solved = await this.#solvedOf(account, request)
    const isCounted = solved !== undefined && this.#terms.check !== undefined
    return this.#decided(known, { ...this.#keysOf(account, address), ...(isCounted && { solved: ALL }) }, solved)
  }

  async taskFor(address: string | undefined): Promise<ProofChallenge | undefined> {
    if (!this.#proofs) return undefined
    const challenges = await this.#counts.challengesOf(this.#keysOf(undefined, address))
    if (challenges.length === 0) return undefined
    return this.#proofs.challenge(bindOf(undefined, address), this.#counts.longestOf(challenges).windows)
  }

  close(): void {
    this.#counts.close()
    this.#proofs?.close()
  }

  async #decided(request: LoginRequest, keys: LoginKeys, solved: Solved): Promise<LoginAttempt> {
    const first = await this.#counts.take(keys)
    const mustCheck = this.#counts.isSolvedTooOften(first)
    if (mustCheck && !(await this.#isAccepted(request))) return this.#challenged(first.denials, undefined)
    const attempt = mustCheck ? await this.#counts.take({ ...keys, solved: undefined }) : first
    const { denials, challenges } = attempt
    if (denials.length > 0) {
      const { reason, retryAfterMs } = this.#counts.longestOf(denials)
      return { outcome: 'deny', reason, retryAfterMs }
    }
    // the pressure of a challenge was added when the challenge was sent
    if (challenges.length === 0 || solved === 'challenge')
      return this.#allowed(attempt, request, solved === 'challenge')
    const mustSolve = this.#proofs !== undefined && solved === undefined
    // one call of the backend
    const [isPassed] = await Promise.all([
      solved === 'page' || (!mustSolve && this.#isAccepted(request)),
      this.#counts.addPressure(attempt),
      mustSolve && this.#counts.refund(attempt),
    ])
    if (isPassed) return this.#allowed(attempt, request, true)
    if (!mustSolve) await this.#counts.refund(attempt)
    return this.#challenged(challenges, bindOf(request.account, request.address))
  }

  /** Challenges a client to solve a task for `bind`; undefined: to pass the check of the application. */
  #challenged(verdicts: readonly PolicyVerdict[], bind: string | undefined): ChallengedLogin {
    const { reason, retryAfterMs, windows } = this.#counts.longestOf(verdicts)
    const challenge = bind === undefined ? undefined : this.#proofs?.challenge(bind, windows)
    return { outcome: 'challenge', reason, retryAfterMs, challenge }
  }

  #keysOf(account: string | undefined, address: string | undefined): LoginKeys {
    const client = clientKey(address)
    const network = networkOf(this.#terms.networks, address)
    return {
      account,
      'account-challenge': account,
      address: client,
      'address-challenge': client,
      network,
      'network-challenge': network,
      pressure: ALL,
      'slow-pressure': ALL,
      familiar: familiarKey(account, address),
    }
  }

  /** Returns for what the answer of a request was asked; undefined without a valid answer. */
  async #solvedOf(account: string | undefined, { address, proof }: LoginRequest): Promise<Solved> {
    if (!this.#proofs || proof === undefined) return undefined
    const isOfChallenge = account !== undefined && (await this.#proofs.verify(proof, bindOf(account, address)))
    if (isOfChallenge) return 'challenge'
    return (await this.#proofs.verify(proof, bindOf(undefined, address))) ? 'page' : undefined
  }

  /** Whether the check of the application accepts the client. */
  async #isAccepted(request: LoginRequest): Promise<boolean> {
    const accepted = await Promise.resolve(request)
      .then(this.#terms.check ?? (() => false))
      .catch(() => false)
    return accepted === true
  }

  #allowed(attempt: CountedAttempt, { account, version }: LoginRequest, hasAdded: boolean): AllowedLogin {
    let success: Promise<string | undefined> | undefined
    const succeed = async (next: string | undefined): Promise<string | undefined> => {
      await this.#counts.succeed(attempt, account, hasAdded)
      return account === undefined ? undefined : this.#devices.issue(account, next)
    }
    return {
      outcome: 'allow',
      known: attempt.keys.device !== undefined,
      succeeded: (changed) => {
        success ??= succeed(changed ? changed.version : version)
        return success
      },
    }
  }
}

/** For what a client was asked to solve a task: a challenged attempt, or the page of the form. */
type Solved = 'challenge' | 'page' | undefined

/** An answer is valid for the account and the address whose attempt was challenged, or for the address of a page. */
function bindOf(account: string | undefined, address: string | undefined): string {
  return account === undefined ? joinedKey(clientKey(address)) : joinedKey(clientKey(address), account)
}

function familiarKey(account: string | undefined, address: string | undefined): string | undefined {
  return account === undefined || address === undefined ? undefined : bindOf(account, address)
}
