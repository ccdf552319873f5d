import { randomBytes, type ScryptOptions, scrypt as scryptCallback, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const scrypt = promisify<string, Buffer, number, ScryptOptions, Buffer>(scryptCallback)

interface User {
  readonly salt: Buffer
  readonly hash: Buffer
}

/** Users in memory. An unknown name takes the same time as a wrong password. */
export class Users {
  readonly #users = new Map<string, User>()
  readonly #nobody: User = { salt: randomBytes(16), hash: randomBytes(32) }
  readonly #cost: number
  /** Passwords that were hashed to be checked. */
  checked = 0

  /** `cost`: parameter N of scrypt, a power of two. */
  constructor(cost: number = 2 ** 15) {
    this.#cost = cost
  }

  async setPassword(name: string, password: string): Promise<void> {
    const salt = randomBytes(16)
    this.#users.set(name, { salt, hash: await scrypt(password, salt, 32, { N: this.#cost, maxmem: 2 ** 26 }) })
  }

  async isPassword(name: string | undefined, password: string): Promise<boolean> {
    this.checked++
    const { salt, hash } = this.#userOf(name)
    return timingSafeEqual(await scrypt(password, salt, 32, { N: this.#cost, maxmem: 2 ** 26 }), hash)
  }

  /** Returns a text that changes with the password. */
  versionOf(name: string | undefined): string {
    return this.#userOf(name).hash.toString('base64')
  }

  #userOf(name: string | undefined): User {
    return this.#users.get(name ?? '') ?? this.#nobody
  }
}
