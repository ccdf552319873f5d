/** Another way to write a request, which may reach the same handler. */
export interface Spelling {
  /** Name in failures, and in the option `except`. */
  readonly name: string
  readonly method?: string
  /** Target of the request line, `:path` of HTTP/2. */
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Returns other spellings of the path, as clients may send them in HTTP/1.1 and HTTP/2. */
export function pathSpellings(path: string): readonly Spelling[] {
  const last = path.lastIndexOf('/') + 1
  const [parent, name] = [path.slice(0, last), path.slice(last)]
  const letter = name.charCodeAt(0)
  const encoded = (code: number): string => `%${code.toString(16)}`
  const targets = [
    `${path}?x=1`,
    `${path}?`,
    `${path}?x=1?x=2#y`,
    `${path}#x`,
    path.toUpperCase(),
    parent + name.charAt(0).toUpperCase() + name.slice(1),
    `${path}/`,
    `${path}//`,
    `${path}/?x=1`,
    `/${path}`,
    `//${path}`,
    `/.${path}`,
    `${path}/.`,
    `/x/..${path}`,
    `${path}/x/..`,
    `/%2e${path}`,
    `/x/%2e%2e${path}`,
    parent + encoded(letter).toUpperCase() + name.slice(1),
    parent + encoded(letter) + name.slice(1),
    parent + encoded(letter ^ 32) + name.slice(1),
    `${parent}%25${encoded(letter).slice(1)}${name.slice(1)}`,
    `${parent.slice(0, -1)}%2f${name}`,
    `${path}%2f`,
    `${path}%3Fx=1`,
    `${path}%23x`,
    `${path}%00`,
    `${path}%20`,
    `${path}%09`,
    `${path}+`,
    `${path}.`,
    `${path}.json`,
    `${path};`,
    `${path};jsessionid=1`,
    `${path};x=1?x=1`,
    `${parent.slice(0, -1)};x=1/${name}`,
    `${path}&x=1`,
    `${path}\\`,
    `\\${path.slice(1)}`,
    `${path}%5C`,
    // a full-width letter, and a letter that is "s" in upper case
    parent + encodeURIComponent(String.fromCharCode(0xfee0 + letter)) + name.slice(1),
    parent + name.replace(/s/, '%C5%BF').replace(/k/, '%E2%84%AA'),
  ]
  return [...new Set(targets)].filter((target) => target !== path).map((target) => ({ name: target, target }))
}

/** Returns targets that name a host, which only HTTP/1.1 has. */
export function hostSpellings(path: string, port: number): readonly Spelling[] {
  const host = `127.0.0.1:${port}`
  return [
    { name: 'absolute form', target: `http://${host}${path}` },
    { name: 'absolute form in upper case', target: `HTTP://LOCALHOST${path}` },
    { name: 'absolute form of https', target: `https://${host}${path}` },
    { name: 'absolute form of another host', target: `http://other.example${path}` },
    { name: 'absolute form with a user', target: `http://user:word@${host}${path}` },
    { name: 'authority form', target: host + path },
    { name: 'network-path reference', target: `//${host}${path}` },
    { name: 'another Host', target: path, headers: { host: 'other.example' } },
  ]
}

const OVERRIDES = ['x-http-method-override', 'x-http-method', 'x-method-override']
const CLAIMED_METHODS = ['GET', 'POST', 'PUT']

/** Returns requests of other methods, and with headers that replace the method. */
export function methodSpellings(path: string, method: string): readonly Spelling[] {
  const others = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY', 'PROPFIND', 'LOCK', 'M-SEARCH']
  const preflight = { origin: 'https://other.example', 'access-control-request-method': method }
  const claimed = [...new Set([...CLAIMED_METHODS, method])]
  return [
    ...others.filter((other) => other !== method).map((other) => ({ name: other, method: other, target: path })),
    { name: 'preflight', method: 'OPTIONS', target: path, headers: preflight },
    ...OVERRIDES.flatMap((header) => [
      ...claimed.map((sent) => ({
        name: `${sent} with ${header}`,
        method: sent,
        target: path,
        headers: { [header]: method },
      })),
      // the limit must not follow a method that the router ignores
      { name: `${header}: DELETE`, target: path, headers: { [header]: 'DELETE' } },
      { name: `${header}: HEAD`, target: path, headers: { [header]: 'HEAD' } },
    ]),
    ...claimed.map((sent) => ({ name: `${sent} with _method`, method: sent, target: `${path}?_method=${method}` })),
  ]
}

/** Returns requests whose headers claim another client or another path. */
export function headerSpellings(path: string): readonly Spelling[] {
  const address = '203.0.113.7'
  const headers: Readonly<Record<string, string>> = {
    'x-forwarded-for': address,
    forwarded: `for=${address}`,
    'x-real-ip': address,
    'x-client-ip': address,
    'x-cluster-client-ip': address,
    'x-originating-ip': address,
    'x-remote-addr': address,
    'cf-connecting-ip': address,
    'true-client-ip': address,
    'fastly-client-ip': address,
    via: `1.1 ${address}`,
    'x-forwarded-host': 'other.example',
    'x-forwarded-proto': 'https',
    'x-original-url': '/other',
    'x-rewrite-url': '/other',
    'x-forwarded-prefix': '/other',
    range: 'bytes=0-0',
    expect: '100-continue',
    upgrade: 'other',
    authorization: 'Bearer other',
    cookie: 'sid=other',
    'user-agent': 'other',
  }
  return Object.entries(headers).map(([name, value]) => ({
    name,
    target: path,
    headers: name === 'upgrade' ? { upgrade: value, connection: 'upgrade' } : { [name]: value },
  }))
}

/** Returns names of what a client can change in each request, with the request of each turn. */
export function rotations(path: string): readonly (readonly [string, (turn: number) => Spelling])[] {
  const named = (target: string): Spelling => ({ name: target, target })
  const withHeader =
    (name: string) =>
    (turn: number): Spelling => ({ name, target: path, headers: { [name]: `x${turn}.example` } })
  return [
    ['query', (turn) => named(`${path}?x=${turn}`)],
    ['matrix parameter', (turn) => named(`${path};x=${turn}`)],
    ['last segment', (turn) => named(`${path}/${turn}`)],
    ['host', withHeader('host')],
    ['user agent', withHeader('user-agent')],
  ]
}
