import { clientKey, clockOf, joinedKey } from '@sluice/limiter-core/http'
import { compileLogin, type LoginTerms } from './compile-login.ts'
import { DeviceCookies } from './device-cookies.ts'
import type { AllowedLogin, LoginAttempt } from './login-attempt.ts'
import { ALL, type CountedAttempt, LoginCounts, type LoginKeys } from './login-counts.ts'
import type { LoginOptions, LoginRequest } from './login-options.ts'
import { networkOf } from './networks.ts'
import { ProofOfWork } from './proof-of-work.ts'
import { Signer } from './signed-text.ts'

/** Limits for one form of an application where clients guess, such as a login. */
export interface LoginProtection {
  /**
   * Counts an attempt as a failure, before the password is checked, and decides it. `succeeded` of an allowed attempt
   * takes the failure back, so that parallel attempts get no further than sequential ones.
   */
  attempt(request: LoginRequest): Promise<LoginAttempt>
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
  readonly #proofs: ProofOfWork

  constructor(options: LoginOptions, terms: LoginTerms) {
    const signer = new Signer(options.secret, 'protectLogin: secret')
    const clock = clockOf(options.clock)
    this.#terms = terms
    this.#devices = new DeviceCookies(signer, clock, terms.deviceTtlMs, terms.name)
    this.#proofs = new ProofOfWork(signer, clock, terms.proof.ttlMs)
    // last, because it claims names that nothing would release if another option were invalid
    this.#counts = new LoginCounts(options, terms)
  }

  async attempt(request: LoginRequest): Promise<LoginAttempt> {
    const account = typeof request.account === 'string' ? request.account : undefined
    const device = account === undefined ? undefined : this.#devices.idOf(request.device, account)
    const bind = this.#bindOf(account, request.address)
    const proof = this.#terms.check ? undefined : this.#proofs.idOf(request.proof, bind)
    const attempt = await this.#counts.take(device === undefined ? this.#keysOf(account, request, proof) : { device })
    const isReplay = this.#counts.isReplay(attempt)
    if (attempt.denials.length > 0 && !isReplay) {
      const { reason, retryAfterMs } = this.#counts.longestOf(attempt.denials)
      return { outcome: 'deny', reason, retryAfterMs }
    }
    const isSolved = proof !== undefined && !isReplay
    if (isSolved || (attempt.challenges.length === 0 && !isReplay)) return this.#allowed(attempt, account)
    if (this.#terms.check) return this.#checked(attempt, request, account)
    await Promise.all([this.#counts.addPressure(attempt), this.#counts.refund(attempt)])
    return this.#challenged(attempt, bind)
  }

  close(): void {
    this.#counts.close()
  }

  #keysOf(account: string | undefined, { address }: LoginRequest, proof: string | undefined): LoginKeys {
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
      proof,
    }
  }

  /** An answer is valid for the account and the address whose attempt was challenged. */
  #bindOf(account: string | undefined, address: string | undefined): string {
    const named = account === undefined ? [] : [account]
    return joinedKey(this.#terms.name, clientKey(address), ...named)
  }

  /** Returns a task for the client, which is the harder the longer the wait is. */
  #challenged(attempt: CountedAttempt, bind: string): LoginAttempt {
    const { bits, maxBits } = this.#terms.proof
    // a replay is denied
    const wanting = attempt.challenges.length > 0 ? attempt.challenges : attempt.denials
    const { reason, retryAfterMs, windows } = this.#counts.longestOf(wanting)
    const harder = Math.min(maxBits - bits, Math.floor(windows * (maxBits - bits + 1)))
    return { outcome: 'challenge', reason, retryAfterMs, challenge: this.#proofs.challenge(bits + harder, bind) }
  }

  /** Allows the attempt if the check of the application accepts the client. */
  async #checked(attempt: CountedAttempt, request: LoginRequest, account: string | undefined): Promise<LoginAttempt> {
    await this.#counts.addPressure(attempt)
    const accepted = await Promise.resolve(request)
      .then(this.#terms.check)
      .catch(() => false)
    if (accepted === true) return this.#allowed(attempt, account)
    await this.#counts.refund(attempt)
    const { reason, retryAfterMs } = this.#counts.longestOf(attempt.challenges)
    return { outcome: 'challenge', reason, retryAfterMs, challenge: undefined }
  }

  #allowed(attempt: CountedAttempt, account: string | undefined): AllowedLogin {
    let success: Promise<string | undefined> | undefined
    const succeed = async (): Promise<string | undefined> => {
      await this.#counts.succeed(attempt, account)
      return account === undefined ? undefined : this.#devices.issue(account)
    }
    return {
      outcome: 'allow',
      known: attempt.keys.device !== undefined,
      succeeded: () => {
        success ??= succeed()
        return success
      },
    }
  }
}
