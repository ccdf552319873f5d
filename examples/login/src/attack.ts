import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Browser, type Person, type Visit } from './browser.ts'
import { createSite } from './site.ts'
import { Users } from './users.ts'

const ada: Person = { email: 'ada@example.org', password: 'sesame', address: '203.0.113.7' }
const bert: Person = { email: 'bert@example.org', password: 'open', address: '203.0.113.8' }
/** Cheap hashes and easy tasks, so that the attacks take seconds. */
const [COST, EASY] = [2 ** 10, { bits: 4, maxBits: 8 }] as const

interface Attack {
  readonly name: string
  readonly guesses: number
  /** Whether the bots solve the tasks of challenges. */
  readonly solves?: boolean
  guess(index: number): Person
}

const one = '198.51.100.1'
const each = (index: number): string => `10.0.${index >> 8}.${index & 255}`
const someone = (index: number): string => `person-${index}@example.org`
const password = 'password1'

const attacks: readonly Attack[] = [
  {
    name: 'many addresses, a guess at an account each',
    guesses: 60,
    guess: (index) => ({ email: someone(index), password, address: each(index) }),
  },
  {
    name: "many addresses on Ada's account",
    guesses: 60,
    guess: (index) => ({ email: ada.email, password, address: each(index) }),
  },
  {
    name: 'one address on many accounts',
    guesses: 60,
    guess: (index) => ({ email: someone(index), password, address: one }),
  },
  {
    name: 'one address, whose bot solves the tasks',
    guesses: 210,
    solves: true,
    guess: (index) => ({ email: someone(index), password, address: one }),
  },
]

/** Plays each attack against a site of its own, and prints what became of the guesses and of people. */
export async function playAttacks(): Promise<void> {
  console.log(row('Attack', 'guesses', 'reach the hash', 'challenged', 'denied'))
  const met: string[] = []
  for (const attack of attacks) {
    const users = new Users(COST)
    for (const { email, password } of [ada, bert]) await users.setPassword(email, password)
    const server = createSite(users, EASY).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const laptop = new Browser(url)
    await laptop.logIn(ada)
    console.log(await played(attack, url, users))
    if (attack.guess(0).email === ada.email) met.push(...(await meetPeople(url, laptop)))
    server.close()
    server.closeAllConnections()
  }
  console.log(`\nPeople during the attack on Ada's account:\n${met.join('\n')}`)
}

/** Returns a row of the table. */
async function played({ name, guesses, guess, solves }: Attack, url: string, users: Users): Promise<string> {
  const before = users.checked
  const counts = { 'wrong password': 0, challenged: 0, denied: 0, in: 0 }
  for (let index = 0; index < guesses; index++) counts[await new Browser(url).guess(guess(index), solves)]++
  return row(`  ${name}`, guesses, users.checked - before, counts.challenged, counts.denied)
}

/** Logs people in, and returns what happened to them. `laptop` has the device cookie of Ada. */
async function meetPeople(url: string, laptop: Browser): Promise<string[]> {
  const met = [
    line('Ada, on the laptop that she used before', await laptop.logIn(ada)),
    line('Ada, on a new telephone', await new Browser(url).logIn({ ...ada, address: '192.0.2.1' })),
    line('Bert, on a device that is not known', await new Browser(url).logIn(bert)),
  ]
  await laptop.changePassword('a new password', ada)
  const changed = { ...ada, password: 'a new password' }
  return [...met, line('Ada, with a device cookie from before she changed her password', await laptop.logIn(changed))]
}

function line(person: string, { outcome, challenged, prepared }: Visit): string {
  const how = challenged ? 'after a challenge' : prepared ? 'after a task that the page solved' : 'at once'
  return `  ${person.padEnd(63)} ${outcome}, ${how}`
}

function row(name: string, ...cells: readonly (string | number)[]): string {
  return name.padEnd(45) + cells.map((cell) => String(cell).padStart(15)).join('')
}
