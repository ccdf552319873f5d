/** Returns commands to paste into another terminal to see each limit, for servers given as framework → URL. */
export function tour(urls: Readonly<Record<string, string>>): string {
  const [url, ...others] = Object.values(urls)
  const all = [url, ...others].join(' ')
  const width = Math.max(...Object.keys(urls).map((framework) => framework.length))
  const list = Object.entries(urls).map(([framework, its]) => `  ${framework.padEnd(width)}  ${its}`)
  const status = `curl -s -o /dev/null -w '%{http_code}\\n'`
  return `Sluice gateway: the same API, with the same limits (Ctrl-C ends it)

${list.join('\n')}

Each counts separately. The commands below use the first; the others respond the same.

# the routes and the headers of a limit, from each
for url in ${all}; do curl -si $url/; echo; done

# 5 wrong passwords, then 429; a right one costs nothing
for i in 1 2 3 4 5 6; do ${status} -H 'content-type: application/json' -d '{"password":"wrong"}' ${url}/login; done

# 10 in a second and 30 in a minute per API key: 12 at once
for i in $(seq 12); do ${status} -H 'x-api-key: demo' ${url}/v1; done

# 100 results cost 10 units of 20
for i in 1 2 3; do ${status} '${url}/search?results=100'; done

# 50 words are reserved, 400 are charged: the third waits
for i in 1 2 3; do ${status} '${url}/chat?words=400'; done

# two at once, the third is denied
for i in 1 2 3; do ${status} ${url}/slow & done; wait

# 100 in 10 s per address across all routes, including the requests above of the last 10 s
for i in $(seq 120); do ${status} ${url}/; done | sort | uniq -c
`
}
