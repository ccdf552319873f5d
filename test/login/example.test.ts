import { afterEach, expect, test } from '@jest/globals'
import { ExampleProcess } from '../examples/example-process.ts'
import { eventually } from '../services/eventually.ts'

const started: ExampleProcess[] = []
afterEach(async () => {
  for (const example of started.splice(0)) await example.kill()
})

function start(...args: string[]): ExampleProcess {
  const example = new ExampleProcess('login', {}, args)
  started.push(example)
  return example
}

async function logIn(url: string, password: string, cookie = ''): Promise<Response> {
  const body = new URLSearchParams({ email: 'Ada@Example.org', password })
  return fetch(url, { method: 'POST', body, headers: { cookie }, redirect: 'manual' })
}

test('the attacks reach the password hash as rarely as the table says, and people log in meanwhile', async () => {
  const example = start('--attack')
  await eventually(async () => example.output.includes('changed her password'), {
    what: 'the end of the attacks',
    timeoutMs: 60_000,
  })
  const cells = [...example.output.matchAll(/^ {2}\S.*?\s(\d+) +(\d+) +(\d+) +(\d+)$/gm)].map(([, ...row]) =>
    row.map(Number),
  )
  // guesses, of which so many reach the hash, are challenged, are denied
  expect(cells).toEqual([
    [60, 50, 10, 0],
    [60, 5, 55, 0],
    [60, 30, 30, 0],
    [210, 200, 0, 10],
  ])
  expect(example.output).toMatch(/on the laptop that she used before +in, at once/)
  expect(example.output).toMatch(/on a new telephone +in, after a task that the page solved/)
  expect(example.output).toMatch(/before she changed her password +in, after a challenge/)
  expect(example.output).not.toContain('Warning')
}, 90_000)

test('the server has a login form, knows devices, and forgets them when the password changes', async () => {
  const example = start()
  const url = await example.url()
  const form = await fetch(url)
  expect([form.status, await form.text()]).toEqual([
    200,
    expect.stringContaining('<form method="post" action="/login">'),
  ])
  expect((await logIn(url, 'wrong')).status).toBe(401)
  const first = await logIn(url, 'sesame')
  expect([first.status, await first.text()]).toEqual([200, expect.stringContaining('is known from now on')])
  const [session, device] = first.headers.getSetCookie().map((line) => line.split(';', 1)[0])
  expect(await (await logIn(url, 'sesame', device)).text()).toContain('was known')
  const body = new URLSearchParams({ password: 'open' })
  await fetch(new URL('/password', url), { method: 'POST', body, headers: { cookie: session } })
  expect((await logIn(url, 'sesame', device)).status).toBe(401)
  expect(await (await logIn(url, 'open', device)).text()).toContain('is known from now on')
  expect(await example.end()).toBe(0)
}, 60_000)
